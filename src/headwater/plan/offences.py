"""Where an analysed plan depends on more than its inputs: every operator and expression, one by one.

An aggregate that is on no list counts as one that depends on the order of rows. Not here: which columns it
reaches, and whether it is refused.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from headwater.plan.chance import (
    AGGREGATES,
    EXPRESSIONS,
    FUNCTION_PLANS,
    FUNCTIONS,
    LIMITS,
    ORDER_KEPT,
    PLANS,
    forgets_order,
    is_collated,
    is_random_cipher,
    name_of,
    reads_clock,
    sums_floats,
)
from headwater.plan.keys import Key, Keys, columns_used, literal_number, plain_columns
from headwater.plan.tree import Node, Struct, deep_trees, expressions_in, nodes_below, plans_in

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from headwater.plan.tree import PlanTree

_NO_COLUMNS: Key = frozenset()
# Columns that Spark adds to what it reads from files.
# (`__metadata_col` alone is also on the hidden side of a USING join's key.)
_OF_FILES = "__file_source_metadata_col"
# Operators that make one row of those that agree.
_MERGES = frozenset(
    {"Aggregate", "Distinct", "Deduplicate", "DeduplicateWithinWatermark", "Intersect", "Except"}
)
# Operators below which only the number of rows matters, if only it matters above.
_COUNTED_ALIKE = LIMITS | {"Project", "SubqueryAlias", "Sort"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Offence:
    """One place in a plan: the rule, what is there in words, and the expression or relation that has it."""

    rule: str
    detail: str
    node: Node


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an expression stands: the rows it is worked out from, and what they have in common."""

    relation: Node | None = None
    common: Key = _NO_COLUMNS
    column: int | None = None
    is_blind: bool = False


