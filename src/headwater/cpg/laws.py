"""What must be true of one file's evidence: laws, each of which finds the entries that break it.

A sound file costs a few operations on whole columns; only where a law is broken are entries looked at one by
one. Not here: what becomes of evidence that breaks one, and what it takes two files to see.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headwater.cpg.extract import POINT_KINDS
from headwater.cpg.kinds import BINDING_KINDS, EDGE_KINDS, NODE_KINDS, SCOPE_KINDS, SEVERITIES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

Row: TypeAlias = "Mapping[str, Any]"
Column: TypeAlias = Any  # an Arrow array; the stubs of Arrow lack what is asked of it here
Numbers: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"

MOST_TOLD = 20
_compute = cast("Any", pc)

# Columns that hold the numbers of another list's entries, and that list.
REFERENCES: Mapping[tuple[str, str], str] = {
    **dict.fromkeys((("nodes", "parent"), ("nodes", "owner"), ("edges", "src"), ("edges", "dst")), "nodes"),
    **dict.fromkeys((("scopes", "node"), ("sites", "node"), ("imports", "node")), "nodes"),
    **dict.fromkeys((("classes", "node"), ("classes", "base")), "nodes"),
    **dict.fromkeys((("calls", "node"), ("calls", "callee"), ("calls", "receiver")), "nodes"),
    **dict.fromkeys((("call_args", "call"), ("call_args", "node")), "nodes"),
    **dict.fromkeys((("points", "def_node"), ("points", "node")), "nodes"),
    **dict.fromkeys((("reaching", "def_node"), ("reaching", "use_node")), "nodes"),
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
    ("nodes", "owner"): ("node_kind", frozenset({"FILE", "MODULE", "DIAGNOSTIC"})),
    ("scopes", "parent"): ("kind", frozenset({"module"})),
}
_KINDS: Mapping[tuple[str, str], frozenset[str]] = {
    ("nodes", "node_kind"): frozenset(NODE_KINDS),
    ("edges", "edge_kind"): frozenset(EDGE_KINDS),
    ("scopes", "kind"): frozenset(SCOPE_KINDS),
    ("bindings", "kind"): frozenset(BINDING_KINDS),
    ("points", "kind"): frozenset(POINT_KINDS),
    ("diagnostics", "severity"): frozenset(SEVERITIES),
}
_IDS: Mapping[tuple[str, str], str] = {
    ("node_ids", ""): "node:",
    ("scopes", "scope_id"): "scope:",
    ("bindings", "binding_id"): "node:",
}
_SPANS = (
    ("nodes", "bstart", "bend"),
    ("nodes", "name_bstart", "name_bend"),
    ("diagnostics", "bstart", "bend"),
    ("notebook_cell_map", "bstart", "bend"),
)
_EDGE_PARTS = ("edge_kind", "src", "dst", "label", "ordinal")
_INT = 4  # bytes
_FACTOR = np.uint64(
    0x9E3779B97F4A7C15
)  # odd and without a pattern, so that different parts seldom make one key


@dataclass(frozen=True, slots=True)
class Broken:
    """The entries of a list that break one law, and the column in which it is seen."""

    issue: str
    entries: Numbers
    place: str
    column: Column

    def tell(self, entry: int) -> dict[str, str]:
        """One of them in words."""
        return {"issue": self.issue, "detail": f"{self.place} of entry {entry}: {self.column[entry]}"}


def violations_of(row: Mapping[str, object]) -> list[dict[str, str]]:
    """What is wrong with one file's evidence, a row that has not gone to Spark yet; nothing, if all is well.

    Each is an `issue` and a `detail`; of more than MOST_TOLD the first are told, and how many more there are.
    """
    broken = [each for law in LAWS for each in law(row)]
    told = [each.tell(entry) for each in broken for entry in each.entries[:MOST_TOLD].tolist()][:MOST_TOLD]
    more = sum(len(each.entries) for each in broken) - len(told)
    return [*told, {"issue": "more", "detail": f"{more} violations more"}] if more else told


def dangling(row: Row) -> Iterator[Broken]:
    """A number that is none of the list that it refers to, one that is missing, a node without an id."""
    for (name, column), referred in REFERENCES.items():
        entries, size = row[name], len(row[referred])
        if not entries:
            continue
        numbers = entries.field(column)
        values = _values(numbers).view(np.uint32)  # below 0 is far above all others
        if values.max() >= size:
            wrong = (values >= size) & ~_is_missing(numbers)
            yield from _broken("dangling", name, column, row, wrong)
        if numbers.null_count and (name, column) not in _OPTIONAL:
            yield from _broken("dangling", name, column, row, _wrongly_missing(row, name, column))
    ids, kinds = row["node_ids"], row["nodes"].field("node_kind")
    if len(ids) != len(kinds):
        shorter = min(len(ids), len(kinds))
        place, column = ("node_ids", ids) if len(ids) > shorter else ("nodes.node_kind", kinds)
        yield Broken("dangling", np.arange(shorter, len(column)), place, column)


def duplicate_id(row: Row) -> Iterator[Broken]:
    """An id that is there twice, or an edge whose id would be."""
    for name, column in _IDS:
        ids = _column(row, name, column)
        if len(ids.unique()) < len(ids):
            yield Broken("duplicate_id", _again(ids.to_pylist()), _place(name, column), ids)
    edges = row["edges"]
    keys = np.sort(_edge_keys(edges))
    if (keys[1:] == keys[:-1]).any():
        again = _again(list(zip(*(edges.field(each).to_pylist() for each in _EDGE_PARTS), strict=True)))
        yield from _some(Broken("duplicate_id", again, "edges", edges))


def malformed_id(row: Row) -> Iterator[Broken]:
    """An id that does not say what it is the id of."""
    for (name, column), prefix in _IDS.items():
        ids = _column(row, name, column)
        begins = _compute.starts_with(ids, prefix)
        if begins.true_count < len(ids):
            wrong = ~_bits(begins.buffers()[1], begins) | _is_missing(begins)
            yield from _some(Broken("malformed_id", np.flatnonzero(wrong), _place(name, column), ids))


def unknown_kind(row: Row) -> Iterator[Broken]:
    """A kind that is none."""
    for (name, column), known in _KINDS.items():
        kinds = row[name].field(column)
        if kinds and not known.issuperset(kinds.unique().to_pylist()):
            wrong = np.array([each not in known for each in kinds.to_pylist()])
            yield from _broken("unknown_kind", name, column, row, wrong)


def span_half(row: Row) -> Iterator[Broken]:
    """A span of which only one end is known."""
    for name, start, end in _SPANS:
        if row[name]:
            first, last = row[name].field(start), row[name].field(end)
            if first.null_count or last.null_count:
                wrong = _is_missing(first) != _is_missing(last)
                yield from _broken("span_half", name, start, row, wrong)


def span_reversed(row: Row) -> Iterator[Broken]:
    """A span that ends before it begins."""
    for name, start, end in _SPANS:
        if row[name]:
            first, last = row[name].field(start), row[name].field(end)
            wrong = _values(first) > _values(last)
            if wrong.any():
                wrong &= ~(_is_missing(first) | _is_missing(last))
                yield from _broken("span_reversed", name, start, row, wrong)


def span_outside_file(row: Row) -> Iterator[Broken]:
    """A span that begins before the file's text or ends after it."""
    size = row["text_bytes"]
    for name, *ends in _SPANS:
        for column in ends if row[name] else ():
            numbers = row[name].field(column)
            values = _values(numbers)
            wrong = (values < 0) | (values > size)
            if wrong.any():
                yield from _broken("span_outside_file", name, column, row, wrong & ~_is_missing(numbers))


