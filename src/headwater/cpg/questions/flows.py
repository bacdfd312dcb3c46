"""Where a value goes: from what gives it, step by step, to what takes it.

Steps are those of `dfg`, inside of defs and across them. Not here: how steps are found.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headwater.cpg.pipeline import RESOLUTION
from headwater.cpg.questions.calling import calls_of, makers_of
from headwater.cpg.questions.code import same_of
from headwater.cpg.questions.naming import named
from headwater.cpg.questions.standing import each_once, subject_of
from headwater.inquiry import Answer, Finding, Link

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path
    from typing import TypeAlias

    from numpy.typing import NDArray

    from headwater.cpg.questions.code import Code

    Numbers: TypeAlias = "NDArray[np.int64]"

_compute = cast("Any", pc)

STEPS = "SELECT src_node_id, dst_node_id, kind, preserves_value, confidence FROM dfg"
# Where definitions give values and take them: calls of them and reads give; arguments and receivers take.
_SITES = """
    WITH found AS (SELECT file_id, def_id, call, calls[call].node_id AS site_id
        FROM (SELECT file_id, calls, inline(targets) FROM {table}) WHERE def_id IS NOT NULL)
    SELECT 'called' AS how, def_id, site_id, site_id AS node_id FROM found
    UNION ALL SELECT 'read', def_id, node_id, node_id FROM (SELECT inline(references) FROM {table})
        WHERE def_id IS NOT NULL
    UNION ALL SELECT 'taken', found.def_id, found.site_id, given.node_id FROM found
        JOIN (SELECT file_id, inline(arguments) FROM {table}) AS given USING (file_id, call)
        WHERE given.node_id IS NOT NULL
    UNION ALL SELECT 'taken', found.def_id, found.site_id, calls.receiver_node_id FROM found
        JOIN calls ON calls.node_id = found.site_id
        WHERE calls.receiver_node_id IS NOT NULL AND NOT calls.is_implied
