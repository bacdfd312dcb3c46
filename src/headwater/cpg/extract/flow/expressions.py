"""The points and events of expressions and patterns, in the order of evaluation.

It goes without recursion: what is still to do lies on a stack, as nodes to evaluate and as steps, which are
tuples of a function and what it is given besides the course. Not here: statements.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from headwater.cpg.extract.flow.conditions import ASKED_IN_PARTS, Ways, ask, branch_at, settle
from headwater.cpg.extract.flow.course import SITE_ACTION, SITE_BITS, WAY_BITS
from headwater.cpg.extract.flow.points import (
    AWAIT,
    BIND,
    BRANCH,
    DEF,
    DEL,
    EXPR,
    FALSE,
    LOOP,
    TRUE,
    USE,
    YIELD,
)
from headwater.cpg.extract.walk import AST_CLASSES

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.cpg.extract.flow.course import Course

_ACTION_OF = {ast.Load: USE, ast.Store: DEF, ast.Del: DEL}
_NOT_EVALUATED = frozenset(
    {"ctx", "op", "ops", "id", "attr", "arg", "name", "kind", "conversion", "str", "rest", "kwd_attrs"}
)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SUSPENDING = {ast.Await: AWAIT, ast.Yield: YIELD, ast.YieldFrom: YIELD}
# What has made points for each of its outcomes when it is evaluated, so that it needs none for itself.
_COMPOSITE = frozenset({ast.BoolOp, ast.IfExp, *_SUSPENDING})
_BRANCHING = (ast.BoolOp, ast.IfExp, ast.Compare, *_COMPREHENSIONS, *_SUSPENDING)


def evaluate(course: Course, node: Any) -> None:  # noqa: C901, PLR0912  one loop, run for every node
    """Add the events of an expression or pattern, and the points of what branches or suspends in it."""
    outer, course.stack = course.stack, [node]
    stack, events, parameters = course.stack, course.events, course.parameters
    push, pop, add = stack.append, stack.pop, events.append
    name, constant, attribute, call = ast.Name, ast.Constant, ast.Attribute, ast.Call
    action_of, plain, special = _ACTION_OF, _PLAIN, _SPECIAL
    while stack:
        node = pop()
        kind = node.__class__
        if kind is name:
            action = action_of[node.ctx.__class__]
            add(node.row << SITE_BITS | action)
            if action != DEF:
                if action == DEL:
                    course.unbinds_parameter |= node.id in parameters
                if node.id not in parameters:
                    course.may_raise = True
        elif kind is attribute:
            course.may_raise = True
            push(node.value)
        elif kind is call:
            course.may_raise = True
            for each in reversed(node.keywords):
                push(each.value)
            stack.extend(node.args[::-1])
            push(node.func)
        elif kind is constant:
            pass
        elif kind in plain:
            course.may_raise = True
            for field in plain[kind]:
                value = getattr(node, field)
                if value.__class__ is list:
                    stack.extend(value[::-1])
                elif value is not None:
                    push(value)
        else:
            special[kind](course, node)
    course.stack = outer


def branch_on(course: Course, node: Any) -> tuple[Ways, Ways]:
    """Evaluate a condition to branch points; the ways on which it is true, and those on which it is not."""
    if node.__class__ in ASKED_IN_PARTS:
        evaluate(course, (ask, node))
        return course.results.pop()
    evaluate(course, node)
    return branch_at(course, node)


def evaluate_arm(course: Course, node: Any) -> None:
    """Evaluate an expression that may not be met at all, and end it with a point."""
    evaluate(course, node)
    _end_arm(course, node)


def loop_over(course: Course, iterable: Any, target: Any, row: int) -> int:
    """Add the points of an evaluated iterable and of the loop at `row`; the loop's, with an item in front."""
    course.may_raise = True
    course.point(iterable.row, EXPR)
    return bind_at(course, target, row, LOOP)


def bind_at(course: Course, target: Any, row: int, kind: int) -> int:
    """Add a point that gives a target its value, where the point does not fail; the front is where not.

    A target that branches is given its value after the point, at one of its own.
    """
    branches = _branches(target)
    first = len(course.events)
    if not branches:
        evaluate(course, target)
        if kind == LOOP:
            bind_since(course, first)
    course.may_raise = True
    here = course.point(row, kind)
    if kind == LOOP:
        course.front = [here << WAY_BITS | TRUE]
    if branches:
        evaluate_arm(course, target)
    return here


def bind_since(course: Course, first: int) -> None:
    """Turn the defs among the latest events into binds."""
    events = course.events
    for index in range(first, len(events)):
        if events[index] & SITE_ACTION == DEF:
            events[index] += BIND - DEF


def _branches(target: Any) -> bool:
    if target.__class__ is ast.Name:
        return False
    return any(
        isinstance(node, _BRANCHING) and not (isinstance(node, ast.Compare) and len(node.ops) == 1)
        for node in ast.walk(target)
    )


def _run(course: Course, step: Any) -> None:
    step[0](course, *step[1:])


def _end_arm(course: Course, node: Any) -> None:
    if node.__class__ not in _COMPOSITE:
        course.point(node.row, EXPR)


def _join(course: Course, ways: Ways) -> None:
    course.front = course.front + ways


# Values.


def _choose(course: Course, node: ast.IfExp) -> None:
    course.stack.append((_choose_body, node))
    course.stack.append((ask, node.test))


