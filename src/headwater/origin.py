"""Where a definition stands: the file and line that every value and error about it carries."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Origin:
    """A place in the user's own files; `line` is 0 where only the file is known."""

    path: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.path}:{self.line}" if self.line else self.path
