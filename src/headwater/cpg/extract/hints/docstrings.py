"""Types in docstrings: fields of Sphinx, sections of Google and of NumPy.

What is said there in plain words is a type only if it is put as people put types: `int or None`, `list of
str`, `str, optional`. Whether its names mean anything is seen later. Not here: where docstrings stand.
"""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING

from headwater.cpg.extract.hints.terms import NotAType
from headwater.cpg.extract.hints.writing import quoted_type, written

if TYPE_CHECKING:
    from collections.abc import Iterator

RETURNED = ""  # stands for what is returned where others have the name of a parameter
_MARKS = re.compile(r":(?:param|type|rtype|arg)\b|\b(?:Args|Arguments|Parameters|Returns)\b")
_FIELD = re.compile(r"^\s*:(param|parameter|arg|argument|type|rtype)\b([^:\n]*):[ \t]*(.*)$", re.MULTILINE)
_GOOGLE = re.compile(r"^(Args|Arguments|Parameters|Keyword Args|Returns):[ \t]*$")
_GOOGLE_ITEM = re.compile(r"^\*{0,2}(\w+)[ \t]*\((.+?)\):(?:[ \t]|$)")
_GOOGLE_RETURN = re.compile(r"^([^:]+):(?:[ \t]|$)")
_NUMPY = frozenset({"Parameters", "Other Parameters", "Returns"})
_NUMPY_ITEM = re.compile(r"^((?:\*{0,2}\w+)(?:, *\*{0,2}\w+)*) *: *(.+)$")
_ROLE = re.compile(r":[\w:]+:`[~!]?\.?([^`]+)`")
_LESS = re.compile(r",?\s*\(?\b(?:optional|required|keyword-only)\b\)?|,?\s*\bdefaults?\b.*$", re.IGNORECASE)
_APART = re.compile(r"[\[({]|[\])}]|\s+or\s+|\s*\|\s*|\s*,\s*(?:or\s+)?")
_OF = re.compile(r"^(?:an?\s+)?(\w+)\s+of\s+(.+)$", re.IGNORECASE)
_CHOICE = re.compile(r"^\{(.+)\}$")
_TYPE = re.compile(r"^[^\W\d][\w.]*(?:\[.+\])?$")
_WORDS = {
    "string": "str",
    "strings": "str",
    "integer": "int",
    "integers": "int",
    "boolean": "bool",
    "callable": "Callable",
    "function": "Callable",
    "any": "Any",
    "none": "None",
    "ints": "int",
    "floats": "float",
    "dictionary": "dict",
    "dicts": "dict",
    "lists": "list",
    "tuples": "tuple",
}
_MANY = {
    "list": "list[{}]",
    "set": "set[{}]",
    "frozenset": "frozenset[{}]",
    "tuple": "tuple[{}, ...]",
    "iterable": "collections.abc.Iterable[{}]",
    "iterator": "collections.abc.Iterator[{}]",
    "sequence": "collections.abc.Sequence[{}]",
}
_LONGEST = 200


def docstring_types(text: str) -> list[tuple[str, str]]:
    r"""The parameters of which a docstring tells the type, RETURNED for what is returned, and the types.

    >>> docstring_types("Do it.\n\n:param int n: how often\n:rtype: list of str or None")
    [('n', 'int'), ('', 'list[str] | None')]
    """
    if _MARKS.search(text) is None:
        return []
    found: dict[str, str] = {}
    for name, said in (*_fields(text), *_sections(inspect.cleandoc(text).splitlines())):
        if name not in found and (told := spoken_type(said)) is not None:
            found[name] = told
    return list(found.items())


def _fields(text: str) -> Iterator[tuple[str, str]]:
    for kind, head, rest in _FIELD.findall(text):
        words = head.split()
        if kind == "rtype":
            yield RETURNED, rest
        elif kind == "type" and words:
            yield words[-1].lstrip("*"), rest
        elif kind != "type" and len(words) > 1:
            yield words[-1].lstrip("*"), " ".join(words[:-1])


def _sections(lines: list[str]) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(lines):
        found = _GOOGLE.match(line)
        if found is not None:
            yield from _google(lines[number + 1 :], is_return=found[1] == "Returns")
        elif line in _NUMPY and number + 1 < len(lines) and set(lines[number + 1]) == {"-"}:
            yield from _numpy(lines[number + 2 :], is_return=line == "Returns")


def _google(lines: list[str], *, is_return: bool) -> Iterator[tuple[str, str]]:
    """Items are indented as the first one is; the section ends at a line that is not."""
    first = next((line for line in lines if line.strip()), "")
    indent = len(first) - len(first.lstrip())
    for line in lines if indent else ():
        own = len(line) - len(line.lstrip())
        if line.strip() and own < indent:
            return
        if own != indent:
            continue
        found = (_GOOGLE_RETURN if is_return else _GOOGLE_ITEM).match(line.strip())
        if found is not None:
            yield (RETURNED, found[1]) if is_return else (found[1], found[2])
        if is_return:
            return


def _numpy(lines: list[str], *, is_return: bool) -> Iterator[tuple[str, str]]:
    """Items are not indented; the section ends at the next heading."""
    for number, line in enumerate(lines):
        if not line or line[0].isspace():
            continue
        if number + 1 < len(lines) and lines[number + 1].startswith("---"):
            return
        found = _NUMPY_ITEM.match(line)
        if is_return:
            yield RETURNED, found[2] if found is not None else line
            return
        if found is not None:
            for name in found[1].split(","):
                yield name.strip().lstrip("*"), found[2]


def spoken_type(said: str) -> str | None:
    """The type that is meant with some words, if it is one.

    >>> spoken_type("list of str, optional"), spoken_type("the name of the thing")
    ('list[str]', None)
    """
    if len(said) > _LONGEST:
        return None
    plain = _LESS.sub("", _ROLE.sub(r"\1", said)).replace("`", "").strip().rstrip(".")
    parts = [_member(part.strip()) for part in _parts(plain)]
    told = [part for part in parts if part is not None]
    return " | ".join(told) if told and len(told) == len(parts) else None


def _parts(text: str) -> Iterator[str]:
    """What stands between commas, bars and `or`, outside of brackets."""
    depth = begin = 0
    for found in _APART.finditer(text):
        mark = found[0]
        if mark in "[({":
            depth += 1
        elif mark in "])}":
            depth -= 1
        elif not depth:
            yield text[begin : found.start()]
            begin = found.end()
    yield text[begin:]


def _member(part: str) -> str | None:
    word = _WORDS.get(part.lower())
    if word is not None:
        return word
    choice = _CHOICE.match(part)
    if choice is not None:
        return _checked(f"Literal[{choice[1]}]")
    several = _OF.match(part)
    if several is not None and several[1].lower() in _MANY:
        inner = _member(several[2])
        return None if inner is None else _MANY[several[1].lower()].format(inner)
    return _checked(part) if _TYPE.match(part) else None


def _checked(text: str) -> str | None:
    try:
        return written(quoted_type(text), {})
    except NotAType:
        return None
