"""Which columns of a relation have the same value in every row: copies, and what a condition wants equal.

Two nulls are the same value. What is not understood equals nothing: columns can have more in common than is
found, never less. Not here: what follows for keys.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from headwater.names import same_name
from headwater.plan.keys import bare, equalities
from headwater.plan.tree import Node, PlanTree, Struct

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

Groups = tuple[frozenset[int], ...]
_NONE: Groups = ()
# They pass their rows on under other ids, place by place, or leave some of them out.
_SAME = frozenset(
    {"SubqueryAlias", "View", "ResolvedHint", "Repartition", "RepartitionByExpression", "CollectMetrics"}
    | {"RebalancePartitions", "PipeOperator", "SQLFunctionNode", "Sort", "Distinct", "Deduplicate"}
)
# They add columns to those of the relation in this field.
_MORE_COLUMNS: Mapping[str, str] = {
    **dict.fromkeys(("Window", "Generate"), "child"),
    **dict.fromkeys(("LateralJoin", "AsOfJoin", "NearestByJoin"), "left"),
}
# Only pairs of rows that meet the condition are put out, or rows of which there is such a pair.
_MET = frozenset({"Inner", "Cross", "LeftSemi"})


def common_tables(tree: PlanTree) -> dict[int, Node]:
    """The common tables of a tree, by the number that references to them have."""
    return {each.fields["id"]: each.plan("child") for each in tree.nodes() if each.kind == "CTERelationDef"}


def column_pairs(condition: object) -> list[tuple[int, int]]:
    """The pairs of plain columns that a condition wants equal."""
    return [
        (one.id or 0, two.id or 0)
        for one, two in equalities(condition)
        if one.kind == two.kind == "AttributeReference"
    ]


def copied(node: Node) -> Node:
    """What a named expression is a copy of; Spark casts the columns of some views to the type they have."""
    value = bare(node)
    while value.kind == "Cast" and value.type is not None and value.type == value.plan("child").type:
        value = value.plan("child")
    return value


@dataclass(slots=True)
class Equalities:
    """The columns with the same values, of every relation in a tree; what is in `leaves` can be anything."""

    tree: PlanTree
    leaves: Container[str] = ()
    _tables: dict[int, Node] | None = None
    _known: dict[int, Groups] = field(default_factory=dict[int, Groups])

    def same(self, node: Node, column: int) -> frozenset[int]:
        """The columns that a plan puts out with the values of one of them, itself among them."""
        return next((each for each in self.of(node) if column in each), frozenset({column}))

    def of(self, node: Node) -> Groups:
        """The groups, of two columns or more, that have the same values."""
        known = self._known.get(id(node))
        if known is None:
            self._known[id(node)] = _NONE  # a table that reaches itself: nothing is known of it
            known = self._known[id(node)] = self._work_out(node)
        return known

    def _work_out(self, node: Node) -> Groups:
        match node.kind:
            case "Project":
                return self._named(node, node.nodes("projectList"))
            case "Aggregate":
                return self._named(node, node.nodes("aggregateExpressions"))
            case "Filter":
                return _merged(self.of(node.plan("child")), column_pairs(node.plan("condition")))
            case "Join":
                return self._joined(node)
            case _ if node.kind in _MORE_COLUMNS:
                return self.of(node.plan(_MORE_COLUMNS[node.kind]))
            case _:
                below = self._below(node)
                return _NONE if below is None else self._in_place(below, node.output)

    def _below(self, node: Node) -> Node | None:
        """The relation whose columns a node passes on, place by place."""
        if node.kind == "CTERelationRef":
            if self._tables is None:
                self._tables = common_tables(self.tree)
            return self._tables[node.fields["cteId"]]
        if node.kind == "WithCTE":
            return node.plan("plan")
        is_leaf = node.is_boundary and same_name(node.name or "") in self.leaves
        below = node.fields.get("child") if node.kind in _SAME and not is_leaf else None
        return below if isinstance(below, Node) else None

    def _named(self, node: Node, listed: Sequence[Node]) -> Groups:
        columns = [(each.id or 0, copied(each)) for each in listed]
        copies = [(name, each.id or 0) for name, each in columns if each.kind == "AttributeReference"]
        return self._passed_on(node.plan("child"), copies)

    def _in_place(self, below: Node, names: Sequence[int]) -> Groups:
        return self._passed_on(below, zip(names, below.output, strict=True))

    def _passed_on(self, below: Node, copies: Iterable[tuple[int, int]]) -> Groups:
        """The groups of columns that are copies, each a name and the column below that it copies."""
        found: dict[frozenset[int], set[int]] = {}
        for name, column in copies:
            found.setdefault(self.same(below, column), set()).add(name)
        return tuple(frozenset(each) for each in found.values() if len(each) > 1)

    def _joined(self, node: Node) -> Groups:
        groups = (*self.of(node.plan("left")), *self.of(node.plan("right")))
        if cast("Struct", node.fields["joinType"]).kind in _MET:
            groups = _merged(groups, column_pairs(node.fields.get("condition")))
        kept = (each & frozenset(node.output) for each in groups)
        return tuple(each for each in kept if len(each) > 1)


def _merged(groups: Groups, pairs: Iterable[tuple[int, int]]) -> Groups:
    for pair in pairs:
        whole = frozenset(pair).union(*(each for each in groups if not each.isdisjoint(pair)))
        groups = (*(each for each in groups if each.isdisjoint(pair)), whole)
    return tuple(each for each in groups if len(each) > 1)
