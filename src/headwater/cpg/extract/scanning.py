"""Ways through the text between nodes, where only blanks, comments, brackets and keywords stand.

Not here: a tokenizer; what is inside a node is known from `ast`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence


class Placed(Protocol):
    """A node that has its place; `ast` gives one to statements, expressions, patterns and a few more."""

    lineno: int
    col_offset: int

    @property
    def end_lineno(self) -> int | None:
        """The line of its end."""

    @property
    def end_col_offset(self) -> int | None:
        """The column of its end."""


# A backslash only stands there to continue a line.
TRIVIA = re.compile(rb"(?:[ \t\f\r\n\\]+|#[^\r\n]*)*+")
GAP = re.compile(rb"(?:[ \t\f\r\n\\()]+|#[^\r\n]*)*+")
BETWEEN_CASES = re.compile(rb"(?:[ \t\f\r\n\\(),:;]+|#[^\r\n]*)*+")
_COMMENT = re.compile(rb"#[^\r\n]*")
_OPENING = re.compile(rb"#[^\r\n]*|(\()")


@dataclass(frozen=True, slots=True)
class Scan:
    """A text in UTF-8 with its line starts; `format_specs` are the ids of f-string nodes without quotes."""

    data: bytes
    starts: list[int]
    format_specs: set[int] = field(default_factory=set[int])

    def start_of(self, node: Placed) -> int:
        """The offset of a node's first byte."""
        return self.starts[node.lineno - 1] + node.col_offset

    def end_of(self, node: Placed) -> int:
        """The offset after a node's last byte."""
        line, column = node.end_lineno, node.end_col_offset
        return self.start_of(node) if line is None or column is None else self.starts[line - 1] + column

    def place(self, node: object, start: int, end: int) -> None:
        """From now on the node has this span, in the way that `ast` tells it; never beyond the text."""
        end = min(end, len(self.data))
        start = min(start, end)
        line = bisect_right(self.starts, start)
        end_line = bisect_right(self.starts, end)
        place = vars(node)
        place["lineno"], place["col_offset"] = line, start - self.starts[line - 1]
        place["end_lineno"], place["end_col_offset"] = end_line, end - self.starts[end_line - 1]

    def after(self, blank: re.Pattern[bytes], offset: int) -> int:
        """The first offset from `offset` on that is not `blank`."""
        found = blank.match(self.data, offset)
        return found.end() if found else offset

    def closed(self, start: int, parts: Sequence[Placed]) -> int:
        """The end of a text from `start` over `parts`, with the brackets that close those it opened."""
        depth, offset = 0, start
        for part in parts:
            gap = self.gap(offset, self.start_of(part))
            depth += gap.count(b"(") - gap.count(b")")
            offset = self.end_of(part)
        for _ in range(depth):
            offset = self.after(TRIVIA, offset) + 1
        return offset

    def gap(self, start: int, end: int) -> bytes:
        """The text between two nodes without its comments."""
        text = self.data[start:end]
        return _COMMENT.sub(b"", text) if b"#" in text else text

    def opened(self, start: int, end: int, depth: int) -> int:
        """Where the last `depth` brackets that open between two offsets begin; `end` if there are none."""
        found = [each.start() for each in _OPENING.finditer(self.data, start, end) if each[1]]
        return found[-depth] if 0 < depth <= len(found) else end
