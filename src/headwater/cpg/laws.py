"""What must be true of one file's evidence: laws, each of which finds the entries that break it.

A sound file costs a few operations on whole columns; only where a law is broken are entries looked at one by
one. Not here: what becomes of evidence that breaks one, and what it takes two files to see.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headwater.cpg.extract import POINT_KINDS
from headwater.cpg.kinds import BINDING_KINDS, EDGE_KINDS, NODE_KINDS, SCOPE_KINDS, SEVERITIES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

Place: TypeAlias = tuple[str, str]  # a list and one of its columns
Array: TypeAlias = Any  # of Arrow, the stubs of which lack what is asked of it here
Numbers: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"

MOST_TOLD = 20
_compute = cast("Any", pc)

# Columns that hold the numbers of another list's entries, and that list.
REFERENCES: Mapping[Place, str] = {
    **dict.fromkeys((("nodes", "parent"), ("nodes", "owner"), ("edges", "src"), ("edges", "dst")), "nodes"),
    **dict.fromkeys((("scopes", "node"), ("sites", "node"), ("imports", "node")), "nodes"),
    **dict.fromkeys((("classes", "node"), ("classes", "base")), "nodes"),
    **dict.fromkeys((("calls", "node"), ("calls", "callee"), ("calls", "receiver")), "nodes"),
    **dict.fromkeys((("call_args", "call"), ("call_args", "node")), "nodes"),
    **dict.fromkeys((("points", "def_node"), ("points", "node"), ("codes", "node")), "nodes"),
    **dict.fromkeys((("reaching", "def_node"), ("reaching", "use_node")), "nodes"),
    **dict.fromkeys((("steps", "source"), ("steps", "target")), "nodes"),
    **dict.fromkeys((("scopes", "parent"), ("bindings", "scope")), "scopes"),
    **dict.fromkeys((("bindings", "resolves_to"), ("sites", "binding")), "bindings"),
    **dict.fromkeys((("points", "idom"), ("points", "ipdom"), ("flow", "src"), ("flow", "dst")), "points"),
    **dict.fromkeys((("control", "point"), ("control", "on_point")), "points"),
}
# Of these, what may be missing anywhere; where points have no dominator is a law of its own.
_OPTIONAL = frozenset(
    {("bindings", "resolves_to"), ("calls", "receiver"), ("points", "idom"), ("points", "ipdom")}
)
# What may be missing where another column of the entry is missing, and where it has one of some values.
_OPTIONAL_WITH = {("nodes", "parent"): "ast_kind", ("classes", "base"): "base_idx"}
_OPTIONAL_OF = {
    ("nodes", "owner"): ("node_kind", "FILE", "MODULE", "DIAGNOSTIC"),
    ("scopes", "parent"): ("kind", "module"),
}
_KIND_NUMBERS: Mapping[Place, Mapping[str, int]] = {
    place: {kind: number for number, kind in enumerate(kinds)}
    for place, kinds in (
        (("nodes", "node_kind"), NODE_KINDS),
        (("edges", "edge_kind"), EDGE_KINDS),
        (("scopes", "kind"), SCOPE_KINDS),
        (("bindings", "kind"), BINDING_KINDS),
        (("points", "kind"), POINT_KINDS),
        (("diagnostics", "severity"), SEVERITIES),
    )
}
_KINDS = {place: pa.array(list(kinds), pa.string()) for place, kinds in _KIND_NUMBERS.items()}
_NODE_IDS = ("node_ids", "")  # a list without columns
_IDS = (_NODE_IDS, ("scopes", "scope_id"), ("bindings", "binding_id"))
_SPANS = (
    ("nodes", "bstart", "bend"),
    ("nodes", "name_bstart", "name_bend"),
    ("diagnostics", "bstart", "bend"),
    ("notebook_cell_map", "bstart", "bend"),
)
# What the id of an edge is made of.
_EDGE_PARTS = tuple(("edges", part) for part in ("edge_kind", "src", "dst", "label", "ordinal"))
_FACTOR = 0x1E3779B97F4A7C15  # odd and without a pattern, so that different parts hardly ever make one key
_INT = 4  # bytes


class Columns:
    """The columns of one row, each taken out of Arrow once."""

    __slots__ = ("_arrays", "_kinds", "_missing", "_values", "row")

    def __init__(self, row: Mapping[str, Any]) -> None:
        self.row = row
        self._arrays: dict[Place, Array] = {}
        self._values: dict[Place, Numbers] = {}
        self._missing: dict[Place, Numbers] = {}
        self._kinds: dict[Place, Numbers] = {}

    def array(self, place: Place) -> Array:
        """A column as Arrow has it."""
        found = self._arrays.get(place)
        if found is None:
            name, column = place
            found = self._arrays[place] = self.row[name].field(column) if column else self.row[name]
        return found

    def values(self, place: Place) -> Numbers:
        """The numbers of a column as they lie in memory; where one is missing, there is any number."""
        found = self._values.get(place)
        if found is None:
            found = self._values[place] = _numbers_of(self.array(place))
        return found

    def missing(self, place: Place) -> Numbers:
        """Of which entries the value is missing."""
        found = self._missing.get(place)
        if found is None:
            array = self.array(place)
            present = array.buffers()[0] if array.null_count else None
            lacking = np.zeros(len(array), bool) if present is None else ~_bits_of(present, array)
            found = self._missing[place] = lacking
        return found

    def kinds(self, place: Place) -> Numbers:
        """The kind of each entry by its number among all kinds of the column; -1 if it is none of them."""
        found = self._kinds.get(place)
        if found is None:
            known = _compute.index_in(self.array(place), value_set=_KINDS[place])
            found = self._kinds[place] = _filled(known)
        return found

    def is_kind(self, place: Place, *kinds: str) -> Numbers:
        """Which entries are of one of these kinds."""
        numbers = self.kinds(place)
        return reduce(np.logical_or, [numbers == _KIND_NUMBERS[place][kind] for kind in kinds])


@dataclass(frozen=True, slots=True)
class Broken:
    """The entries of a list that break one law, and the column in which it is seen."""

    issue: str
    place: Place
    entries: Numbers


def violations_of(row: Mapping[str, object]) -> list[dict[str, str]]:
    """What is wrong with one file's evidence, a row that has not gone to Spark yet; nothing, if all is well.

    Each is an `issue` and a `detail`; of more than MOST_TOLD the first are told, and how many more there are.
    """
    columns = Columns(row)
    broken = [each for law in LAWS for each in law(columns) if len(each.entries)]
    told = [
        {
            "issue": each.issue,
            "detail": f"{'.'.join(filter(None, each.place))} of entry {entry}: {array[entry]}",
        }
        for each in broken
        for array in [columns.array(each.place)]
        for entry in each.entries[:MOST_TOLD].tolist()
    ][:MOST_TOLD]
    more = sum(len(each.entries) for each in broken) - len(told)
    return [*told, {"issue": "more", "detail": f"{more} violations more"}] if more else told


def dangling(columns: Columns) -> Iterator[Broken]:
    """A number that is none of the list that it refers to, one that is missing, a node without an id."""
    row = columns.row
    places = [place for place in REFERENCES if len(row[place[0]])]
    numbers = [columns.values(place) for place in places]
    sizes = [len(row[REFERENCES[place]]) for place in places]
    if places:
        starts = list(accumulate(map(len, numbers[:-1]), initial=0))
        largest = np.maximum.reduceat(np.concatenate(numbers).view(np.uint32), starts)
        for place, size, number in zip(places, sizes, largest.tolist(), strict=True):
            if number >= size:  # below 0 is far above all others
                wrong = (columns.values(place).view(np.uint32) >= size) & ~columns.missing(place)
                yield Broken("dangling", place, np.flatnonzero(wrong))
    for place in places:
        if place not in _OPTIONAL and columns.array(place).null_count:
            yield Broken("dangling", place, _wrongly_missing(columns, place))
    ids, nodes = len(row["node_ids"]), len(row["nodes"])
    if ids != nodes:
        place = _NODE_IDS if ids > nodes else ("nodes", "node_kind")
        yield Broken("dangling", place, np.arange(min(ids, nodes), max(ids, nodes)))


def duplicate_id(columns: Columns) -> Iterator[Broken]:
    """An id that is there twice, or an edge whose id would be."""
    for place in _IDS:
        ids = columns.array(place)
        if len(ids.unique()) < len(ids):
            yield Broken("duplicate_id", place, _again(ids.to_pylist()))
    keys = _edge_keys(columns)
    keys.sort()
    if (keys[1:] == keys[:-1]).any():
        parts = [columns.array(place).to_pylist() for place in _EDGE_PARTS]
        yield Broken("duplicate_id", ("edges", ""), _again(list(zip(*parts, strict=True))))


def malformed_id(columns: Columns) -> Iterator[Broken]:
    """An id of a node that does not say so."""
    ids = columns.array(_NODE_IDS)
    begins = _compute.starts_with(ids, "node:")
    if begins.true_count < len(ids):
        wrong = ~_bits_of(begins.buffers()[1], begins) | columns.missing(_NODE_IDS)
        yield Broken("malformed_id", _NODE_IDS, np.flatnonzero(wrong))


def unknown_kind(columns: Columns) -> Iterator[Broken]:
    """A kind that is none."""
    for place in _KINDS:
        if columns.row[place[0]] and (kinds := columns.kinds(place)).min() < 0:
            yield Broken("unknown_kind", place, np.flatnonzero(kinds < 0))


def span_half(columns: Columns) -> Iterator[Broken]:
    """A span of which only one end is known."""
    for start, end in _spans_of(columns):
        if columns.array(start).null_count or columns.array(end).null_count:
            yield Broken("span_half", start, np.flatnonzero(columns.missing(start) != columns.missing(end)))


def span_reversed(columns: Columns) -> Iterator[Broken]:
    """A span that ends before it begins."""
    for start, end in _spans_of(columns):
        wrong = columns.values(start) > columns.values(end)
        if wrong.any():
            wrong &= ~(columns.missing(start) | columns.missing(end))
            yield Broken("span_reversed", start, np.flatnonzero(wrong))


def span_outside_file(columns: Columns) -> Iterator[Broken]:
    """A span that begins before the file's text or ends after it."""
    size = columns.row["text_bytes"]
    for span in _spans_of(columns):
        for place in span:
            values = columns.values(place)
            if values.min() < 0 or values.max() > size:
                wrong = ((values < 0) | (values > size)) & ~columns.missing(place)
                yield Broken("span_outside_file", place, np.flatnonzero(wrong))


