"""A repository's evidence in Arrow: its facts as the solver takes them, and the ids of its nodes.

Files are told by the numbers of their rows. Not here: what comes of the facts, and how ids are looked up.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headwater.cpg.extract.hints import HintColumns
from headwater.cpg.resolution.ids import MISSING, IdColumn, Ids
from headwater.cpg.resolve import FileValues

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from headwater.cpg.resolution.ids import Numbers

_compute = cast("Any", pc)
_FACT = ("op", "target", "source", "text")
_DEFINING = pa.array(["import", "function", "class"])


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
        return cls(lists.flatten(), _offsets_of(column).tolist())

    def fields(self, *names: str) -> list[list[Any]]:
        """Columns of the entries, which are structs."""
        return [self.entries.field(name).to_pylist() for name in names]


@dataclass(frozen=True, slots=True)
class Sites:
    """Places where names stand: of each the row of its file, and the numbers of binding and node in it."""

    rows: Numbers
    bindings: Numbers
    nodes: Numbers

    def where(self, chosen: Any) -> Sites:
        """Some of them."""
        mask = chosen.to_numpy(zero_copy_only=False)
        return Sites(self.rows[mask], self.bindings[mask], self.nodes[mask])


class Repository:
    """The files of a repository by the numbers of their rows, and the ids of all nodes and bindings."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table
        self.paths = cast("list[str]", table.column("path").to_pylist())
        self.is_test: list[bool | None] = table.column("is_test").to_pylist()
        self.row_of = {path: row for row, path in enumerate(self.paths)}
        self._row_of_any: dict[str | None, int] = {**self.row_of, None: -1}
        self.nodes, self.first_nodes = _ids_of(table.column("node_ids"))
        self._bindings, self.first_bindings = _ids_of(table.column("binding_ids"))
        self.owners = self.numbers("owners")
        self._sites = _sites_of(table.column("sites"))
        entries = one_array(table.column("sites")).flatten()
        self._roles, self._def_kinds = entries.field("role"), entries.field("def_kind")

    def files(self) -> list[FileValues]:
        """The value facts of all files."""
        nodes, bindings = self.first_nodes.tolist(), self.first_bindings.tolist()
        hints = self._hints()
        return [
            FileValues(
                path=path,
                nodes=nodes[row + 1] - nodes[row],
                bindings=bindings[row + 1] - bindings[row],
                op=op,
                target=target,
                source=source,
                text=text,
                hints=hints[row],
            )
            for row, (path, (op, target, source, text)) in enumerate(
                zip(self.paths, _facts_in(self._table.column("facts")), strict=True)
            )
        ]

    def _hints(self) -> list[HintColumns]:
        found = Slices.of(self._table.column("hints"))
        columns = found.fields(*_FACT)
        return [
            HintColumns(*(column[start:end] for column in columns)) for start, end in pairwise(found.offsets)
        ]

    def sites(self, *roles: str) -> Sites:
        """Where names stand in one of these roles."""
        return self._sites.where(_compute.is_in(self._roles, pa.array(roles)))

    def defining(self) -> dict[str, list[tuple[int, int]]]:
        """By path, bindings and the nodes of what binds them."""
        found = self._sites.where(_compute.is_in(self._def_kinds, _DEFINING))
        return self._by_path(found.rows, found.bindings, found.nodes)

    def attributes(self) -> dict[str, list[tuple[int, int, str]]]:
        """By path, bindings of attributes of instances, their classes and names."""
        kinds = one_array(self._table.column("binding_kinds"))
        rows = _compute.list_parent_indices(kinds).to_numpy().astype(np.int64)
        chosen = _compute.equal(kinds.flatten(), "instance_attr").to_numpy(zero_copy_only=False)
        places = np.flatnonzero(chosen)
        rows = rows[places]
        scopes = self.numbers("binding_scopes")[places] + _offsets_of(self._table.column("scope_nodes"))[rows]
        names = one_array(self._table.column("binding_names")).flatten().take(pa.array(places))
        owners = self.numbers("scope_nodes")[scopes]
        return self._by_path(rows, places - self.first_bindings[rows], owners, names)

    def written(self) -> list[list[tuple[int, int]]]:
        """For each row the nodes of the calls that are written in it, and the defs that make them."""
        nodes = one_array(self._table.column("call_nodes"))
        rows = _compute.list_parent_indices(nodes).to_numpy().astype(np.int64)
        numbers = self.numbers("call_nodes")
        return self._by_row(rows, numbers, self.owners[self.first_nodes[rows] + numbers])

    def how_imported(self) -> dict[tuple[str, int], str]:
        """Of imports by path and node, those that are only there for types, or are made late."""
        return {
            (path, node): " ".join(["type-checking"] * for_types + ["lazy"] * is_lazy)
            for path, node, for_types, is_lazy in self._imports("imports_for_types", "imports_late")
            if for_types or is_lazy
        }

    def imported_names(self) -> dict[tuple[str, int], str]:
        """Of imports by path and node the name that each asks a module for."""
        return {(path, node): name for path, node, name in self._imports("import_names") if name is not None}

    def _imports(self, *names: str) -> Iterator[tuple[Any, ...]]:
        """Of all imports the path, the node, and some columns."""
        nodes = one_array(self._table.column("import_nodes"))
        paths = map(self.paths.__getitem__, _compute.list_parent_indices(nodes).to_pylist())
        columns = (one_array(self._table.column(name)).flatten().to_pylist() for name in names)
        return zip(paths, nodes.flatten().to_pylist(), *columns, strict=True)

    def numbers(self, name: str) -> Numbers:
        """The numbers in a column of lists, one after another; below nothing if one is missing."""
        entries = one_array(self._table.column(name)).flatten()
        return _compute.fill_null(entries, MISSING).to_numpy(zero_copy_only=False).astype(np.int64)

    def _by_row(self, rows: Numbers, *columns: Any) -> list[list[Any]]:
        """For each row the entries of columns that are in the order of rows, as tuples."""
        entries = list(zip(*(each.tolist() for each in columns), strict=True))
        ends = np.searchsorted(rows, np.arange(len(self.paths) + 1)).tolist()
        return [entries[start:end] for start, end in pairwise(ends)]

    def _by_path(self, rows: Numbers, *columns: Any) -> dict[str, list[Any]]:
        return dict(zip(self.paths, self._by_row(rows, *columns), strict=True))

    def rows(self, paths: Iterable[str]) -> Numbers:
        """The rows of files by their paths."""
        return np.fromiter(map(self.row_of.__getitem__, paths), np.int64)

    def node_ids(self, paths: Sequence[str | None], nodes: Sequence[int | None]) -> IdColumn:
        """The ids of nodes by the paths of their files and their numbers; what is missing stays missing."""
        return IdColumn(self.nodes, self._places(self.first_nodes, paths, nodes))

    def binding_ids(self, paths: Sequence[str | None], bindings: Sequence[int | None]) -> IdColumn:
        """The ids of bindings in the same way."""
        return IdColumn(self._bindings, self._places(self.first_bindings, paths, bindings))

    def _places(self, first: Numbers, paths: Sequence[str | None], numbers: Sequence[int | None]) -> Numbers:
        rows = np.fromiter(map(self._row_of_any.__getitem__, paths), np.int64, len(paths))
        within = pa.array(numbers, pa.int64()).fill_null(-1).to_numpy()
        return np.where((rows < 0) | (within < 0), -1, first[rows] + within)

    def file_ids(self) -> list[str]:
        """The ids of the files."""
        return cast("list[str]", self._table.column("file_id").to_pylist())


