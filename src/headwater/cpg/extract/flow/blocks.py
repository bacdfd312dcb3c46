"""The basic blocks of a def: runs of points that are passed from the first to the last.

An exception that leaves the def may leave a block anywhere. Not here: how the points came about.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.cpg.extract.flow.course import WAY_BITS, WAY_KIND

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Blocks:
    """Blocks in the order of their first points, so that every edge to a lower one leads back in a loop.

    `of` tells the block of each point, `members` the points of each block, `successors` which blocks follow a
    block by which kinds of edges.
    """

    of: list[int]
    members: list[list[int]]
    successors: list[list[tuple[int, int]]]


def find_blocks(count: int, ways: Sequence[int], targets: Sequence[int]) -> Blocks:
    """The blocks of `count` points, of which the last is where exceptions leave and stands alone."""
    leaving, entering, before = [0] * count, [0] * count, [0] * count
    for way, target in zip(ways, targets, strict=True):
        source = way >> WAY_BITS
        leaving[source] += 1
        entering[target] += 1
        before[target] = source
    entering[-1] = 0
    of = [0] * count
    members = [[0]]
    for point in range(1, count):
        source = before[point]
        if entering[point] == 1 and leaving[source] == 1 and source < point:
            block = of[source]
            members[block].append(point)
        else:
            block = len(members)
            members.append([point])
        of[point] = block
    successors: list[list[tuple[int, int]]] = [[] for _ in members]
    for way, target in zip(ways, targets, strict=True):
        block = of[target]
        if members[block][0] == target:
            successors[of[way >> WAY_BITS]].append((block, way & WAY_KIND))
    return Blocks(of, members, successors)
