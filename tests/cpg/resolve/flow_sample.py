"""Ways of data in small repositories: from each call of `source` to each argument of `sink`."""

from __future__ import annotations

import ast
from collections import deque
from typing import TYPE_CHECKING

from resolve_sample import resolved

from headwater.cpg.extract.assembly import find_facts
from headwater.cpg.extract.flow import STEP_KINDS, find_captures, find_steps
from headwater.cpg.extract.syntax import walk_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from headwater.cpg.extract.walk import Walk

Node = tuple[str, int]
Edge = tuple[Node, Node, str, str | None, bool]


def edges_of(files: Mapping[str, str] | str) -> list[Edge]:
    """All ways of data: definitions that reach uses, steps inside of defs, and rows of flow."""
    sources = {"main.py": files} if isinstance(files, str) else files
    edges = [edge for path, source in sources.items() for edge in _local_edges(path, source)]
    rows = resolved(sources).flows
    edges += zip(
        map(rows.place, rows.src),
        map(rows.place, rows.dst),
        rows.kind,
        rows.access_path,
        rows.preserves_value,
        strict=True,
    )
    return edges


def _walk(path: str, source: str) -> Walk:
    return walk_file("repo", path, source.encode()).walk


def _local_edges(path: str, source: str) -> Iterator[Edge]:
    walked = walk_file("repo", path, source.encode())
    assert walked.module is not None
    facts = find_facts(walked.module, walked.walk, walked.source, walked.syntax.nodes, [])
    bindings = facts.scopes.bindings.resolves_to
    meant = [number if there is None else there for number, there in enumerate(bindings)]
    captures = find_captures(facts.scopes, meant, walked.syntax.nodes.owner, set(facts.used))
    steps = find_steps(walked.walk.rows, captures)
    for one, other in zip(facts.defined, facts.used, strict=True):
        yield (path, one), (path, other), "reaching_def", None, True
    for one, other, number, access in zip(steps.source, steps.target, steps.kind, steps.path, strict=True):
        kind, is_same = STEP_KINDS[number]
        yield (path, one), (path, other), kind, access, is_same


def calls_of(files: Mapping[str, str] | str, name: str) -> list[tuple[Node, list[Node]]]:
    """The calls of a function of this name, and the nodes of their arguments."""
    sources = {"main.py": files} if isinstance(files, str) else files
    return [
        ((path, number), [(path, each.__dict__["row"]) for each in node.args])
        for path, source in sources.items()
        for number, (node, *_) in enumerate(_walk(path, source).rows)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name
    ]


def way(files: Mapping[str, str] | str, *, is_same: bool = False) -> list[str] | None:
    """The kinds of the shortest way from a `source()` to an argument of a `sink(…)`, if there is any.

    Args:
        files: one file, or several by path
        is_same: go only where the value stays the same
    """
    edges = edges_of(files)
    out: dict[Node, list[tuple[Node, str]]] = {}
    for one, other, kind, _, same in edges:
        if same or not is_same:
            out.setdefault(one, []).append((other, kind))
    goals = {node for _, arguments in calls_of(files, "sink") for node in arguments}
    found: dict[Node, list[str]] = {node: [] for node, _ in calls_of(files, "source")}
    queue = deque(found)
    while queue:
        node = queue.popleft()
        if node in goals:
            return found[node]
        for other, kind in out.get(node, ()):
            if other not in found:
                found[other] = [*found[node], kind]
                queue.append(other)
    return None
