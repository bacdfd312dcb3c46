"""The list of definitions and what is outside, each with all that is told of it: what it does, and its edges.

An edge is there twice, in what leads away from one end and in what leads to the other, in the order of its
columns. Not here: what is found, and which edges there are.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headwater.cpg.nested import structs_of
from headwater.cpg.resolution.columns import EDGE, LISTS
from headwater.cpg.resolution.listed import Listed, encoded, written_out
from headwater.cpg.resolution.outside import EXTERNAL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headwater.cpg.resolution.ids import Numbers

_compute = cast("Any", pc)
_EFFECTS = ("own_effects", "effects", "raises")
_NONE = -1
_PACKAGE, _VERSION, _DESCRIPTORS = 2, 3, 4
# A symbol's descriptors as a dotted name: quotes go, what ends one part becomes a dot, the last dot goes.
_QUOTE, _END, _LAST = "`", re.compile(r"\(\)\.|[/#]"), re.compile(r"\.$")


def list_things(links: Listed, lists: Mapping[str, Listed]) -> Listed:
    """One entry for each definition, variable of a module or class, and thing outside.

    Args:
        links: all edges between them, packed
        lists: the lists that have been made, packed
    """
    parts = [_defined(lists["definitions"]), _variables(lists["names"]), _foreign(lists["externals"])]
    rows = np.concatenate([each.rows for each in parts])
    order = np.argsort(rows, kind="stable")
    columns = {
        name: pa.concat_arrays([each.columns[name] for each in parts]).take(pa.array(order))
        for name in parts[0].columns
    }
    ids = columns["node_id"]
    columns |= _told(lists["effects"], ids)
    source, target = links.columns["source_id"], links.columns["target_id"]
    columns["outgoing"] = _edges(source, target, links, ids)
    columns["incoming"] = _edges(target, source, links, ids)
    return Listed(rows[order], columns)


def _defined(definitions: Listed) -> Listed:
    found = {name: written_out(each) for name, each in definitions.columns.items()}
    return _entries(definitions.rows, found | _distribution(found["symbol"].to_pylist()))


def _variables(names: Listed) -> Listed:
    """Variables of modules and classes; each has a place where it first gets a value."""
    found = {name: written_out(each) for name, each in names.columns.items()}
    is_own = _compute.and_(found["name"].is_valid(), found["def_id"].is_null())
    kept = _compute.indices_nonzero(is_own)
    symbols = found["symbol"].take(kept).to_pylist()
    line = found["line"].take(kept)
    columns = {
        "node_id": found["binding_id"].take(kept),
        "kind": ["variable"] * len(kept),
        "name": [_dotted(each) for each in symbols],
        "symbol": symbols,
        "line": line,
        "end_line": line,
        "is_test": [False] * len(kept),
    }
    return _entries(np.asarray(names.rows)[kept.to_numpy()], columns | _distribution(symbols))


def _foreign(externals: Listed) -> Listed:
    found = {name: written_out(each) for name, each in externals.columns.items()}
    kept = _compute.indices_nonzero(_compute.equal(found["kind"], EXTERNAL))
    columns = {name: found[name].take(kept) for name in ("node_id", "symbol", "name", "dist", "version")}
    nothing = [None] * len(kept)
    more = {"kind": ["external"] * len(kept), **dict.fromkeys(("line", "end_line", "is_test"), nothing)}
    return _entries(np.asarray(externals.rows)[kept.to_numpy()], columns | more)


def _entries(rows: Sequence[int] | Numbers, columns: Mapping[str, Any]) -> Listed:
    """What the parts have in common: the properties of each entry."""
    kinds = {name: kind for name, kind in LISTS["things"].items() if name in columns}
    entries: Any = structs_of(columns, kinds)
    return Listed(np.asarray(rows, np.int64), {name: entries.field(name) for name in kinds})


def _distribution(symbols: Sequence[str | None]) -> dict[str, list[str | None]]:
    parts = [_parts(each) for each in symbols]
    return {"dist": [each[_PACKAGE] for each in parts], "version": [each[_VERSION] for each in parts]}


def _dotted(symbol: str) -> str | None:
    descriptors = _parts(symbol)[_DESCRIPTORS]
    if descriptors is None:
        return None
    return _LAST.sub("", _END.sub(".", descriptors.replace(_QUOTE, "")))


def _parts(symbol: str | None) -> list[str | None]:
    """The scheme, manner, package, version and descriptors of a symbol; a local one has no more than two."""
    found: list[str | None] = [*(symbol.split(" ", _DESCRIPTORS) if symbol else ())]
    return found + [None] * (_DESCRIPTORS + 1 - len(found))


def _told(effects: Listed, ids: pa.Array[Any]) -> dict[str, Any]:
    """What each thing does to the world, and what it raises; nothing is known of most."""
    of = _compute.index_in(ids, value_set=written_out(effects.columns["def_id"]))
    nothing: Any = pa.scalar([], pa.list_(pa.string()))
    return {name: effects.columns[name].take(of).fill_null(nothing) for name in _EFFECTS}


def _edges(ends: Any, others: Any, links: Listed, ids: pa.Array[Any]) -> pa.Array[Any]:
    """For each id the links that have it at one end, in the order of their columns."""
    ends, others = encoded(written_out(ends)), encoded(written_out(others))
    places = _compute.fill_null(_compute.index_in(ends.dictionary, value_set=ids), _NONE)
    entry = places.take(ends.indices).to_numpy()
    columns: dict[str, Any] = {"edge_kind": links.columns["edge_kind"], "other_id": others}
    columns |= {name: links.columns[name] for name in ("line", "label", "resolution", "confidence")}
    order = np.lexsort([*map(_sortable, reversed(columns.values())), entry])
    order = order[np.searchsorted(entry, 0, sorter=order) :]
    kept = {name: written_out(each.take(pa.array(order))) for name, each in columns.items()}
    offsets = np.searchsorted(entry[order], np.arange(len(ids) + 1)).astype(np.int32)
    return cast("Any", pa.ListArray).from_arrays(pa.array(offsets), structs_of(kept, EDGE))


def _sortable(column: Any) -> Numbers:
    """Numbers in the order of a column's values; what is missing comes first."""
    if not pa.types.is_dictionary(column.type):
        return _compute.fill_null(column, _NONE).to_numpy().astype(np.int64)
    ranks = np.empty(len(column.dictionary), np.int64)
    ranks[_compute.sort_indices(column.dictionary).to_numpy()] = np.arange(len(ranks))
    codes = _compute.fill_null(column.indices, _NONE).to_numpy()
    return np.where(codes < 0, _NONE, ranks[codes] if len(ranks) else _NONE)