def line_below_one(row: Row) -> Iterator[Broken]:
    """A line before the first."""
    lines = row["nodes"].field("line")
    yield from _broken("line_below_one", "nodes", "line", row, (_values(lines) < 1) & ~_is_missing(lines))


def span_outside_parent(row: Row) -> Iterator[Broken]:
    """A node that is not inside its parent; decorators stand before the def that they belong to."""
    nodes = row["nodes"]
    parents = nodes.field("parent")
    above = _values(parents)
    known = np.flatnonzero(~_is_missing(parents) & (above.view(np.uint32) < len(above)))
    above = above[known]
    start, end = _values(nodes.field("bstart")), _values(nodes.field("bend"))
    outside = (start[known] < start[above]) | (end[known] > end[above])
    if outside.any():
        placeless = _is_missing(nodes.field("bstart")) | _is_missing(nodes.field("bend"))
        is_decorator = _is_equal(nodes.field("field"), "decorator_list")
        wrong = known[outside & ~(placeless[known] | placeless[above] | is_decorator[known])]
        yield from _some(Broken("span_outside_parent", wrong, "nodes.bstart", nodes.field("bstart")))


def no_entry(row: Row) -> Iterator[Broken]:
    """A def whose points have no entry, or two."""
    points, size = row["points"], len(row["nodes"])
    defs = _values(points.field("def_node"))
    known = defs.view(np.uint32) < size
    counts = np.bincount(defs[_is_equal(points.field("kind"), "entry") & known], minlength=size)
    wrong = known & (counts[np.where(known, defs, 0)] != 1)
    yield from _broken("no_entry", "points", "def_node", row, wrong)


