"""The wire format of protocol buffers, as far as a SCIP index needs it: numbers, texts and messages.

What is zero or empty is not written, as proto3 has it. Not here: what the fields mean.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_VARINT, _BYTES = 0, 2


def varint(number: int) -> bytes:
    """A number that is not negative, seven bits to a byte, the lowest first.

    >>> varint(300).hex()
    'ac02'
    """
    low = bytearray()
    while number > 0x7F:  # noqa: PLR2004  seven bits
        low.append(number & 0x7F | 0x80)
        number >>= 7
    low.append(number)
    return bytes(low)


def number_field(field: int, number: int) -> bytes:
    """A number, an enum's or a truth value."""
    return varint(field << 3 | _VARINT) + varint(number) if number else b""


def text_field(field: int, text: str) -> bytes:
    """A text."""
    return message_field(field, text.encode()) if text else b""


def packed_field(field: int, numbers: Iterable[int]) -> bytes:
    """Numbers, one after another."""
    content = b"".join(map(varint, numbers))
    return message_field(field, content) if content else b""


def message_field(field: int, content: bytes) -> bytes:
    """A message; it is there though it may be empty."""
    return varint(field << 3 | _BYTES) + varint(len(content)) + content
