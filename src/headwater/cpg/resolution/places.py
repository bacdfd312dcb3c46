"""Where nodes stand and whose they are, for many nodes at once: their lines, and the defs that run them.

Not here: what they mean.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from headwater.cpg.resolution.ids import MISSING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.cpg.resolution.reading import Repository


class Places:
    """The lines, ends and owners of all nodes of a repository, and what its names are bound to."""

    def __init__(self, repository: Repository) -> None:
        self._rows = repository.row_of
        self._nodes = repository.first_nodes
        self._bindings = repository.first_bindings
        self._lines, self._ends = repository.numbers("lines"), repository.numbers("ends")
        self._owners, self._resolves = repository.owners, repository.numbers("resolves")
        self._uses, self._defined = repository.sites("use"), repository.sites("def", "annotate")

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
        at, most = self._defined, np.iinfo(np.int64).max
        first = np.full(self._bindings[-1] if len(self._bindings) else 0, most)
        lines = self._lines[self._nodes[at.rows] + at.nodes]
        np.minimum.at(first, self._bindings[at.rows] + at.bindings, lines)
        found = first[self._bindings[self._rows_of(paths)] + np.asarray(bindings, np.int64)]
        return _optional(np.where(found == most, MISSING, found))

    def uses_of(
        self, paths: Sequence[str], bindings: Sequence[int]
    ) -> tuple[list[int], list[int], list[int]]:
        """Where names that stand for one of these bindings are used: which binding, and row and node."""
        known = np.full(self._bindings[-1] if len(self._bindings) else 0, MISSING)
        known[self._bindings[self._rows_of(paths)] + np.asarray(bindings, np.int64)] = np.arange(len(paths))
        at = self._uses
        first = self._bindings[at.rows]
        meant = self._resolves[first + at.bindings]
        which = known[first + np.where(meant == MISSING, at.bindings, meant)]
        there = which != MISSING
        return which[there].tolist(), at.rows[there].tolist(), at.nodes[there].tolist()

    def _rows_of(self, paths: Sequence[str]) -> np.ndarray[Any, np.dtype[np.int64]]:
        return np.fromiter((self._rows[path] for path in paths), np.int64, len(paths))

    def _at(self, paths: Sequence[str], nodes: Sequence[int]) -> np.ndarray[Any, np.dtype[np.int64]]:
        return self._nodes[self._rows_of(paths)] + np.asarray(nodes, np.int64)


def _optional(numbers: np.ndarray[Any, np.dtype[np.int64]]) -> list[int | None]:
    return [None if each == MISSING else each for each in numbers.tolist()]
