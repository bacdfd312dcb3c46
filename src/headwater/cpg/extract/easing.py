"""A text as tree-sitter gets to see it: of the same length, without what misleads it or takes it too long.

Its time grows with the square of some texts that hardly anybody writes: brackets in brackets by the thousand,
lines of a megabyte, line after line with nothing but a backslash, thousands of statements behind a bracket
that is never closed. None of it is more than one statement, and `ast` gets the text as it is.
Not here: tree-sitter itself.
"""

from __future__ import annotations

import re

_LONGEST_LINE = 10_000
_DEEPEST = 200  # as deep as Python lets brackets be
_LONGEST_WAIT = 50_000  # bytes behind a bracket that is not closed; with fewer, tree-sitter does well
_LONE_RETURN = re.compile(rb"\r(?!\n)")
_LONG_LINE = re.compile(rb"^([ \t\f]*)([^\r\n]{%d,})" % _LONGEST_LINE, re.MULTILINE)
_CONTINUED = re.compile(rb"(?:\\\r?\n[ \t\f]*){20,}")
# Strings, comments, brackets, and the begin of a line before which all should be closed.
_MARK = re.compile(
    rb'"""(?:[^"\\]+|\\.|"(?!""))*+"""|'
    rb"'''(?:[^'\\]+|\\.|'(?!''))*+'''|"
    rb'"(?:[^"\\\r\n]+|\\.)*+"|'
    rb"'(?:[^'\\\r\n]+|\\.)*+'|"
    rb"#[^\r\n]*|[\[({]|[\])}]|^(?:def|class|async|@)",
    re.MULTILINE | re.DOTALL,
)


def easy_view(text: bytes) -> bytes:
    """The text with line feeds for lone carriage returns, one word for a long line, `?` for what is hopeless.

    A `?` is an error wherever it stands: what is left out must not make a statement look whole.
    """
    text = _LONE_RETURN.sub(b"\n", text)
    text = _LONG_LINE.sub(lambda line: line[1] + b"a" * len(line[2]), text)
    text = _CONTINUED.sub(lambda run: run[0].replace(b"\\", b"?"), text)
    hopeless = _hopeless_brackets(text)
    if not hopeless:
        return text
    eased = bytearray(text)
    for place in hopeless:
        eased[place] = ord("?")
    return bytes(eased)


def _hopeless_brackets(text: bytes) -> list[int]:
    """Where brackets are that are not closed for too long, or that are inside too many others."""
    hopeless: list[int] = []
    still_open: list[int] = []
    for found in _MARK.finditer(text):
        mark = found[0]
        if mark in b"[({":
            still_open.append(found.start())
            if len(still_open) > _DEEPEST:
                hopeless.append(found.start())
        elif mark in b"])}":
            if len(still_open) > _DEEPEST:
                hopeless.append(found.start())
            if still_open:
                still_open.pop()
        elif mark[:1] in b"dca@":
            hopeless += _waiting(still_open, found.start())
            still_open.clear()
    return hopeless + _waiting(still_open, len(text))


def _waiting(still_open: list[int], end: int) -> list[int]:
    return [place for place in still_open if place < end - _LONGEST_WAIT]
