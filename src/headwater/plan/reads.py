"""Which names a plan reads and calls: from the parsed tree, for order; from the analysed one, to check it.

A tree is Catalyst's JSON: nodes in prefix order, each with its number of children, with further trees inside
fields (subqueries, common table expressions). Not here: where trees come from.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from headwater.errors import UnpinnedRead
from headwater.names import same_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from headwater.origin import Origin

# Leaves that read nothing from outside.
_CLOSED_LEAVES = frozenset(
    {"LocalRelation", "OneRowRelation", "Range", "CTERelationRef", "UnionLoopRef", "EmptyRelation"}
)

# Operators that ask their child for every row once, and let no filter through to it. A sort is none: Spark
# reads some rows twice to find its ranges.
_READ_EVERYTHING = frozenset(
    {"Project", "SubqueryAlias", "View", "Aggregate", "Window", "Union", "Generate", "Expand"}
    | {"MapInArrow", "MapInPandas", "Distinct", "Deduplicate"}
)

# How pyspark names a frame that is handed to spark.sql("... {f}", f=frame); its plan is part of the query.
_INLINED = "_pyspark_connect_temp_view_"


@dataclass(frozen=True, slots=True)
class _Node:
    kind: str
    fields: dict[str, Any]
    children: tuple[_Node, ...]


def names_in_parsed(tree: list[dict[str, Any]], view: str, origin: Origin | None = None) -> tuple[str, ...]:
    """The tables that a parsed query reads, less its common table expressions; sorted, as written.

    Raises:
        UnpinnedRead: it reads a path, or a name of another catalog.
    """
    found = set(_parsed_names(_node(iter(tree)), frozenset()))
    for name in sorted(found):
        if "," in name or "/" in name:
            raise UnpinnedRead(view=view, leaf=name.replace(", ", "."), origin=origin)
    return tuple(sorted(found))


def names_in_analysed(tree: list[dict[str, Any]], view: str, origin: Origin | None = None) -> tuple[str, ...]:
    """The registered names that an analysed plan reads directly, sorted.

    Raises:
        UnpinnedRead: a leaf of the plan is storage that no registered name stands for.
    """
    return tuple(sorted(set(_analysed_names(_node(iter(tree)), view, origin))))


def names_read_whole(tree: list[dict[str, Any]], names: Iterable[str]) -> tuple[str, ...]:
    """Those of the registered `names` that an analysed plan surely reads to the last row, and once; sorted.

    Only operators that ask their child for everything lie between such a name and the top: no filter, which
    the optimiser could push into the scan, no limit, no join, no subquery.
    """
    wanted = {same_name(name): name for name in names}
    root = _node(iter(tree))
    counts = Counter(_reached_names(root, wanted))
    return tuple(sorted(wanted[name] for name in set(_whole_names(root, wanted)) if counts[name] == 1))


def _reached_names(node: _Node, wanted: Mapping[str, str]) -> Iterator[str]:
    name = _view_name(node)
    if name in wanted:
        yield name
        return
    for tree in _inner_trees(node.fields):
        yield from _reached_names(_node(iter(tree)), wanted)
    for child in node.children:
        yield from _reached_names(child, wanted)


def _whole_names(node: _Node, wanted: Mapping[str, str]) -> Iterator[str]:
    name = _view_name(node)
    if name in wanted:
        yield name
    elif node.kind in _READ_EVERYTHING and not _is_global(node):
        for child in node.children:
            yield from _whole_names(child, wanted)


def _is_global(node: _Node) -> bool:
    """An aggregate without groups: Delta answers some of them from its log, and need not scan at all."""
    return node.kind == "Aggregate" and not node.fields.get("groupingExpressions")


def _view_name(node: _Node) -> str:
    return same_name(str(node.fields["desc"]["identifier"]["table"])) if node.kind == "View" else ""


def functions_in_parsed(tree: list[dict[str, Any]]) -> tuple[str, ...]:
    """The functions that a parsed query calls, by their last name; sorted, in small letters."""
    return tuple(sorted(set(_function_names(tree))))


def _function_names(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        fields = cast("dict[str, object]", value)
        if str(fields.get("class")).endswith(".UnresolvedFunction"):
            parts = str(fields["nameParts"]).removeprefix("[").removesuffix("]")
            yield same_name(parts.rpartition(", ")[2])
        for each in fields.values():
            yield from _function_names(each)
    elif isinstance(value, list):
        for each in cast("list[object]", value):
            yield from _function_names(each)


def _parsed_names(node: _Node, hidden: frozenset[str]) -> Iterator[str]:
    if node.kind == "UnresolvedWith":
        for relation in node.fields["cteRelations"]:
            own = {same_name(relation["_1"])}
            inside = hidden | own if node.fields.get("allowRecursion") else hidden
            yield from _parsed_names(_node(iter(relation["_2"])), inside)
            hidden |= own
        fields = {key: value for key, value in node.fields.items() if key != "cteRelations"}
    else:
        fields = node.fields
    if node.kind == "UnresolvedRelation":
        name = str(node.fields["multipartIdentifier"]).removeprefix("[").removesuffix("]")
        if same_name(name) not in hidden and not name.startswith(_INLINED):
            yield name
    for tree in _inner_trees(fields):
        yield from _parsed_names(_node(iter(tree)), hidden)
    for child in node.children:
        yield from _parsed_names(child, hidden)


def _analysed_names(node: _Node, view: str, origin: Origin | None) -> Iterator[str]:
    if node.kind == "View":
        name = str(node.fields["desc"]["identifier"]["table"])
        if not name.startswith(_INLINED):
            yield name
            return
    is_plan = ".plans." in node.fields["class"] or ".execution." in node.fields["class"]
    if is_plan and not node.children and node.kind not in _CLOSED_LEAVES:
        raise UnpinnedRead(view=view, leaf=_leaf_words(node), origin=origin)
    for tree in _inner_trees(node.fields):
        yield from _analysed_names(_node(iter(tree)), view, origin)
    for child in node.children:
        yield from _analysed_names(child, view, origin)


def _leaf_words(node: _Node) -> str:
    return f"a {node.kind}"


def _node(nodes: Iterator[dict[str, Any]]) -> _Node:
    fields = next(nodes)
    children = tuple(_node(nodes) for _ in range(int(fields["num-children"])))
    return _Node(str(fields["class"]).rpartition(".")[2], fields, children)


def _inner_trees(value: object) -> Iterator[list[dict[str, Any]]]:
    """Every tree inside a node's fields: a list whose first element has a class and a number of children."""
    if isinstance(value, dict):
        for each in cast("dict[str, object]", value).values():
            yield from _inner_trees(each)
    elif isinstance(value, list):
        items = cast("list[object]", value)
        if items and isinstance(items[0], dict) and {"class", "num-children"} <= items[0].keys():
            yield cast("list[dict[str, Any]]", items)
        else:
            for each in items:
                yield from _inner_trees(each)
