"""To which columns a relation is local: its rows of one value follow from the inputs' rows of that value.

Each rule follows one column through one operator; a relation is local to several columns exactly if it is to
each of them. What reads no changed dataset is the same in every run, whatever it does. What is not known
stops the proof. Not here: which columns are a key.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn, cast

from headwater.names import same_name
from headwater.plan.equalities import Equalities, column_pairs, common_tables, copied
from headwater.plan.keys import bare, plain_columns
from headwater.plan.tree import Node, PlanTree, Struct, expressions_in, inner_nodes, nodes_below, plans_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

# To which column of each changed dataset a column goes back, by identity.
Trace = frozenset[tuple[str, str]]
Traces = tuple[Trace, ...]
_NOTHING: Traces = (frozenset(),)
# More ways to trace a column are not followed.
_MOST = 64
# What makes rows of one row and keeps nothing in mind from row to row, as functions in Python can.
_GENERATORS = frozenset(
    {"Explode", "PosExplode", "Inline", "Stack", "JsonTuple", "VariantExplode", "ReplicateRows"}
)


class Stopped(Exception):
    """A relation is not local to a column, or nothing says that it is.

    Attributes:
        code: Why, as a code.
        operator: The operator, by Catalyst's name; empty if it is none's doing.
        detail: Why, in words.
    """

    def __init__(self, code: str, operator: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code
        self.operator = operator
        self.detail = detail


@dataclass(slots=True)
class Locality:
    """One search; `changed` has the datasets that changed, by the form in which names are compared."""

    tree: PlanTree
    changed: Mapping[str, str]
    _tables: dict[int, Node] = field(default_factory=dict[int, Node])
    _equal: Equalities = field(init=False)
    _reads: dict[int, bool] = field(default_factory=dict[int, bool])
    _known: dict[tuple[int, int], Traces | Stopped] = field(
        default_factory=dict["tuple[int, int]", "Traces | Stopped"]
    )

    def __post_init__(self) -> None:
        """Knows what references to common tables stand for."""
        self._tables = common_tables(self.tree)
        self._equal = Equalities(self.tree, self.changed)

    def through(self, node: Node, column: int) -> Traces:
        """The ways in which a plan is local to a column that it puts out, at least one.

        Raises:
            Stopped: there is none.
        """
        known = self._known.get((id(node), column))
        if known is None:
            known = self._known[id(node), column] = self._work_out(node, column)
        if isinstance(known, Stopped):
            raise known
        return known

    def _work_out(self, node: Node, column: int) -> Traces | Stopped:
        """What is local to a column is local to any other with the same values."""
        if not self.reads(node):
            return _NOTHING
        try:
            self.check_expressions(node)
            rule = _RULES.get(node.kind, _unknown)
            others = sorted(self.same(node, column) - {column})
            return _any_of((column, *others), lambda each: rule(self, node, each))
        except Stopped as stop:
            return stop

    def reads(self, node: Node) -> bool:
        """Whether a changed dataset is read somewhere in a plan or an expression."""
        known = self._reads.get(id(node))
        if known is None:
            self._reads[id(node)] = False  # a table that reaches itself
            is_read = self.dataset(node) is not None or any(map(self.reads, self._parts(node)))
            known = self._reads[id(node)] = is_read
        return known

    def _parts(self, node: Node) -> Iterator[Node]:
        if node.kind == "WithCTE":  # a common table counts where it is used
            yield node.plan("plan")
        elif node.kind == "CTERelationRef":
            yield self.common_table(node)
        else:
            yield from inner_nodes(node)

    def dataset(self, node: Node) -> str | None:
        """The changed dataset that a node is."""
        return self.changed.get(same_name(node.name or "")) if node.is_boundary else None

    def common_table(self, node: Node) -> Node:
        """What a reference to a common table stands for."""
        return self._tables[node.fields["cteId"]]

    def same(self, node: Node, column: int) -> frozenset[int]:
        """The columns of a plan that have the values of one of them, itself among them."""
        return self._equal.same(node, column)

    def name(self, column: int) -> str:
        """A column's name, for people."""
        return self.tree.attributes[column].name

    def check_expressions(self, node: Node) -> None:
        """Stops at an operator whose expressions depend on more than the row they are worked out for."""
        for each in expressions_in(node):
            for inner in nodes_below(each):
                if inner.sort == "plan" and self.reads(inner):
                    _stop("subquery", node, f"{_kind(each)} in {_kind(node)} reads what changed")
                if inner.kind == "Generate":
                    _check_generator(inner)


Rule = Callable[[Locality, Node, int], Traces]


def _kind(node: Node) -> str:
    return node.kind.rpartition(".")[2]


def _stop(code: str, node: Node, detail: str) -> NoReturn:
    raise Stopped(code, _kind(node), detail)


def _stops(code: str) -> Rule:
    def rule(_walk: Locality, node: Node, _column: int) -> Traces:
        _stop(code, node, f"changed rows go through {_kind(node)}")

    return rule


_unknown = _stops("unknown-operator")


