"""The promise that a function in Python depends on its arguments alone.

Not here: what is done about functions without it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

_F = TypeVar("_F", bound=Callable[..., object])
_MARK = "headwater_pure"


def pure(function: _F) -> _F:
    """Declares that a Python function of a view gives the same for the same arguments, always and everywhere.

    A view with a function in Python is refused without it: nobody can see whether it looks at a clock, a file
    or a random number. What the function and all it calls in the project say is part of a view's identity.
    It may stand above `udf` or below it.

    >>> @pure
    ... def initials(name: str) -> str:
    ...     return "".join(word[0] for word in name.split())
    """
    vars(function)[_MARK] = True
    if hasattr(function, "evalType"):  # a udf; plans carry the function inside
        vars(cast("object", vars(function)["func"]))[_MARK] = True
    return function


def is_pure(function: object) -> bool:
    """Whether somebody has declared a function pure."""
    return cast("dict[str, object]", getattr(function, "__dict__", {})).get(_MARK) is True
