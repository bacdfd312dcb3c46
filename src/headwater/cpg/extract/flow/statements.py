"""The points and events of statements: what leads where, and what is left how.

Not here: what expressions do, and what definitions are besides statements among others.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from headwater.cpg.extract.flow.course import RAISED, RETURN, SITE_BITS, WAY_BITS, Cleanup, Loop, led_on
from headwater.cpg.extract.flow.definitions import draw_class, draw_function, draw_type_alias
from headwater.cpg.extract.flow.expressions import bind_at, branch_on, evaluate, evaluate_arm, loop_over
from headwater.cpg.extract.flow.points import (
    BIND,
    BRANCH,
    BREAK,
    CASE,
    CONTINUE,
    DEF,
    EXCEPTION,
    EXPR,
    FALSE,
    FINALLY,
    STMT,
    TRUE,
    USE,
    WITH_ENTER,
    WITH_EXIT,
)
from headwater.cpg.extract.kinds import Error
from headwater.cpg.extract.walk import AST_CLASSES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from headwater.cpg.extract.flow.course import Course

_CATCHES_ALL = "BaseException"


def draw_body(course: Course, body: Sequence[ast.stmt]) -> None:
    """Add statements that follow each other."""
    drawers = _DRAWERS
    for statement in body:
        drawers[statement.__class__](course, statement)


# Simple statements.


def _plain(course: Course, node: Any) -> None:
    course.point(node.row, STMT)


def _unparsed(course: Course, node: Any) -> None:
    """What did not parse may do anything, and what follows it is read as if it came after."""
    course.may_raise = True
    course.point(node.row, STMT)


def _expression(course: Course, node: Any) -> None:
    evaluate(course, node.value)
    course.point(node.row, STMT)


def _assign(course: Course, node: Any) -> None:
    evaluate(course, node.value)
    for target in node.targets:
        evaluate(course, target)
    course.point(node.row, STMT)


def _aug_assign(course: Course, node: Any) -> None:
    target = node.target
    if target.__class__ is ast.Name:
        course.events.append(target.row << SITE_BITS | USE)
        evaluate(course, node.value)
        course.events.append(target.row << SITE_BITS | DEF)
    else:
        evaluate(course, target)
        evaluate(course, node.value)
    course.may_raise = True
    course.point(node.row, STMT)


def _ann_assign(course: Course, node: Any) -> None:
    if node.value is not None:
        evaluate(course, node.value)
    if node.value is not None or node.target.__class__ is not ast.Name:
        evaluate(course, node.target)
    evaluate(course, node.annotation)
    course.point(node.row, STMT)


def _delete(course: Course, node: Any) -> None:
    for target in node.targets:
        evaluate(course, target)
    course.may_raise = True
    course.point(node.row, STMT)


def _import(course: Course, node: Any) -> None:
    for alias in node.names:
        if alias.name != "*":
            course.events.append(alias.row << SITE_BITS | DEF)
    course.may_raise = True
    course.point(node.row, STMT)


def _return(course: Course, node: Any) -> None:
    if node.value is not None:
        evaluate(course, node.value)
    course.point(node.row, STMT)
    course.jump(RETURN, course.front)
    course.front = []


def _break(course: Course, node: Any) -> None:
    course.jump(BREAK, [course.point(node.row, STMT) << WAY_BITS | BREAK])
    course.front = []


def _continue(course: Course, node: Any) -> None:
    course.jump(CONTINUE, [course.point(node.row, STMT) << WAY_BITS | CONTINUE])
    course.front = []


def _raise(course: Course, node: Any) -> None:
    for value in (node.exc, node.cause):
        if value is not None:
            evaluate(course, value)
    _raise_at(course, node.row)


def _raise_at(course: Course, row: int) -> None:
    course.may_raise = False
    course.raisers.append(course.point(row, STMT) << WAY_BITS | RAISED)
    course.front = []


def _assert(course: Course, node: Any) -> None:
    """The statement's own point is where it raises."""
    true, course.front = branch_on(course, node.test)
    if node.msg is not None:
        evaluate_arm(course, node.msg)
    _raise_at(course, node.row)
    course.front = true


