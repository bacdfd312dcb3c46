"""Types as they are written: names, brackets, bars and literals, in one small grammar.

    type     member | member ...
    member   name, name[argument, ...], a literal, `...`, [argument, ...], *type, **type or ()

A name has dots, may begin with `~` (a type variable) and stands between backticks where it has other
characters in it. Not here: what names mean.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<literal>[bB]?'(?:[^'\\]|\\.)*'|[bB]?"(?:[^"\\]|\\.)*"|-?\d+)
    | (?P<name>~?(?:[^\W\d][\w.$-]*(?:\(\+\d+\)[\w.$-]*)*|`(?:[^`]|``)*`))
    | (?P<mark>\.\.\.|\*\*|\(\)|[*\[\],|])
    )\s*""",
    re.VERBOSE,
)
UNION, LIST, ELLIPSIS, EMPTY, STAR, STARS = "|", "[]", "...", "()", "*", "**"
_DEEPEST = 60


class NotAType(ValueError):
    """A text is no type."""


@dataclass(frozen=True, slots=True)
class Term:
    """A type as it is written.

    `head` is a name, a literal, or one of the marks of this module; `args` are the members of a union, the
    types in brackets, or what a star stands before. `is_literal` tells a literal from a name.
    """

    head: str
    args: tuple[Term, ...] = ()
    is_literal: bool = False


def parse_term(text: str) -> Term:
    """The term of a text.

    >>> parse_term("list[int] | None").head
    '|'

    Raises:
        NotAType: it is none.
    """
    tokens = _tokens(text)
    term, place = _union(tokens, 0, 0)
    if place != len(tokens):
        raise NotAType(text)
    return term


def _tokens(text: str) -> list[tuple[str, str]]:
    tokens: list[tuple[str, str]] = []
    place = 0
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None or found.lastgroup is None:
            raise NotAType(text)
        tokens.append((found.lastgroup, found[found.lastgroup]))
        place = found.end()
    return tokens


def _union(tokens: list[tuple[str, str]], place: int, depth: int) -> tuple[Term, int]:
    if depth > _DEEPEST:
        raise NotAType
    members: list[Term] = []
    while True:
        member, place = _member(tokens, place, depth)
        members.append(member)
        if place == len(tokens) or tokens[place][1] != UNION:
            break
        place += 1
    return (members[0] if len(members) == 1 else Term(UNION, tuple(members))), place


def _member(tokens: list[tuple[str, str]], place: int, depth: int) -> tuple[Term, int]:
    if place == len(tokens):
        raise NotAType
    kind, text = tokens[place]
    place += 1
    if kind == "literal":
        return Term(text, is_literal=True), place
    if text in {ELLIPSIS, EMPTY}:
        return Term(text), place
    if text in {STAR, STARS}:
        inner, place = _member(tokens, place, depth + 1)
        return Term(text, (inner,)), place
    if text == "[":
        args, place = _arguments(tokens, place, depth)
        return Term(LIST, args), place
    if kind == "mark":
        raise NotAType
    if place < len(tokens) and tokens[place][1] == "[":
        args, place = _arguments(tokens, place + 1, depth)
        if not args:
            raise NotAType
        return Term(text, args), place
    return Term(text), place


def _arguments(tokens: list[tuple[str, str]], place: int, depth: int) -> tuple[tuple[Term, ...], int]:
    """What stands up to the closing bracket, and the place behind it."""
    args: list[Term] = []
    while place < len(tokens):
        if tokens[place][1] == "]" and tokens[place][0] == "mark":
            return tuple(args), place + 1
        if args:
            if tokens[place][1] != ",":
                raise NotAType
            place += 1
        term, place = _union(tokens, place, depth + 1)
        args.append(term)
    raise NotAType