@dataclass(slots=True)
class Search:
    """One search through a tree; `declared` has the names of functions that depend on arguments alone."""

    tree: PlanTree
    keys: Keys
    declared: Collection[str]
    found: list[Offence] = field(default_factory=list[Offence])
    deciding: set[int] = field(default_factory=set[int])
    _seen: set[int] = field(default_factory=set[int])
    _above: list[Node] = field(default_factory=list[Node])

    def _add(self, rule: str, detail: str, node: Node) -> None:
        self.found.append(Offence(rule=rule, detail=detail, node=node))

    def _named(self, columns: Collection[int]) -> str:
        known = self.tree.attributes
        return ", ".join(sorted({known[each].name for each in columns if each in known})) or "nothing"

    # --- relations

    def plan(self, node: Node, *, is_counted: bool = False) -> None:
        """Looks at a relation; if it `is_counted`, it matters only whether it has rows."""
        if node.kind in PLANS:
            self._add(*PLANS[node.kind], node)
        elif node.kind in LIMITS:
            self._limit(node, is_counted=is_counted)
        elif node.kind in FUNCTION_PLANS:
            self._function_plan(node)
        elif node.kind in _MERGES:
            self._merge(node)
        if node.kind not in FUNCTION_PLANS and node.kind != "CollectMetrics":
            place = self._place(node)
            for each in expressions_in(node):
                self.expression(each, place)
        self._above.append(node)
        for each in plans_in(node):
            self.plan(each, is_counted=is_counted and node.kind in _COUNTED_ALIKE)
        self._above.pop()

    def _place(self, node: Node) -> _Place:
        if node.kind == "Aggregate":
            return _Place(node.plan("child"), plain_columns(node.nodes("groupingExpressions")))
        return _Place(node.plan("child")) if node.kind == "Window" else _Place()

    def _limit(self, node: Node, *, is_counted: bool) -> None:
        """Of several limits in a row the uppermost speaks for all."""
        if id(node) in self._seen:
            return
        below, needed = self._ordered_below(node)
        is_sorted = below.kind == "Sort" and below.fields["global"] is True
        if is_sorted:
            self.deciding.add(id(below))
        number = literal_number(next(iter(expressions_in(node))))
        if is_counted or number == 0 or not needed or self.keys.is_one_row(node.plan("child"), ()):
            return
        if not is_sorted:
            self._add("limit-without-order", "takes rows by LIMIT or OFFSET that have no order", node)
            return
        order = plain_columns(below.nodes("order"))
        is_settled = self.keys.is_settled(below.plan("child"), order) or self._is_worked_out(below, needed)
        if not is_settled:
            words = f"takes rows by LIMIT or OFFSET in an order, of {self._named(order)}, that leaves ties"
            self._add("tie", words, node)

    def _is_worked_out(self, sort: Node, needed: Key) -> bool:
        """Whether the columns that are needed follow from those that are sorted by."""
        order, child = plain_columns(sort.nodes("order")), sort.plan("child")
        if child.kind == "Project":
            made = {each.id or 0: each for each in child.nodes("projectList")}
            if not needed | order <= set(made):  # columns of a subquery's own
                return False
            needed = columns_used(made[each] for each in needed)
            bare = [made[each] for each in order]
            order = plain_columns(each.plan("child") if each.kind == "Alias" else each for each in bare)
        return self.keys.is_all(needed, order)

    def _ordered_below(self, node: Node) -> tuple[Node, Key]:
        """The relation from which a limit has its order, and the columns of it that are passed on."""
        needed = frozenset(node.output)
        while (node.kind in LIMITS or node.kind in ORDER_KEPT) and not node.is_boundary:
            if node.kind in LIMITS:
                self._seen.add(id(node))
            below = node.plan("plan") if node.kind == "WithCTE" else next(plans_in(node))
            if node.kind == "Project":
                needed = columns_used(node.nodes("projectList"))
            elif node.output != below.output:
                break  # columns under other names
            node = below
        return node, needed

    def _merge(self, node: Node) -> None:
        """Rows that agree become one, and differ in other columns or, by a collation, in the same."""
        known = self.tree.attributes
        if node.kind == "Aggregate":
            types = [each.type for each in node.nodes("groupingExpressions")]
        elif node.kind.startswith("Deduplicate"):
            columns = plain_columns(node.nodes("keys"))
            types = [known[each].type for each in columns]
            is_one_row = self.keys.is_one_row(node.plan("child"), columns)
            if not is_one_row and not columns >= set(node.output):
                words = f"drops duplicates by {self._named(columns)}, and any of the rows that agree may stay"
                self._add("tie", words, node)
                return
        else:
            types = [known[each].type for each in node.output]
        if any(map(is_collated, types)):
            self._add(
                "tie", "makes one of texts that a collation holds equal, and any of them may stay", node
            )

    def _function_plan(self, node: Node) -> None:
        function = next((each for each in expressions_in(node) if each.kind in FUNCTIONS), None)
        name = str(function.fields.get("name")) if function else node.kind
        if function is None or name not in self.declared:
            self._add("python-function", f"calls {name}, which nothing declares to be pure", node)

    # --- expressions

    def expression(self, node: Node, place: _Place) -> None:
        """Looks at an expression and all inside it."""
        if node.kind == "WindowExpression":
            self._window(node, place)
        elif node.kind == "AggregateExpression":
            self._aggregate(node, place)
        else:
            self._plain(node)
        column = node.id if node.kind == "Alias" else None
        is_blind = forgets_order(node, is_forgotten=place.is_blind)
        inner = _Place(place.relation, place.common, column, is_blind)
        for each in expressions_in(node):
            # What is said of a window's function is said with the window.
            if node.kind != "WindowExpression" or each.kind != "AggregateExpression":
                self.expression(each, inner)
            else:
                for argument in expressions_in(each):
                    self.expression(argument, inner)
        self._above.append(node)
        for each in plans_in(node):
            self.plan(each, is_counted=node.kind == "Exists")
        self._above.pop()

    def _plain(self, node: Node) -> None:
        if node.kind in EXPRESSIONS:
            self._add(EXPRESSIONS[node.kind], f"uses {name_of(node.kind)}", node)
        elif node.kind in FUNCTIONS:
            name = str(node.fields.get("name") or node.fields.get("udfName") or node.kind)
            if name not in self.declared:
                self._add("python-function", f"calls {name}, which nothing declares to be pure", node)
        elif reads_clock(node):
            self._add("clock", "uses a date or time that is written as now, today or the like", node)
        elif is_random_cipher(node):
            self._add("random", "uses aes_encrypt without an initialisation vector", node)
        elif node.kind == "AttributeReference":
            attribute = self.tree.attributes.get(node.id or 0)
            if attribute is not None and _OF_FILES in attribute.metadata:
                self._add("file-metadata", f"uses {attribute.name}", node)

    def _aggregate(self, node: Node, place: _Place) -> None:
        function = node.plan("aggregateFunction")
        relation, common = place.relation, place.common
        if relation is not None and self.keys.is_one_row(relation, common):
            return
        nature = _nature(function)
        words = f"uses {self._called(function)}"
        if nature == "float":
            self._add("float-aggregate", f"{words} in floating point", node)
        elif nature == "sketch":
            self._add("sketch", f"{words}, an estimate", node)
        elif nature == "extreme":
            value = columns_used([function.plan("valueExpr")])
            order = common | plain_columns([function.plan("orderingExpr")])
            if not self._follows(value, order) and not (relation and self.keys.is_settled(relation, order)):
                self._add("tie", f"{words}, whose order leaves ties", node)
        elif nature == "listed":
            self._listed(node, function, place)
        elif nature == "collated":
            self._add("tie", f"{words} of texts that a collation holds equal", node)
        elif nature != "steady":
            value = columns_used([function.plan("child")]) if nature == "one" else None
            is_sorted = nature == "list" and (place.is_blind or self._is_sorted_above(place.column))
            if not is_sorted and not (value is not None and self._follows(value, common)):
                self._add("unordered-collection", f"{words} of rows that have no order", node)

    def _follows(self, wanted: Key, columns: Key) -> bool:
        """Whether rows that agree in `columns` have the same in all that are `wanted`."""
        known = self.tree.attributes
        return wanted <= columns and not any(is_collated(known[each].type) for each in wanted)

    def _is_sorted_above(self, column: int | None) -> bool:
        """Whether a column goes into functions alone to which the order of its elements is nothing."""
        for plan in reversed(self._above):
            if column is None or plan.kind not in {"Project", "Filter", "SubqueryAlias"}:
                return False
            kept = plan.nodes("projectList") if plan.kind == "Project" else ()
            used = (each for each in expressions_in(plan) if each not in kept or each.id != column)
            if not all(_is_only_sorted(each, column) for each in used):
                return False
            if column not in plan.output:
                return True
        return False

    def _listed(self, node: Node, function: Node, place: _Place) -> None:
        """A list in one text, with an order of its own."""
        order = place.common | plain_columns(function.nodes("orderExpressions"))
        words = f"uses {self._called(function)}"
        if not function.nodes("orderExpressions"):
            self._add("unordered-collection", f"{words} of rows that have no order", node)
        elif not self._follows(columns_used([function.plan("child")]), order) and not (
            place.relation and self.keys.is_settled(place.relation, order)
        ):
            self._add("tie", f"{words}, whose order leaves ties", node)

    def _window(self, node: Node, place: _Place) -> None:
        spec, function = node.plan("windowSpec"), node.plan("windowFunction")
        is_aggregate = function.kind == "AggregateExpression"
        function = function.plan("aggregateFunction") if is_aggregate else function
        order = spec.nodes("orderSpec")
        columns = plain_columns([*spec.nodes("partitionSpec"), *order])
        if place.relation is not None and self.keys.is_settled(place.relation, columns):
            return
        nature = _nature(function)
        words = f"uses {self._called(function)} over a window"
        if nature == "float":
            self._add("float-aggregate", f"{words}, in floating point", node)
        elif nature == "sketch":
            self._add("sketch", f"{words}, an estimate", node)
        is_placed = nature in {"one", "list", "listed", "extreme", "place", "collated", "unknown"}
        if is_placed and (order or nature in {"place", "extreme", "collated"}):
            self._add("tie", f"{words} whose order, of {self._named(columns)}, leaves ties", node)
        elif is_placed:
            self._add("unordered-collection", f"{words} that has no order", node)
        elif nature != "rank" and _is_by_rows(spec):
            words = f"{words} by ROWS, whose order, of {self._named(columns)}, leaves ties"
            self._add("tie", words, node)

    def _called(self, function: Node) -> str:
        columns = columns_used([function])
        return f"{name_of(function.kind)}({self._named(columns) if columns else ''})"