def one_array(column: Any) -> Any:
    """A column of a table in one piece."""
    chunks: list[Any] = column.chunks or [pa.array([], column.type)]
    return pa.concat_arrays(chunks)


def _sites_of(column: Any) -> Sites:
    lists = one_array(column)
    entries = lists.flatten()
    rows = _compute.list_parent_indices(lists).to_numpy().astype(np.int64)
    bindings, nodes = (entries.field(name).to_numpy().astype(np.int64) for name in ("binding", "node"))
    return Sites(rows, bindings, nodes)


def _offsets_of(column: Any) -> Numbers:
    """Where the lists of a column begin and end; one that is missing is empty."""
    lengths = [_compute.fill_null(each.value_lengths(), 0).to_numpy() for each in column.chunks]
    return np.cumsum(np.concatenate([np.zeros(1, np.int64), *lengths]))


def _ids_of(column: Any) -> tuple[Ids, Numbers]:
    """The ids in a column of lists, and where those of each row begin."""
    return Ids.of(each.flatten() for each in column.chunks), _offsets_of(column)


def _facts_in(column: Any) -> Iterator[tuple[bytes, array[int], array[int], list[str | None]]]:
    """The facts of each row, chunk by chunk; texts that are the same are one object in all of them."""
    known: dict[str | None, str | None] = {}
    for chunk in column.chunks:
        facts = Slices.of(pa.chunked_array([chunk]))
        text = facts.entries.field("text").dictionary_encode()
        texts = [known.setdefault(each, each) for each in [*text.dictionary.to_pylist(), None]]
        codes = array("i", text.indices.fill_null(len(texts) - 1).to_numpy().tobytes())
        op, target, source = (facts.entries.field(name).to_numpy() for name in _FACT[:3])
        for start, end in pairwise(facts.offsets):
            yield (
                op[start:end].astype(np.uint8).tobytes(),
                array("i", target[start:end].tobytes()),
                array("i", source[start:end].tobytes()),
                [*map(texts.__getitem__, codes[start:end])],
            )
