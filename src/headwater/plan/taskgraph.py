"""Views in the order in which they can be made: by the names they read, ties by name.

Not here: where those names come from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import rustworkx

from headwater.errors import Cycle, UnknownTable
from headwater.names import near_hint, same_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.origin import Origin


def order_of(reads: Mapping[str, tuple[str, ...]], origins: Mapping[str, Origin]) -> tuple[str, ...]:
    """All names, each after those it reads.

    Args:
        reads: what each name reads; names are compared without regard to case.
        origins: where each name is defined, for errors.

    Raises:
        UnknownTable: something is read that is not among the names.
        Cycle: names read each other in a circle, which the error spells out.
    """
    graph: rustworkx.PyDiGraph[str, None] = rustworkx.PyDiGraph()
    nodes = {same_name(name): graph.add_node(name) for name in sorted(reads)}
    for name in sorted(reads):
        for read in reads[name]:
            if same_name(read) not in nodes:
                raise _unknown(name, read, tuple(reads), origins)
            graph.add_edge(nodes[same_name(read)], nodes[same_name(name)], None)
    circle = rustworkx.digraph_find_cycle(graph)
    if circle:
        # Edges run from what is read to the reader; the error's arrows run the other way.
        path = [graph[reader] for _, reader in reversed(list(circle))]
        first = path.index(min(path))
        path = [*path[first:], *path[:first]]
        raise Cycle(path=" -> ".join([*path, path[0]]), origin=origins.get(path[0]))
    return tuple(rustworkx.lexicographical_topological_sort(graph, key=lambda name: name))


def _unknown(view: str, name: str, known: tuple[str, ...], origins: Mapping[str, Origin]) -> UnknownTable:
    return UnknownTable(view=view, name=name, hint=near_hint(name, known), origin=origins.get(view))
