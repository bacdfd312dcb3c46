"""Blocks are runs of points with one way through, whatever may leave the def by an exception."""

from __future__ import annotations

from flow_reading import read

from headwater.cpg.extract.flow.blocks import find_blocks
from headwater.cpg.extract.flow.course import WAY_BITS
from headwater.cpg.extract.flow.points import FALSE, TRUE


def blocks_of(text: str, name: str = "f") -> list[list[str]]:
    reading = read(text)
    blocks: dict[int, list[str]] = {}
    for point in reading.def_points(name):
        blocks.setdefault(reading.flow.points.block[point], []).append(reading.label(point))
    return [blocks[number] for number in sorted(blocks)]


def test_an_exception_that_leaves_the_def_does_not_end_a_block() -> None:
    assert blocks_of("def f():\n a()\n b()") == [["entry", "stmt a()", "stmt b()", "exit"], ["exc_exit"]]


def test_an_exception_that_is_met_inside_the_def_does() -> None:
    assert blocks_of("def f():\n try:\n  a()\n  b()\n except: pass") == [
        ["entry", "stmt a()"],
        ["stmt b()"],
        ["branch except:", "stmt pass"],
        ["exit"],
        ["exc_exit"],
    ]


def test_a_branch_ends_a_block_and_what_is_met_twice_begins_one() -> None:
    assert blocks_of("def f(a):\n if a:\n  x = 1\n y = 1\n return") == [
        ["entry", "branch a"],
        ["stmt x = 1"],
        ["stmt y = 1", "stmt return", "exit"],
        ["exc_exit"],
    ]


def test_a_block_goes_on_behind_another() -> None:
    assert blocks_of("def f(a):\n if a:\n  x = 1\n else:\n  raise a\n y = 1")[1:] == [
        ["stmt x = 1", "stmt y = 1", "exit"],
        ["stmt raise a"],
        ["exc_exit"],
    ]


def test_followers_are_told_by_kind() -> None:
    ways = [0, 1 << WAY_BITS | TRUE, 1 << WAY_BITS | FALSE, 2 << WAY_BITS]
    blocks = find_blocks(5, ways, [1, 2, 3, 3])
    assert blocks.members == [[0, 1], [2], [3], [4]]
    assert blocks.of == [0, 0, 1, 2, 3]
    assert blocks.successors == [[(1, TRUE), (2, FALSE)], [(2, 0)], [], []]
