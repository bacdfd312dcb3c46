"""From the bytes of a file to its syntax, in one straight line: read, parse or recover, walk, columns.

Not here: anything that needs a second file.
"""

from __future__ import annotations

import ast
import warnings
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from headwater.cpg.extract.columns import build_columns
from headwater.cpg.extract.evidence import Diagnostic, FileFacts, NodeColumns, SyntaxEvidence
from headwater.cpg.extract.identity import file_digest, module_owner
from headwater.cpg.extract.parsing import check_compiles, parse_source
from headwater.cpg.extract.recovery import recover_module
from headwater.cpg.extract.scanning import Scan
from headwater.cpg.extract.source import SourceText, encoding_of, line_starts_of, newline_of, read_source
from headwater.cpg.extract.walk import MOST_NODES, TooManyNodes, Walk, walk_module
from headwater.digest import stable_id

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headwater.cpg.extract.evidence import ParseStatus

_STUB = ".pyi"
_TEST_FOLDERS = frozenset({"test", "tests"})


_TOO_LARGE = Diagnostic(
    stage="parse",
    code="too-large",
    severity="warning",
    message=f"the file has more than {MOST_NODES} nodes, and only the file itself is in the graph",
)


def extract_syntax(repo_id: str, path: str, content: bytes) -> SyntaxEvidence:
    """All that the syntax of one file says; a file that cannot be parsed says why, and is never an error.

    Args:
        repo_id: the repository, as a part of ids
        path: the file's path in the repository, with slashes
        content: the file's bytes
    """
    return walk_file(repo_id, path, content).syntax


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkedFile:
    """The syntax of a file, and what it was found in; `module` is missing where nothing could be parsed."""

    syntax: SyntaxEvidence
    module: ast.Module | None
    walk: Walk


def walk_file(repo_id: str, path: str, content: bytes) -> WalkedFile:
    """The same, for those who have more to find in the tree."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what Python warns of is no matter of this program's user
        source = read_source(content)
        if isinstance(source, Diagnostic):
            return _failed(repo_id, path, content, _unread(content), source)
        module, diagnostics = _parsed(source)
        if module is None:
            return _failed(repo_id, path, content, source, *diagnostics)
        walk = _begin(repo_id, path, source)
        walk.scan.place(module, 0, len(source.data))
        try:
            walk_module(module, walk)
        except TooManyNodes:
            return _failed(repo_id, path, content, source, _TOO_LARGE)
    nodes = _columns(path, content, source, walk)
    is_recovered = any(each.stage == "parse" for each in diagnostics)
    syntax = SyntaxEvidence(
        file=_facts(repo_id, path, content, source, status="recovered" if is_recovered else "ok"),
        nodes=nodes,
        diagnostics=(*diagnostics, *_unparsed(nodes)),
    )
    return WalkedFile(syntax=syntax, module=module, walk=walk)


def module_fqn_of(path: str) -> str | None:
    """The dotted name of the module in a file: its path without suffix, `__init__` and one leading `src`."""
    parts = list(PurePosixPath(path).with_suffix("").parts) if PurePosixPath(path).name else []
    if parts[-1:] == ["__init__"]:
        parts.pop()
    if parts[:1] == ["src"] and len(parts) > 1:
        del parts[0]
    return ".".join(parts) if parts and all(part.isidentifier() for part in parts) else None


def is_test_path(path: str) -> bool:
    """Whether a file is a test by its name or by a folder's."""
    *folders, name = path.split("/")
    stem = name.rpartition(".")[0]
    return (
        not _TEST_FOLDERS.isdisjoint(folders)
        or name == "conftest.py"
        or stem.startswith("test_")
        or stem.endswith("_test")
    )


def _parsed(source: SourceText) -> tuple[ast.Module | None, tuple[Diagnostic, ...]]:
    """The module, or what can be recovered of it, or nothing; and what Python says of it."""
    module = parse_source(source)
    if isinstance(module, Diagnostic):
        return recover_module(source), (module,)
    refused = check_compiles(source, module)
    return module, () if refused is None else (refused,)


def _unparsed(nodes: NodeColumns) -> Iterator[Diagnostic]:
    """One for each text that did not parse."""
    for row, kind in enumerate(nodes.node_kind):
        if kind == "ERROR":
            yield Diagnostic(
                stage="parse",
                source="headwater",
                code="not-parsed",
                severity="warning",
                message="this did not parse, and what is around it is in the graph",
                bstart=nodes.bstart[row],
                bend=nodes.bend[row],
            )


def _begin(repo_id: str, path: str, source: SourceText) -> Walk:
    """A walk that has seen the file and nothing in it."""
    digest = file_digest(repo_id, path)
    walk = Walk(digest, Scan(source.data, source.starts))
    file = ast.Module([], [])
    walk.scan.place(file, 0, len(source.data))
    walk.rows.append((file, 0, module_owner(0, digest), "", None, ""))
    return walk


def _columns(path: str, content: bytes, source: SourceText, walk: Walk) -> NodeColumns:
    names = (path.rpartition("/")[2], module_fqn_of(path))
    return build_columns(walk, source, size=len(content), names=names)


def _failed(
    repo_id: str, path: str, content: bytes, source: SourceText, *diagnostics: Diagnostic
) -> WalkedFile:
    """The file and nothing in it."""
    walk = _begin(repo_id, path, source)
    syntax = SyntaxEvidence(
        file=_facts(repo_id, path, content, source, status="failed"),
        nodes=_columns(path, content, source, walk),
        diagnostics=diagnostics,
    )
    return WalkedFile(syntax=syntax, module=None, walk=walk)


def _unread(content: bytes) -> SourceText:
    """A stand-in for the text of a file that has none: its lines are known all the same."""
    starts = line_starts_of(content)
    return SourceText(text="", data=content, starts=starts, encoding="", shift=0, origins=None)


def _facts(repo_id: str, path: str, content: bytes, source: SourceText, *, status: ParseStatus) -> FileFacts:
    starts = source.starts if source.origins is None else source.original(source.starts)
    if source.shift:
        starts = line_starts_of(content)
    return FileFacts(
        file_id=stable_id("file", repo_id, path),
        module_fqn=module_fqn_of(path),
        encoding=encoding_of(content),
        newline=newline_of(content),
        language="stub" if path.endswith(_STUB) else "python",
        is_test=is_test_path(path),
        line_starts=starts,
        line_count=len(starts) if source.data else 0,
        parse_status=status,
    )
