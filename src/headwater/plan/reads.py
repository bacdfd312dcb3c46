"""Which names a plan reads and calls: from the parsed tree, for order; from the analysed one, to check it.

Not here: where trees come from.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from headwater.errors import UnpinnedRead
from headwater.names import same_name
from headwater.plan.tree import INLINED_FRAME, deep_trees, inner_nodes, plans_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from headwater.origin import Origin
    from headwater.plan.tree import Node, PlanTree

# Leaves that read nothing from outside.
CLOSED_LEAVES = frozenset(
    {"LocalRelation", "OneRowRelation", "Range", "CTERelationRef", "UnionLoopRef", "EmptyRelation"}
    | {"ResolvedInlineTable"}
)

# Operators that ask their child for every row once, and let no filter through to it. A sort is none: Spark
# reads some rows twice to find its ranges.
_READ_EVERYTHING = frozenset(
    {"Project", "SubqueryAlias", "View", "Aggregate", "Window", "Union", "Generate", "Expand"}
    | {"MapInArrow", "MapInPandas", "Distinct", "Deduplicate"}
)


def names_in_parsed(tree: PlanTree, view: str, origin: Origin | None = None) -> tuple[str, ...]:
    """The tables that a parsed query reads, less its common table expressions; sorted, as written.

    Raises:
        UnpinnedRead: it reads a path, or a name of another catalog.
    """
    with deep_trees():
        found = set(_parsed_names(tree.root, frozenset()))
    for parts in sorted(found):
        if len(parts) > 1 or "/" in "".join(parts):
            raise UnpinnedRead(view=view, leaf=".".join(parts), origin=origin)
    return tuple(sorted(name for (name,) in found))


def names_in_analysed(tree: PlanTree, view: str, origin: Origin | None = None) -> tuple[str, ...]:
    """The registered names that an analysed plan reads directly, sorted.

    Raises:
        UnpinnedRead: a leaf of the plan is storage that no registered name stands for.
    """
    found: set[str] = set()
    for node in tree.nodes():
        if node.is_boundary:
            found.add(node.name or "")
        elif node.sort == "plan" and node.kind not in CLOSED_LEAVES and not any(plans_in(node)):
            raise UnpinnedRead(view=view, leaf=f"a {node.kind.rpartition('.')[2]}", origin=origin)
    return tuple(sorted(found))


def names_read_whole(tree: PlanTree, names: Iterable[str]) -> tuple[str, ...]:
    """Those of the registered `names` that an analysed plan surely reads to the last row, and once; sorted.

    Only operators that ask their child for everything lie between such a name and the top: no filter, which
    the optimiser could push into the scan, no limit, no join, no subquery. The tree opens views.
    """
    wanted = {same_name(name): name for name in names}
    with deep_trees():
        counts = Counter(_reached_names(tree.root, wanted))
        whole = set(_whole_names(tree.root, wanted))
    return tuple(sorted(wanted[name] for name in whole if counts[name] == 1))


def _reached_names(node: Node, wanted: Mapping[str, str]) -> Iterator[str]:
    name = _view_name(node)
    if name in wanted:
        yield name
        return
    for each in inner_nodes(node):
        yield from _reached_names(each, wanted)


def _whole_names(node: Node, wanted: Mapping[str, str]) -> Iterator[str]:
    name = _view_name(node)
    if name in wanted:
        yield name
    elif node.kind in _READ_EVERYTHING and not _is_global(node):
        for each in plans_in(node):
            yield from _whole_names(each, wanted)


def _is_global(node: Node) -> bool:
    """An aggregate without groups: Delta answers some of them from its log, and need not scan at all."""
    return node.kind == "Aggregate" and not node.fields["groupingExpressions"]


def _view_name(node: Node) -> str:
    return same_name(node.name or "") if node.kind == "View" else ""


def functions_in_parsed(tree: PlanTree) -> tuple[str, ...]:
    """The functions that a parsed query calls, by their last name; sorted, in small letters."""
    called = (node.fields["nameParts"] for node in tree.nodes() if node.kind == "UnresolvedFunction")
    return tuple(sorted({same_name(parts[-1]) for parts in called}))


def _parsed_names(node: Node, hidden: frozenset[str]) -> Iterator[tuple[str, ...]]:
    if node.kind == "UnresolvedWith":
        recursive = bool(node.fields.get("allowRecursion"))
        for name, relation in _common_tables(node):
            own = {same_name(name)}
            yield from _parsed_names(relation, hidden | own if recursive else hidden)
            hidden |= own
        yield from _parsed_names(node.plan("child"), hidden)
        return
    if node.kind == "UnresolvedRelation":
        parts: tuple[str, ...] = node.fields["multipartIdentifier"]
        is_inner = len(parts) == 1 and (same_name(parts[0]) in hidden or parts[0].startswith(INLINED_FRAME))
        if not is_inner:
            yield parts
    for each in inner_nodes(node):
        yield from _parsed_names(each, hidden)


def _common_tables(node: Node) -> Iterator[tuple[str, Node]]:
    for pair in node.fields["cteRelations"]:
        parts: Mapping[str, Any] = pair.fields
        yield parts["_1"], parts["_2"]
