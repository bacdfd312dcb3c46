"""Which columns of a relation tell its rows apart, worked out from declared keys and from the plan's shape.

What is not understood has no key: a relation can have more keys than are found, never fewer. Not here: what
follows from rows that nothing tells apart.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import islice, product
from typing import TYPE_CHECKING, cast

from headwater.names import same_name
from headwater.plan.tree import ExprId, Node, Opaque, PlanTree, Struct, inner_nodes

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

Key = frozenset[int]
_NONE: frozenset[Key] = frozenset()
_ONE_ROW: frozenset[Key] = frozenset({frozenset()})
# More keys than this are not followed; the shortest stay.
_MOST = 16
# Values of these types can compare equal and be different: zero and minus zero, texts with a collation.
_LOOSE = re.compile(r"float|double|collate|__COLLATIONS")
_SAME_ROWS = frozenset(
    {"SubqueryAlias", "ResolvedHint", "Repartition", "RepartitionByExpression", "RebalancePartitions"}
    | {"LocalLimit", "Offset", "Tail", "CollectMetrics", "Sort", "View", "CTERelationDef"}
)


@dataclass(slots=True)
class Keys:
    """The keys of every relation in a tree; `declared` has those of datasets, by name."""

    tree: PlanTree
    declared: Mapping[str, tuple[tuple[str, ...], ...]]
    _tables: dict[int, Node] | None = None
    _known: dict[int, frozenset[Key]] = field(default_factory=dict[int, frozenset[Key]])

    def of(self, node: Node) -> frozenset[Key]:
        """The keys of what a plan puts out, as ids of its columns; an empty key means at most one row."""
        known = self._known.get(id(node))
        if known is None:
            self._known[id(node)] = _NONE  # a table that reaches itself has none
            known = self._known[id(node)] = _shortest(self._work_out(node))
        return known

    def is_one_row(self, node: Node, columns: Collection[int]) -> bool:
        """Whether no two rows agree in these columns."""
        return any(key <= set(columns) for key in self.of(node))

    def is_settled(self, node: Node, columns: Collection[int]) -> bool:
        """Whether rows that agree in these columns are one row, or alike in everything."""
        return self.is_one_row(node, columns) or self.is_all(node.output, columns)

    def is_all(self, wanted: Iterable[int], columns: Collection[int]) -> bool:
        """Whether values that compare equal in `columns` are the same in all that are `wanted`."""
        types = self.tree.attributes
        return all(each in columns and not _LOOSE.search(str(types[each].type)) for each in wanted)

    def common_table(self, node: Node) -> Node:
        """What a reference to a common table stands for."""
        if self._tables is None:
            defined = (each for each in self.tree.nodes() if each.kind == "CTERelationDef")
            self._tables = {each.fields["id"]: each for each in defined}
        return self._tables[node.fields["cteId"]]

    def _work_out(self, node: Node) -> Iterable[Key]:
        match node.kind:
            case "View" if node.is_boundary:
                return self._declared(node)
            case "Project":
                return _renamed(self.of(node.plan("child")), _copies(node.nodes("projectList")))
            case "Filter":
                fixed = _fixed(node.plan("condition"))
                return (key - fixed for key in self.of(node.plan("child")))
            case "Aggregate":
                return self._grouped(node)
            case "Window":
                return self._numbered(node)
            case "Deduplicate":
                return {*self.of(node.plan("child")), plain_columns(node.nodes("keys"))}
            case "Distinct":
                return {*self.of(node.plan("child")), frozenset(node.output)}
            case "Join":
                return self._joined(node)
            case "Generate":
                return self._generated(node)
            case _:
                return self._work_out_rest(node)

    def _work_out_rest(self, node: Node) -> Iterable[Key]:
        match node.kind:
            case "LateralJoin":
                left, right = self.of(node.plan("left")), self.of(node.plan("right").plan("plan"))
                return left if frozenset[int]() in right else _both(left, right)
            case "Intersect" | "Except":
                kept = self._in_place(node.plan("left"), node.output)
                return kept if node.fields["isAll"] else {*kept, frozenset(node.output)}
            case "WithCTE":
                return self._in_place(node.plan("plan"), node.output)
            case "CTERelationRef":
                return self._in_place(self.common_table(node), node.output)
            case "GlobalLimit" if literal_number(node.plan("limitExpr")) == 1:
                return _ONE_ROW
            case "Sample" if node.fields["withReplacement"] is not False:
                return _NONE
            case "OneRowRelation":
                return _ONE_ROW
            case "LocalRelation":
                return _ONE_ROW if node.rows is not None and node.rows[0] <= 1 else _NONE
            case "Range":
                return (frozenset(node.output),)
            case _:
                is_same = node.kind in _SAME_ROWS or node.kind in {"GlobalLimit", "Sample"}
                return self._in_place(node.plan("child"), node.output) if is_same else _NONE

    def _in_place(self, below: Node, names: Sequence[int]) -> Iterable[Key]:
        """The keys of a relation whose columns go by other names, place by place."""
        where: dict[int, list[int]] = {}
        for old, new in zip(below.output, names, strict=True):
            where.setdefault(old, []).append(new)
        return _renamed(self.of(below), where)

    def _declared(self, node: Node) -> Iterator[Key]:
        named = {same_name(self.tree.attributes[each].name): each for each in node.output}
        by_dataset = {same_name(name): keys for name, keys in self.declared.items()}
        for columns in by_dataset.get(same_name(node.name or ""), ()):
            ids = [named.get(same_name(each)) for each in columns]
            if None not in ids:
                yield frozenset(each for each in ids if each is not None)

    def _grouped(self, node: Node) -> Iterator[Key]:
        groups = [each for each in node.nodes("groupingExpressions") if each.literal is None]
        results = node.nodes("aggregateExpressions")
        places = [
            [each.id or 0 for each in results if same_expression(bare(each), group)] for group in groups
        ]
        for chosen in islice(product(*places), _MOST):
            yield frozenset(chosen)
        columns = plain_columns(groups)
        yield from _renamed((key for key in self.of(node.plan("child")) if key <= columns), _copies(results))

    def _numbered(self, node: Node) -> Iterator[Key]:
        yield from self.of(node.plan("child"))
        partition = node.nodes("partitionSpec")
        columns = plain_columns(partition)
        if len(columns) == len(partition):
            for each in node.nodes("windowExpressions"):
                window = bare(each)
                if window.kind == "WindowExpression" and window.plan("windowFunction").kind == "RowNumber":
                    yield columns | {each.id or 0}

    def _joined(self, node: Node) -> Iterator[Key]:
        left, right = self.of(node.plan("left")), self.of(node.plan("right"))
        kind = cast("Struct", node.fields["joinType"]).kind
        if kind in {"LeftSemi", "LeftAnti", "ExistenceJoin"}:
            yield from left
            return
        yield from _both(left, right)
        equal = _equal_columns(node)
        if kind in {"Inner", "Cross", "LeftOuter", "LeftSingle"} and any(key <= equal for key in right):
            yield from left
        if kind in {"Inner", "Cross", "RightOuter"} and any(key <= equal for key in left):
            yield from right

    def _generated(self, node: Node) -> Iterator[Key]:
        """A position, and a map's key, are there once for each row that was."""
        generator = node.plan("generator")
        if generator.kind == "GeneratorOuter":
            generator = generator.plan("child")
        first = node.nodes("generatorOutput")[0].id or 0
        given = generator.plan("child").type if generator.kind in {"Explode", "PosExplode"} else None
        is_map = not isinstance(given, str) and given is not None and given["type"] == "map"
        if generator.kind == "PosExplode" or is_map:
            yield from (key | {first} for key in self.of(node.plan("child")))


