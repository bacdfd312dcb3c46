"""Graphs of objects as plain values: trees that refer to nodes, settled so that only content counts.

Not here: how an object becomes a tree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, cast

from headwater.digest import Plain, canonical_bytes, digest_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(frozen=True, slots=True)
class Node:
    """Stands for a function, class, module or object that may be met again, or may reach itself."""

    number: int


@dataclass(frozen=True, slots=True)
class Unordered:
    """Stands for the items of a set."""

    items: tuple[Encoded, ...]


Encoded: TypeAlias = "bool | int | float | str | bytes | Sequence[Encoded] | Node | Unordered | None"


def settled(root: Encoded, nodes: Sequence[Encoded]) -> Plain:
    """The graph as a list of trees that refer to each other by place, though nodes may reach each other.

    Nodes start alike and are told apart by what they hold, then by what those hold, and so on until a round
    tells no more of them apart. Nodes that are still alike are one: whether two equal functions are one
    object or two changes when they are pickled, and must not count.
    """
    colours = [""] * len(nodes)
    known = 0
    while len(set(colours)) > known:
        known = len(set(colours))
        colours = [digest_of(_resolved(node, colours, colours.__getitem__)) for node in nodes]
    places: dict[str, int] = {}
    trees: list[Encoded] = [root]

    def place_of(number: int) -> int:
        if colours[number] not in places:
            places[colours[number]] = len(trees)
            trees.append(nodes[number])
        return places[colours[number]]

    settled: list[Plain] = []
    while len(settled) < len(trees):
        settled.append(_resolved(trees[len(settled)], colours, place_of))
    return settled


def _resolved(encoded: Encoded, colours: Sequence[str], name: Callable[[int], Plain]) -> Plain:
    match encoded:
        case Node():
            return ["node", name(encoded.number)]
        case Unordered():
            by_content = sorted(
                encoded.items,
                key=lambda item: canonical_bytes(_resolved(item, colours, colours.__getitem__)),
            )
            return [_resolved(item, colours, name) for item in by_content]
        case list() | tuple():
            return [_resolved(item, colours, name) for item in encoded]
        case _:
            return cast("Plain", encoded)
