"""What is outside of a repository, as nodes: each thing that its symbols name, and its distribution.

The first file by path that speaks of one lists it. Not here: which symbols are outside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from headwater.cpg.resolution.ids import IdColumn
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
        self._numbers: dict[str, int] = {}
        self._ids: list[str] = []
        self._paths: list[str] = []

    def def_ids(
        self,
        spoken_in: Sequence[str],
        symbols: Sequence[str | None],
        paths: Sequence[str | None],
        nodes: Sequence[int | None],
    ) -> IdColumn:
        """The nodes of what symbols mean: definitions at paths and nodes, else what is outside."""
        own, count = self._repository.node_ids(paths, nodes), len(self._repository.nodes)
        outside = [
            -1 if symbol is None or path is not None else count + self._number_of(symbol, spoken)
            for spoken, symbol, path in zip(spoken_in, symbols, paths, strict=True)
        ]
        places = np.where(own.places < 0, np.array(outside, np.int64), own.places)
        return IdColumn(own.ids.joined(self._ids), places)

    def _number_of(self, symbol: str, spoken_in: str) -> int:
        found = self._numbers.get(symbol)
        if found is None:
            found = self._numbers[symbol] = len(self._ids)
            self._ids.append(self._node_id(EXTERNAL, symbol))
            self._paths.append(spoken_in)
        elif spoken_in < self._paths[found]:
            self._paths[found] = spoken_in
        return found

    def _node_id(self, kind: str, name: str) -> str:
        return stable_id("node", self._repo_id, "", name, 0, kind, "")

    def listed(self) -> tuple[list[int], dict[str, list[str | None]]]:
        """One entry for each that was asked for, and one for each distribution: its row, and its columns."""
        entries: list[tuple[str, ...]] = []
        firsts: dict[tuple[str, str], str] = {}
        for symbol, path in zip(self._numbers, self._paths, strict=True):
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
            add(
                path,
                self._ids[self._numbers[symbol]],
                EXTERNAL,
                symbol,
                name,
                dist,
                version,
                ids[dist, version],
            )
        return rows, columns
