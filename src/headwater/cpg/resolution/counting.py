"""How many nodes and edges of each kind come of the lists of each file.

What is counted here is what the views make rows of. Not here: counts of evidence.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa

from headwater.cpg.kinds import STEP_EDGES
from headwater.cpg.resolution.listed import Listed
from headwater.cpg.resolution.typefacts import TYPE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

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


def counts_of(lists: Mapping[str, Listed]) -> Listed:
    """Entries of kinds and how often each file has them."""
    counted: Counter[tuple[int, str, str]] = Counter()
    for name, kind, needed in _EDGES:
        columns = [lists[name].columns[each] for each in needed.split()]
        for row in _rows_with(lists[name].rows, columns):
            counted[row, "edge", kind] += 1
    flows = lists["flows"]
    for row, kind in zip(flows.rows, flows.columns["kind"], strict=True):
        if kind in STEP_EDGES:
            counted[row, "edge", STEP_EDGES[kind]] += 1
    exports = lists["exports"]
    for row, via, there in zip(
        exports.rows, exports.columns["via"], _is_there(exports.columns["def_id"]), strict=True
    ):
        if there:
            counted[row, "edge", _VIA[via]] += 1
    for row, kind in zip(lists["externals"].rows, lists["externals"].columns["kind"], strict=True):
        counted[row, "node", kind] += 1
    for row in lists["types"].rows:
        counted[row, "node", TYPE] += 1
    entries = sorted(counted.items())
    columns = {
        "of": [of for (_, of, _), _ in entries],
        "kind": [kind for (_, _, kind), _ in entries],
        "count": [count for _, count in entries],
    }
    return Listed([row for (row, _, _), _ in entries], columns)


def _rows_with(rows: Sequence[int], columns: Sequence[Any]) -> Iterator[int]:
    """The rows of entries that have a value in every one of some columns."""
    there = zip(*map(_is_there, columns), strict=True)
    return (row for row, each in zip(rows, there, strict=True) if all(each))


def _is_there(values: Any) -> list[bool]:
    if isinstance(values, pa.Array):
        return cast("list[bool]", values.is_valid().to_pylist())
    return [value is not None for value in values]
