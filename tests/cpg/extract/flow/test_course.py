"""Ways lead where a jump wants to, and through every cleanup on the way."""

from __future__ import annotations

import pytest

from headwater.cpg.extract.flow.course import RAISED, RETURN, WAY_BITS, Cleanup, Course, Loop, led_on
from headwater.cpg.extract.flow.points import (
    BACK,
    BREAK,
    CONTINUE,
    ENTRY,
    EXCEPTION,
    FINALLY,
    STMT,
    TRUE,
)


def begun() -> Course:
    course = Course(frozenset())
    course.point(None, ENTRY)
    return course


def test_a_point_takes_the_front_the_events_and_the_exceptions() -> None:
    course = begun()
    course.events += [40, 41]
    course.may_raise = True
    assert course.point(7, STMT) == 1
    assert (course.ways, course.targets) == ([0], [1])
    assert course.event_points == [1, 1]
    assert course.raisers == [1 << WAY_BITS | EXCEPTION]
    assert (course.front, course.may_raise) == ([1 << WAY_BITS], False)


@pytest.mark.parametrize("kind", [RETURN, BREAK, CONTINUE], ids=["return", "break", "continue"])
def test_a_jump_stops_at_the_nearest_cleanup(kind: int) -> None:
    course, cleanup = begun(), Cleanup()
    course.around += [Loop(0), Cleanup(), cleanup]
    course.jump(kind, [16])
    assert (cleanup.jumped, list(cleanup.jumps)) == ([16], [kind])
    assert (course.ways, course.returns) == ([], [])


def test_a_jump_without_cleanup_goes_where_it_wants_to() -> None:
    course, loop = begun(), Loop(0)
    course.around += [Cleanup(), loop]
    course.jump(BREAK, [16])
    course.jump(CONTINUE, [32])
    assert loop.breaks == [16]
    assert (course.ways, course.targets) == ([32 | BACK], [0])
    course.around.clear()
    course.jump(RETURN, [48])
    assert course.returns == [48]


def test_what_a_branch_decides_keeps_its_kind() -> None:
    assert led_on([16, 16 | TRUE], FINALLY) == [16 | FINALLY, 16 | TRUE]
    course = begun()
    course.link([16, 16 | TRUE], 0)
    assert course.ways == [16 | BACK, 16 | TRUE]


def test_an_end_tells_apart_what_raises_and_what_only_may() -> None:
    course = begun()
    course.raisers += [16 | EXCEPTION, 32 | RAISED, 32 | EXCEPTION]
    assert course.end() == [1]
    assert (course.ways, course.targets) == ([0, 32 | RAISED], [1, 2])


def test_a_way_that_a_cleanup_lets_go_on_twice_is_one() -> None:
    course = begun()
    course.may_repeat = True
    course.returns += [0 | FINALLY, 0 | FINALLY]
    course.end()
    assert course.ways == [0, 0 | FINALLY]
