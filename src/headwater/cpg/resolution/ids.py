"""The ids of nodes and bindings by their places, and columns of them that are not written out yet.

A column of ids is put in order as numbers, since texts of ids are many times as large. Not here: which place
is that of which node.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    Numbers: TypeAlias = "NDArray[np.int64]"

MISSING = -1


@dataclass(slots=True)
class Ids:
    """Ids of one length, in parts; those that are added come behind all others."""

    parts: list[Any]
    ends: Numbers

    @classmethod
    def of(cls, texts: Iterable[pa.Array[Any]]) -> Ids:
        """The ids of some arrays, where they are.

        Raises:
            ValueError: they are not all of the same length, or one is missing
        """
        parts = [_fixed(each) for each in texts if len(each)]
        return cls(parts, np.cumsum([len(each) for each in parts], dtype=np.int64))

    def __len__(self) -> int:
        return int(self.ends[-1]) if len(self.ends) else 0

    def joined(self, more: Sequence[str]) -> Ids:
        """These and more behind them."""
        if not more:
            return self
        added = np.frombuffer("".join(more).encode(), f"V{len(more[0])}")
        return Ids([*self.parts, added], np.append(self.ends, len(self) + len(added)))

    def array(self, places: Numbers) -> pa.Array[Any]:
        """The ids at places as texts; what is missing stays missing."""
        is_there = places >= 0
        wanted = places[is_there]
        width = self.parts[0].dtype.itemsize if self.parts else 0
        data = self._taken(wanted, width)
        offsets: Any = np.zeros(len(places) + 1, np.int32)
        np.cumsum(is_there * np.int32(width), out=offsets[1:])
        valid = None
        if len(wanted) < len(places):
            valid = pa.py_buffer(np.packbits(is_there, bitorder="little").tobytes())
        return cast("Any", pa.StringArray).from_buffers(
            len(places), pa.py_buffer(offsets), pa.py_buffer(data), valid
        )

    def _taken(self, wanted: Numbers, width: int) -> Any:
        if len(self.parts) == 1:
            return self.parts[0][wanted]
        data = np.empty(len(wanted), f"V{width}")
        part_of = np.searchsorted(self.ends, wanted, side="right")
        begin = 0
        for number, (part, end) in enumerate(zip(self.parts, self.ends.tolist(), strict=True)):
            here = np.flatnonzero(part_of == number)
            data[here] = part[wanted[here] - begin]
            begin = end
        return data


def _fixed(texts: Any) -> Any:
    """The texts of an array as numpy has texts of one length, in the memory where they are."""
    _, ends, data = texts.buffers()
    offsets = np.frombuffer(ends, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    first, last = int(offsets[0]), int(offsets[-1])
    width = (last - first) // len(texts)
    if texts.null_count or not width or (np.diff(offsets) != width).any():
        message = "ids are not all of one length"
        raise ValueError(message)
    return np.frombuffer(data, f"V{width}", len(texts), first)


@dataclass(slots=True)
class IdColumn:
    """A column of ids: what they are ids of, and at which places; a place below nothing is missing."""

    ids: Ids
    places: Numbers

    def in_order(self, order: Numbers) -> IdColumn:
        """The same in another order."""
        return IdColumn(self.ids, self.places[order])

    def is_there(self) -> NDArray[np.bool_]:
        """Which entries are not missing."""
        return self.places >= 0

    def array(self) -> pa.Array[Any]:
        """The column as texts."""
        return self.ids.array(self.places)
