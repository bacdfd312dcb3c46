"""Canonical bytes of plain values, and their sha256: the only hashing of identities in the product.

Every value is written with its type and its length in front, so that no two different values share bytes:
`("a", "b")` and `("ab",)` differ, as do `1`, `"1"`, `True` and `1.0`.
Not here: digests of table contents, which Spark computes.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from pathlib import Path

Plain: TypeAlias = "bool | int | float | str | bytes | Sequence[Plain] | Mapping[str, Plain] | None"


def canonical_bytes(value: Plain) -> bytes:
    """The one byte string of `value`; mappings are sorted by key, lists and tuples are alike.

    >>> canonical_bytes({"b": 1, "a": None}) == canonical_bytes({"a": None, "b": 1})
    True
    >>> canonical_bytes(["ab"]) == canonical_bytes(["a", "b"])
    False
    """
    match value:
        case None:
            return b"n"
        case bool():
            return b"t" if value else b"f"
        case int():
            return _framed(b"i", str(value).encode())
        case float():
            return b"d" + struct.pack(">d", value)
        case str():
            return _framed(b"s", value.encode("utf-8", "surrogatepass"))
        case bytes():
            return _framed(b"b", value)
        case Mapping():
            parts = [canonical_bytes(key) + canonical_bytes(value[key]) for key in sorted(value)]
            return _framed(b"m", b"".join(parts))
        case _:
            return _framed(b"l", b"".join(canonical_bytes(item) for item in value))


def digest_of(value: Plain) -> str:
    """The sha256 of a value's canonical bytes, in hex."""
    return hashlib.sha256(canonical_bytes(value)).hexdigest()


def stable_id(prefix: str, *parts: str | int | bool | date | None) -> str:
    """The id that the SQL function `stable_id_parts` gives for the same parts: `prefix:` and 128 bits in hex.

    A text is written as `s`, its length in characters, `:` and itself; a whole number as `i` and a truth
    value as `b`, a date as `d` in the same way; a missing part as `~`. So no part can run into its neighbour.

    Raises:
        TypeError: a part is of another type.

    >>> stable_id("node", "a", "bc") == stable_id("node", "ab", "c")
    False
    """
    return f"{prefix}:{hashlib.sha256(_id_text(parts).encode()).hexdigest()[:32]}"


def _id_text(parts: tuple[str | int | bool | date | None, ...]) -> str:
    written: list[str] = []
    for part in parts:
        if type(part) is str:
            written.append(f"s{len(part)}:{part}")
        elif part is None:
            written.append("~")
        else:
            letter, text = _other_part(part)
            written.append(f"{letter}{len(text)}:{text}")
    return "".join(written)


def _other_part(part: object) -> tuple[str, str]:
    match part:
        case bool():
            return "b", str(part).lower()
        case int():
            return "i", str(int(part))
        case str():
            return "s", str(part)
        case date() if not isinstance(part, datetime):
            return "d", part.isoformat()
        case _:
            message = f"a part of an id is a text, a whole number, a truth value or a date, not {part!r}"
            raise TypeError(message)


def digest_of_bytes(content: bytes) -> str:
    """The sha256 of raw bytes (a file's, a commit's), in hex."""
    return hashlib.sha256(content).hexdigest()


def digest_of_file(path: Path) -> str:
    """The sha256 of a file's content, in hex, read in pieces."""
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _framed(kind: bytes, content: bytes) -> bytes:
    return kind + struct.pack(">Q", len(content)) + content
