"""Small repositories in memory, and the types that they have."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from resolve_sample import values_of

from headwater.cpg.extract.assembly import find_facts
from headwater.cpg.extract.hints import find_hints
from headwater.cpg.extract.syntax import walk_file
from headwater.cpg.resolve import Distributions, resolve_files

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.cpg.resolve import FileValues, ResolvedRows


class Fact(NamedTuple):
    """A fact about a node."""

    type: str
    source: str
    confidence: float
    is_winner: bool


def hinted(path: str, source: str) -> tuple[FileValues, dict[int, str]]:
    """A file with its hints, and its nodes by names: `C.f`, `C.f(x)`, `C.x`, and `C.f.x` for a local."""
    walked = walk_file("repo", path, source.encode())
    assert walked.module is not None
    rows, nodes = walked.walk.rows, walked.syntax.nodes
    facts = find_facts(walked.module, walked.walk, walked.source, nodes, [])
    found = find_hints(walked.walk, facts.scopes, len(nodes.node_id))
    names: dict[int, str] = {}
    for row, entry in enumerate(rows):
        node: Any = entry[0]
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            around = names.get(entry[2].row, "")
            name = getattr(node, "name", "<lambda>")
            names[row] = f"{around}.{name}" if around else name
        elif isinstance(node, ast.arg):
            names[row] = f"{names[rows[entry[1]][1]]}({node.arg})"
    added = facts.added
    for number, (name, owner) in enumerate(zip(added.name, added.owner, strict=True), len(nodes.node_id)):
        around = names.get(owner or 0, "")
        names[number] = f"{around}.{name}" if around else str(name)
    return replace(values_of(path, source), hints=found), names


def typed(files: Mapping[str, str] | str) -> tuple[ResolvedRows, dict[str, list[Fact]]]:
    """The rows of a repository, and the facts about each node of which there are any; paths are before names.

    The file `main.py` goes without.
    """
    sources = {"main.py": files} if isinstance(files, str) else files
    made = {path: hinted(path, source) for path, source in sources.items()}
    rows = resolve_files([each for each, _ in made.values()], Distributions(name="shop", version="1"))
    found: dict[str, list[Fact]] = {}
    facts = rows.type_facts
    for path, node, index, source, sure, is_winner in zip(
        *(facts.path, facts.node, facts.type, facts.source, facts.confidence, facts.is_winner), strict=True
    ):
        name = made[path][1][node]
        key = name if path == "main.py" else f"{path}:{name}"
        found.setdefault(key, []).append(Fact(rows.types.repr[index], source, sure, is_winner))
    return rows, found


def types_by(files: Mapping[str, str] | str, source: str) -> dict[str, str]:
    """What one source says of each node."""
    _, found = typed(files)
    return {name: each.type for name, facts in found.items() for each in facts if each.source == source}