def plain_columns(nodes: Iterable[Node]) -> Key:
    """The columns that expressions are; those inside of structs and sort orders too."""
    found: set[int] = set()
    waiting = list(nodes)
    while waiting:
        each = waiting.pop()
        if each.kind == "AttributeReference":
            found.add(each.id or 0)
        elif each.kind == "SortOrder":
            waiting.append(each.plan("child"))
        elif each.kind == "CreateNamedStruct":
            waiting.extend(each.nodes("children")[1::2])
    return frozenset(found)


def columns_used(nodes: Iterable[Node]) -> Key:
    """The columns that expressions are worked out from; those of a query around are constants."""
    found: set[int] = set()
    waiting = list(nodes)
    while waiting:
        each = waiting.pop()
        if each.kind == "AttributeReference":
            found.add(each.id or 0)
        elif each.kind != "OuterReference":
            waiting.extend(inner_nodes(each))
    return frozenset(found)


def literal_number(node: Node) -> int | None:
    """The number that a literal is, None if it is none."""
    match = re.fullmatch(r"\d+:(-?\d+);", node.literal or "")
    return int(match[1]) if match else None


def same_expression(one: object, two: object) -> bool:
    """Whether two expressions are surely the same."""
    match one, two:
        case Node(), Node():
            is_same = (one.kind, one.type, one.literal) == (two.kind, two.type, two.literal)
            if one.kind == "AttributeReference" or not is_same:
                return is_same and one.id == two.id
            return same_expression(tuple(one.fields.items()), tuple(two.fields.items()))
        case Struct(), Struct():
            return one.kind == two.kind and same_expression(
                tuple(one.fields.items()), tuple(two.fields.items())
            )
        case tuple(), tuple():
            first, second = cast("tuple[object, ...]", one), cast("tuple[object, ...]", two)
            return len(first) == len(second) and all(map(same_expression, first, second))
        case ((Opaque() | ExprId()), _):
            return False
        case _:
            return one == two


