"""Dominators, post-dominators and control dependence of the blocks of one def.

Edges between blocks come from structured code: only those to the heads of loops lead to a lower block, and a
loop is entered at its head alone. So dominators are settled in one pass; post-dominators are not that simple,
as a loop can be left from many places. Not here: what a block is.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def find_dominators(successors: Sequence[Sequence[tuple[int, int]]]) -> list[int]:
    """The immediate dominator of each block: -1 where no way from the first leads, and 0 for the first."""
    count = len(successors)
    entering: list[list[int]] = [[] for _ in range(count)]
    nearest = [-1] * count
    nearest[0] = 0
    for block in range(count):
        if block:
            sources = entering[block]
            if not sources:
                continue
            nearest[block] = sources[0] if len(sources) == 1 else meet_above(sources, nearest)
        for follower, _ in successors[block]:
            if follower > block:
                entering[follower].append(block)
    return nearest


def meet_above(blocks: Iterable[int], nearest: Sequence[int]) -> int:
    """The nearest block that dominates all of some blocks, of which each may be its own dominator."""
    heap = [-block for block in set(blocks)]
    heapq.heapify(heap)
    while len(heap) > 1:
        above = -nearest[-heapq.heappop(heap)]
        while heap and heap[0] == above:
            heapq.heappop(heap)
        heapq.heappush(heap, above)
    return -heap[0]


def find_post_dominators(
    successors: Sequence[Sequence[tuple[int, int]]], live: Sequence[bool], ends: Sequence[int]
) -> tuple[list[int], list[int]]:
    """The immediate post-dominator of each live block, and the heads of loops that nothing leaves.

    The end of all ways has the number of blocks as its own; it follows on `ends` and on those heads. A dead
    block has itself.
    """
    count = len(successors)
    entering: list[list[int]] = [[] for _ in range(count)]
    heads: list[int] = []
    for block in range(count):
        if live[block]:
            for follower, _ in successors[block]:
                entering[follower].append(block)
                if follower <= block:
                    heads.append(follower)
    heads.sort()
    order, place = list[int](), [-1] * count
    left = list[int]()
    for end in ends:
        if live[end]:
            _visit(end, entering, order, place)
    while len(order) < sum(live) and heads:
        head = heads.pop()
        if place[head] < 0:
            left.append(head)
            _visit(head, entering, order, place)
    return _settle(successors, order, place, {*ends, *left}), left


def _visit(start: int, entering: Sequence[Sequence[int]], order: list[int], place: list[int]) -> None:
    """Add to the order all blocks from which ways lead to one, each after all that lead to it alone."""
    stack = [(start, 0)]
    place[start] = 0
    while stack:
        block, index = stack.pop()
        sources = entering[block]
        while index < len(sources) and place[sources[index]] >= 0:
            index += 1
        if index == len(sources):
            place[block] = len(order)
            order.append(block)
        else:
            stack.append((block, index + 1))
            place[sources[index]] = 0
            stack.append((sources[index], 0))


def _settle(
    successors: Sequence[Sequence[tuple[int, int]]], order: Sequence[int], place: list[int], ends: set[int]
) -> list[int]:
    """Lower each block's post-dominator until none changes; `order` has the end's neighbours last."""
    end = len(successors)
    place = [*place, len(order)]
    nearest = [-1] * end
    for block in ends:
        nearest[block] = end
    changed = True
    while changed:
        changed = False
        for block in reversed(order):
            if block in ends:
                continue
            following = [follower for follower, _ in successors[block] if nearest[follower] >= 0]
            found = following[0]
            if len(following) > 1:
                found = _meet_below(following, nearest, place)
            if nearest[block] != found:
                nearest[block] = found
                changed = True
    return [block if below < 0 or place[block] < 0 else below for block, below in enumerate(nearest)]


def _meet_below(blocks: Sequence[int], nearest: Sequence[int], place: Sequence[int]) -> int:
    """The nearest block that post-dominates all of some blocks, as far as is known."""
    found = blocks[0]
    for other in blocks:
        while found != other:
            if place[found] < place[other]:
                found = nearest[found]
            else:
                other = nearest[other]  # noqa: PLW2901
    return found


def find_control(
    successors: Sequence[Sequence[tuple[int, int]]], nearest: Sequence[int]
) -> Iterable[tuple[int, int, int]]:
    """Which block depends on which by which kind of edge, given the post-dominators, each once."""
    found: dict[tuple[int, int, int], None] = {}
    for block, following in enumerate(successors):
        if nearest[block] == block or len(following) == 1:
            continue
        stop = nearest[block]
        for follower, kind in following:
            while follower != stop and nearest[follower] != follower:
                found[follower, block, kind] = None
                follower = nearest[follower]  # noqa: PLW2901
    return found
