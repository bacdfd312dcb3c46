"""The names that nodes have, and where they are written.

A name is as Python knows it, in its normal form (NFKC); its span is what the file says. Not here: what a
name means.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, TypeAlias, cast

from headwater.cpg.extract.placement import HEADING
from headwater.cpg.extract.scanning import TRIVIA

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from headwater.cpg.extract.scanning import Scan

Span: TypeAlias = "tuple[int, int]"
Locator: TypeAlias = "Callable[[Scan, ast.AST, int, int], Span | None]"

# Which field of a node holds its name, by class; a class that this Python does not have is no harm.
NAME_FIELDS: dict[str, str] = {
    "ClassDef": "name",
    "FunctionDef": "name",
    "AsyncFunctionDef": "name",
    "arg": "arg",
    "Attribute": "attr",
    "ImportFrom": "module",
    "alias": "name",
    "keyword": "arg",
    "Name": "id",
    "ExceptHandler": "name",
    "MatchMapping": "rest",
    "MatchStar": "name",
    "MatchAs": "name",
    "TypeVar": "name",
    "ParamSpec": "name",
    "TypeVarTuple": "name",
}

_TRIVIA = TRIVIA.pattern
_WORD = rb"[A-Za-z0-9_\x80-\xff]+"
_DOTTED = rb"%b(?:%b\.%b%b)*+" % (_WORD, _TRIVIA, _TRIVIA, _WORD)
_FIRST_WORD = re.compile(rb"(?:\*%b)*(%b)" % (_TRIVIA, _WORD))
_ALIAS = re.compile(rb"(\*|%b)" % _DOTTED)
_FROM = re.compile(rb"from(?:[ \t\f\r\n\\.]+|#[^\r\n]*)*+(%b)" % _DOTTED)
# Before the name that a handler gives stands `as`; in Python 2 it was a comma.
_AS = re.compile(rb"(?:[ \t\f\r\n\\),]+|#[^\r\n]*)*+(?:as\b%b)?+(%b)" % (_TRIVIA, _WORD))
_REST = re.compile(rb"(?:[ \t\f\r\n\\),]+|#[^\r\n]*)*+\*\*%b(%b)" % (_TRIVIA, _WORD))
_IDENTIFIER_BYTES = frozenset(
    rb"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"
) | frozenset(range(0x80, 0x100))


def name_spans(
    scan: Scan,
    nodes: Sequence[ast.AST],
    names: Sequence[str | None],
    spans: Sequence[Span],
) -> list[Span | None]:
    """Where each node's name is written; nothing for a node without a name."""
    found: list[Span | None] = [None] * len(nodes)
    is_ascii = scan.data.isascii()
    for row, name in enumerate(names):
        if name is None:
            continue
        node, span = nodes[row], spans[row]
        kind = node.__class__
        if kind is ast.Name:
            found[row] = span
        elif kind is ast.Attribute and is_ascii:
            found[row] = (span[1] - len(name), span[1])
        elif kind in _LOCATORS:
            found[row] = _LOCATORS[kind](scan, node, span[0], span[1])
    return found


def _by(pattern: re.Pattern[bytes]) -> Locator:
    """A locator that finds the name with a pattern from the node's start."""

    def locate(scan: Scan, node: ast.AST, start: int, end: int) -> Span | None:
        del node
        return _group(pattern.match(scan.data, start, end))

    return locate


def _last_word(scan: Scan, node: ast.AST, start: int, end: int) -> Span | None:
    del node
    first, data = end, scan.data
    while first > start and data[first - 1] in _IDENTIFIER_BYTES:
        first -= 1
    return first, end


def _caught_name(scan: Scan, node: ast.AST, start: int, end: int) -> Span | None:
    del start
    caught = cast("ast.ExceptHandler", node).type
    return None if caught is None else _group(_AS.match(scan.data, scan.end_of(caught), end))


def _rest_name(scan: Scan, node: ast.AST, start: int, end: int) -> Span | None:
    patterns = cast("ast.MatchMapping", node).patterns
    begin = scan.end_of(patterns[-1]) if patterns else start + 1
    return _group(_REST.match(scan.data, begin, end))


def _group(found: re.Match[bytes] | None) -> Span | None:
    return None if found is None else found.span(1)


_BY_NAME: dict[str, Locator] = {
    "ClassDef": _by(HEADING),
    "FunctionDef": _by(HEADING),
    "AsyncFunctionDef": _by(HEADING),
    "arg": _by(_FIRST_WORD),
    "Attribute": _last_word,
    "ImportFrom": _by(_FROM),
    "alias": _by(_ALIAS),
    "keyword": _by(_FIRST_WORD),
    "ExceptHandler": _caught_name,
    "MatchMapping": _rest_name,
    "MatchStar": _last_word,
    "MatchAs": _last_word,
    "TypeVar": _by(_FIRST_WORD),
    "ParamSpec": _by(_FIRST_WORD),
    "TypeVarTuple": _by(_FIRST_WORD),
}
_LOCATORS: dict[type[ast.AST], Locator] = {
    getattr(ast, name): locate for name, locate in _BY_NAME.items() if hasattr(ast, name)
}
