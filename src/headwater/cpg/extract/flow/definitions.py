"""The points and events of statements that define functions, classes and type aliases.

Not here: what is inside a function or class, which is a def of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.cpg.extract.flow.course import SITE_BITS
from headwater.cpg.extract.flow.expressions import evaluate
from headwater.cpg.extract.flow.points import DEF, STMT

if TYPE_CHECKING:
    import ast

    from headwater.cpg.extract.flow.course import Course


def draw_function(course: Course, node: Any) -> None:
    """Add a function's statement: what is evaluated where it is written, and its name."""
    arguments = node.args
    for value in (*node.decorator_list, *arguments.defaults, *filter(None, arguments.kw_defaults)):
        evaluate(course, value)
    _type_parameters(course, node)
    for each in parameters_of(arguments):
        if each.annotation is not None:
            evaluate(course, each.annotation)
    if node.returns is not None:
        evaluate(course, node.returns)
    course.inner.append(node)
    course.events.append(node.row << SITE_BITS | DEF)
    course.point(node.row, STMT)


def draw_class(course: Course, node: Any) -> None:
    """Add a class statement, which runs the class body and gives its name a value."""
    for value in node.decorator_list:
        evaluate(course, value)
    _type_parameters(course, node)
    for value in (*node.bases, *(each.value for each in node.keywords)):
        evaluate(course, value)
    course.inner.append(node)
    course.events.append(node.row << SITE_BITS | DEF)
    course.may_raise = True
    course.point(node.row, STMT)


def _type_parameters(course: Course, node: Any) -> None:
    for each in getattr(node, "type_params", ()):
        course.events.append(each.row << SITE_BITS | DEF)
        for value in (getattr(each, "bound", None), getattr(each, "default_value", None)):
            if value is not None:
                evaluate(course, value)


def parameters_of(arguments: ast.arguments) -> list[Any]:
    """The parameters in the order in which they are written."""
    return [
        *arguments.posonlyargs,
        *arguments.args,
        *filter(None, (arguments.vararg,)),
        *arguments.kwonlyargs,
        *filter(None, (arguments.kwarg,)),
    ]


def draw_type_alias(course: Course, node: Any) -> None:
    """Add a type alias, whose value belongs to where it is written."""
    _type_parameters(course, node)
    evaluate(course, node.value)
    evaluate(course, node.name)
    course.point(node.row, STMT)