def bare(node: Node) -> Node:
    """What an alias names; any other expression is itself."""
    return node.plan("child") if node.kind == "Alias" else node


def _copies(nodes: Iterable[Node]) -> dict[int, list[int]]:
    """Under which names each column is passed on."""
    found: dict[int, list[int]] = {}
    for each in nodes:
        column = bare(each)
        if column.kind == "AttributeReference" and (each.id or 0) not in found.setdefault(column.id or 0, []):
            found[column.id or 0].append(each.id or 0)
    return found


def _renamed(keys: Iterable[Key], where: Mapping[int, Sequence[int]]) -> Iterator[Key]:
    for key in keys:
        places = [where.get(each, ()) for each in sorted(key)]
        yield from (frozenset(chosen) for chosen in islice(product(*places), _MOST))


def _both(left: Iterable[Key], right: Collection[Key]) -> Iterator[Key]:
    return (one | two for one in left for two in right)


def _shortest(keys: Iterable[Key]) -> frozenset[Key]:
    """Keys that have no other inside them."""
    kept: list[Key] = []
    for key in sorted(set(keys), key=lambda each: (len(each), sorted(each))):
        if len(kept) < _MOST and not any(each <= key for each in kept):
            kept.append(key)
    return frozenset(kept)


def _conditions(node: object) -> Iterator[Node]:
    """The conditions that must all hold."""
    if isinstance(node, Node) and node.kind == "And":
        yield from _conditions(node.plan("left"))
        yield from _conditions(node.plan("right"))
    elif isinstance(node, Node):
        yield node


def equalities(node: object) -> Iterator[tuple[Node, Node]]:
    """What a condition, if there is one, wants to be equal; nulls may count as equal, or as nothing."""
    for each in _conditions(node):
        if each.kind in {"EqualTo", "EqualNullSafe"}:
            yield each.plan("left"), each.plan("right")


def _fixed(condition: Node) -> Key:
    """The columns that have one value in all rows that meet a condition."""
    found: set[int] = set()
    for pair in equalities(condition):
        for one, two in (pair, pair[::-1]):
            value = two.plan("child") if two.kind == "Cast" else two
            if one.kind == "AttributeReference" and value.kind in {"Literal", "OuterReference"}:
                found.add(one.id or 0)
    return frozenset(found)


def _equal_columns(join: Node) -> Key:
    """The columns, of either side, that a join wants to be equal to a column of the other."""
    left, right = set(join.plan("left").output), set(join.plan("right").output)
    found: set[int] = set()
    for one, two in equalities(join.fields.get("condition")):
        pair = plain_columns((one,)) | plain_columns((two,))
        if one.kind == two.kind == "AttributeReference" and pair & left and pair & right:
            found |= pair
    return frozenset(found)
