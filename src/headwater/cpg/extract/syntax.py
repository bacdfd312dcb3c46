"""From the bytes of a file to its syntax, in one straight line: read, parse or recover, walk, columns.

Not here: anything that needs a second file.
"""

from __future__ import annotations

import ast
import warnings
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Literal

from headwater.cpg.extract.columns import build_columns
from headwater.cpg.extract.evidence import Diagnostic, FileFacts, NodeColumns, SyntaxEvidence
from headwater.cpg.extract.identity import file_digest, module_owner
from headwater.cpg.extract.notebooks import NOTEBOOK_SUFFIX, OTHER_LANGUAGE, Notebook, read_notebook
from headwater.cpg.extract.parsing import compile_module, parse_source
from headwater.cpg.extract.recovery import recover_module
from headwater.cpg.extract.scanning import Scan
from headwater.cpg.extract.source import SourceText, encoding_of, line_starts_of, newline_of, read_source
from headwater.cpg.extract.walk import MOST_NODES, TooManyNodes, Walk, walk_module
from headwater.digest import stable_id

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType

    from headwater.cpg.extract.evidence import ParseStatus
    from headwater.cpg.extract.notebooks import CellMap

_STUB = ".pyi"
_TEST_FOLDERS = frozenset({"test", "tests"})


_TOO_LARGE = Diagnostic(
    stage="parse",
    code="too-large",
    severity="warning",
    message=f"the file has more than {MOST_NODES} nodes, and only the file itself is in the graph",
)


# There are texts for which the time that tree-sitter takes grows with the square of their length.
MOST_RECOVERED = 200_000
_TOO_LARGE_TO_RECOVER = Diagnostic(
    stage="parse",
    source="headwater",
    code="not-recovered",
    severity="warning",
    message=f"more than {MOST_RECOVERED} bytes that do not parse: only the file itself is in the graph",
)


@dataclass(frozen=True, slots=True)
class _Document:
    """A file as it was read: `unread` says why there is no text, `cells` are those of a notebook."""

    repo_id: str
    path: str
    content: bytes
    source: SourceText
    cells: CellMap | None = None
    unread: Diagnostic | None = None

    @property
    def is_notebook(self) -> bool:
        return self.path.endswith(NOTEBOOK_SUFFIX)

    @property
    def text_bytes(self) -> int:
        """The size of the text that spans are in."""
        return len(self.content if self.cells is None else self.source.data)


def extract_syntax(repo_id: str, path: str, content: bytes) -> SyntaxEvidence:
    """All that the syntax of one file says; a file that cannot be parsed says why, and is never an error.

    Args:
        repo_id: the repository, as a part of ids
        path: the file's path in the repository, with slashes; what ends in `.ipynb` is a notebook
        content: the file's bytes
    """
    return walk_file(repo_id, path, content).syntax


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkedFile:
    """The syntax of a file, and what it was found in; `module` is missing where nothing could be parsed.

    So is `code` of what does not compile.
    """

    syntax: SyntaxEvidence
    module: ast.Module | None
    code: CodeType | None
    walk: Walk
    source: SourceText


