"""What an answer is: findings with their places and reasons, and links between what they are about.

Not here: how any question is answered, and how answers are printed.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One line of an answer.

    Args:
        name: the dotted name of what was found.
        kind: module, class, function, method, lambda, variable, external, or what else a question is about.
        path: the file where it stands; None for what is outside of the repository.
        line: the line there.
        reason: why it is in the answer.
        section: the heading that it is listed under, if the answer has several.
        depth: how many steps it is away from what was asked about.
        confidence: how sure that is; None where it is not a matter of degree.
    """

    name: str
    kind: str
    path: str | None
    line: int | None
    reason: str = ""
    section: str = ""
    depth: int = 0
    confidence: float | None = None


@dataclass(frozen=True, slots=True, order=True, kw_only=True)
class Link:
    """An arrow of the drawn answer, between two names."""

    source: str
    target: str
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer to a question about `subject`; `notes` say what was left out, and what to look at."""

    question: str
    subject: str
    findings: tuple[Finding, ...] = ()
    links: tuple[Link, ...] = ()
    notes: tuple[str, ...] = ()