# Branches and loops.


def _if(course: Course, node: Any) -> None:
    ends: list[int] = []
    while True:  # a chain of elifs is as deep as it is long
        true, false = branch_on(course, node.test)
        course.front = true
        draw_body(course, node.body)
        ends += course.front
        course.front = false
        if len(node.orelse) != 1 or node.orelse[0].__class__ is not ast.If:
            break
        node = node.orelse[0]
    draw_body(course, node.orelse)
    course.front = ends + course.front


def _while(course: Course, node: Any) -> None:
    head = len(course.nodes)
    course.front, false = branch_on(course, node.test)
    _loop_body(course, node, head, false)


def _for(course: Course, node: Any) -> None:
    evaluate(course, node.iter)
    head = loop_over(course, node.iter, node.target, node.row)
    _loop_body(course, node, head, [head << WAY_BITS | FALSE])


def _loop_body(course: Course, node: Any, head: int, done: list[int]) -> None:
    loop = Loop(head)
    course.around.append(loop)
    draw_body(course, node.body)
    course.link(course.front, head)
    course.around.pop()
    course.front = done
    draw_body(course, node.orelse)
    course.front = course.front + loop.breaks


def _match(course: Course, node: Any) -> None:
    evaluate(course, node.subject)
    course.point(node.subject.row, EXPR)
    ends: list[int] = []
    for case in node.cases:
        evaluate(course, case.pattern)
        here = course.point(case.row, BRANCH) << WAY_BITS
        course.front = [here | CASE]
        failed = [] if _always_matches(case.pattern) else [here | FALSE]
        if case.guard is not None:
            course.front, false = branch_on(course, case.guard)
            failed += false
        draw_body(course, case.body)
        ends += course.front
        course.front = failed
    course.front = ends + course.front


def _always_matches(pattern: Any) -> bool:
    while pattern.__class__ is ast.MatchOr or (pattern.__class__ is ast.MatchAs and pattern.pattern):
        pattern = pattern.patterns[-1] if pattern.__class__ is ast.MatchOr else pattern.pattern
    return pattern.__class__ is ast.MatchAs


# Cleanups and handlers.


def _with(course: Course, node: Any) -> None:
    outside = course.raisers
    entered: list[tuple[Cleanup, list[int]]] = []
    for item in node.items:
        _enter_with(course, item, entered)
    draw_body(course, node.body)
    for item, (cleanup, raisers) in zip(reversed(node.items), reversed(entered), strict=True):
        course.around.pop()
        course.raisers = raisers
        course.front = course.front + cleanup.raised + cleanup.jumped
        here = course.point(item.row, WITH_EXIT) << WAY_BITS
        raisers.append(here | RAISED)
        for kind in cleanup.jumps:
            course.jump(kind, [here | FINALLY])
    course.raisers = outside


def _enter_with(course: Course, item: Any, entered: list[tuple[Cleanup, list[int]]]) -> None:
    cleanup, target = Cleanup(), item.optional_vars
    course.may_repeat = True
    evaluate(course, item.context_expr)
    if target is None or target.__class__ is ast.Name:
        if target is not None:
            course.events.append(target.row << SITE_BITS | DEF)
        course.may_raise = True
        course.point(item.row, WITH_ENTER)
    else:  # what takes the value apart may fail when the with is already entered
        here = bind_at(course, target, item.row, WITH_ENTER)
        cleanup.raised.append(here << WAY_BITS | EXCEPTION)
    entered.append((cleanup, course.raisers))
    course.around.append(cleanup)
    course.raisers = cleanup.raised


def _try(course: Course, node: Any) -> None:
    if not node.finalbody:
        _try_body(course, node)
        return
    outside, cleanup = course.raisers, Cleanup()
    course.may_repeat = True
    course.around.append(cleanup)
    course.raisers = cleanup.raised
    _try_body(course, node)
    course.around.pop()
    course.raisers = outside
    is_passed = bool(course.front)
    course.front = course.front + cleanup.raised + cleanup.jumped
    draw_body(course, node.finalbody)
    ends = led_on(course.front, FINALLY)
    if cleanup.raised:
        outside.extend(ends)
    for kind in cleanup.jumps:
        course.jump(kind, ends)
    course.front = ends if is_passed else []


