"""Exact places inside f-strings for Python 3.11, whose `ast` puts them wherever; from 3.12 on it is right.

An f-string is one or more string literals side by side. Their text is scanned by the rules of 3.11: no
backslash, comment or own quote inside a field. A FormattedValue spans `{...}`; its expression is parsed anew
where it stands; a format spec begins with its colon, as it does from 3.12 on. A Constant spans its raw
text; one that goes on in the next literal spans from its first byte to its last, over the quotes between;
and the text of `{x=}` is part of the Constant before the field, so the two overlap there.
Not here: the places of the strings themselves, which `ast` knows.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from headwater.cpg.extract.scanning import TRIVIA

if TYPE_CHECKING:
    from headwater.cpg.extract.scanning import Scan

_OPENING = re.compile(rb"([A-Za-z]{0,2})(\"\"\"|'''|\"|')")
_UNTIL_QUOTE = {
    b'"': re.compile(rb'(?:[^"\\]+|\\.)*+', re.DOTALL),
    b"'": re.compile(rb"(?:[^'\\]+|\\.)*+", re.DOTALL),
    b'"""': re.compile(rb'(?:[^"\\]+|\\.|"(?!""))*+', re.DOTALL),
    b"'''": re.compile(rb"(?:[^'\\]+|\\.|'(?!''))*+", re.DOTALL),
}
# The text up to the next field, by whether it is in a format spec and whether it is raw.
_LITERALS = {
    (False, False): re.compile(rb"(?:[^{}\\]+|\\N\{[^}]*\}|\\[^{}]|\\(?=[{}])|\{\{|\}\})*+", re.DOTALL),
    (False, True): re.compile(rb"(?:[^{}]+|\{\{|\}\})*+"),
    (True, False): re.compile(rb"(?:[^{}\\]+|\\N\{[^}]*\}|\\[^{}]|\\(?=[{}]))*+", re.DOTALL),
    (True, True): re.compile(rb"[^{}]*"),
}
_MARK = re.compile(rb"\"\"\"|'''|\"|'|[\[\](){}]|[!=<>]=|[!:=]")
_BLANK = re.compile(rb"[ \t\f\r\n]*")
_CONVERSION = re.compile(rb"[ \t\f\r\n]*\w*[ \t\f\r\n]*")


@dataclass(slots=True)
class _Field:
    """One `{...}`: its span, its expression's, and its format spec."""

    start: int
    expression: tuple[int, int]
    shown_until: int | None = None
    end: int = 0
    spec_start: int = 0
    spec: _Text | None = None


@dataclass(slots=True)
class _Text:
    """The inside of an f-string or a format spec: `pieces[i]` are the spans of text before field `i`."""

    pieces: list[list[tuple[int, int]]] = field(default_factory=lambda: [[]])
    fields: list[_Field] = field(default_factory=list["_Field"])
    end: int = 0


def place_joined(node: ast.AST, scan: Scan) -> None:
    """Give all inside an f-string its place; where scan and tree do not agree, the string's own."""
    joined = cast("ast.JoinedStr", node)
    if id(joined) in scan.format_specs:
        return
    text = _Text()
    start, end = scan.start_of(joined), scan.end_of(joined)
    if not (_read_literals(scan.data, start, end, text) and _fits(joined, text)):
        _place_all(joined, start, end, scan)
        return
    _place_values(joined, text, scan)


def _read_literals(data: bytes, offset: int, end: int, text: _Text) -> bool:
    """Whether the text is nothing but string literals; what they contain is added to `text`."""
    while offset < end:
        opening = _OPENING.match(data, offset, end)
        if opening is None:
            return False
        prefix, quote = opening[1].lower(), opening[2]
        begin = opening.end()
        body = _UNTIL_QUOTE[quote].match(data, begin, end)
        stop = body.end() if body else begin
        if b"f" not in prefix:
            _add_piece(text, begin, stop)
        elif not _read_body(data, begin, stop, text, raw=b"r" in prefix, is_spec=False):
            return False
        blank = TRIVIA.match(data, stop + len(quote), end)
        offset = blank.end() if blank else end
    return True


def _read_body(data: bytes, offset: int, end: int, text: _Text, *, raw: bool, is_spec: bool) -> bool:
    """Add text and fields up to `end`, or up to the bracket that closes a format spec."""
    literal = _LITERALS[is_spec, raw]
    while True:
        found = literal.match(data, offset, end)
        stop = found.end() if found else offset
        _add_piece(text, offset, stop)
        text.end = stop
        if stop >= end or data[stop] == ord("}"):
            return is_spec or stop >= end
        each = _read_field(data, stop, end, raw=raw)
        if each is None:
            return False
        if each.shown_until is not None:
            _add_piece(text, each.expression[0], each.shown_until)
        text.fields.append(each)
        text.pieces.append([])
        offset = each.end