def _in_place(walk: Locality, node: Node, below: Node, column: int) -> Traces:
    """A relation whose columns go by other ids, place by place."""
    listed = {old for old, new in zip(below.output, node.output, strict=True) if new == column}
    if len(listed) != 1:
        _stop("unknown-operator", node, f"{walk.name(column)} is not in one place")
    return walk.through(below, listed.pop())


def _any_of(columns: Iterable[int], ways: Callable[[int], Traces]) -> Traces:
    """All ways over any of the columns; the first stop if there are none."""
    found: set[Trace] = set()
    stops: list[Stopped] = []
    for each in columns:
        try:
            found.update(ways(each))
        except Stopped as stop:
            stops.append(stop)
    if not found:
        raise stops[0]
    return tuple(sorted(found, key=sorted)[:_MOST])


def _agreed(node: Node, ways: Iterable[Traces]) -> Traces:
    """The ways of several relations that agree on the column of each dataset: one set of rows is read."""
    found: set[Trace] = {frozenset()}
    for each in ways:
        pairs = {one | two for one in found for two in each}
        found = set(sorted((one for one in pairs if len(dict(one)) == len(one)), key=sorted)[:_MOST])
        if not found:
            _stop("two-columns", node, _disagreement(min(pairs, key=sorted)))
    return tuple(found)


def _disagreement(trace: Trace) -> str:
    columns: dict[str, list[str]] = {}
    for dataset, column in sorted(trace):
        columns.setdefault(dataset, []).append(column)
    dataset, listed = next(each for each in columns.items() if len(each[1]) > 1)
    return f"the key is {' and '.join(listed)} of {dataset}, which is read more than once"


# --- one relation ----------------------------------------------------------------------------------------


def _view(walk: Locality, node: Node, column: int) -> Traces:
    dataset = walk.dataset(node)
    if dataset is None:
        return _same(walk, node, column)
    return (frozenset({(dataset, node.columns[node.output.index(column)])}),)


def _same(walk: Locality, node: Node, column: int) -> Traces:
    """Rows that stay as they are, that are kept for what is in them, or once each."""
    (below,) = plans_in(node)
    return _in_place(walk, node, below, column)


def _with_common_tables(walk: Locality, node: Node, column: int) -> Traces:
    return _in_place(walk, node, node.plan("plan"), column)


def _common_table(walk: Locality, node: Node, column: int) -> Traces:
    return _in_place(walk, node, walk.common_table(node), column)


def _named(listed: Iterable[Node], column: int) -> Node:
    return copied(next(each for each in listed if each.id == column))


def _project(walk: Locality, node: Node, column: int) -> Traces:
    value = _named(node.nodes("projectList"), column)
    if value.kind == "AttributeReference":
        return walk.through(node.plan("child"), value.id or 0)
    found = _of_either_side(walk, node.plan("child"), value)
    if found is None:
        _stop("key-computed", node, f"{walk.name(column)} is worked out by {_kind(value)}")
    return found


def _of_either_side(walk: Locality, node: Node, value: Node) -> Traces | None:
    """The key of a full join on the key: that of whichever side is there."""
    while node.kind == "Filter":
        walk.check_expressions(node)
        node = node.plan("child")
    if value.kind != "Coalesce" or node.kind != "Join" or _join_type(node) != "FullOuter":
        return None
    walk.check_expressions(node)
    left, right = node.plan("left"), node.plan("right")
    columns = {each.id for each in value.nodes("children")}
    for pair in column_pairs(node.fields.get("condition")):
        for one, two in (pair, pair[::-1]):
            if columns == {one, two} and one in left.output and two in right.output:
                return _agreed(node, (walk.through(left, one), walk.through(right, two)))
    return None


def _aggregate(walk: Locality, node: Node, column: int) -> Traces:
    groups = node.nodes("groupingExpressions")
    if not groups:
        _stop("global-aggregate", node, "all rows are made into one")
    value = _named(node.nodes("aggregateExpressions"), column)
    if value.kind == "AttributeReference" and value.id in {each.id for each in groups}:
        return walk.through(node.plan("child"), value.id or 0)
    is_made = any(each.kind == "AggregateExpression" for each in nodes_below(value))
    code = "group-not-by-key" if is_made else "key-computed"
    _stop(code, node, f"{walk.name(column)} is {_kind(value)}, and no column that rows are grouped by")


def _deduplicate(walk: Locality, node: Node, column: int) -> Traces:
    if not walk.same(node, column) & plain_columns(node.nodes("keys")):
        _stop("group-not-by-key", node, f"one row of many is kept, which may have any {walk.name(column)}")
    return _same(walk, node, column)


def _window(walk: Locality, node: Node, column: int) -> Traces:
    below = node.plan("child")
    if column not in below.output:
        _stop("key-computed", node, f"{walk.name(column)} is a window function")
    partition = {each.id for each in node.nodes("partitionSpec") if each.kind == "AttributeReference"}
    if not walk.same(below, column) & partition:
        _stop("window-not-by-key", node, f"its partitions are not by {walk.name(column)}")
    return walk.through(below, column)