def _try_body(course: Course, node: Any) -> None:
    """The body, its handlers and its else, with the exceptions that leave them where they go without."""
    outside, caught = course.raisers, list[int]()
    first = len(course.nodes)
    if node.handlers:
        course.raisers = caught
    draw_body(course, node.body)
    course.raisers = outside
    draw_body(course, node.orelse)
    ends = course.front
    if node.handlers:
        # Signals can be met anywhere, so a handler is never dead for what its body looks like.
        course.front = caught or [first << WAY_BITS | EXCEPTION]
        draw_handlers = _draw_star_handlers if node.__class__.__name__ == "TryStar" else _draw_handlers
        course.front = ends + draw_handlers(course, node.handlers)


def _draw_handlers(course: Course, handlers: Sequence[Any]) -> list[int]:
    ends: list[int] = []
    for handler in handlers:
        is_last = handler is handlers[-1]
        here = _handler_point(course, handler, is_last=is_last)
        _handler_body(course, handler)
        ends += course.front
        course.front = [here | FALSE]
    return ends


def _draw_star_handlers(course: Course, handlers: Sequence[Any]) -> list[int]:
    """Every handler has its turn, whatever the one before did; what is left over is raised at the end."""
    outside = course.raisers
    course.may_repeat = True
    for handler in handlers:
        is_last = handler is handlers[-1]
        course.raisers = outside
        here = _handler_point(course, handler, is_last=is_last)
        course.raisers = outside if is_last else list[int]()
        _handler_body(course, handler)
        if is_last:
            outside.extend(led_on(course.front, RAISED))
            course.front = [*course.front, here | FALSE]
        else:
            course.front = [*course.front, here | FALSE, *course.raisers]
    return course.front


def _handler_point(course: Course, handler: Any, *, is_last: bool) -> int:
    """The point that asks whether a handler fits; the last that may not fit lets the exception go on."""
    fits_all = handler.type is None or (
        handler.type.__class__ is ast.Name and handler.type.id == _CATCHES_ALL
    )
    if handler.type is not None:
        evaluate(course, handler.type)
    if handler.name is not None:
        course.events.append(handler.row << SITE_BITS | BIND)
        course.unbinds_parameter |= handler.name in course.parameters
    course.may_raise &= not (fits_all or is_last)
    here = course.point(handler.row, BRANCH) << WAY_BITS
    if is_last and not fits_all:
        course.raisers.append(here | RAISED)
    course.front = [here | TRUE]
    return here


def _handler_body(course: Course, handler: Any) -> None:
    """The body, of which it is told where the handler's name, which has just been given its value, ends."""
    if handler.name is None:
        draw_body(course, handler.body)
        return
    place, first = len(course.handlers), len(course.events) - 1
    course.handlers.append((first, first))
    draw_body(course, handler.body)
    course.handlers[place] = first, len(course.events)


_DRAWERS: dict[type[ast.AST], Callable[[Course, Any], None]] = {
    Error: _unparsed,
    ast.Expr: _expression,
    ast.Assign: _assign,
    ast.AugAssign: _aug_assign,
    ast.AnnAssign: _ann_assign,
    ast.Delete: _delete,
    ast.Import: _import,
    ast.ImportFrom: _import,
    ast.Return: _return,
    ast.Raise: _raise,
    ast.Assert: _assert,
    **dict.fromkeys((ast.Pass, ast.Global, ast.Nonlocal), _plain),
    ast.Break: _break,
    ast.Continue: _continue,
    **dict.fromkeys((ast.FunctionDef, ast.AsyncFunctionDef), draw_function),
    ast.ClassDef: draw_class,
    ast.If: _if,
    ast.While: _while,
    **dict.fromkeys((ast.For, ast.AsyncFor), _for),
    **dict.fromkeys((ast.With, ast.AsyncWith), _with),
    ast.Match: _match,
    ast.Try: _try,
    ast.TryStar: _try,
    **{kind: draw_type_alias for kind in AST_CLASSES if kind.__name__ == "TypeAlias"},
}