def _is_only_sorted(node: Node, column: int, *, is_blind: bool = False) -> bool:
    if node.kind == "AttributeReference":
        return is_blind or node.id != column
    inner = forgets_order(node, is_forgotten=is_blind)
    return all(_is_only_sorted(each, column, is_blind=inner) for each in expressions_in(node)) and all(
        below.id != column for each in plans_in(node) for below in nodes_below(each)
    )


def _nature(function: Node) -> str:
    """How an aggregate or window function depends on the order of its rows."""
    if sums_floats(function):
        return "float"
    if function.kind == "Mode" and function.fields.get("reverseOpt") is not None:
        return "steady"
    if function.kind in {"Min", "Max"} and is_collated(function.type):
        return "collated"
    return AGGREGATES.get(function.kind, "unknown")


def _is_by_rows(spec: Node) -> bool:
    """Whether a frame counts rows, so that it parts those that tie."""
    frame = spec.plan("frameSpecification")
    kind = cast("Struct", frame.fields["frameType"]).kind
    ends = [cast("Node", frame.fields[each]).kind for each in ("lower", "upper")]
    return kind != "RangeFrame" and ends != ["UnboundedPreceding", "UnboundedFollowing"]


def search(
    tree: PlanTree, keys: Mapping[str, tuple[tuple[str, ...], ...]], declared: Collection[str]
) -> Search:
    """Everything in a plan that depends on more than its inputs."""
    found = Search(tree, Keys(tree, keys), declared)
    with deep_trees():
        found.plan(tree.root)
    return found