def _expand(walk: Locality, node: Node, column: int) -> Traces:
    """Each row several times: fine if the column is the same in all of them."""
    place = node.output.index(column)
    values = [bare(row[place]) for row in cast("tuple[tuple[Node, ...], ...]", node.fields["projections"])]
    if len({each.id for each in values}) > 1 or values[0].kind != "AttributeReference":
        _stop("expand", node, f"{walk.name(column)} is not in every grouping set")
    return walk.through(node.plan("child"), values[0].id or 0)


def _generate(walk: Locality, node: Node, column: int) -> Traces:
    _check_generator(node)
    if column not in node.plan("child").output:
        _stop("key-computed", node, f"{walk.name(column)} is made by {_kind(node.plan('generator'))}")
    return walk.through(node.plan("child"), column)


def _check_generator(node: Node) -> None:
    generator = node.plan("generator")
    while generator.kind == "GeneratorOuter":
        generator = generator.plan("child")
    if generator.kind not in _GENERATORS:
        _stop("python-operator", node, f"{_kind(generator)} makes rows out of rows")


# --- several ---------------------------------------------------------------------------------------------


def _join_type(node: Node) -> str:
    return cast("Struct", node.fields["joinType"]).kind


# The sides of which every row that is put out has its own columns, and not nulls in their places.
_KEPT: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(("Inner", "Cross"), ("left", "right")),
    **dict.fromkeys(("LeftOuter", "LeftSemi", "LeftAnti"), ("left",)),
    "RightOuter": ("right",),
    "FullOuter": (),
}


def _join(walk: Locality, node: Node, column: int) -> Traces:
    """A row of the side with the column meets rows of the other: all of them, or those of the same value."""
    sides = {name for name in ("left", "right") if column in node.plan(name).output}
    if len(sides) != 1 or _join_type(node) not in _KEPT:
        _stop("unknown-operator", node, f"a join of the kind {_join_type(node)}")
    (side,) = sides
    if side not in _KEPT[_join_type(node)]:
        _stop("outer-join-key", node, f"{walk.name(column)} is null where the {side} side has no row")
    return _meeting(walk, node, side, column)


def _meeting(walk: Locality, node: Node, side: str, column: int) -> Traces:
    here, there = node.plan(side), node.plan("right" if side == "left" else "left")
    if not walk.reads(there):
        return walk.through(here, column)
    equal = walk.same(here, column)
    pairs = column_pairs(node.fields.get("condition"))
    across = {
        two for pair in pairs for one, two in (pair, pair[::-1]) if one in equal and two in there.output
    }
    if not across:
        _stop("join-not-on-key", node, f"{walk.name(column)} is not equal to a column of the changed side")
    mine = walk.through(here, column)
    return _any_of(sorted(across), lambda other: _agreed(node, (mine, walk.through(there, other))))


def _nearest_join(walk: Locality, node: Node, column: int) -> Traces:
    """As-of, nearest-by and lateral joins: each row of the left side meets what it does, by itself."""
    if column not in node.plan("left").output or walk.reads(node.plan("right")):
        _stop("join-not-on-key", node, f"{walk.name(column)} does not decide which rows are joined")
    return walk.through(node.plan("left"), column)


def _union(walk: Locality, node: Node, column: int) -> Traces:
    return _agreed(node, [_in_place(walk, node, each, column) for each in node.nodes("children")])


def _set_operation(walk: Locality, node: Node, column: int) -> Traces:
    """INTERSECT and EXCEPT compare all columns, and so this one."""
    sides = (node.plan("left"), node.plan("right"))
    return _agreed(node, [_in_place(walk, node, each, column) for each in sides])


_RULES: Mapping[str, Rule] = {
    "View": _view,
    **dict.fromkeys(
        (
            *("SubqueryAlias", "ResolvedHint", "Repartition", "RepartitionByExpression"),
            *("RebalancePartitions", "CollectMetrics", "PipeOperator", "SQLFunctionNode"),
            *("Sort", "Filter", "Distinct"),
        ),
        _same,
    ),
    "Project": _project,
    "Aggregate": _aggregate,
    "Deduplicate": _deduplicate,
    "Window": _window,
    "Expand": _expand,
    "Generate": _generate,
    "Join": _join,
    **dict.fromkeys(("LateralJoin", "AsOfJoin", "NearestByJoin"), _nearest_join),
    "Union": _union,
    **dict.fromkeys(("Intersect", "Except"), _set_operation),
    "WithCTE": _with_common_tables,
    "CTERelationRef": _common_table,
    **dict.fromkeys(("GlobalLimit", "LocalLimit", "Offset", "Tail"), _stops("limit")),
    "Sample": _stops("sample"),
    **dict.fromkeys(("UnionLoop", "UnionLoopRef"), _stops("recursion")),
    **dict.fromkeys(
        (
            *("MapInArrow", "MapInPandas", "FlatMapGroupsInPandas", "FlatMapGroupsInArrow"),
            *("FlatMapCoGroupsInPandas", "FlatMapCoGroupsInArrow", "ScriptTransformation"),
            *("FlatMapGroupsInPandasWithState", "TransformWithStateInPySpark"),
        ),
        _stops("python-operator"),
    ),
}
