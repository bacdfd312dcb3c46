"""What extraction says of one file: values that are quick to turn into Arrow columns.

Not here: how any of it is found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Newline: TypeAlias = Literal["\n", "\r\n", "\r", "mixed"]
ParseStatus: TypeAlias = Literal["ok", "recovered", "failed", "skipped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """What is wrong with a file; the span is in bytes of the file, or unknown.

    `source` is who says it: `python` where the words are those of Python's own error.
    """

    stage: Literal["read", "parse", "compile", "flow"]
    source: Literal["python", "headwater"] = "python"
    code: str
    severity: Literal["error", "warning"] = "error"
    message: str
    bstart: int | None = None
    bend: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFacts:
    r"""What is true of the file as a whole.

    `line_starts` are offsets into the original bytes, of which there is always one; what follows the last
    line end of a file is a line only if it is not empty, so `a\n` has one line. An empty file has the line
    start 0 and a `line_count` of 0. A byte order mark belongs to the first line, whose column 0 is byte 3.
    `encoding` is Python's own name of the codec, and missing where the file asks for one that there is not.
    `parse_status` is `recovered` where Python refuses the file, and some of it could be read all the same;
    `skipped` is a notebook in another language.

    All offsets are in a text of `text_bytes` bytes: that is the file itself, or of a notebook the code cells,
    each with a line feed after it. Then `notebook_cell_map` has the index of each of these cells among all
    cells, and where it begins and ends.
    """

    file_id: str
    module_fqn: str | None
    encoding: str | None
    newline: Newline | None
    language: Literal["python", "stub", "notebook"]
    is_test: bool
    line_starts: list[int]
    line_count: int
    parse_status: ParseStatus
    text_bytes: int
    notebook_cell_map: list[tuple[int, int, int]] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeColumns:
    """The nodes of a file in pre-order: entry `i` of every list belongs to node `i`.

    The first node is the FILE; its child is the MODULE, unless nothing could be parsed. Both span all bytes.

    `parent` is the number of the node above, missing for the FILE and for what is in no tree. `owner` is that
    of the module, class, function or lambda that runs the node: the nearest around it, but a decorator, a
    default, an annotation, a base class and a type parameter belong to the def around the one that they are
    written at; it is missing for the FILE and the MODULE. `qualname` is missing for all but classes and
    functions. `idx` is missing where the parent's field is no list. Lines count from 1; columns from 0, in
    UTF-8 bytes of the decoded line, as `ast` counts them; `bstart` and `bend` are in the original bytes.

    The entries of `props` are shared between nodes and must not be changed.
    """

    node_id: list[str]
    parent: list[int | None]
    owner: list[int | None]
    node_kind: list[str]
    ast_kind: list[str | None]
    name: list[str | None]
    qualname: list[str | None]
    field: list[str | None]
    idx: list[int | None]
    bstart: list[int]
    bend: list[int]
    line: list[int]
    col: list[int]
    end_line: list[int]
    end_col: list[int]
    name_bstart: list[int | None]
    name_bend: list[int | None]
    props: list[dict[str, str] | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntaxEvidence:
    """All that one file's syntax says."""

    file: FileFacts
    nodes: NodeColumns
    diagnostics: tuple[Diagnostic, ...]
