"""Conditions: the branch points of what is tested, operand by operand, and the ways on which it is true.

All here are steps of an evaluation: they put what is to be done next on the course's stack, and leave the
ways on which a condition is true, and those on which it is not, in its results. Not here: what carries out
the steps.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, TypeAlias

from headwater.cpg.extract.flow.course import WAY_BITS
from headwater.cpg.extract.flow.points import BRANCH, FALSE, TRUE

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.cpg.extract.flow.course import Course

Ways: TypeAlias = list[int]


def ask(course: Course, node: Any) -> None:
    """Test a condition, in parts if it has any that are tested one by one."""
    in_parts = ASKED_IN_PARTS.get(node.__class__)
    if in_parts is not None:
        in_parts(course, node)
    else:
        course.stack.append((_ask_value, node))
        course.stack.append(node)


def _ask_value(course: Course, node: Any) -> None:
    course.results.append(branch_at(course, node))


def branch_at(course: Course, node: Any) -> tuple[Ways, Ways]:
    """A branch point of an evaluated condition; one that is always the same has one way only."""
    value = _constant_of(node)
    course.may_raise |= value is None
    here = course.point(node.row, BRANCH) << WAY_BITS
    return [] if value is False else [here | TRUE], [] if value is True else [here | FALSE]


def _constant_of(node: Any) -> bool | None:
    """What a condition always is, as far as Python itself looks."""
    if node.__class__ is ast.Constant:
        return bool(node.value)
    return True if node.__class__ is ast.Name and node.id == "__debug__" else None


def _ask_not(course: Course, node: ast.UnaryOp) -> None:
    if node.op.__class__ is ast.Not:
        course.stack.append((_swap,))
        course.stack.append((ask, node.operand))
    else:
        course.stack.append((_ask_value, node))
        course.stack.append(node.operand)


def _swap(course: Course) -> None:
    true, false = course.results.pop()
    course.results.append((false, true))


def _ask_bool(course: Course, node: ast.BoolOp) -> None:
    course.stack.append((_ask_rest, node, 1, []))
    course.stack.append((ask, node.values[0]))


def _ask_rest(course: Course, node: ast.BoolOp, index: int, settled: Ways) -> None:
    """Go on to the next operand, where the one before has not settled the outcome."""
    open_ways = settle(course, node, settled)
    if index < len(node.values):
        course.front = open_ways
        course.stack.append((_ask_rest, node, index + 1, settled))
        course.stack.append((ask, node.values[index]))
    elif node.op.__class__ is ast.And:
        course.results.append((open_ways, settled))
    else:
        course.results.append((settled, open_ways))


def settle(course: Course, node: ast.BoolOp, settled: Ways) -> Ways:
    """Take the ways on which the latest operand settles the outcome; those on which the next has to."""
    true, false = course.results.pop()
    if node.op.__class__ is ast.And:
        settled.extend(false)
        return true
    settled.extend(true)
    return false


def _ask_choice(course: Course, node: ast.IfExp) -> None:
    course.stack.append((_ask_body, node))
    course.stack.append((ask, node.test))


def _ask_body(course: Course, node: ast.IfExp) -> None:
    course.front, other = course.results.pop()
    course.stack.append((_ask_orelse, node, other))
    course.stack.append((ask, node.body))


def _ask_orelse(course: Course, node: ast.IfExp, other: Ways) -> None:
    course.front = other
    course.stack.append((_merge,))
    course.stack.append((ask, node.orelse))


def _merge(course: Course) -> None:
    second, first = course.results.pop(), course.results.pop()
    course.results.append((first[0] + second[0], first[1] + second[1]))


def _ask_compare(course: Course, node: ast.Compare) -> None:
    if len(node.ops) == 1:
        course.stack.append((_ask_value, node))
        course.stack.append(node)
    else:
        course.stack.append((_ask_comparator, node, 0, []))
        course.stack.append(node.comparators[0])
        course.stack.append(node.left)


def _ask_comparator(course: Course, node: ast.Compare, index: int, settled: Ways) -> None:
    course.may_raise = True
    here = course.point(node.comparators[index].__dict__["row"], BRANCH) << WAY_BITS
    settled.append(here | FALSE)
    if index + 1 < len(node.comparators):
        course.front = [here | TRUE]
        course.stack.append((_ask_comparator, node, index + 1, settled))
        course.stack.append(node.comparators[index + 1])
    else:
        course.results.append(([here | TRUE], settled))


ASKED_IN_PARTS: dict[type[ast.AST], Callable[[Course, Any], None]] = {
    ast.BoolOp: _ask_bool,
    ast.UnaryOp: _ask_not,
    ast.IfExp: _ask_choice,
    ast.Compare: _ask_compare,
}
