"""Which columns of a view something in its plan reaches, by lineage: what is there is followed to the top.

A mark, which reads a dataset that is not there, is put beside every such place; a column that depends on the
mark is reached. Not here: what to look for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from headwater.errors import PlanNotUnderstood
from headwater.names import same_name
from headwater.plan.lineage import lineage_of
from headwater.plan.tree import Attribute, Node, PlanTree, Struct, deep_trees

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from headwater.plan.dependence import Dependence, Kind
    from headwater.plan.lineage import ViewLineage

# No dataset has a name like this.
_MARK = "\0mark "
# A column of such a kind of dependence has the value itself in it; a mark is read by a subquery.
_BY_VALUE: frozenset[Kind] = frozenset({"value", "subquery"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """How far something goes: into values of columns, otherwise into columns, to which rows there are."""

    by_value: frozenset[str] = frozenset()
    otherwise: frozenset[str] = frozenset()
    rows: bool = False


@dataclass(frozen=True, slots=True)
class Flow:
    """What a view's columns depend on, with marks in it; None if its plan is not understood."""

    tree: PlanTree
    lineage: ViewLineage | None

    def of_mark(self, number: int) -> Reach:
        """How far the place goes that was marked with a number."""
        return self._reach(f"{_MARK}{number}", None)

    def of_columns(self, dataset: str, columns: Collection[str]) -> Reach:
        """How far columns of a dataset go."""
        return self._reach(dataset, columns)

    def reads(self, dataset: str) -> bool:
        """Whether the view reads a dataset."""
        wanted = same_name(dataset)
        return any(each.is_boundary and same_name(each.name or "") == wanted for each in self.tree.nodes())

    def _reach(self, dataset: str, columns: Collection[str] | None) -> Reach:
        if self.lineage is None:
            return Reach(rows=True)
        found = {each.name: _kinds(each.dependences, dataset, columns) for each in self.lineage.columns}
        by_value = {name for name, kinds in found.items() if "value" in kinds and kinds <= _BY_VALUE}
        return Reach(
            by_value=frozenset(by_value),
            otherwise=frozenset(name for name, kinds in found.items() if kinds) - by_value,
            rows=bool(_kinds(self.lineage.rows, dataset, columns)),
        )


def _kinds(
    dependences: Iterable[Dependence], dataset: str, columns: Collection[str] | None
) -> frozenset[Kind]:
    wanted = None if columns is None else {same_name(each) for each in columns}
    return frozenset(
        kind
        for path, kind in dependences
        if same_name(path.dataset) == same_name(dataset)
        and (wanted is None or same_name(path.parts[0]) in wanted)
    )


def flow_of(tree: PlanTree, marked: Sequence[Node], deciding: Collection[int], view: str) -> Flow:
    """The flow through a plan in which some nodes are marked, by their number.

    Args:
        tree: The plan.
        marked: Expressions, whose values are meant, and relations, whose rows are.
        deciding: The sorts that decide which rows there are, as ids of objects; others change nothing.
        view: The name of the view.
    """
    marks: dict[int, list[int]] = {}
    for number, node in enumerate(marked):
        marks.setdefault(id(node), []).append(number)
    attributes = dict(tree.attributes)
    for number in range(len(marked)):
        attributes[-number - 1] = Attribute(-number - 1, "mark", "string", nullable=True, metadata={})
    with deep_trees():
        root = _Marking(marks, deciding).node(tree.root)
    try:
        return Flow(tree, lineage_of(PlanTree(root, attributes), view))
    except PlanNotUnderstood:
        return Flow(tree, None)


@dataclass(slots=True)
class _Marking:
    """The making of a tree with marks in it."""

    marks: Mapping[int, Sequence[int]]
    deciding: Collection[int]

    def node(self, node: Node) -> Node:
        """The node, with all inside it, and with its marks around it."""
        made = replace(node, fields={name: self._value(value) for name, value in node.fields.items()})
        if node.kind == "Sort" and id(node) not in self.deciding:
            made = replace(node, kind="SubqueryAlias", fields={"child": made.fields["child"]})
        for number in self.marks.get(id(node), ()):
            made = _with_mark(made, number)
        return made

    def _value(self, value: Any) -> Any:
        if isinstance(value, Node):
            return self.node(value)
        if isinstance(value, tuple):
            return tuple(self._value(each) for each in cast("tuple[Any, ...]", value))
        if isinstance(value, Struct):
            return Struct(value.kind, {name: self._value(each) for name, each in value.fields.items()})
        return value


def _with_mark(node: Node, number: int) -> Node:
    name, output = f"{_MARK}{number}", (-number - 1,)
    dataset = Node(kind="View", sort="plan", fields={}, output=output, columns=("mark",), name=name)
    mark = Node(kind="ScalarSubquery", sort="expression", fields={"plan": dataset}, type="string")
    if node.sort == "plan":
        return Node(kind="Filter", sort="plan", fields={"condition": mark, "child": node}, output=node.output)
    return replace(node, kind="Marked", fields={"child": node, "mark": mark}, literal=None, written=None)
