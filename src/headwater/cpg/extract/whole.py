"""All that one file says: its syntax, and what follows from it inside the file.

Not here: anything that needs a second file.
"""

from __future__ import annotations

import gc
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.cpg.extract.assembly import Facts, find_facts, no_facts
from headwater.cpg.extract.codes import CodeColumns, find_codes
from headwater.cpg.extract.syntax import walk_file

if TYPE_CHECKING:
    from collections.abc import Generator

    from headwater.cpg.extract.evidence import SyntaxEvidence


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEvidence:
    """The syntax of a file, and the facts and code objects that go by the numbers of its nodes."""

    syntax: SyntaxEvidence
    facts: Facts
    codes: CodeColumns


def extract_file(repo_id: str, path: str, content: bytes) -> FileEvidence:
    """All that one file says; never an error.

    Args:
        repo_id: the repository, as a part of ids
        path: the file's path in the repository, with slashes
        content: the file's bytes
    """
    with _without_collections():
        return _extracted(repo_id, path, content)


def _extracted(repo_id: str, path: str, content: bytes) -> FileEvidence:
    walked = walk_file(repo_id, path, content)
    syntax = walked.syntax
    told = [each.code for each in syntax.diagnostics]
    if walked.module is None:
        return FileEvidence(syntax=syntax, facts=no_facts(walked.walk, told), codes=CodeColumns())
    facts = find_facts(walked.module, walked.walk, walked.source, syntax.nodes, told)
    codes = find_codes(walked.code, walked.walk, facts.scopes.scopes)
    return FileEvidence(syntax=syntax, facts=facts, codes=codes)


@contextmanager
def _without_collections() -> Generator[None]:
    """Look for no cycles meanwhile: there are none, and to look through a tree again and again takes long."""
    is_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_enabled:
            gc.enable()