def line_below_one(columns: Columns) -> Iterator[Broken]:
    """A line before the first."""
    lines = ("nodes", "line")
    wrong = (columns.values(lines) < 1) & ~columns.missing(lines)
    yield Broken("line_below_one", lines, np.flatnonzero(wrong))


def span_outside_parent(columns: Columns) -> Iterator[Broken]:
    """A node that is not inside its parent; decorators stand before the def that they belong to."""
    parent, first, last = ("nodes", "parent"), ("nodes", "bstart"), ("nodes", "bend")
    start, end = columns.values(first), columns.values(last)
    above = _within(columns.values(parent), len(start))
    outside = (start < start[above]) | (end > end[above])
    outside &= ~columns.missing(parent)
    if outside.any():
        placeless = columns.missing(first) | columns.missing(last)
        is_known = columns.values(parent).view(np.uint32) < len(start)
        outside &= is_known & ~(placeless | placeless[above])
        fields = columns.array(("nodes", "field"))
        wrong = [
            each for each in np.flatnonzero(outside).tolist() if fields[each].as_py() != "decorator_list"
        ]
        yield Broken("span_outside_parent", first, np.array(wrong, np.int64))


def no_entry(columns: Columns) -> Iterator[Broken]:
    """A def whose points have no entry, or two."""
    place, size = ("points", "def_node"), len(columns.row["nodes"])
    defs = np.minimum(columns.values(place).view(np.uint32), np.uint32(size))
    counts = np.bincount(defs[columns.is_kind(("points", "kind"), "entry")], minlength=size + 1)
    counts[size] = 1  # what is no node dangles, and that is all
    yield Broken("no_entry", place, np.flatnonzero(counts[defs] != 1))


