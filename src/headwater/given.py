"""Values as people write them in a definition or a TOML file: checked once, and the error names the key.

Not here: what they are for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import cast

from headwater.errors import InvalidSetting

_PAIR = 2
_SIZE = re.compile(r"([0-9]{1,15})\s*(?:([kmg])i?)?b?", re.IGNORECASE)
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_SMALLEST_FILE = 1 << 10
_DURATION = re.compile(r"([0-9]{1,6})\s*(hour|day|week)s?", re.IGNORECASE)
_HOURS = {"hour": 1, "day": 24, "week": 7 * 24}


def number(key: str, value: object) -> int:
    """A whole number, zero or above."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InvalidSetting(key=key, value=repr(value), expected="a whole number, zero or above")
    return value


def text(key: str, value: object) -> str:
    """A text that is not blank."""
    if not isinstance(value, str) or not value.strip():
        raise InvalidSetting(key=key, value=repr(value), expected="a text")
    return value


def texts(key: str, value: object) -> tuple[str, ...]:
    """A list of texts, none of them empty."""
    is_list = isinstance(value, Sequence) and not isinstance(value, str)
    found = tuple(cast("Sequence[object]", value)) if is_list else (None,)
    if not all(isinstance(each, str) and each for each in found):
        raise InvalidSetting(key=key, value=repr(cast("object", value)), expected="a list of texts")
    return cast("tuple[str, ...]", found)


def flag(key: str, value: object) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise InvalidSetting(key=key, value=repr(value), expected="true or false")
    return value


def pairs(key: str, value: object, what: str) -> tuple[tuple[str, object], ...]:
    """A mapping, as people write it, or pairs, as it is recorded; each name once, whatever its case."""
    listed = tuple(cast("Mapping[object, object]", value).items()) if isinstance(value, Mapping) else value
    if not isinstance(listed, list | tuple):
        raise InvalidSetting(key=key, value=repr(cast("object", value)), expected=what)
    found: list[tuple[str, object]] = []
    seen: set[str] = set()
    for each in cast("Sequence[object]", listed):
        if not isinstance(each, list | tuple) or len(cast("Sequence[object]", each)) != _PAIR:
            raise InvalidSetting(key=key, value=repr(cast("object", value)), expected=what)
        name, content = cast("tuple[object, object]", each)
        if not isinstance(name, str) or not name.strip() or name.casefold() in seen:
            raise InvalidSetting(key=key, value=f"{name!r} twice or empty", expected="each name once")
        seen.add(name.casefold())
        found.append((name, content))
    return tuple(found)


def expressions(key: str, value: object) -> tuple[tuple[str, str], ...]:
    """Names with SQL expressions."""
    found = pairs(key, value, "names with SQL expressions")
    for name, expression in found:
        if not isinstance(expression, str) or not expression.strip():
            raise InvalidSetting(key=key, value=f"{name!r} without an expression", expected="SQL")
    return cast("tuple[tuple[str, str], ...]", found)


def columns(key: str, value: object) -> tuple[str, ...]:
    """Names of columns, or one of them, each once whatever its case."""
    found = texts(key, (value,) if isinstance(value, str) else value)
    if len({name.casefold() for name in found}) < len(found):
        raise InvalidSetting(key=key, value=repr(found), expected="each name once")
    return found


def size(key: str, value: object) -> int:
    """A number of bytes, also as in "64mb"; no smaller than a file can sensibly be."""
    found = _SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
    if isinstance(value, str) and found is None:
        raise InvalidSetting(key=key, value=repr(value), expected="a size such as 64mb")
    bytes_ = int(found[1]) * _UNITS[(found[2] or "").lower()] if found else number(key, value)
    if bytes_ < _SMALLEST_FILE:
        raise InvalidSetting(key=key, value=repr(value), expected=f"{_SMALLEST_FILE} bytes or more")
    return bytes_


def hours(key: str, value: object) -> int:
    """A duration in hours, written as "12 hours", "7 days" or "2 weeks".

    >>> hours("vacuum_every", "7 days")
    168
    """
    found = _DURATION.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None or not int(found[1]):
        raise InvalidSetting(key=key, value=repr(value), expected="a duration such as '7 days'")
    return int(found[1]) * _HOURS[found[2].lower()]
