"""Python's search for cycles, put off while millions of small objects are made that all stay to the end.

Not here: any of these objects.
"""

from __future__ import annotations

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
