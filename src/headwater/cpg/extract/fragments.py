"""Pieces of a text, put together and parsed by `ast`, with every node where its text stands in the file.

Not here: which pieces are worth a try.
"""

from __future__ import annotations

import ast
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.cpg.extract.kinds import Error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.cpg.extract.scanning import Scan

# The bytes that are tried for one file, as a multiple of its size: what goes beyond it stays unparsed. The
# worst that people write takes 5; files that take more are nested deeply, and those are small.
_EFFORT = 20
_EFFORT_FOR_ANY = 2_000_000
_REFUSALS = (SyntaxError, ValueError, RecursionError, MemoryError)


@dataclass(frozen=True, slots=True)
class Piece:
    """The text from `start` to `end`, between two texts that are not in the file."""

    start: int
    end: int
    before: bytes = b""
    after: bytes = b"\n"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Python does not take the pieces; `offset` is the begin of the line it gave up at, as far as it says."""

    offset: int


class Fragments:
    """Parses pieces of one text, until the text's share of effort is used up."""

    def __init__(self, scan: Scan) -> None:
        self.scan = scan
        self.effort = len(scan.data) * _EFFORT + _EFFORT_FOR_ANY

    def spend(self, size: int) -> bool:
        """Whether there is enough effort left for a text of this size; takes it."""
        self.effort -= size
        return self.effort > 0

    def parse(self, pieces: Sequence[Piece]) -> list[ast.stmt] | Refusal:
        """The statements that the pieces are, one after the other."""
        data = self.scan.data
        text = b"".join(
            [part for each in pieces for part in (each.before, data[each.start : each.end], each.after)]
        )
        if not self.spend(len(text)):
            return Refusal(pieces[0].start)
        places = self._places_of(pieces)
        try:
            module = ast.parse(text.decode())
        except _REFUSALS as error:
            line = (getattr(error, "lineno", None) or 1) - 1
            return Refusal(self.scan.starts[places[min(max(line, 0), len(places) - 1)][0] - 1])
        _move(module, places)
        return module.body

    def unparsed(self, start: int, end: int) -> Error:
        """A node for a text that did not parse."""
        node = Error()
        self.scan.place(node, start, end)
        return node

    def indent_of(self, offset: int) -> bytes | None:
        """The blanks between the start of a line and an offset, if nothing else is there."""
        starts = self.scan.starts
        before = self.scan.data[starts[bisect_right(starts, offset) - 1] : offset]
        return None if before.strip() else before

    def _places_of(self, pieces: Sequence[Piece]) -> list[tuple[int, int]]:
        """For each line of the text in pieces the file's line, and how far right it has to go."""
        starts = self.scan.starts
        places: list[tuple[int, int]] = []
        for each in pieces:
            line = bisect_right(starts, each.start)
            last = bisect_right(starts, each.end)
            column = each.start - starts[line - 1]
            *whole, begun = each.before.split(b"\n")
            places += [(line, 0)] * len(whole)
            places.append((line, column - len(begun)))
            places += [(further, 0) for further in range(line + 1, last + 1)]
        return places


def _move(module: ast.Module, places: Sequence[tuple[int, int]]) -> None:
    """Put each node to its place in the file; inside f-strings, Python 3.11 gives lines that are none."""
    if all(place == (line, 0) for line, place in enumerate(places, 1)):
        return
    most = len(places)
    for node in ast.walk(module):
        place: dict[str, int] = node.__dict__
        if "lineno" in place:
            line, column = places[min(max(place["lineno"], 1), most) - 1]
            end_line, end_column = places[min(max(place["end_lineno"], 1), most) - 1]
            place["lineno"], place["end_lineno"] = line, end_line
            place["col_offset"] += column
            place["end_col_offset"] += end_column
