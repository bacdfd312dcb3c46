"""A repository's evidence in Arrow: its facts as the solver takes them, and the ids of its nodes.

Files are told by the numbers of their rows. Not here: what comes of the facts.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headwater.cpg.extract.hints import HintColumns
from headwater.cpg.resolve import FileValues

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_compute = cast("Any", pc)
_FACT = ("op", "target", "source", "text")


@dataclass(frozen=True, slots=True)
class Slices:
    """A column of lists: the entries of all of them, and where those of each row begin and end."""

    entries: Any
    offsets: list[int]

    @classmethod
    def of(cls, column: Any) -> Slices:
        """The lists of a column; one that is missing is empty."""
        chunks: list[Any] = column.chunks or [pa.array([], column.type)]
        lists: Any = pa.concat_arrays(chunks)
        lengths = _compute.fill_null(lists.value_lengths(), 0).to_numpy(zero_copy_only=False)
        return cls(lists.flatten(), [0, *np.cumsum(lengths).tolist()])

    def fields(self, *names: str) -> list[list[Any]]:
        """Columns of the entries, which are structs."""
        return [self.entries.field(name).to_pylist() for name in names]


class Repository:
    """The files of a repository by the numbers of their rows, and the ids of all nodes and bindings."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table
        self.paths = cast("list[str]", table.column("path").to_pylist())
        self.is_test: list[bool | None] = table.column("is_test").to_pylist()
        self.row_of = {path: row for row, path in enumerate(self.paths)}
        self._nodes = Slices.of(table.column("node_ids"))
        self._bindings = Slices.of(table.column("binding_ids"))

    @property
    def node_offsets(self) -> list[int]:
        """Where the nodes of each row begin among all, and where the last ones end."""
        return self._nodes.offsets

    @property
    def binding_offsets(self) -> list[int]:
        """The same of bindings."""
        return self._bindings.offsets

    def files(self) -> list[FileValues]:
        """The value facts of all files."""
        facts = Slices.of(self._table.column("facts"))
        op, target, source, text = facts.fields(*_FACT)
        at, nodes, bindings = facts.offsets, self._nodes.offsets, self._bindings.offsets
        hints = self._hints()
        return [
            FileValues(
                path=path,
                nodes=nodes[row + 1] - nodes[row],
                bindings=bindings[row + 1] - bindings[row],
                op=op[at[row] : at[row + 1]],
                target=target[at[row] : at[row + 1]],
                source=source[at[row] : at[row + 1]],
                text=text[at[row] : at[row + 1]],
                hints=hints[row],
            )
            for row, path in enumerate(self.paths)
        ]

    def _hints(self) -> list[HintColumns]:
        found = Slices.of(self._table.column("hints"))
        columns = found.fields(*_FACT)
        return [
            HintColumns(*(column[start:end] for column in columns)) for start, end in pairwise(found.offsets)
        ]

    def defining(self) -> dict[str, list[tuple[int, int]]]:
        """By path, bindings and the nodes of what binds them."""
        return dict(zip(self.paths, self._entries("defining", "binding", "node"), strict=True))

    def attributes(self) -> dict[str, list[tuple[int, int, str]]]:
        """By path, bindings of attributes of instances, their classes and names."""
        return dict(zip(self.paths, self._entries("attributes", "binding", "owner", "name"), strict=True))

    def written(self) -> list[list[tuple[int, int]]]:
        """For each row the nodes of the calls that are written in it, and the defs that make them."""
        return self._entries("written", "node", "owner")

    def how_imported(self) -> dict[tuple[str, int], str]:
        """Of imports by path and node, those that are only there for types, or are made late."""
        entries = self._entries("imported", "node", "is_type_checking", "is_lazy")
        return {
            (path, node): " ".join(["type-checking"] * for_types + ["lazy"] * is_lazy)
            for path, found in zip(self.paths, entries, strict=True)
            for node, for_types, is_lazy in found
            if for_types or is_lazy
        }

    def imported_names(self) -> dict[tuple[str, int], str]:
        """Of imports by path and node the name that each asks a module for."""
        entries = zip(self.paths, self._entries("imported", "node", "name"), strict=True)
        return {(path, node): name for path, found in entries for node, name in found if name is not None}

    def _entries(self, column: str, *names: str) -> list[list[Any]]:
        """For each row the entries of a list, as tuples."""
        found = Slices.of(self._table.column(column))
        entries = list(zip(*found.fields(*names), strict=True))
        return [entries[start:end] for start, end in pairwise(found.offsets)]

    def rows(self, paths: Iterable[str]) -> list[int]:
        """The rows of files by their paths."""
        return [self.row_of[path] for path in paths]

    def node_ids(self, paths: Sequence[str | None], nodes: Sequence[int | None]) -> pa.Array[Any]:
        """The ids of nodes by the paths of their files and their numbers; what is missing stays missing."""
        return self._ids_at(self._nodes, paths, nodes)

    def binding_ids(self, paths: Sequence[str | None], bindings: Sequence[int | None]) -> pa.Array[Any]:
        """The ids of bindings in the same way."""
        return self._ids_at(self._bindings, paths, bindings)

    def _ids_at(
        self, ids: Slices, paths: Sequence[str | None], numbers: Sequence[int | None]
    ) -> pa.Array[Any]:
        at, row_of = ids.offsets, self.row_of
        places = [
            None if path is None or number is None else at[row_of[path]] + number
            for path, number in zip(paths, numbers, strict=True)
        ]
        return ids.entries.take(pa.array(places, pa.int64()))

    def column(self, name: str) -> Any:
        """A column of the files as it was given."""
        return self._table.column(name)
