"""What lists of what is resolved are made of, and made from.

Not here: any list.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from headwater.cpg.nested import column_of
from headwater.cpg.resolution.ids import IdColumn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headwater.cpg.resolution.aliases import Aliases
    from headwater.cpg.resolution.ids import Numbers
    from headwater.cpg.resolution.outside import Outside
    from headwater.cpg.resolution.places import Places
    from headwater.cpg.resolution.reading import Repository
    from headwater.cpg.resolve import ResolvedRows

_THOUSAND = 1000


@dataclass(frozen=True, slots=True)
class Listed:
    """The entries of a list: of each the row of its file, and its columns.

    A column is a sequence, an array of numpy or Arrow, whose texts may be encoded, or a column of ids.
    """

    rows: Sequence[int] | Numbers
    columns: Mapping[str, Any]

    def packed(self, kinds: Mapping[str, str]) -> Listed:
        """The same in the order of rows, and without objects of Python."""
        rows = np.asarray(self.rows, np.int64)
        columns = {name: _packed(self.columns[name], kind) for name, kind in kinds.items()}
        if len(rows) and (np.diff(rows) < 0).any():
            order = np.argsort(rows, kind="stable")
            rows, columns = rows[order], {name: _in_order(each, order) for name, each in columns.items()}
        return Listed(rows, columns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What is at hand while entries are made."""

    repo_id: str
    repository: Repository
    outside: Outside
    places: Places
    aliases: Aliases
    found: ResolvedRows


def _in_order(column: Any, order: Numbers) -> Any:
    return column.in_order(order) if isinstance(column, IdColumn) else column.take(pa.array(order))


def _packed(column: Any, kind: str) -> Any:
    if isinstance(column, IdColumn):
        return column
    return encoded(column) if kind == "STRING" else column_of(column, kind)


def encoded(texts: Any) -> Any:
    """Texts by their number among those that differ, as Arrow encodes them."""
    column: Any = column_of(texts, "STRING")
    return column if pa.types.is_dictionary(column.type) else column.dictionary_encode()


def written_out(column: Any) -> Any:
    """A column with its ids and encoded texts as texts."""
    if isinstance(column, IdColumn):
        return column.array()
    return column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column


def thousandths(shares: Sequence[float]) -> list[int]:
    """Confidences as they are stored."""
    return np.rint(np.asarray(shares, np.float64) * _THOUSAND).astype(np.int64).tolist()


def numbers_within(paths: Sequence[str]) -> list[int]:
    """The number of each entry among those of its file; entries of a file stand together."""
    numbers: list[int] = []
    last, number = None, 0
    for path in paths:
        number = number + 1 if path == last else 0
        last = path
        numbers.append(number)
    return numbers
