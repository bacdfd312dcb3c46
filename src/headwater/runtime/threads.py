"""Work in another thread of this process, on the same Spark.

Not here: which work, and how many threads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

import pyspark

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.runtime.session import RunSession

_Work = TypeVar("_Work", bound="Callable[..., None]")


def for_thread(session: RunSession, work: _Work) -> _Work:
    """The same work for one call in another thread, which begins with this thread's local properties.

    Spark keeps them by thread, and changes them while it runs a query: each call needs a copy of its own.
    """
    inherit = cast("Any", pyspark).inheritable_thread_target
    return cast("_Work", inherit(session.spark)(work))
