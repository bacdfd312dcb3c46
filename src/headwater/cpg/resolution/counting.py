"""How many nodes and edges of each kind come of the lists of each file.

What is counted here is what the views make rows of. Not here: counts of evidence.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
import pyarrow as pa

from headwater.cpg.kinds import STEP_EDGES
from headwater.cpg.resolution.ids import IdColumn
from headwater.cpg.resolution.listed import Listed, encoded
from headwater.cpg.resolution.typefacts import TYPE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from headwater.cpg.resolution.ids import Numbers

# Nodes or edges, their kind, and for each the row of its file.
Counted: TypeAlias = "tuple[str, str, Numbers]"

# By list, the kind of edge that its entries are, and the column without which one is none.
_EDGES: tuple[tuple[str, str, str], ...] = (
    ("targets", "CALLS", "def_id"),
    ("targets", "RETURNS_TO", "def_id"),
    ("arguments", "ARG_PASSES", "node_id param_id"),
    ("imports", "IMPORTS", "def_id"),
    ("bases", "INHERITS", "def_id"),
    ("orders", "MRO", "def_id"),
    ("overrides", "OVERRIDES", "overridden_id"),
    ("type_facts", "HAS_TYPE", "type_id"),
    ("stubs", "STUB_OF", "source_id"),
    ("tests", "TESTS", "tested_id"),
    ("externals", "CONTAINS", "dist_id"),
)
_VIA = {"definition": "EXPORTS", "reexport": "REEXPORTS", "star": "REEXPORTS"}

_NO_ROW = -1


def counted_in(name: str, listed: Listed) -> Iterator[Counted]:
    """What is counted of a list."""
    rows = np.asarray(listed.rows, np.int64)
    for each, kind, needed in _EDGES:
        if each == name:
            there = [_is_there(listed.columns[column]) for column in needed.split()]
            yield "edge", kind, rows[np.logical_and.reduce(there)]
    if name == "flows":
        yield from (
            ("edge", STEP_EDGES[kind], of)
            for kind, of in _by_kind(rows, listed, "kind")
            if kind in STEP_EDGES
        )
    elif name == "exports":
        there = _is_there(listed.columns["def_id"])
        vias = _by_kind(np.where(there, rows, _NO_ROW), listed, "via")
        yield from (("edge", _VIA[via], of[of != _NO_ROW]) for via, of in vias)
    elif name == "externals":
        yield from (("node", kind, of) for kind, of in _by_kind(rows, listed, "kind"))
    elif name == "types":
        yield "node", TYPE, rows


def counts_of(found: Iterable[Counted]) -> Listed:
    """Entries of kinds and how often each file has them, from what is counted of all lists."""
    counted: Counter[tuple[int, str, str]] = Counter()
    for of, kind, rows in found:
        files, counts = np.unique(rows, return_counts=True)
        for row, count in zip(files.tolist(), counts.tolist(), strict=True):
            counted[row, of, kind] += count
    entries = sorted(counted.items())
    columns = {
        "of": [of for (_, of, _), _ in entries],
        "kind": [kind for (_, _, kind), _ in entries],
        "count": [count for _, count in entries],
    }
    return Listed([row for (row, _, _), _ in entries], columns)


def _by_kind(rows: Numbers, listed: Listed, column: str) -> Iterator[tuple[str, Numbers]]:
    """The kinds in a column, and the rows of each."""
    kinds = encoded(listed.columns[column])
    codes = kinds.indices.to_numpy(zero_copy_only=False)
    for code, kind in enumerate(kinds.dictionary.to_pylist()):
        yield kind, rows[codes == code]


def _is_there(values: Any) -> NDArray[np.bool_]:
    """Which values are not missing."""
    if isinstance(values, IdColumn):
        return values.is_there()
    if isinstance(values, pa.Array):
        return cast("Any", values).is_valid().to_numpy(zero_copy_only=False)
    return np.array([value is not None for value in values], np.bool_)
