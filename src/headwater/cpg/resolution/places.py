"""Where nodes stand and whose they are, for many nodes at once: their lines, and the defs that run them.

Not here: what they mean.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.cpg.resolution.reading import Repository

_compute = cast("Any", pc)
_NONE = -1


class Places:
    """The lines, ends and owners of all nodes of a repository, and what its names are bound to."""

    def __init__(self, repository: Repository) -> None:
        self._rows = repository.row_of
        self._nodes = repository.first_nodes
        self._bindings = repository.first_bindings
        self._lines = _numbers(repository.column("lines"))
        self._ends = _numbers(repository.column("ends"))
        self._owners = _numbers(repository.column("owners"))
        self._resolves = _numbers(repository.column("resolves"))
        self._uses, self._defined = (_sites(repository.column(each)) for each in ("uses", "bound"))

    def lines(self, paths: Sequence[str], nodes: Sequence[int]) -> list[int | None]:
        """The lines that nodes begin in."""
        return _optional(self._lines[self._at(paths, nodes)])

    def ends(self, paths: Sequence[str], nodes: Sequence[int]) -> list[int | None]:
        """The lines that nodes end in."""
        return _optional(self._ends[self._at(paths, nodes)])

    def owners(self, paths: Sequence[str], nodes: Sequence[int]) -> list[int | None]:
        """The numbers of the defs that run nodes."""
        return _optional(self._owners[self._at(paths, nodes)])

    def first_lines(self, paths: Sequence[str], bindings: Sequence[int]) -> list[int | None]:
        """The lines where bindings first get a value."""
        rows, numbers, nodes = self._defined
        most = np.iinfo(np.int64).max
        first = np.full(self._bindings[-1] if len(self._bindings) else 0, most)
        np.minimum.at(first, self._bindings[rows] + numbers, self._lines[self._nodes[rows] + nodes])
        found = first[self._bindings[self._rows_of(paths)] + np.asarray(bindings, np.int64)]
        return _optional(np.where(found == most, _NONE, found))

    def uses_of(
        self, paths: Sequence[str], bindings: Sequence[int]
    ) -> tuple[list[int], list[int], list[int]]:
        """Where names that stand for one of these bindings are used: which binding, and row and node."""
        known = np.full(self._bindings[-1] if len(self._bindings) else 0, _NONE)
        known[self._bindings[self._rows_of(paths)] + np.asarray(bindings, np.int64)] = np.arange(len(paths))
        rows, numbers, nodes = self._uses
        first = self._bindings[rows]
        meant = self._resolves[first + numbers]
        which = known[first + np.where(meant == _NONE, numbers, meant)]
        there = which != _NONE
        return which[there].tolist(), rows[there].tolist(), nodes[there].tolist()

    def _rows_of(self, paths: Sequence[str]) -> np.ndarray[Any, np.dtype[np.int64]]:
        return np.fromiter((self._rows[path] for path in paths), np.int64, len(paths))

    def _at(self, paths: Sequence[str], nodes: Sequence[int]) -> np.ndarray[Any, np.dtype[np.int64]]:
        return self._nodes[self._rows_of(paths)] + np.asarray(nodes, np.int64)


def _numbers(column: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The numbers of a column of lists, one after another; what is missing is none."""
    entries = _compute.list_flatten(_one(column))
    return _compute.fill_null(entries, _NONE).to_numpy(zero_copy_only=False).astype(np.int64)


def _sites(column: Any) -> tuple[np.ndarray[Any, np.dtype[np.int64]], ...]:
    """Of the entries of a column the rows, bindings and nodes."""
    lists = _one(column)
    rows = _compute.list_parent_indices(lists).to_numpy(zero_copy_only=False).astype(np.int64)
    entries = _compute.list_flatten(lists)
    fields = (_compute.struct_field(entries, name) for name in ("binding", "node"))
    return (rows, *(each.to_numpy(zero_copy_only=False).astype(np.int64) for each in fields))


def _one(column: Any) -> Any:
    chunks: list[Any] = column.chunks or [pa.array([], column.type)]
    return pa.concat_arrays(chunks)


def _optional(numbers: np.ndarray[Any, np.dtype[np.int64]]) -> list[int | None]:
    return [None if each == _NONE else each for each in numbers.tolist()]
