"""Python's search for cycles, put off while millions of small objects are made; and room that they left.

Not here: any of these objects.
"""

from __future__ import annotations

import ctypes
import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator


@contextmanager
def without_collections() -> Generator[None]:
    """Look for no cycles meanwhile: there are none, and looking through all objects again takes long."""
    is_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_enabled:
            gc.enable()


def give_back() -> None:
    """Hand room that is free again to the system, where Python's C library can: else it is kept for later.

    What was freed between objects that stay is room that hardly anything else fits into.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
