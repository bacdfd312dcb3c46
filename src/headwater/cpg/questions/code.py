"""The definitions of a repository with their edges, in memory: what most questions are answered from.

It is read from the table `definitions` in one query, and its columns stay columns. Definitions are told by
their numbers. Not here: questions.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headwater.cpg.graph import repository_id
from headwater.cpg.resolve import symbol_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

_compute = cast("Any", pc)
_THOUSAND = 1000
_DEFINITIONS = """
    SELECT node_id, kind, name, symbol, path, line, end_line, is_test, dist,
        own_effects, effects, raises, incoming
    FROM definitions WHERE repo_id = '{repo_id}'
"""


class Edge(NamedTuple):
    """An edge between two definitions, at a line of the file of its source."""

    source: int
    target: int
    kind: str
    line: int | None
    label: str | None
    resolution: str
    confidence: float


def code_query(name: str) -> str:
    """The query whose rows `Code.of` takes, for the repository of this name.

    It reads who points to each definition; the other direction comes of the same edges.
    """
    return " ".join(_DEFINITIONS.format(repo_id=repository_id(name)).split())


@dataclass(frozen=True)
class Code:
    """Columns of definitions, entry by entry, and of edges, sorted by where they lead."""

    ids: list[str]
    kinds: list[str]
    names: list[str]
    symbols: list[str]
    paths: list[str | None]
    lines: list[int | None]
    ends: list[int | None]
    is_test: list[bool]
    dists: list[str | None]
    own_effects: list[list[str]]
    effects: list[list[str]]
    raises: list[list[str]]
    _sources: np.ndarray[Any, np.dtype[np.int64]]
    _targets: np.ndarray[Any, np.dtype[np.int64]]
    _columns: dict[str, _Column]

    @classmethod
    def of(cls, table: pa.Table) -> Code:
        """The definitions that these rows are, in the order of their names."""
        table = table.sort_by([("name", "ascending"), ("node_id", "ascending")])
        lists = _one(table.column("incoming"))
        edges = _compute.list_flatten(lists)
        sources = _compute.index_in(_compute.struct_field(edges, "other_id"), _one(table.column("node_id")))
        targets = _compute.list_parent_indices(lists)
        known = _compute.indices_nonzero(sources.is_valid())
        columns = ("edge_kind", "line", "label", "resolution", "confidence")
        lists_of: Any = (table.column(each).to_pylist() for each in table.column_names if each != "incoming")
        return cls(
            *lists_of,
            _sources=sources.take(known).to_numpy(zero_copy_only=False).astype(np.int64),
            _targets=targets.take(known).to_numpy(zero_copy_only=False).astype(np.int64),
            _columns={name: _Column.of(_compute.struct_field(edges, name).take(known)) for name in columns},
        )

    def __len__(self) -> int:
        return len(self.ids)

    def into(self, node: int, *kinds: str) -> list[Edge]:
        """The edges that lead to a definition, of some kinds or of all."""
        start, end = np.searchsorted(self._targets, [node, node + 1]).tolist()
        return [each for each in map(self._edge, range(start, end)) if not kinds or each.kind in kinds]

    def out_of(self, node: int, *kinds: str) -> list[Edge]:
        """The edges that a definition has, of some kinds or of all."""
        start, end = np.searchsorted(self._by_source[1], [node, node + 1])
        found = map(self._edge, self._by_source[0][start:end].tolist())
        return [each for each in found if not kinds or each.kind in kinds]

    def edges(self, *kinds: str) -> Iterator[Edge]:
        """All edges of some kinds."""
        return map(self._edge, self._of_kinds(kinds).tolist())

    def neighbours(self, *kinds: str, into: bool = False) -> Ends:
        """Where edges of some kinds lead, or with `into` where they come from: for questions about all."""
        places = self._of_kinds(kinds)
        sources, targets = self._sources[places], self._targets[places]
        return Ends.of(targets, sources, len(self)) if into else Ends.of(sources, targets, len(self))

    def _of_kinds(self, kinds: tuple[str, ...]) -> np.ndarray[Any, np.dtype[np.int64]]:
        column = self._columns["edge_kind"]
        wanted = [number for number, kind in enumerate(column.values) if kind in kinds]
        return np.flatnonzero(np.isin(column.numbers, wanted)).astype(np.int64)

    def is_outside(self, node: int) -> bool:
        """Whether it is outside of the repository."""
        return self.paths[node] is None

    def module_of(self, node: int) -> int | None:
        """The module that something stands in; None for what is outside."""
        path = self.paths[node]
        return None if path is None else self._modules.get(path)

    def owner_of(self, node: int) -> int | None:
        """What a definition stands in: a module, class or function."""
        return next((each.source for each in self.into(node, "CONTAINS")), None)

    def of_name(self, name: str) -> tuple[int, ...]:
        """All definitions of a dotted name: several where it is defined several times."""
        return self._by_name.get(name, ())

    def of_symbol(self, symbol: str) -> int | None:
        """The definition of a symbol."""
        return self._by_symbol.get(symbol)

    def title(self, symbol: str) -> str:
        """The dotted name that belongs to a symbol."""
        found = self.of_symbol(symbol)
        return symbol_parts(symbol)[2] if found is None else self.names[found]

    def reached(
        self, starts: Iterable[int], step: Callable[[int], Iterable[Edge]], *, into: bool, depth: int | None
    ) -> dict[int, tuple[int, Edge | None]]:
        """What can be reached over edges: the number of steps, and the edge by which it was reached first.

        Args:
            starts: where to begin; they are reached in no step.
            step: the edges that lead on from a definition.
            into: whether edges are gone against their direction.
            depth: the most steps; as many as it takes if None.
        """
        found: dict[int, tuple[int, Edge | None]] = dict.fromkeys(starts, (0, None))
        front = list(found)
        steps = 0
        while front and (depth is None or steps < depth):
            steps += 1
            following: list[int] = []
            for node in front:
                for edge in step(node):
                    other = edge.source if into else edge.target
                    if other not in found:
                        found[other] = (steps, edge)
                        following.append(other)
            front = following
        return found

    @cached_property
    def decorators(self) -> dict[int, list[int]]:
        """By a definition what it is decorated with, as far as that is known."""
        begins: dict[tuple[int | None, str | None], list[tuple[int, int]]] = {}
        owners = self.neighbours("CONTAINS", into=True)
        for node, line in enumerate(self.lines):
            if line is not None and self.kinds[node] in {"class", "function", "method"}:
                begins.setdefault((next(iter(owners[node]), None), self.paths[node]), []).append((line, node))
        for each in begins.values():
            each.sort()
        found: dict[int, list[int]] = {}
        for edge in self.edges("CALLS"):
            if edge.label == "decorator" and edge.line is not None:
                inside = begins.get((edge.source, self.paths[edge.source]), [])
                place = bisect_left(inside, (edge.line, -1))  # the next that begins is what it decorates
                if place < len(inside):
                    found.setdefault(inside[place][1], []).append(edge.target)
        return found

    def _edge(self, place: int) -> Edge:
        kind, line, label, resolution, confidence = (each[place] for each in self._columns.values())
        source, target = int(self._sources[place]), int(self._targets[place])
        return Edge(source, target, kind, line, label, resolution, confidence / _THOUSAND)

    @cached_property
    def _by_source(self) -> tuple[Any, Any]:
        order = np.argsort(self._sources, kind="stable")
        return order, self._sources[order]

    @cached_property
    def _modules(self) -> dict[str, int]:
        return {
            path: node
            for node, (path, kind) in enumerate(zip(self.paths, self.kinds, strict=True))
            if kind == "module" and path is not None
        }

    @cached_property
    def _by_symbol(self) -> dict[str, int]:
        return {symbol: node for node, symbol in reversed(list(enumerate(self.symbols)))}

    @cached_property
    def _by_name(self) -> dict[str, tuple[int, ...]]:
        found: dict[str, list[int]] = {}
        for node, name in enumerate(self.names):
            found.setdefault(name, []).append(node)
        return {name: tuple(nodes) for name, nodes in found.items()}


@dataclass(frozen=True, slots=True)
class Ends:
    """By a definition the other ends of its edges, each once."""

    starts: list[int]
    others: list[int]

    @classmethod
    def of(cls, ones: Any, others: Any, count: int) -> Ends:
        """By `ones` the `others`."""
        pairs = np.unique(ones * count + others)
        starts = np.searchsorted(pairs, np.arange(count + 1) * count)
        return cls(starts.tolist(), (pairs % count).tolist() if count else [])

    def __getitem__(self, node: int) -> list[int]:
        return self.others[self.starts[node] : self.starts[node + 1]]


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of edges by the numbers of its values, of which there are few."""

    values: list[Any]
    numbers: np.ndarray[Any, np.dtype[np.int64]]

    @classmethod
    def of(cls, column: Any) -> _Column:
        encoded = column.dictionary_encode("encode")
        return cls(
            encoded.dictionary.to_pylist(),
            encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64),
        )

    def __getitem__(self, place: int) -> Any:
        return self.values[self.numbers[place]]


def same_of(code: Code, nodes: Sequence[int]) -> list[int]:
    """These definitions, and all others of the same names, each once: a name may be defined several times."""
    return list(dict.fromkeys(each for node in nodes for each in code.of_name(code.names[node])))


def _one(column: Any) -> Any:
    chunks: list[Any] = column.chunks or [pa.array([], column.type)]
    return pa.concat_arrays(chunks)
