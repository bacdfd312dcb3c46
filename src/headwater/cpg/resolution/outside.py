"""What is outside of a repository, as nodes: each thing that its symbols name, and its distribution.

The first file by path that speaks of one lists it. Not here: which symbols are outside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from headwater.cpg.resolve import symbol_parts
from headwater.digest import stable_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.cpg.resolution.reading import Repository

EXTERNAL, DISTRIBUTION = "EXTERNAL_SYMBOL", "DISTRIBUTION"


class Outside:
    """The symbols outside that rows were found to speak of, so far."""

    def __init__(self, repository: Repository, repo_id: str) -> None:
        self._repository, self._repo_id = repository, repo_id
        self._ids: dict[str, str] = {}
        self._paths: dict[str, str] = {}

    def def_ids(
        self,
        spoken_in: Sequence[str],
        symbols: Sequence[str | None],
        paths: Sequence[str | None],
        nodes: Sequence[int | None],
    ) -> pa.Array[Any]:
        """The nodes of what symbols mean: definitions at paths and nodes, else what is outside."""
        outside = [
            None if symbol is None or path is not None else self._id_of(symbol, spoken)
            for spoken, symbol, path in zip(spoken_in, symbols, paths, strict=True)
        ]
        return pc.coalesce(self._repository.node_ids(paths, nodes), pa.array(outside, pa.string()))

    def _id_of(self, symbol: str, spoken_in: str) -> str:
        found = self._ids.get(symbol)
        if found is None:
            found = self._ids[symbol] = self._node_id(EXTERNAL, symbol)
            self._paths[symbol] = spoken_in
        elif spoken_in < self._paths[symbol]:
            self._paths[symbol] = spoken_in
        return found

    def _node_id(self, kind: str, name: str) -> str:
        return stable_id("node", self._repo_id, "", name, 0, kind, "")

    def listed(self) -> tuple[list[int], dict[str, list[str | None]]]:
        """One entry for each that was asked for, and one for each distribution: its row, and its columns."""
        entries: list[tuple[str, ...]] = []
        firsts: dict[tuple[str, str], str] = {}
        for symbol, path in self._paths.items():
            dist, version, name = symbol_parts(symbol)
            known = firsts.setdefault((dist, version), path)
            firsts[dist, version] = min(known, path)
            entries.append((path, symbol, dist, version, name))
        rows: list[int] = []
        names = ("node_id", "kind", "symbol", "name", "dist", "version", "dist_id")
        columns: dict[str, list[str | None]] = {name: [] for name in names}

        def add(path: str, *values: str | None) -> None:
            rows.append(self._repository.row_of[path])
            for column, value in zip(columns.values(), values, strict=True):
                column.append(value)

        ids = {key: self._node_id(DISTRIBUTION, " ".join(key)) for key in firsts}
        for (dist, version), path in sorted(firsts.items()):
            add(path, ids[dist, version], DISTRIBUTION, None, dist, dist, version, None)
        for path, symbol, dist, version, name in sorted(entries):
            add(path, self._ids[symbol], EXTERNAL, symbol, name, dist, version, ids[dist, version])
        return rows, columns
