"""Lines of answers: definitions and edges at the places where they stand.

Not here: which of them belong to an answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from headwater.inquiry import Finding, Link

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from headwater.cpg.questions.code import Code, Edge

_Item = TypeVar("_Item", Finding, Link)
# How an edge reads from its source.
VERBS = {
    "CALLS": "calls",
    "REFERENCES_SYMBOL": "uses",
    "IMPORTS": "imports",
    "INHERITS": "inherits from",
    "OVERRIDES": "overrides",
    "CONTAINS": "contains",
}


def finding(code: Code, node: int, reason: str = "", *, depth: int = 0, section: str = "") -> Finding:
    """A definition as a line of an answer, where it stands."""
    return Finding(
        name=code.names[node],
        kind=code.kinds[node],
        path=code.paths[node],
        line=None if code.is_outside(node) else code.lines[node] or 1,
        reason=reason,
        section=section,
        depth=depth,
    )


def site(code: Code, edge: Edge, node: int, reason: str, *, section: str = "", depth: int = 1) -> Finding:
    """An edge as a line of an answer, where it stands; `node` is the end that the line is about."""
    return Finding(
        name=code.names[node],
        kind=code.kinds[node],
        path=code.paths[edge.source],
        line=edge.line,
        reason=reason,
        section=section,
        depth=depth,
        confidence=edge.confidence,
    )


def standing(code: Code, edge: Edge) -> tuple[str, int, str]:
    """The order of edges by where they stand."""
    return code.paths[edge.source] or "", edge.line or 0, code.names[edge.target]


def subject_of(code: Code, nodes: Sequence[int]) -> str:
    """The names of what a question is about, each once."""
    return ", ".join(dict.fromkeys(code.names[each] for each in nodes))


def link(code: Code, edge: Edge) -> Link:
    """An edge as an arrow."""
    return Link(source=code.names[edge.source], target=code.names[edge.target], label=VERBS[edge.kind])


def each_once(items: Iterable[_Item]) -> tuple[_Item, ...]:
    """Each of them once; several calls in one line are one place."""
    return tuple(dict.fromkeys(items))
