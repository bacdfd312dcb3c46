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
from headwater.cpg.questions.answer import Answer, Finding, Link
from headwater.cpg.questions.code import same_of
from headwater.cpg.questions.naming import named
from headwater.cpg.questions.standing import each_once, subject_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from headwater.cpg.questions.code import Code

STEPS = "SELECT src_node_id, dst_node_id, kind, access_path, preserves_value FROM dfg"
_GIVEN = """
    SELECT DISTINCT calls[call].node_id AS node_id FROM (SELECT calls, inline(targets) FROM {table})
    WHERE def_id IN ({ids})
"""
_READ = "SELECT DISTINCT node_id FROM (SELECT inline(references) FROM {table}) WHERE def_id IN ({ids})"
_TAKEN = """
    SELECT DISTINCT a.node_id FROM (SELECT file_id, inline(arguments) FROM {table}) AS a
    JOIN (SELECT file_id AS called_in, call AS called FROM (SELECT file_id, inline(targets) FROM {table})
        WHERE def_id IN ({ids})) ON file_id = called_in AND call = called
    WHERE a.node_id IS NOT NULL
"""
_PLACES = "SELECT node_id, path, line, node_kind, name FROM file_nodes WHERE node_id IN ({ids})"
# Ways that are told; those that are longer wait until these have been looked at.
_MOST_WAYS = 10
_LONGEST_TEXT = 80
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
    starts: np.ndarray[Any, np.dtype[np.int64]]
    targets: np.ndarray[Any, np.dtype[np.int64]]
    kinds: pa.Array[Any]
    preserves: pa.Array[Any]

    @classmethod
    def of(cls, table: pa.Table) -> Flows:
        """The steps that rows of STEPS are."""
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
        kinds, preserves = (
            table.column(name).take(pa.array(order, pa.int64())).combine_chunks()
            for name in ("kind", "preserves_value")
        )
        return cls(encoded.dictionary, starts, targets[order], kinds, preserves)

    def numbers(self, ids: Iterable[str | None]) -> list[int]:
        """The numbers of nodes that take part in any step."""
        wanted = pa.array(sorted({each for each in ids if each is not None}), pa.string())
        found = cast("Any", pc).index_in(wanted, self.ids)
        return [each for each in found.to_pylist() if each is not None]

    def ways(self, sources: Sequence[int], sinks: Iterable[int], most: int) -> list[list[tuple[int, int]]]:
        """The shortest way to each of the nearest sinks: its nodes, each with the step that led there."""
        wanted = set(sinks)
        came: dict[int, tuple[int, int]] = dict.fromkeys(sources, (-1, -1))
        front = list(sources)
        ends = [each for each in front if each in wanted]
        while front and len(ends) < most:
            following: list[int] = []
            for node in front:
                first, last = int(self.starts[node]), int(self.starts[node + 1])
                for step, other in enumerate(self.targets[first:last].tolist(), first):
                    if other not in came:
                        came[other] = (node, step)
                        following.append(other)
                        if other in wanted:
                            ends.append(other)
            front = following
        return [_back(came, end) for end in ends[:most]]


def flow(
    code: Code, names: tuple[str, str], name: str, root: Path, query: Callable[[str], pa.Table], flows: Flows
) -> Answer:
    """The shortest ways of values that a source gives to what a sink takes.

    Args:
        code: the graph's definitions.
        names: the source and the sink: functions, classes, or attributes that are read.
        name: the name of the repository's graph.
        root: its folder, for the text of lines.
        query: gives rows of its tables.
        flows: all steps.
    """
    sources, sinks = (same_of(code, named(code, each)) for each in names)
    table = f"{RESOLUTION}{name}"
    subject = f"{subject_of(code, sources)} to {subject_of(code, sinks)}"

    def nodes(text: str, of: Sequence[int]) -> list[int]:
        ids = ", ".join(f"'{code.ids[each]}'" for each in of)
        return flows.numbers(query(" ".join(text.format(table=table, ids=ids).split())).column(0).to_pylist())

    given = nodes(_GIVEN, sources) or nodes(_READ, sources)
    taken = nodes(_TAKEN, sinks)
    ways = flows.ways(given, taken, _MOST_WAYS)
    if not ways:
        why = "nothing is read of the source" if not given else "nothing is given to the sink"
        note = (
            "No value of the source was found to get to the sink." if given and taken else f"No way: {why}."
        )
        return Answer(question="flow", subject=subject, notes=(note,))
    places = _places(flows, ways, query)
    findings: list[Finding] = []
    links: list[Link] = []
    for number, way in enumerate(ways, 1):
        shown = [
            _finding(places.get(flows.ids[node].as_py(), {}), flows, step, root, number, depth)
            for depth, (node, step) in enumerate(way, 1)
        ]
        findings += shown
        links += [
            Link(source=f"{one.path}:{one.line} {one.name}", target=f"{other.path}:{other.line} {other.name}")
            for one, other in pairwise(shown)
        ]
    notes = (f"The nearest {_MOST_WAYS} places are shown.",) if len(ways) == _MOST_WAYS else ()
    return Answer(
        question="flow", subject=subject, findings=tuple(findings), links=each_once(links), notes=notes
    )


def _places(
    flows: Flows, ways: list[list[tuple[int, int]]], query: Callable[[str], pa.Table]
) -> dict[str, Any]:
    ids = sorted({flows.ids[node].as_py() for way in ways for node, _ in way})
    rows = query(_PLACES.format(ids=", ".join(f"'{each}'" for each in ids))).to_pylist()
    return {row["node_id"]: row for row in rows}


def _finding(place: dict[str, Any], flows: Flows, step: int, root: Path, way: int, depth: int) -> Finding:
    kind = None if step < 0 else str(flows.kinds[step])
    how = "begins" if kind is None else _HOW.get(kind, kind)
    if step >= 0 and not flows.preserves[step].as_py():
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


def _back(came: dict[int, tuple[int, int]], end: int) -> list[tuple[int, int]]:
    way: list[tuple[int, int]] = []
    node = end
    while node >= 0:
        before, step = came[node]
        way.insert(0, (node, step))
        node = before
    return way