def unreachable(columns: Columns) -> Iterator[Broken]:
    """A point that seems to be met, but hangs in the air: no way leads to it, or no dominators do.

    A dominator comes before what it dominates, so following them from any point ends at the entry.
    """
    place, dead = ("points", "idom"), columns.array(("points", "is_dead"))
    count = len(dead)
    if not count:
        return
    is_dead = _bits_of(dead.buffers()[1], dead)
    is_live = ~(is_dead | columns.is_kind(("points", "kind"), "entry"))
    above, defs = _within(columns.values(place), count), columns.values(("points", "def_node"))
    is_loose = is_dead[above] | (above >= np.arange(count)) | (defs[above] != defs)
    is_told = ~columns.missing(place)
    is_met = np.zeros(count, bool)
    is_met[_within(columns.values(("flow", "dst")), count)] = True
    wrong = (is_live != is_told) | (is_live & (is_loose | ~is_met))
    yield Broken("unreachable", place, np.flatnonzero(wrong))


LAWS: tuple[Callable[[Columns], Iterator[Broken]], ...] = (
    *(dangling, duplicate_id, malformed_id, unknown_kind),
    *(span_half, span_reversed, span_outside_file, line_below_one, span_outside_parent),
    *(no_entry, unreachable),
)


def _numbers_of(array: Array) -> Numbers:
    size = array.type.bit_width // 8
    kind = np.int32 if size == _INT else np.int64
    return np.frombuffer(array.buffers()[1] or b"", kind, len(array), array.offset * size)


