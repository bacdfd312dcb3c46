"""A function's expression over placeholders, as bytes: what SQL calls are made of and identity rests on.

Not here: filling the placeholders; a builder inside the JVM does that.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import CodeType
from typing import TYPE_CHECKING, Any, cast

from pyspark.sql.connect.functions import builtin

from headwater.functions.builtins import templating
from headwater.functions.marks import take_mark
from headwater.messages import messages_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from google.protobuf.message import Message
    from pyspark.sql import Column

    from headwater.digest import Plain

PLACEHOLDER = "hw_argument_"
_LAMBDA_VARIABLE = "spark.connect.Expression.UnresolvedNamedLambdaVariable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A serialised Connect expression; its columns `hw_argument_0` and so on are arguments."""

    arity: int
    content: bytes


def template_of(name: str, build: Callable[[list[Column]], Column], arity: int) -> Template:
    """The template that `build` makes over so many placeholders; equal in every process."""
    with templating():
        given = [builtin.col(f"{PLACEHOLDER}{place}") for place in range(arity)]
        made = cast("Any", build(given))
    expression: Message = made._expr.to_plan(None)
    _settle(expression, name)
    return Template(arity=arity, content=expression.SerializeToString(deterministic=True))


def code_facts(function: Callable[..., object]) -> list[Plain]:
    """What changes when the code of a plain function does, and not when it moves or is told otherwise.

    Code that it calls is not among them; a function for workers stands by itself.
    """
    return _code_facts(function.__code__, function.__doc__)


def _code_facts(code: CodeType, doc: str | None) -> list[Plain]:
    constants = [_constant_facts(each) for each in code.co_consts if doc is None or each != doc]
    return [code.co_code, constants, list(code.co_names), code.co_exceptiontable]


def _constant_facts(constant: object) -> Plain:
    if isinstance(constant, CodeType):
        return _code_facts(constant, None)
    if isinstance(constant, frozenset):
        return ["set", *sorted(repr(each) for each in cast("frozenset[object]", constant))]
    return repr(constant)


def _settle(root: Message, name: str) -> None:
    """Lambda variables get names of this function's own, in order, since pyspark counts them up; marks go."""
    names: dict[str, str] = {}
    for message in messages_of(root):
        take_mark(message)
        kind = message.DESCRIPTOR.full_name
        if kind == _LAMBDA_VARIABLE:
            parts = cast("list[str]", cast("Any", message).name_parts)
            parts[0] = names.setdefault(parts[0], f"hw_{name}_{len(names)}")
        elif kind == "spark.connect.Expression":
            message.ClearField("common")
