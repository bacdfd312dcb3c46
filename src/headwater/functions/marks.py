"""The mark that a function leaves on what it made, so that a plan can say which functions it used.

A body is made of built-in expressions; nothing in them tells whose they are. The mark is a key in the
metadata of the alias around them: put on only within `marking`, read when a view's plan is taken apart, and
gone before Spark sees the plan. Not here: taking plans apart.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Generator

    from google.protobuf.message import Message

_FUNCTION_KEY = "headwater.function"
_ALIAS = "spark.connect.Expression.Alias"
_WITH_COLUMNS = "spark.connect.WithColumns"
_marking: ContextVar[bool] = ContextVar("headwater_marking", default=False)


@contextmanager
def marking() -> Generator[None]:
    """While entered, functions mark what they make: for whoever builds plans, and takes the marks off."""
    token = _marking.set(True)
    try:
        yield
    finally:
        _marking.reset(token)


def mark_of(name: str) -> dict[str, str]:
    """The metadata that says that the function of this name made a column; none outside of `marking`."""
    return {_FUNCTION_KEY: name} if _marking.get() else {}


def take_mark(message: Message) -> str | None:
    """Removes the mark of this message, if it has one, and says which function left it.

    A column named by `withColumn` takes over what the function says of it: where there is no metadata next to
    the name, Spark would write that there is none at all.
    """
    if message.DESCRIPTOR.full_name == _WITH_COLUMNS:
        for named in cast("Any", message).aliases:
            inner = named
            while not inner.HasField("metadata") and inner.expr.HasField("alias"):
                inner = inner.expr.alias
            if inner.HasField("metadata"):
                named.metadata = inner.metadata
    content = _metadata(message)
    name = content.pop(_FUNCTION_KEY, None)
    if name is None:
        return None
    if content:
        cast("Any", message).metadata = json.dumps(content)
    else:
        message.ClearField("metadata")
    return name if isinstance(name, str) else None


def _metadata(message: Message) -> dict[str, object]:
    if message.DESCRIPTOR.full_name != _ALIAS or not message.HasField("metadata"):
        return {}
    return json.loads(cast("Any", message).metadata)
