"""The Python in a Jupyter notebook: its code cells as one text, in which what is not Python is blank.

Each cell is followed by a line feed. Blank are: lines that begin with `%` or `!`, lines that ask for help
(`x?`), assignments of what a magic gives (`files = !ls`), and cells that begin with `%%`, of which only the
first line is blank where the rest is Python (`%%time`). A blank has as many bytes as what stood there, so all
places are those in the joined cells. A block of nothing but magics is empty then, and the notebook recovered.
Not here: outputs, and cells with words.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from headwater.cpg.extract.evidence import Diagnostic
from headwater.cpg.extract.source import SourceText, line_starts_of

if TYPE_CHECKING:
    from collections.abc import Iterator

# The index of a cell among all cells, and its span in the joined text.
CellMap: TypeAlias = "list[tuple[int, int, int]]"

NOTEBOOK_SUFFIX = ".ipynb"
OTHER_LANGUAGE = "other-language"
_PYTHON = re.compile(r"i?python", re.IGNORECASE)
_CELL_MAGIC = re.compile(rb"\s*%%(\w*)[^\r\n]*")
_RUNS_PYTHON = frozenset({b"time", b"timeit", b"capture", b"prun", b"memit", b"mprun"})
# At the begin of a statement, none of these is Python.
_MAGIC = re.compile(
    rb"[ \t\f]*(?:"
    rb"[%!][^\r\n]*|"
    rb"\?[^\r\n]*|"
    rb"[\w.*%\[\]'\"\x80-\xff]+\?{1,2}[ \t]*(?:\#[^\r\n]*)?(?=[\r\n]|$)|"
    rb"[A-Za-z_\x80-\xff][\w.,\[\]'\" \t\x80-\xff]*=[ \t]*(?:!(?!=)|%{1,2}[A-Za-z])[^\r\n]*"
    rb")"
)
_GOES_ON = re.compile(rb"(?:\r\n|\r|\n)[^\r\n]*")
_BLANKED = re.compile(rb"[^\r\n]")
# What matters for where a statement ends; a string that is not closed ends with its line.
_TOKEN = re.compile(
    rb'"""(?:[^"\\]+|\\.|"(?!""))*+(?:"""|$)|'
    rb"'''(?:[^'\\]+|\\.|'(?!''))*+(?:'''|$)|"
    rb'"(?:[^"\\\r\n]+|\\.)*+"?|'
    rb"'(?:[^'\\\r\n]+|\\.)*+'?|"
    rb"\#[^\r\n]*|\\(?:\r\n|.)|[\[({]|[\])}]|\r\n|\r|\n",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Notebook:
    """The joined code cells, and where each of them is."""

    source: SourceText
    cells: CellMap


def read_notebook(content: bytes) -> Notebook | Diagnostic:
    """The Python in a notebook of format 3 or 4, or why there is none."""
    try:
        document = json.loads(content)
        cells = list(_code_cells(document))
        language = _language_of(document)
    except json.JSONDecodeError as error:
        place = len(error.doc[: error.pos].encode(errors="replace"))
        return _unread("broken-notebook", f"not JSON: {error.msg}", min(place, len(content)))
    except (ValueError, RecursionError) as error:
        return _unread("broken-notebook", f"not JSON: {error}")
    except (TypeError, KeyError, AttributeError):
        return _unread("broken-notebook", "no notebook of format 3 or 4")
    if not _PYTHON.match(language):
        return _unread(OTHER_LANGUAGE, f"a notebook in {language}", severity="warning")
    return _joined(cells)


def masked(cell: bytes) -> bytes:
    """The text of a cell with blanks for what is not Python; line ends stay."""
    magic = _CELL_MAGIC.match(cell)
    if magic and magic[1] not in _RUNS_PYTHON:
        return _BLANKED.sub(b" ", cell)
    begin = magic.end() if magic else 0
    parts = [_BLANKED.sub(b" ", cell[:begin])]
    while begin < len(cell):
        end = _end_of_magic(cell, begin)
        if end > begin:
            parts.append(_BLANKED.sub(b" ", cell[begin:end]))
            begin = end
        end = _end_of_statement(cell, begin)
        parts.append(cell[begin:end])
        begin = end
    return b"".join(parts)


def _end_of_magic(cell: bytes, begin: int) -> int:
    """Where a magic ends that begins here, with the lines it goes on with; if there is none, `begin`."""
    found = _MAGIC.match(cell, begin)
    while found and cell[found.end() - 1 : found.end()] == b"\\":
        further = _GOES_ON.match(cell, found.end())
        if further is None:
            break
        found = further
    return found.end() if found else begin


def _end_of_statement(cell: bytes, begin: int) -> int:
    """Where the line ends that a statement ends with."""
    depth = 0
    for token in _TOKEN.finditer(cell, begin):
        mark = token[0]
        if mark in b"[({":
            depth += 1
        elif mark in b"])}":
            depth = max(depth - 1, 0)
        elif mark in {b"\r\n", b"\r", b"\n"} and not depth:
            return token.end()
    return len(cell)


def _joined(cells: list[tuple[int, str]]) -> Notebook | Diagnostic:
    parts: list[bytes] = []
    places: CellMap = []
    begin = 0
    for index, text in cells:
        if "\0" in text:
            return _unread("null-bytes", f"cell {index} contains null bytes")
        try:
            cell = text.encode()
        except UnicodeEncodeError as error:
            return _unread("undecodable", f"cell {index} is no text: {error.reason}")
        parts += (masked(cell), b"\n")
        places.append((index, begin, begin + len(cell)))
        begin += len(cell) + 1
    data = b"".join(parts)
    source = SourceText(
        text=data.decode(),
        data=data,
        starts=line_starts_of(data),
        encoding="utf-8",
        shift=0,
        origins=None,
    )
    return Notebook(source=source, cells=places)


def _code_cells(document: Any) -> Iterator[tuple[int, str]]:
    """The index and the text of each cell with code; format 3 has sheets, and a language for each cell."""
    if "cells" in document:
        cells = document["cells"]
    else:
        cells = [cell for sheet in document["worksheets"] for cell in sheet["cells"]]
    for index, cell in enumerate(cells):
        if cell["cell_type"] == "code" and _PYTHON.match(cell.get("language", "python")):
            text = cell["source"] if "source" in cell else cell["input"]
            yield index, text if isinstance(text, str) else "".join(text)


def _language_of(document: Any) -> str:
    """The language that a notebook says it is in; Python if it says nothing."""
    said = document.get("metadata", {})
    spec = said.get("kernelspec", {})
    return str(said.get("language_info", {}).get("name") or spec.get("language") or "python")


def _unread(
    code: str, message: str, place: int | None = None, *, severity: Literal["error", "warning"] = "error"
) -> Diagnostic:
    return Diagnostic(
        stage="read",
        source="headwater",
        code=code,
        severity=severity,
        message=message,
        bstart=place,
        bend=place,
    )