def _filled(array: Array) -> Numbers:
    """The numbers of an array, -1 where one is missing."""
    numbers = _numbers_of(array)
    return np.where(_bits_of(array.buffers()[0], array), numbers, -1) if array.null_count else numbers


def _bits_of(buffer: Any, array: Array) -> Numbers:
    """What a buffer with one bit for each entry says."""
    bits = np.unpackbits(np.frombuffer(buffer, np.uint8), bitorder="little")
    return bits[array.offset : array.offset + len(array)].view(bool)


def _within(numbers: Numbers, count: int) -> Numbers:
    """Numbers of entries, with the last one instead of any that is out of range."""
    return np.minimum(numbers.view(np.uint32), np.uint32(max(count - 1, 0)))


def _spans_of(columns: Columns) -> Iterator[tuple[Place, Place]]:
    """The columns of starts and ends that have entries."""
    return (((name, start), (name, end)) for name, start, end in _SPANS if columns.row[name])


def _wrongly_missing(columns: Columns, place: Place) -> Numbers:
    """The entries that lack a number that they must have."""
    missing, name = columns.missing(place), place[0]
    if place in _OPTIONAL_WITH:
        missing = missing & ~columns.missing((name, _OPTIONAL_WITH[place]))
    if place in _OPTIONAL_OF:
        column, *kinds = _OPTIONAL_OF[place]
        missing = missing & ~columns.is_kind((name, column), *kinds)
    return np.flatnonzero(missing)


def _edge_keys(columns: Columns) -> Numbers:
    """A number for each edge, which is the same for equal edges; others hardly ever have the same."""
    kind, src, dst, label, ordinal = _EDGE_PARTS
    keys = columns.kinds(kind).astype(np.int64)
    for values in (
        columns.values(src),
        columns.values(dst),
        _filled(columns.array(label).dictionary_encode().indices),
        _filled(columns.array(ordinal)),
    ):
        keys *= _FACTOR
        keys += values
    return keys


def _again(values: Sequence[object]) -> Numbers:
    """The entries whose value an earlier one has."""
    first: dict[object, int] = {}
    again = [entry for entry, value in enumerate(values) if first.setdefault(value, entry) != entry]
    return np.array(again, np.int64)