def _read_field(data: bytes, start: int, end: int, *, raw: bool) -> _Field | None:
    """The field whose bracket opens at `start`, if it closes before `end`."""
    offset = _expression_end(data, start + 1, end)
    each = _Field(start, (start + 1, offset))
    if data[offset : offset + 1] == b"=":
        offset = each.shown_until = _end_of(_BLANK, data, offset + 1, end)
    if data[offset : offset + 1] == b"!":
        offset = _end_of(_CONVERSION, data, offset + 1, end)
    if data[offset : offset + 1] == b":":
        each.spec_start = offset
        each.spec = _Text()
        if not _read_body(data, offset + 1, end, each.spec, raw=raw, is_spec=True):
            return None
        offset = each.spec.end
    each.end = offset + 1
    return each if data[offset : offset + 1] == b"}" and offset < end else None


def _expression_end(data: bytes, offset: int, end: int) -> int:
    """Where an expression ends: at the first `=`, `!`, `:` or `}` outside of brackets and strings."""
    depth = 0
    while True:
        found = _MARK.search(data, offset, end)
        if found is None:
            return end
        mark, offset = found[0], found.end()
        if mark[:1] in b"\"'":
            offset = data.find(mark, offset, end) + len(mark)
            if offset < len(mark):
                return end
        elif mark in b"([{":
            depth += 1
        elif depth:
            depth -= mark in b")]}"
        elif len(mark) == 1:
            return found.start()


def _end_of(pattern: re.Pattern[bytes], data: bytes, offset: int, end: int) -> int:
    found = pattern.match(data, offset, end)
    return found.end() if found else offset


def _add_piece(text: _Text, start: int, end: int) -> None:
    if end > start:
        text.pieces[-1].append((start, end))


def _fits(joined: ast.JoinedStr, text: _Text) -> bool:
    """Whether the tree has the fields and texts that were read."""
    number = 0
    for value in joined.values:
        if not isinstance(value, ast.FormattedValue):
            if not text.pieces[number]:
                return False
            continue
        if number == len(text.fields):
            return False
        spec, read = value.format_spec, text.fields[number].spec
        if (spec is None) != (read is None):
            return False
        if isinstance(spec, ast.JoinedStr) and read is not None and not _fits(spec, read):
            return False
        number += 1
    return number == len(text.fields)


def _place_values(joined: ast.JoinedStr, text: _Text, scan: Scan) -> None:
    number = 0
    for value in joined.values:
        if isinstance(value, ast.FormattedValue):
            _place_field(value, text.fields[number], scan)
            number += 1
        else:
            pieces = text.pieces[number]
            scan.place(value, pieces[0][0], pieces[-1][1])


def _place_field(value: ast.FormattedValue, each: _Field, scan: Scan) -> None:
    scan.place(value, each.start, each.end)
    value.value = _expression(value.value, *each.expression, scan)
    spec = value.format_spec
    if isinstance(spec, ast.JoinedStr) and each.spec is not None:
        scan.format_specs.add(id(spec))
        scan.place(spec, each.spec_start, each.spec.end)
        _place_values(spec, each.spec, scan)


def _expression(old: ast.expr, start: int, end: int, scan: Scan) -> ast.expr:
    """The expression between two offsets, parsed where it stands; in brackets, as Python does it."""
    try:
        new = ast.parse(f"({scan.data[start:end].decode()})", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        new = None
    if type(new) is not type(old) or new is None:
        _place_all(old, start, end, scan)
        return old
    scan.place(old, start, end)
    _move(new, old.lineno - 1, old.col_offset - 1)
    if scan.start_of(new) < start:  # the brackets became part of a tuple or generator
        text = scan.data[start:end]
        scan.place(new, end - len(text.lstrip()), start + len(text.rstrip()))
    return new


def _move(tree: ast.expr, lines: int, columns: int) -> None:
    """Let a tree parsed by itself begin `lines` further down; its first line, `columns` further on."""
    for node in ast.walk(tree):
        place = vars(node)
        if "lineno" in place:
            place["col_offset"] += columns if place["lineno"] == 1 else 0
            place["end_col_offset"] += columns if place["end_lineno"] == 1 else 0
            place["lineno"] += lines
            place["end_lineno"] += lines


def _place_all(tree: ast.AST, start: int, end: int, scan: Scan) -> None:
    """Give all below a node the same place."""
    for node in ast.walk(tree):
        if "lineno" in node._attributes:
            scan.place(node, start, end)
        if isinstance(node, ast.JoinedStr):
            scan.format_specs.add(id(node))