def unreachable(row: Row) -> Iterator[Broken]:
    """A point that seems to be met, but hangs in the air: no way leads to it, or no dominators do.

    A dominator comes before what it dominates, so following them from any point ends at the entry.
    """
    points = row["points"]
    nearest, dead, defs = points.field("idom"), points.field("is_dead"), _values(points.field("def_node"))
    is_dead = _bits(dead.buffers()[1], dead)
    is_live = ~(is_dead | _is_equal(points.field("kind"), "entry"))
    above, own = _values(nearest), np.arange(len(points))
    is_told = ~_is_missing(nearest)
    wrong = is_live != is_told
    known = np.flatnonzero(is_live & is_told & (above.view(np.uint32) < len(points)))
    over = above[known]
    wrong[known] = (over >= own[known]) | is_dead[over] | (defs[over] != defs[known])
    met = np.zeros(len(points), bool)
    followers = _values(row["flow"].field("dst"))
    met[followers[followers.view(np.uint32) < len(points)]] = True
    yield from _broken("unreachable", "points", "idom", row, wrong | (is_live & ~met))


LAWS: tuple[Callable[[Row], Iterator[Broken]], ...] = (
    dangling,
    duplicate_id,
    malformed_id,
    unknown_kind,
    span_half,
    span_reversed,
    span_outside_file,
    line_below_one,
    span_outside_parent,
    no_entry,
    unreachable,
)


def _broken(issue: str, name: str, column: str, row: Row, wrong: Numbers) -> Iterator[Broken]:
    """The entries for which something is wrong, if there are any."""
    return _some(Broken(issue, np.flatnonzero(wrong), _place(name, column), row[name].field(column)))


def _some(broken: Broken) -> Iterator[Broken]:
    if len(broken.entries):
        yield broken


def _column(row: Row, name: str, column: str) -> Column:
    return row[name].field(column) if column else row[name]


def _place(name: str, column: str) -> str:
    return f"{name}.{column}" if column else name


def _values(column: Column) -> Numbers:
    """The numbers of a column as they lie in memory; where one is missing, there is any number."""
    size = column.type.bit_width // 8
    kind = np.int32 if size == _INT else np.int64
    return np.frombuffer(column.buffers()[1] or b"", kind, len(column), column.offset * size)


def _is_missing(column: Column) -> Numbers:
    present = column.buffers()[0]
    return np.zeros(len(column), bool) if present is None else ~_bits(present, column)


def _bits(buffer: Any, column: Column) -> Numbers:
    """What a buffer with one bit for each entry says."""
    bits = np.unpackbits(np.frombuffer(buffer, np.uint8), bitorder="little")
    return bits[column.offset : column.offset + len(column)].view(bool)


def _wrongly_missing(row: Row, name: str, column: str) -> Numbers:
    """Which entries lack a number that they must have."""
    missing = _is_missing(row[name].field(column))
    if (name, column) in _OPTIONAL_WITH:
        return missing & ~_is_missing(row[name].field(_OPTIONAL_WITH[name, column]))
    if (name, column) in _OPTIONAL_OF:
        other, allowed = _OPTIONAL_OF[name, column]
        kinds = row[name].field(other)
        for entry in np.flatnonzero(missing).tolist():  # they are few
            missing[entry] = kinds[entry].as_py() not in allowed
    return missing


def _is_equal(column: Column, text: str) -> Numbers:
    """Which entries have this text."""
    equal = _compute.equal(column, text)
    return _bits(equal.buffers()[1], equal) & ~_is_missing(equal)


def _edge_keys(edges: Column) -> Numbers:
    """A number for each edge, which is the same for equal edges; others seldom have the same."""
    keys = np.zeros(len(edges), np.uint64)
    for name in _EDGE_PARTS:
        column = edges.field(name)
        codes = column.dictionary_encode().indices if pa.types.is_string(column.type) else column
        values = _values(codes)
        if codes.null_count:
            values = np.where(_is_missing(codes), -1, values)
        keys = keys * _FACTOR + values.astype(np.uint64)
    return keys


def _again(values: Sequence[object]) -> Numbers:
    """The entries whose value an earlier one has."""
    first: dict[object, int] = {}
    again = [entry for entry, value in enumerate(values) if first.setdefault(value, entry) != entry]
    return np.array(again, np.int64)
