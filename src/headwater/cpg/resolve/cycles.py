"""What leads back to itself: the cycles of a graph of links, those that others need first."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


def find_components(links: Mapping[int, Sequence[int]]) -> list[list[int]]:
    """The things that lead to each other, together; whatever a component leads to stands before it.

    A link to what has no links of its own in `links` is passed over. Tarjan's way, without recursion, so
    that a chain may be as long as it likes.

    >>> find_components({1: [2], 2: [1, 3], 3: []})
    [[3], [2, 1]]
    """
    found: list[list[int]] = []
    order: dict[int, int] = {}
    lowest: dict[int, int] = {}
    waiting: list[int] = []
    is_waiting: set[int] = set()
    for start in links:
        path: list[tuple[int, Iterator[int]]] = []
        following: int | None = start if start not in order else None
        while following is not None or path:
            if following is not None:
                order[following] = lowest[following] = len(order)
                waiting.append(following)
                is_waiting.add(following)
                path.append((following, iter(links[following])))
            at, rest = path[-1]
            following = None
            for other in rest:
                if other in is_waiting:
                    lowest[at] = min(lowest[at], order[other])
                elif other in links and other not in order:
                    following = other
                    break
            if following is not None:
                continue
            path.pop()
            if path:
                lowest[path[-1][0]] = min(lowest[path[-1][0]], lowest[at])
            if lowest[at] == order[at]:
                found.append(_taken(waiting, at))
                is_waiting.difference_update(found[-1])
    return found


def _taken(waiting: list[int], last: int) -> list[int]:
    """Take from the end of a list, up to one of its members."""
    taken: list[int] = []
    while not taken or taken[-1] != last:
        taken.append(waiting.pop())
    return taken