"""
PLACES = "SELECT node_id, path, line, node_kind, name FROM file_nodes"
# Ways by steps that are less sure are told only if there are no others.
_SURE = 0.5
# Ways that are told; those that are longer wait until these have been looked at.
_MOST_WAYS = 10
_LONGEST_TEXT = 80
_TOLD = ("path", "line", "node_kind", "name")
_HOW = {
    "reaching_def": "is read",
    "expr": "is part of",
    "arg_param": "is passed",
    "return_call": "is returned",
    "yield": "is yielded",
    "summary": "goes through a call",
    "store": "is stored",
    "load": "is loaded",
    "capture": "is captured",
    "global": "is read elsewhere",
    "exception": "is caught",
}


@dataclass(frozen=True)
class Flows:
    """All steps of a repository; nodes are told by their numbers in `ids`."""

    ids: pa.Array[Any]
    starts: Numbers
    targets: Numbers
    sure: NDArray[np.float32]
    _columns: dict[str, Any]
    _rows: Numbers
    _places: dict[str, Any]

    @classmethod
    def of(cls, table: pa.Table, places: pa.Table) -> Flows:
        """The steps that rows of STEPS are, and where their nodes stand, as rows of PLACES say."""
        ends = cast("Any", pa.chunked_array)(
            [*table.column("src_node_id").chunks, *table.column("dst_node_id").chunks], pa.string()
        )
        joined: Any = ends.combine_chunks()
        encoded: Any = joined.dictionary_encode()
        numbers = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        sources, targets = numbers[: len(table)], numbers[len(table) :]
        order = np.argsort(sources, kind="stable")
        count = len(encoded.dictionary)
        starts = np.concatenate([[0], np.cumsum(np.bincount(sources, minlength=count))]).astype(np.int64)
        columns: dict[str, Any] = {
            name: _encoded(table.column(name)).take(pa.array(order, pa.int64()))
            for name in ("kind", "preserves_value")
        }
        sure = table.column("confidence").to_numpy().astype(np.float32)[order]
        found: Any = _compute.index_in(places.column("node_id"), encoded.dictionary)
        kept = _compute.indices_nonzero(found.is_valid())
        rows = np.full(count, -1, np.int64)
        rows[found.take(kept).to_numpy()] = np.arange(len(kept))
        told = {name: _encoded(places.column(name).take(kept)) for name in _TOLD}
        return cls(encoded.dictionary, starts, targets[order], sure, columns, rows, told)

    def place(self, node: int) -> dict[str, Any]:
        """Where a node stands, and what it is; nothing if that is not known."""
        row = int(self._rows[node])
        return {name: column[row].as_py() for name, column in self._places.items()} if row >= 0 else {}

    def told(self, step: int, name: str) -> Any:
        """What a column says of a step."""
        return self._columns[name][step].as_py()

    def numbers(self, ids: Iterable[str | None]) -> list[int]:
        """The numbers of nodes that take part in any step."""
        wanted = pa.array(sorted({each for each in ids if each is not None}), pa.string())
        found = _compute.index_in(wanted, self.ids)
        return [each for each in found.to_pylist() if each is not None]

    def each_of(self, ids: Sequence[str]) -> list[int | None]:
        """The number of each node, if it takes part in any step."""
        return _compute.index_in(pa.array(ids, pa.string()), self.ids).to_pylist()

    def ways(
        self, sources: Sequence[int], sinks: Iterable[int], most: int, least: float = 0.0
    ) -> list[list[tuple[int, int]]]:
        """The shortest way to each of the nearest sinks: its nodes, each with the step that led there.

        No step is less sure than `least`.
        """
        wanted, seen = np.zeros(len(self.ids), np.bool_), np.zeros(len(self.ids), np.bool_)
        before = np.full(len(self.ids), -1, np.int64)
        led = np.full(len(self.ids), -1, np.int64)
        wanted[list(sinks)] = True
        front = np.array(list(dict.fromkeys(sources)), np.int64)
        ends: list[int] = []
        while True:
            seen[front] = True
            ends += front[wanted[front]].tolist()
            if not len(front) or len(ends) >= most:
                return [_back(before, led, end) for end in ends[:most]]
            counts = self.starts[front + 1] - self.starts[front]
            first = np.repeat(self.starts[front] - (np.cumsum(counts) - counts), counts)
            steps = first + np.arange(len(first))
            parents, following = np.repeat(front, counts), self.targets[steps]
            # Of several ways to a node that are as short, the first counts.
            new = np.flatnonzero(~seen[following] & (self.sure[steps] >= least))
            new = new[np.sort(np.unique(following[new], return_index=True)[1])]
            front = following[new]
            before[front], led[front] = parents[new], steps[new]


@dataclass(frozen=True)
class Sites:
    """Where definitions are called, read, and given values, by their ids."""

    _how: Any
    _defs: Any
    _sites: Any
    _nodes: Any

    @classmethod
    def of(cls, table: pa.Table) -> Sites:
        """Those that rows of `sites_query` are."""
        how, defs, sites, nodes = (table.column(name) for name in ("how", "def_id", "site_id", "node_id"))
        return cls(_encoded(how), _encoded(defs), sites, nodes)

    def of_definitions(self, how: str, ids: Iterable[str]) -> list[tuple[str, str]]:
        """Calls or reads of definitions, each with a node that has what they give or take."""
        wanted = _compute.index_in(self._defs.dictionary, pa.array(list(ids), pa.string())).is_valid()
        chosen = _compute.and_(wanted.take(self._defs.indices), _compute.equal(self._how, how))
        places = _compute.indices_nonzero(chosen)
        columns: Any = (each.take(places).to_pylist() for each in (self._sites, self._nodes))
        return list(dict.fromkeys(zip(*columns, strict=True)))


def sites_query(name: str) -> str:
    """The query whose rows `Sites.of` takes, for the repository of this name."""
    return " ".join(_SITES.format(table=f"{RESOLUTION}{name}").split())


def flow(
    code: Code,
    names: tuple[str, str],
    root: Path,
    flows: Flows,
    sites: Sites,
) -> Answer:
    """The shortest ways of values that a source gives to what a sink takes.

    Args:
        code: the graph's definitions.
        names: the source and the sink: functions, classes, or attributes that are read.
        root: the repository's folder, for the text of lines.
        flows: all steps.
        sites: where definitions give and take values.
    """
    sources, sinks = (same_of(code, named(code, each)) for each in names)
    subject = f"{subject_of(code, sources)} to {subject_of(code, sinks)}"
    given = flows.numbers(
        _nodes(code, sources, sites, "called", flows) or _nodes(code, sources, sites, "read", flows)
    )
    taken = flows.numbers(_nodes(code, sinks, sites, "taken", flows))
    ways = flows.ways(given, taken, _MOST_WAYS, _SURE)
    is_sure = bool(ways)
    ways = ways or flows.ways(given, taken, _MOST_WAYS)
    if not ways:
        why = "nothing is read of the source" if not given else "nothing is given to the sink"
        note = (
            "No value of the source was found to get to the sink." if given and taken else f"No way: {why}."
        )
        return Answer(question="flow", subject=subject, notes=(note,))
    findings, links = _told(flows, ways, root)
    return Answer(
        question="flow",
        subject=subject,
        findings=tuple(findings),
        links=each_once(links),
        notes=tuple(_notes(len(ways), is_sure=is_sure)),
    )


def _told(flows: Flows, ways: list[list[tuple[int, int]]], root: Path) -> tuple[list[Finding], list[Link]]:
    """Ways as lines of an answer, a section for each, and as arrows."""
    findings: list[Finding] = []
    links: list[Link] = []
    for number, way in enumerate(ways, 1):
        shown = [
            _finding(flows.place(node), flows, step, root, number, depth)
            for depth, (node, step) in enumerate(way, 1)
        ]
        findings += shown
        links += [
            Link(source=f"{one.path}:{one.line} {one.name}", target=f"{other.path}:{other.line} {other.name}")
            for one, other in pairwise(shown)
        ]
    return findings, links


def _notes(count: int, *, is_sure: bool) -> Iterator[str]:
    if count == _MOST_WAYS:
        yield f"The nearest {_MOST_WAYS} places are shown."
    if not is_sure:
        yield "There are only ways by calls that may well go elsewhere."


def _nodes(code: Code, definitions: Sequence[int], sites: Sites, how: str, flows: Flows) -> list[str]:
    """The nodes with what definitions give or take; who calls a class runs what makes its instances."""
    found: list[str] = []
    for each in definitions:
        makers, is_own = makers_of(code, each) if code.kinds[each] == "class" else ([], True)
        own = [code.ids[each], *(code.ids[maker] for maker in makers if is_own)]
        found += [node for _, node in sites.of_definitions(how, own)]
        if makers and not is_own and how != "read":
            pairs = sites.of_definitions(how, [code.ids[maker] for maker in makers])
            meant = {(code.paths[edge.source], edge.line) for edge in calls_of(code, each)}
            lines = zip(pairs, _lines_of(flows, pairs), strict=True)
            found += [node for (_, node), line in lines if line in meant]
    return found


def _lines_of(flows: Flows, pairs: Sequence[tuple[str, str]]) -> list[tuple[str | None, int | None]]:
    """The file and line of each call, or of what is given in it, if no value goes through the call."""
    calls, given = ([each[end] for each in pairs] for end in (0, 1))
    numbers = [
        one if one is not None else other
        for one, other in zip(flows.each_of(calls), flows.each_of(given), strict=True)
    ]
    places = [{} if number is None else flows.place(number) for number in numbers]
    return [(place.get("path"), place.get("line")) for place in places]


def _finding(place: dict[str, Any], flows: Flows, step: int, root: Path, way: int, depth: int) -> Finding:
    kind = None if step < 0 else str(flows.told(step, "kind"))
    how = "begins" if kind is None else _HOW.get(kind, kind)
    if step >= 0 and not flows.told(step, "preserves_value"):
        how += " (another value is made of it)"
    text = _text(root, place.get("path"), place.get("line"))
    return Finding(
        name=place.get("name") or str(place.get("node_kind", "")).lower(),
        kind=str(place.get("node_kind", "")).lower(),
        path=place.get("path"),
        line=place.get("line"),
        reason=f"{how}: {text}" if text else how,
        section=f"way {way}",
        depth=depth,
        confidence=None if step < 0 else round(float(flows.sure[step]), 3),
    )


def _text(root: Path, path: str | None, line: int | None) -> str:
    """A line of a file as it is now; nothing if it cannot be read."""
    if path is None or line is None:
        return ""
    try:
        lines = (root / path).read_bytes().splitlines()
    except OSError:
        return ""
    text = lines[line - 1].decode("utf-8", "replace").strip() if line <= len(lines) else ""
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}..."


def _back(before: Numbers, led: Numbers, end: int) -> list[tuple[int, int]]:
    way: list[tuple[int, int]] = []
    node = end
    while node >= 0:
        way.insert(0, (node, int(led[node])))
        node = int(before[node])
    return way


def _encoded(column: Any) -> Any:
    """A column by the numbers of its values, of which there are few."""
    chunks: list[Any] = column.chunks or [pa.array([], column.type)]
    whole: Any = pa.concat_arrays(chunks)
    return whole.dictionary_encode()
