"""Spark's built-in functions, for the bodies of ours: live columns for callers, templates for the catalogue.

A body is written once, against `F`. Called by a user it builds what `pyspark.sql.functions` builds at that
moment; within `templating` it builds Connect expressions, which need no session and become bytes.
Not here: the bodies.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, cast

from pyspark.errors import utils as error_origins
from pyspark.sql import functions as _live
from pyspark.sql import udf as classic_udf
from pyspark.sql.connect import udf as connect_udf
from pyspark.sql.connect.functions import builtin as _connect
from pyspark.sql.utils import is_remote
from pyspark.util import PythonEvalType

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from pyspark.sql import Column
    from pyspark.sql import functions as F
    from pyspark.sql.types import DataType

_lock = threading.RLock()
_templating: ContextVar[bool] = ContextVar("headwater_templating", default=False)


class _Builtins:
    """Looks like `pyspark.sql.functions`; which one it is depends on who asks."""

    def __getattr__(self, name: str) -> Any:
        return getattr(_connect if _templating.get() else _live, name)


if not TYPE_CHECKING:
    F = _Builtins()


@contextmanager
def templating() -> Generator[None]:
    """While entered, bodies build Connect expressions, whatever sessions there are; one thread at a time."""
    with _lock:
        token = _templating.set(True)
        # With a session at hand pyspark asks the JVM, at every call, where the caller's line is.
        asking, error_origins._enable_debugging_cache = error_origins._enable_debugging_cache, False
        try:
            yield
        finally:
            error_origins._enable_debugging_cache = asking
            _templating.reset(token)


def call_arrow(function: Callable[..., Any], returns: DataType, *columns: Column) -> Column:
    """A column made by an Arrow function in Python workers: for what Spark cannot express."""
    # Not through `arrow_udf`: it evaluates the function's annotations, and pyarrow's types take no brackets.
    create = connect_udf._create_udf if _templating.get() or is_remote() else classic_udf._create_udf
    return cast("Any", create)(function, returns, PythonEvalType.SQL_SCALAR_ARROW_UDF)(*columns)


__all__ = ["F", "call_arrow", "templating"]
