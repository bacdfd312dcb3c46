"""What each operator does with relations: its columns, and what decides which rows there are.

Trees of set operations and common tables use the ids of their first branch again, so columns are followed
by place wherever a node may rename them. An operator that is not known is an error: a guess here would be
lineage that nobody can rely on. Not here: expressions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.errors import PlanNotUnderstood
from headwater.plan.dependence import (
    ELEMENT,
    KEY,
    NONE,
    NOTHING,
    VALUE,
    Dependences,
    Value,
    column_value,
    either,
    element_type,
    field_names,
    in_role,
    is_map,
    opaque,
    realigned,
)
from headwater.plan.expressions import EXPRESSION_RULES
from headwater.plan.scope import Scope
from headwater.plan.tree import Node, PlanTree, expressions_in, plans_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from headwater.origin import Origin
    from headwater.plan.dependence import Kind


@dataclass(frozen=True, slots=True)
class Rows:
    """A relation: what each column depends on, and what decides which rows there are."""

    columns: Mapping[int, Value]
    rows: Dependences = NONE

    def under(self, ids: Sequence[int], names: Sequence[int]) -> Rows:
        """The same relation with the columns `ids` under other names, place by place."""
        return Rows({new: self.columns[old] for old, new in zip(ids, names, strict=True)}, self.rows)


@dataclass(slots=True)
class Walk:
    """One walk over an analysed tree."""

    tree: PlanTree
    view: str
    origin: Origin | None
    datasets: set[str] = field(default_factory=set[str])
    _tables: dict[int, Node] = field(default_factory=dict[int, Node])
    _made: dict[int, Rows] = field(default_factory=dict[int, Rows])
    _loops: dict[int, tuple[Sequence[int], Rows]] = field(
        default_factory=dict[int, "tuple[Sequence[int], Rows]"]
    )

    def rows_of(self, node: Node, outer: Scope | None = None) -> Rows:
        """What a plan node puts out."""
        rule = _RULES.get(node.kind)
        if rule is None:
            raise PlanNotUnderstood(view=self.view, node=node.kind.rpartition(".")[2], origin=self.origin)
        return rule(self, node, outer)

    def child(self, node: Node, outer: Scope | None) -> Rows:
        """What the one relation below a node puts out."""
        return self.rows_of(node.plan("child"), outer)

    def scope(self, rows: Rows | Mapping[int, Value], outer: Scope | None) -> Scope:
        """Where the expressions of an operator over `rows` stand."""
        columns = rows.columns if isinstance(rows, Rows) else rows
        return Scope(columns, EXPRESSION_RULES, self.rows_of, outer)

    # --- common tables

    def define(self, node: Node) -> None:
        """Remembers common tables, and forgets what an earlier copy of the same query made of them."""
        for each in node.nodes("cteDefs"):
            self._tables[each.fields["id"]] = each.plan("child")
            self._made.pop(each.fields["id"], None)

    def common_table(self, node: Node, outer: Scope | None) -> Rows:
        """A common table where it is used."""
        number = node.fields["cteId"]
        plan = self._tables[number]
        if number not in self._made:
            self._made[number] = self.rows_of(plan, outer)
        return self._made[number].under(plan.output, node.output)

    def loop(self, node: Node, outer: Scope | None) -> Rows:
        """A recursive table: what it starts from, and what each round adds, until nothing new is claimed."""
        start, step = node.plan("anchor"), node.plan("recursion")
        number = node.fields["id"]
        found = self.rows_of(start, outer).under(start.output, node.output)
        made = self._made
        while True:
            self._loops[number] = node.output, found
            self._made = dict(made)  # common tables inside of the step may read what is still growing
            added = self.rows_of(step, outer).under(step.output, node.output)
            columns = {each: either((found.columns[each], added.columns[each])) for each in node.output}
            grown = Rows(columns, found.rows | added.rows)
            if grown == found:
                return grown
            found = grown

    def loop_reference(self, node: Node, _outer: Scope | None) -> Rows:
        """A recursive table inside of itself."""
        ids, rows = self._loops[node.fields["loopId"]]
        return rows.under(ids, node.output)


def _everything(rows: Rows, ids: Iterable[int], kind: Kind) -> Dependences:
    return in_role(opaque(rows.columns[each] for each in ids).all(), kind)


# --- leaves --------------------------------------------------------------------------------------------


def _view(walk: Walk, node: Node, outer: Scope | None) -> Rows:
    if not node.is_boundary:
        return _same(walk, node, outer)
    name = node.name or ""
    walk.datasets.add(name)
    return Rows({each: column_value(name, own) for each, own in zip(node.output, node.columns, strict=True)})


def _constants(_walk: Walk, node: Node, _outer: Scope | None) -> Rows:
    return Rows(dict.fromkeys(node.output, NOTHING))


def _inline_table(walk: Walk, node: Node, outer: Scope | None) -> Rows:
    """Literal rows of which some cell is worked out later."""
    return _rows_by_rows(walk.scope({}, outer), node, node.fields["rows"], NONE)


def _rows_by_rows(scope: Scope, node: Node, listed: Iterable[Iterable[Node]], rows: Dependences) -> Rows:
    """As many rows as are listed, cell by cell."""
    cells = ([scope.value_of(each) for each in row] for row in listed)
    columns = zip(node.output, zip(*cells, strict=True), strict=True)
    return Rows({each: either(column) for each, column in columns}, rows)


# --- one child -----------------------------------------------------------------------------------------


def _same(walk: Walk, node: Node, outer: Scope | None) -> Rows:
    """Operators that leave the set of rows as it is."""
    (below,) = plans_in(node)
    return walk.rows_of(below, outer).under(below.output, node.output)


def _project(walk: Walk, node: Node, outer: Scope | None) -> Rows:
    child = walk.child(node, outer)
    scope = walk.scope(child, outer)
    return Rows({each.id or 0: scope.value_of(each) for each in node.nodes("projectList")}, child.rows)


def _filter(walk: Walk, node: Node, outer: Scope | None) -> Rows:
    child = walk.child(node, outer)
    test = walk.scope(child, outer).value_of(node.plan("condition")).all()
    return Rows(child.columns, child.rows | in_role(test, "filter"))


def _aggregate(walk: Walk, node: Node, outer: Scope | None) -> Rows:
    child = walk.child(node, outer)
    scope = walk.scope(child, outer)
    keys = in_role(opaque(scope.values_of(node, "groupingExpressions")).all(), "group")
    columns = {each.id or 0: scope.value_of(each) for each in node.nodes("aggregateExpressions")}
    return Rows(columns, child.rows | keys)


def _sort(walk: Walk, node: Node, outer: Scope | None) -> Rows:
    child = walk.child(node, outer)
    order = opaque(walk.scope(child, outer).values_of(node, "order")).all()
    return Rows(child.columns, child.rows | order)


def _distinct(walk: Walk, node: Node, outer: Scope | None) -> Rows:
    child = walk.child(node, outer)
    return Rows(child.columns, child.rows | _everything(child, node.output, "group"))


def _deduplicate(walk: Walk, node: Node, outer: Scope | None) -> Rows:
    child = walk.child(node, outer)
    keys = opaque(walk.scope(child, outer).values_of(node, "keys")).all()
    return Rows(child.columns, child.rows | in_role(keys, "group"))


def _window(walk: Walk, node: Node, outer: Scope | None) -> Rows:
    child = walk.child(node, outer)
    scope = walk.scope(child, outer)
    new = {each.id or 0: scope.value_of(each) for each in node.nodes("windowExpressions")}
    return Rows({**child.columns, **new}, child.rows)


def _expand(walk: Walk, node: Node, outer: Scope | None) -> Rows:
    child = walk.child(node, outer)
    return _rows_by_rows(walk.scope(child, outer), node, node.fields["projections"], child.rows)


def _numbered(walk: Walk, node: Node, outer: Scope | None) -> Rows:
    """Each row with its number, which depends on no column."""
    child = walk.child(node, outer)
    return Rows({**dict.fromkeys(node.output, NOTHING), **child.columns}, child.rows)


def _generate(walk: Walk, node: Node, outer: Scope | None) -> Rows:
    child = walk.child(node, outer)
    scope = walk.scope(child, outer)
    generator = node.plan("generator")
    ids = [each.id or 0 for each in node.nodes("generatorOutput")]
    values, multiplied = _generated(scope, generator, len(ids))
    return Rows({**child.columns, **dict(zip(ids, values, strict=True))}, child.rows | multiplied)


def _generated(scope: Scope, generator: Node, width: int) -> tuple[list[Value], Dependences]:
    """The columns of a generator, and what decides how many rows it makes of one."""
    if generator.kind == "GeneratorOuter":
        return _generated(scope, generator.plan("child"), width)
    if generator.kind == "Stack":
        cells = scope.values_of(generator, "children")[1:]
        return [either(cells[place::width]) for place in range(width)], NONE
    if generator.kind not in {"Explode", "PosExplode", "Inline"}:
        given = opaque(scope.value_of(each) for each in expressions_in(generator))
        return [given] * width, in_role(given.all(), "join")
    child = generator.plan("child")
    value = scope.value_of(child)
    shape = in_role(value.shape(), "join")
    if generator.kind == "Inline":
        names = field_names(element_type(child.type))
        return [value.part(ELEMENT).part(name) for name in names], shape
    values = [value.part(KEY), value.part(VALUE)] if is_map(child.type) else [value.part(ELEMENT)]
    return ([Value(others=value.shape())] if generator.kind == "PosExplode" else []) + values, shape


def _by_function(walk: Walk, node: Node, outer: Scope | None) -> Rows:
    """A function in another language that turns relations into one: anything may depend on anything."""
    below = [walk.rows_of(each, outer) for each in plans_in(node)]
    ids = [each.output for each in plans_in(node)]
    given = opaque(
        rows.columns[column] for rows, names in zip(below, ids, strict=True) for column in names
    ).all()
    rows = NONE.union(*(each.rows for each in below))
    value = Value(others=given)
    return Rows(dict.fromkeys(node.output, value), rows | in_role(given, "filter"))


# --- several -------------------------------------------------------------------------------------------


def _join(walk: Walk, node: Node, outer: Scope | None) -> Rows:
    left, right = walk.rows_of(node.plan("left"), outer), walk.rows_of(node.plan("right"), outer)
    condition = node.fields.get("condition")
    both = {**left.columns, **right.columns}
    test = NONE
    if isinstance(condition, Node):
        test = in_role(walk.scope(both, outer).value_of(condition).all(), "join")
    rows = left.rows | right.rows | test
    found = node.fields["joinType"].fields.get("exists")
    if isinstance(found, Node):  # whether there is a match, as a column
        return Rows({**left.columns, found.id or 0: Value(others=test | right.rows)}, left.rows)
    return Rows({each: both[each] for each in node.output}, rows)


def _lateral_join(walk: Walk, node: Node, outer: Scope | None) -> Rows:
    left = walk.rows_of(node.plan("left"), outer)
    right = walk.rows_of(node.plan("right").plan("plan"), walk.scope(left, outer))
    condition = node.fields.get("condition")
    both = {**left.columns, **right.columns}
    test = NONE
    if isinstance(condition, Node):
        test = in_role(walk.scope(both, outer).value_of(condition).all(), "join")
    return Rows({each: both[each] for each in node.output}, left.rows | right.rows | test)


def _nearest_join(walk: Walk, node: Node, outer: Scope | None) -> Rows:
    """As-of and nearest-by joins: all their expressions decide what is joined to what."""
    left, right = walk.rows_of(node.plan("left"), outer), walk.rows_of(node.plan("right"), outer)
    both = {**left.columns, **right.columns}
    scope = walk.scope(both, outer)
    test = opaque(scope.value_of(each) for each in expressions_in(node)).all()
    rows = left.rows | right.rows | in_role(test, "join")
    return Rows({each: both[each] for each in node.output}, rows)


def _union(walk: Walk, node: Node, outer: Scope | None) -> Rows:
    branches = [_seen_as(walk, each, node.output, outer) for each in node.nodes("children")]
    columns = {each: either(branch.columns[each] for branch in branches) for each in node.output}
    return Rows(columns, NONE.union(*(branch.rows for branch in branches)))


def _seen_as(walk: Walk, plan: Node, names: Sequence[int], outer: Scope | None) -> Rows:
    """A branch with the columns, and their types, of the whole."""
    rows = walk.rows_of(plan, outer)
    attributes = walk.tree.attributes
    columns = {
        new: realigned(rows.columns[old], attributes[old].type, attributes[new].type)
        for old, new in zip(plan.output, names, strict=True)
    }
    return Rows(columns, rows.rows)


def _set_operation(walk: Walk, node: Node, outer: Scope | None) -> Rows:
    """INTERSECT and EXCEPT: a join on all columns whose rows are the left ones."""
    left = _seen_as(walk, node.plan("left"), node.output, outer)
    right = _seen_as(walk, node.plan("right"), node.output, outer)
    test = _everything(left, node.output, "join") | _everything(right, node.output, "join")
    return Rows(left.columns, left.rows | right.rows | test)


def _with_common_tables(walk: Walk, node: Node, outer: Scope | None) -> Rows:
    walk.define(node)
    plan = node.plan("plan")
    return walk.rows_of(plan, outer).under(plan.output, node.output)


_RULES: Mapping[str, Callable[[Walk, Node, Scope | None], Rows]] = {
    "View": _view,
    **dict.fromkeys(["LocalRelation", "OneRowRelation", "Range", "EmptyRelation"], _constants),
    **dict.fromkeys(
        (
            *("SubqueryAlias", "ResolvedHint", "Repartition", "RepartitionByExpression"),
            *("RebalancePartitions", "GlobalLimit", "LocalLimit", "Offset", "Tail", "Sample"),
            *(
                "CollectMetrics",
                "SQLFunctionNode",
                "PipeOperator",
                "EventTimeWatermark",
                "UpdateEventTimeWatermarkColumn",
            ),
        ),
        _same,
    ),
    "ResolvedInlineTable": _inline_table,
    "AttachDistributedSequence": _numbered,
    "Project": _project,
    "Filter": _filter,
    "Aggregate": _aggregate,
    "Sort": _sort,
    "Distinct": _distinct,
    **dict.fromkeys(["Deduplicate", "DeduplicateWithinWatermark"], _deduplicate),
    "Window": _window,
    "Expand": _expand,
    "Generate": _generate,
    **dict.fromkeys(
        (
            *("MapInArrow", "MapInPandas", "FlatMapGroupsInPandas", "FlatMapGroupsInArrow"),
            *("FlatMapCoGroupsInPandas", "FlatMapCoGroupsInArrow", "ScriptTransformation"),
            *("FlatMapGroupsInPandasWithState", "TransformWithStateInPySpark"),
        ),
        _by_function,
    ),
    "Join": _join,
    "LateralJoin": _lateral_join,
    **dict.fromkeys(["AsOfJoin", "NearestByJoin"], _nearest_join),
    **dict.fromkeys(["Union", "SequentialStreamingUnion"], _union),
    **dict.fromkeys(["Intersect", "Except"], _set_operation),
    "WithCTE": _with_common_tables,
    "CTERelationRef": Walk.common_table,
    "UnionLoop": Walk.loop,
    "UnionLoopRef": Walk.loop_reference,
}