def walk_file(repo_id: str, path: str, content: bytes) -> WalkedFile:
    """The same, for those who have more to find in the tree."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what Python warns of is no matter of this program's user
        document = _read(repo_id, path, content)
        module, code, diagnostics = _parsed(document)
        if module is None:
            return _alone(document, diagnostics)
        walk = _begin(document)
        walk.scan.place(module, 0, len(document.source.data))
        try:
            walk_module(module, walk)
        except TooManyNodes:
            return _alone(document, (*diagnostics, _TOO_LARGE))
    nodes = _columns(document, walk)
    is_recovered = any(each.stage == "parse" for each in diagnostics)
    syntax = SyntaxEvidence(
        file=_facts(document, "recovered" if is_recovered else "ok"),
        nodes=nodes,
        diagnostics=(*diagnostics, *_unparsed(nodes)),
    )
    return WalkedFile(syntax=syntax, module=module, code=code, walk=walk, source=document.source)


def module_fqn_of(path: str) -> str | None:
    """The dotted name of the module in a file: its path without suffix, `__init__` and one leading `src`.

    A notebook is none that could be imported.
    """
    if path.endswith(NOTEBOOK_SUFFIX):
        return None
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


def _read(repo_id: str, path: str, content: bytes) -> _Document:
    if path.endswith(NOTEBOOK_SUFFIX):
        notebook = read_notebook(content)
        if isinstance(notebook, Notebook):
            return _Document(repo_id, path, content, notebook.source, cells=notebook.cells)
        return _Document(repo_id, path, content, _lines_only(content), unread=notebook)
    source = read_source(content)
    if isinstance(source, SourceText):
        return _Document(repo_id, path, content, source)
    return _Document(repo_id, path, content, _lines_only(content), unread=source)


def _lines_only(content: bytes) -> SourceText:
    """A stand-in for the text of a file that has none: its lines are known all the same."""
    starts = line_starts_of(content)
    return SourceText(text="", data=content, starts=starts, encoding="", shift=0, origins=None)


def _parsed(document: _Document) -> tuple[ast.Module | None, CodeType | None, tuple[Diagnostic, ...]]:
    """The module, or what can be recovered of it, or nothing; its code; and what is wrong with it."""
    if document.unread is not None:
        return None, None, (document.unread,)
    source = document.source
    module = parse_source(source)
    if isinstance(module, Diagnostic):
        if len(source.data) > MOST_RECOVERED:
            return None, None, (module, _TOO_LARGE_TO_RECOVER)
        return recover_module(source), None, (module,)
    code = compile_module(source, module, may_await=document.is_notebook)
    return (module, None, (code,)) if isinstance(code, Diagnostic) else (module, code, ())


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


def _begin(document: _Document) -> Walk:
    """A walk that has seen the file and nothing in it."""
    digest = file_digest(document.repo_id, document.path)
    walk = Walk(digest, Scan(document.source.data, document.source.starts))
    file = ast.Module([], [])
    walk.scan.place(file, 0, len(document.source.data))
    walk.rows.append((file, 0, module_owner(0, digest), "", None, ""))
    return walk


def _columns(document: _Document, walk: Walk) -> NodeColumns:
    names = (document.path.rpartition("/")[2], module_fqn_of(document.path))
    return build_columns(walk, document.source, size=document.text_bytes, names=names)


def _alone(document: _Document, diagnostics: tuple[Diagnostic, ...]) -> WalkedFile:
    """The file and nothing in it."""
    is_skipped = any(each.code == OTHER_LANGUAGE for each in diagnostics)
    walk = _begin(document)
    syntax = SyntaxEvidence(
        file=_facts(document, "skipped" if is_skipped else "failed"),
        nodes=_columns(document, walk),
        diagnostics=diagnostics,
    )
    return WalkedFile(syntax=syntax, module=None, code=None, walk=walk, source=document.source)


def _facts(document: _Document, status: ParseStatus) -> FileFacts:
    source, content, path = document.source, document.content, document.path
    starts = source.starts if source.origins is None else source.original(source.starts)
    if source.shift:
        starts = line_starts_of(content)
    return FileFacts(
        file_id=stable_id("file", document.repo_id, path),
        module_fqn=module_fqn_of(path),
        encoding="utf-8" if document.is_notebook else encoding_of(content),
        newline=newline_of(content if document.cells is None else source.data),
        language=_language_of(path),
        is_test=is_test_path(path),
        line_starts=starts,
        line_count=len(starts) if source.data else 0,
        parse_status=status,
        text_bytes=document.text_bytes,
        notebook_cell_map=document.cells,
    )


def _language_of(path: str) -> Literal["python", "stub", "notebook"]:
    if path.endswith(NOTEBOOK_SUFFIX):
        return "notebook"
    return "stub" if path.endswith(_STUB) else "python"
