"""Whether a step does to rows one by one what it does to all of them: then new rows alone give what is new.

A step F is linear in a dataset if F(A + B) = F(A) + F(B) for all A and B, where + is the union of sets. On
the way from the dataset to the top there are then only operators that make rows of one row of it, and nothing
of it meets itself. How often a row is there is of no account. What is not known is not linear.
Not here: rounds; see `run.fixpoint`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn, cast

from headwater.names import same_name
from headwater.plan.equalities import common_tables
from headwater.plan.keys import plain_columns
from headwater.plan.tree import (
    Node,
    PlanTree,
    Struct,
    deep_trees,
    expressions_in,
    inner_nodes,
    nodes_below,
    plans_in,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# What makes rows of one row and keeps nothing in mind from row to row, as functions in Python can.
_GENERATORS = frozenset(
    {"Explode", "PosExplode", "Inline", "Stack", "JsonTuple", "VariantExplode", "ReplicateRows"}
)
# The sides of which every row is met by itself, if the other side is always the same.
_SIDES: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("Inner", "Cross", "LeftSemi"), frozenset({"left", "right"})),
    **dict.fromkeys(("LeftOuter", "LeftAnti"), frozenset({"left"})),
    "RightOuter": frozenset({"right"}),
}


@dataclass(frozen=True, slots=True)
class NotLinear:
    """Why a step has to be given all rows each time.

    Attributes:
        operator: The operator that needs them, by Catalyst's name.
        detail: Why, in words.
    """

    operator: str
    detail: str


class _Stopped(Exception):
    def __init__(self, found: NotLinear) -> None:
        super().__init__(found.detail)
        self.found = found


def find_nonlinear(tree: PlanTree, name: str) -> NotLinear | None:
    """What keeps a view, by its analysed tree, from being linear in a dataset; None if it is.

    The tree ends at registered names, of which `name` is one; a view that does not read it is linear.
    """
    try:
        with deep_trees():
            _Linearity(same_name(name), common_tables(tree)).follow(tree.root)
    except _Stopped as stop:
        return stop.found
    return None


@dataclass(slots=True)
class _Linearity:
    """One search."""

    name: str
    tables: Mapping[int, Node]
    _reads: dict[int, bool] = field(default_factory=dict[int, bool])

    def follow(self, node: Node) -> None:
        """Goes down to the dataset on every way on which it is read; stops where a step is not linear."""
        if not self.reads(node) or self._is_dataset(node):
            return
        for each in expressions_in(node):
            if self.reads(each):
                _stop(node, f"a subquery in {_kind(node)} reads the rows so far")
            for inner in nodes_below(each):
                if inner.kind == "Generate":  # a function of rows that is called for each row
                    _check_generator(inner)
        _RULES.get(node.kind, _unknown)(self, node)

    def reads(self, node: Node) -> bool:
        """Whether the dataset is read somewhere in a plan or an expression."""
        known = self._reads.get(id(node))
        if known is None:
            self._reads[id(node)] = False  # a table that reaches itself
            known = self._is_dataset(node) or any(map(self.reads, self._parts(node)))
            self._reads[id(node)] = known
        return known

    def _is_dataset(self, node: Node) -> bool:
        return node.is_boundary and same_name(node.name or "") == self.name

    def _parts(self, node: Node) -> Iterator[Node]:
        if node.kind == "WithCTE":  # a common table counts where it is used
            yield node.plan("plan")
        elif node.kind == "CTERelationRef":
            yield self.tables[node.fields["cteId"]]
        elif not node.is_boundary:
            yield from inner_nodes(node)


Rule = Callable[[_Linearity, Node], None]


def _kind(node: Node) -> str:
    return node.kind.rpartition(".")[2]


def _stop(node: Node, detail: str) -> NoReturn:
    raise _Stopped(NotLinear(_kind(node), detail))


def _unknown(_walk: _Linearity, node: Node) -> None:
    _stop(node, f"{_kind(node)} sees many of the rows so far at once")


def _row_by_row(walk: _Linearity, node: Node) -> None:
    """Each row by itself, or each row once."""
    (below,) = plans_in(node)
    walk.follow(below)


def _each_way(walk: _Linearity, node: Node) -> None:
    for each in node.nodes("children"):
        walk.follow(each)


def _with_common_tables(walk: _Linearity, node: Node) -> None:
    walk.follow(node.plan("plan"))


def _common_table(walk: _Linearity, node: Node) -> None:
    walk.follow(walk.tables[node.fields["cteId"]])


def _deduplicate(walk: _Linearity, node: Node) -> None:
    if not set(node.output) <= plain_columns(node.nodes("keys")):
        _stop(node, "one row of many is kept")
    _row_by_row(walk, node)


def _generate(walk: _Linearity, node: Node) -> None:
    _check_generator(node)
    _row_by_row(walk, node)


def _check_generator(node: Node) -> None:
    generator = node.plan("generator")
    while generator.kind == "GeneratorOuter":
        generator = generator.plan("child")
    if generator.kind not in _GENERATORS:
        _stop(node, f"{_kind(generator)} may keep rows in mind")


def _join(walk: _Linearity, node: Node) -> None:
    kind = cast("Struct", node.fields["joinType"]).kind
    _one_side(walk, node, _SIDES.get(kind, frozenset()), f"a join of the kind {kind}")


def _set_operation(walk: _Linearity, node: Node) -> None:
    is_all = node.fields.get("isAll") is not False  # then it matters how often a row is there
    kept = {"Intersect": frozenset({"left", "right"}), "Except": frozenset({"left"})}[node.kind]
    _one_side(walk, node, frozenset() if is_all else kept, _kind(node))


def _lateral_join(walk: _Linearity, node: Node) -> None:
    _one_side(walk, node, frozenset({"left"}), _kind(node))


def _one_side(walk: _Linearity, node: Node, fitting: frozenset[str], words: str) -> None:
    """Rows of one side that meet those of the other, which has to be the same in every round."""
    sides = {name for name in ("left", "right") if walk.reads(node.plan(name))}
    if len(sides) > 1:
        _stop(node, f"the rows so far meet themselves in {_kind(node)}")
    if not sides <= fitting:
        _stop(node, f"the rows so far are the {min(sides)} side of {words}")
    walk.follow(node.plan(min(sides)))


_RULES: Mapping[str, Rule] = {
    **dict.fromkeys(
        (
            *("SubqueryAlias", "ResolvedHint", "Repartition", "RepartitionByExpression", "View"),
            *("RebalancePartitions", "PipeOperator", "SQLFunctionNode"),
            *("Project", "Filter", "Sort", "Distinct", "Expand"),
        ),
        _row_by_row,
    ),
    "Deduplicate": _deduplicate,
    "Generate": _generate,
    "Union": _each_way,
    "Join": _join,
    "LateralJoin": _lateral_join,
    **dict.fromkeys(("Intersect", "Except"), _set_operation),
    "WithCTE": _with_common_tables,
    "CTERelationRef": _common_table,
}
