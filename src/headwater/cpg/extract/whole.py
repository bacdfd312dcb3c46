"""All that one file says: its syntax, and what follows from it inside the file.

Not here: anything that needs a second file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.cpg.extract.assembly import Facts, find_facts, meanings_of, no_facts
from headwater.cpg.extract.codes import CodeColumns, find_codes
from headwater.cpg.extract.flow import StepColumns, find_captures, find_steps
from headwater.cpg.extract.hints import HintColumns, find_hints
from headwater.cpg.extract.syntax import walk_file
from headwater.cpg.extract.values import ValueColumns, find_values
from headwater.memory import without_collections

if TYPE_CHECKING:
    from headwater.cpg.extract.evidence import SyntaxEvidence


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEvidence:
    """The syntax of a file, and what else it says: all goes by the numbers of its nodes."""

    syntax: SyntaxEvidence
    facts: Facts
    codes: CodeColumns
    values: ValueColumns
    hints: HintColumns
    steps: StepColumns


def extract_file(repo_id: str, path: str, content: bytes) -> FileEvidence:
    """All that one file says; never an error.

    Args:
        repo_id: the repository, as a part of ids
        path: the file's path in the repository, with slashes
        content: the file's bytes
    """
    with without_collections():
        return _extracted(repo_id, path, content)


def _extracted(repo_id: str, path: str, content: bytes) -> FileEvidence:
    walked = walk_file(repo_id, path, content)
    syntax, walk = walked.syntax, walked.walk
    told = [each.code for each in syntax.diagnostics]
    if walked.module is None:
        return FileEvidence(
            syntax=syntax,
            facts=no_facts(walk, told),
            codes=CodeColumns(),
            values=ValueColumns(),
            hints=HintColumns(),
            steps=StepColumns(),
        )
    facts = find_facts(walked.module, walk, walked.source, syntax.nodes, told)
    codes = find_codes(walked.code, walk, facts.scopes.scopes)
    meant, runners = meanings_of(facts.scopes), syntax.nodes.owner
    values = find_values(walk.rows, runners, facts.scopes, meant, (facts.defined, facts.used))
    steps = find_steps(walk.rows, find_captures(facts.scopes, meant, runners, set(facts.used)))
    hints = find_hints(walk, facts.scopes, len(syntax.nodes.node_id))
    return FileEvidence(syntax=syntax, facts=facts, codes=codes, values=values, hints=hints, steps=steps)