def _choose_body(course: Course, node: ast.IfExp) -> None:
    course.front, other = course.results.pop()
    course.stack.extend(((_choose_orelse, node, other), (_end_arm, node.body), node.body))


def _choose_orelse(course: Course, node: ast.IfExp, other: Ways) -> None:
    done, course.front = course.front, other
    course.stack.extend(((_join, done), (_end_arm, node.orelse), node.orelse))


def _combine(course: Course, node: ast.BoolOp) -> None:
    course.stack.append((_combine_rest, node, 1, []))
    course.stack.append((ask, node.values[0]))


def _combine_rest(course: Course, node: ast.BoolOp, index: int, settled: Ways) -> None:
    course.front = settle(course, node, settled)
    operand = node.values[index]
    if index + 1 < len(node.values):
        course.stack.extend(((_combine_rest, node, index + 1, settled), (ask, operand)))
    else:
        course.stack.extend(((_join, settled), (_end_arm, operand), operand))


def _compare(course: Course, node: ast.Compare) -> None:
    course.may_raise = True
    if len(node.ops) > 1:
        course.stack.append((_compare_rest, node, 0, []))
    course.stack.append(node.comparators[0])
    course.stack.append(node.left)


def _compare_rest(course: Course, node: ast.Compare, index: int, settled: Ways) -> None:
    course.may_raise = True
    row = node.comparators[index].__dict__["row"]
    if index + 1 == len(node.comparators):
        course.point(row, EXPR)
        course.front.extend(settled)
        return
    here = course.point(row, BRANCH) << WAY_BITS
    settled.append(here | FALSE)
    course.front = [here | TRUE]
    course.stack.append((_compare_rest, node, index + 1, settled))
    course.stack.append(node.comparators[index + 1])


def _comprehend(course: Course, node: Any) -> None:
    heads: list[int] = []
    todo: list[Any] = []
    for clause in node.generators:
        todo += [clause.iter, (_clause, clause, heads)]
        for condition in clause.ifs:
            todo += [(ask, condition), (_filter, heads)]
    elements = (node.key, node.value) if node.__class__ is ast.DictComp else (node.elt,)
    for element in elements:
        todo += [element, (_end_arm, element)]
    course.stack.append((_end_clauses, heads))
    course.stack.extend(reversed(todo))


def _clause(course: Course, clause: Any, heads: list[int]) -> None:
    heads.append(loop_over(course, clause.iter, clause.target, clause.row))


def _filter(course: Course, heads: list[int]) -> None:
    course.front, false = course.results.pop()
    course.link(false, heads[-1])


def _end_clauses(course: Course, heads: list[int]) -> None:
    for head in reversed(heads):
        course.link(course.front, head)
        course.front = [head << WAY_BITS | FALSE]


def _suspend(course: Course, node: Any) -> None:
    course.stack.append((_suspend_at, node))
    if node.value is not None:
        course.stack.append(node.value)


def _suspend_at(course: Course, node: Any) -> None:
    course.may_raise = True
    course.point(node.row, _SUSPENDING[node.__class__])


def _defer(course: Course, node: ast.Lambda) -> None:
    """A lambda is a def of its own; its defaults are evaluated here."""
    course.inner.append(node)
    defaults = (*node.args.defaults, *filter(None, node.args.kw_defaults))
    course.stack.extend(reversed(defaults))


def _make_dict(course: Course, node: ast.Dict) -> None:
    course.may_raise = True
    for key, value in zip(reversed(node.keys), reversed(node.values), strict=True):
        course.stack.append(value)
        if key is not None:
            course.stack.append(key)


# Patterns.


def _capture(course: Course, node: Any) -> None:
    if node.name is not None:
        course.stack.append((_bind, node.row))
    if getattr(node, "pattern", None) is not None:
        course.stack.append(node.pattern)


def _match_mapping(course: Course, node: Any) -> None:
    course.may_raise = True
    if node.rest is not None:
        course.stack.append((_bind, node.row))
    course.stack.extend(reversed((*node.keys, *node.patterns)))


def _bind(course: Course, row: int) -> None:
    course.events.append(row << SITE_BITS | BIND)


def _nothing(course: Course, node: Any) -> None:
    del course, node


_SPECIAL: dict[type[object], Callable[[Course, Any], None]] = {
    tuple: _run,
    ast.IfExp: _choose,
    ast.BoolOp: _combine,
    ast.Compare: _compare,
    **dict.fromkeys(_COMPREHENSIONS, _comprehend),
    **dict.fromkeys(_SUSPENDING, _suspend),
    ast.Lambda: _defer,
    ast.Dict: _make_dict,
    ast.MatchAs: _capture,
    ast.MatchStar: _capture,
    ast.MatchMapping: _match_mapping,
    ast.MatchSingleton: _nothing,
}
# The fields of all other nodes, from last to first: what is pushed last is evaluated first. A walrus gives
# its target the value, so it is the one whose fields are evaluated the other way round.
_PLAIN: dict[type[ast.AST], tuple[str, ...]] = {
    kind: tuple(name for name in reversed(kind._fields) if name not in _NOT_EVALUATED)
    for kind in AST_CLASSES
    if kind not in _SPECIAL
} | {ast.NamedExpr: ("target", "value")}
