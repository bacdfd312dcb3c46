"""Puts calls that were seen beside those that the graph has.

A traced code object is found again by its file, first line and name; a lambda by where its first instruction
stands. What a comprehension calls, the def around it calls. Bodies of modules and classes make calls, and
nobody calls them: they run where they stand.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from headwater.cpg.extract.assembly import find_facts
from headwater.cpg.extract.syntax import walk_file
from headwater.cpg.extract.values import find_values
from headwater.cpg.resolve import EXPORT_THRESHOLD, FileValues, resolve_files

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from headwater.cpg.resolve import ResolvedRows

Node: TypeAlias = tuple[str, int]  # a file's path, and the number of a node in it
Span: TypeAlias = tuple[int, int, int]  # column, last line and last column, which are right for calls, too
Span4: TypeAlias = tuple[int, int, int, int]  # as a trace has it: with the first line before the last
Edge: TypeAlias = tuple[Node, Node]
Group: TypeAlias = tuple[str, str, bool, bool]  # resolver, how many candidates, wide, beside one of its own

_DEFS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_MODULE_ROW = 1
_COUNTS = ((1, "1"), (3, "2-3"), (8, "4-8"), (16, "9-16"))


@dataclass(slots=True)
class ReadFile:
    """A file with what is needed to find nodes by their places."""

    values: FileValues
    defs: dict[tuple[int, str], int] = field(default_factory=dict["tuple[int, str]", int])
    spans: list[tuple[tuple[int, int], tuple[int, int], int, bool]] = field(
        default_factory=list["tuple[tuple[int, int], tuple[int, int], int, bool]"]
    )
    places: dict[int, Span] = field(default_factory=dict[int, Span])
    names: dict[int, str] = field(default_factory=dict[int, str])
    bodies: set[int] = field(default_factory=set[int])


def read_file(path: str, content: bytes) -> ReadFile | None:
    """The facts of a file; none of one that does not parse."""
    walked = walk_file("repo", path, content)
    if walked.module is None:
        return None
    facts = find_facts(walked.module, walked.walk, walked.source, walked.syntax.nodes, [])
    bindings = facts.scopes.bindings.resolves_to
    meant = [number if there is None else there for number, there in enumerate(bindings)]
    nodes = walked.syntax.nodes
    found = find_values(walked.walk.rows, nodes.owner, facts.scopes, meant, (facts.defined, facts.used))
    values = FileValues(
        path=path,
        nodes=len(nodes.node_id),
        bindings=len(bindings),
        op=found.op,
        target=found.target,
        source=found.source,
        text=found.text,
    )
    read = ReadFile(values)
    for row, entry in enumerate(walked.walk.rows):
        _note_node(read, row, entry[0])
        read.places[row] = (nodes.col[row], nodes.end_line[row], nodes.end_col[row])
    return read


def _note_node(read: ReadFile, row: int, node: Any) -> None:
    if isinstance(node, _DEFS):
        first = node.decorator_list[0].lineno if node.decorator_list else node.lineno
        read.defs[first, node.name] = row
    if isinstance(node, (*_DEFS, ast.Lambda)):
        start, end = (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)
        read.spans.append((start, end, row, isinstance(node, ast.Lambda)))
        read.names[row] = getattr(node, "name", "<lambda>")
    if isinstance(node, ast.ClassDef | ast.Module):
        read.bodies.add(row)


def row_of_code(read: ReadFile, line: int, name: str, place: tuple[int, int]) -> int | None:
    """The node of the def that a code object belongs to."""
    if name == "<module>":
        return _MODULE_ROW
    if not name.startswith("<"):
        return read.defs.get((line, name))
    is_lambda = name == "<lambda>"
    around = [
        (start, row)
        for start, end, row, is_one in read.spans
        if start < place < end and (is_one or not is_lambda) and (not is_lambda or start[0] == line)
    ]
    return max(around)[1] if around else None if is_lambda else _MODULE_ROW


@dataclass(slots=True)
class Seen:
    """What was executed: direct edges between defs, and what was called at each span of a file.

    `own` are defs, by themselves or through code outside; `others` are names of what is not in the folder.
    """

    edges: dict[Edge, None] = field(default_factory=dict[Edge, None])
    own: dict[tuple[str, Span], set[Node]] = field(default_factory=dict["tuple[str, Span]", "set[Node]"])
    others: dict[tuple[str, Span], set[str]] = field(default_factory=dict["tuple[str, Span]", "set[str]"])


def seen_calls(traced: Mapping[str, Any], root: Path, files: Mapping[str, ReadFile]) -> Seen:
    """What a trace says of the files below a root."""
    nodes: list[Node | None] = []
    for filename, line, name, place in traced["codes"]:
        path = filename.removeprefix(f"{root}/")
        read = files.get(path)
        row = None if read is None else row_of_code(read, line, name, tuple(place))
        nodes.append(None if row is None else (path, row))
    names = [name for _, _, name, _ in traced["codes"]]
    seen = Seen()
    calls: list[tuple[int, Span4, int | str, bool]] = traced["calls"]
    for caller, (_, end_line, column, end_column), callee, is_direct in calls:
        source = nodes[caller]
        if source is None:
            continue
        at = (source[0], (column, end_line, end_column))
        if isinstance(callee, str):
            seen.others.setdefault(at, set()).add(callee)
            continue
        target = nodes[callee]
        is_def = not names[callee].startswith("<") or names[callee] == "<lambda>"
        if target is None or not is_def or target[1] in files[target[0]].bodies:
            continue
        seen.own.setdefault(at, set()).add(target)
        if is_direct:
            seen.edges[source, target] = None
    return seen


@dataclass(slots=True)
class Graph:
    """The edges that the graph has, each with its surest candidate: resolver, confidence."""

    rows: ResolvedRows
    edges: dict[Edge, tuple[str, float]] = field(default_factory=dict[Edge, "tuple[str, float]"])


def graph_of(files: Sequence[ReadFile]) -> Graph:
    """What the resolver says of files."""
    rows = resolve_files(each.values for each in files)
    graph = Graph(rows)
    calls, targets = rows.calls, rows.targets
    for call, path, node, resolver, sure in zip(
        targets.call, targets.path, targets.node, targets.resolver, targets.confidence, strict=True
    ):
        if path is None or node is None:
            continue
        edge = ((calls.path[call], calls.caller[call]), (path, node))
        if sure > graph.edges.get(edge, ("", -1.0))[1]:
            graph.edges[edge] = (resolver, sure)
    return graph


@dataclass(slots=True)
class Figures:
    """What came of a comparison; those of several packages can be added up."""

    edges: int = 0
    found: int = 0
    exported: int = 0
    by_resolver: dict[str, int] = field(default_factory=dict[str, int])
    winners: int = 0
    winners_called: int = 0
    groups: dict[Group, tuple[int, int]] = field(default_factory=dict[Group, "tuple[int, int]"])
    missed: list[Edge] = field(default_factory=list[Edge])

    def add(self, other: Figures) -> None:
        """Count those of another package, too."""
        self.edges += other.edges
        self.found += other.found
        self.exported += other.exported
        self.winners += other.winners
        self.winners_called += other.winners_called
        for resolver, count in other.by_resolver.items():
            self.by_resolver[resolver] = self.by_resolver.get(resolver, 0) + count
        for group, (called, all_) in other.groups.items():
            before = self.groups.get(group, (0, 0))
            self.groups[group] = (before[0] + called, before[1] + all_)


def compared(seen: Seen, graph: Graph, files: Mapping[str, ReadFile]) -> Figures:
    """How much of what was seen the graph has, and how much of what it says was seen."""
    figures = Figures(edges=len(seen.edges))
    for edge in seen.edges:
        known = graph.edges.get(edge)
        if known is None:
            figures.missed.append(edge)
            continue
        resolver, sure = known
        figures.found += 1
        figures.exported += sure >= EXPORT_THRESHOLD
        figures.by_resolver[resolver] = figures.by_resolver.get(resolver, 0) + 1
    _judge_candidates(figures, seen, graph, files)
    return figures


def _judge_candidates(figures: Figures, seen: Seen, graph: Graph, files: Mapping[str, ReadFile]) -> None:
    """Count for calls that were executed which of their candidates were called.

    A call was executed if anything was seen to be called where it stands. Of what is written in C Python
    tells functions and methods, but no types: a candidate that is a type is left out, and a class without a
    constructor of its own is, too.
    """
    calls, targets = graph.rows.calls, graph.rows.targets
    own_calls = {call for call, path in zip(targets.call, targets.path, strict=True) if path is not None}
    surer = Counter(
        call for call, how in zip(targets.call, targets.resolver, strict=True) if how != "declared"
    )
    for number, call in enumerate(targets.call):
        path, dispatch = calls.path[call], calls.dispatch[call]
        at = (path, files[path].places[calls.node[call]])
        own, others = seen.own.get(at, set[Node]()), seen.others.get(at, set[str]())
        if not own and not (others and dispatch == "call"):
            continue
        resolver = targets.resolver[number]
        called = _is_called(graph.rows, number, own, others)
        if called is None:
            continue
        figures.winners += targets.is_winner[number]
        figures.winners_called += targets.is_winner[number] and called
        is_wide = targets.resolution[number] == "dynamic"
        beside = resolver == "external" and call in own_calls
        count = calls.candidates[call] if resolver == "declared" else surer[call]
        group = (resolver, _count_text(count), is_wide, beside)
        before = figures.groups.get(group, (0, 0))
        figures.groups[group] = (before[0] + called, before[1] + 1)


def _is_called(rows: ResolvedRows, number: int, own: set[Node], others: set[str]) -> bool | None:
    """Whether a candidate was called; nothing if it cannot be told."""
    path, node = rows.targets.path[number], rows.targets.node[number]
    resolver, symbol = rows.targets.resolver[number], rows.targets.symbol[number]
    if resolver == "class":
        return None
    if path is not None and node is not None:
        return (path, node) in own
    parts = [each.strip("`()#.:") for each in re.split(r"[./#` ]+", symbol) if each.strip("`()#.:")]
    if not parts[-1].islower() or (resolver == "builtin" and not symbol.endswith("().")):
        return None  # a class, or a builtin type
    return any(_is_named(parts, each.split(".")) for each in others)


def _is_named(parts: Sequence[str], name: Sequence[str]) -> bool:
    """Whether a symbol may be that of a function: what it is imported from need not be where it is made."""
    return parts[-1] in name and (len(name) < 3 or name[0] in parts or name[-2] in parts)  # noqa: PLR2004


def _count_text(count: int) -> str:
    return next((text for most, text in _COUNTS if count <= most), "17-")
