"""What can be asked of a code graph, and what an answer is: plain values, which go between processes.

QUESTIONS, Question     all questions by name: what each takes, and what it tells
Asked, check_asked      what is asked, and whether it can be
Answer, Finding, Link   an answer: findings with their places and reasons, and arrows between them

Not here: how any question is answered, and how answers are printed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.errors import RevisionUnknown, WrongUsage

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question: what it takes, and what it tells.

    Args:
        takes: what its names are, as a person reads them: ("NAME",), ("SOURCE", "SINK"); one in brackets may
            be left out.
        tells: one line about it.
    """

    takes: tuple[str, ...]
    tells: str


QUESTIONS: Mapping[str, Question] = {
    "callers": Question(takes=("NAME",), tells="who calls it, at which lines"),
    "callees": Question(takes=("NAME",), tells="what it calls, at which lines"),
    "refs": Question(
        takes=("NAME",), tells="every place where it is called, used, imported, inherited from or overridden"
    ),
    "defs": Question(takes=("NAME",), tells="everything that a name may mean"),
    "impact": Question(takes=("NAME",), tells="what could break if it changes, with the reason for each"),
    "path": Question(
        takes=("FROM", "TO"), tells="the shortest way by which one comes to call or use the other"
    ),
    "flow": Question(
        takes=("SOURCE", "SINK"),
        tells="the shortest ways of values that one gives to what the other takes, step by step",
    ),
    "imports": Question(
        takes=("[MODULE]",), tells="what a module imports and who imports it; of all modules without a name"
    ),
    "cycles": Question(takes=(), tells="modules that import each other in a circle"),
    "hierarchy": Question(takes=("NAME",), tells="bases and subclasses of a class, and what overrides what"),
    "dead": Question(
        takes=("[MODULE]",), tells="definitions that nothing known needs, with how sure that is"
    ),
    "effects": Question(
        takes=("NAME",),
        tells="what it does to files, network, processes and the like, and through which calls",
    ),
    "exceptions": Question(
        takes=("NAME",),
        tells="the exceptions that may leave it, and where they come from; of an exception who lets it out",
    ),
    "api": Question(
        takes=("[MODULE]",),
        tells="what is public, with signatures; or what of it changed since a revision, and what that breaks",
    ),
    "hotspots": Question(
        takes=("[MODULE]",), tells="functions that change often and are complex, by commits and branches"
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is asked: plain values, so that a question can go to another process.

    Args:
        question: one of QUESTIONS.
        names: what it is about.
        depth: the most steps, for questions that follow edges; 0 for as many as it takes, None for the usual.
        diff: a revision of git, for the impact of what changed since then.
        since: a revision of git to compare with.
    """

    question: str
    names: tuple[str, ...] = ()
    depth: int | None = None
    diff: str | None = None
    since: str | None = None

    def steps(self, usual: int | None) -> int | None:
        """The most steps; None for as many as it takes."""
        return usual if self.depth is None else self.depth or None


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


def check_asked(asked: Asked) -> None:
    """Whether something can be asked at all, whatever graph there is.

    Raises:
        WrongUsage: there is no such question, or it takes other names.
        RevisionUnknown: what is meant as a revision could be taken for an option of git.
    """
    question = QUESTIONS.get(asked.question)
    if question is None:
        known = "; ".join(" ".join([name, *each.takes]) for name, each in QUESTIONS.items())
        detail = f"there is no question '{asked.question}'; questions are: {known}"
        raise WrongUsage(detail=detail, command="headwater ask")
    least = sum(not each.startswith("[") for each in question.takes)
    most = None if any("..." in each for each in question.takes) else len(question.takes)
    for flag, revision, owner in (("--diff", asked.diff, "impact"), ("--since", asked.since, "api")):
        if revision is not None and asked.question != owner:
            detail = f"{flag} belongs to the question '{owner}', not to '{asked.question}'"
            raise WrongUsage(detail=detail, command="headwater ask")
    if asked.diff is not None:
        least = 0  # what changed is what it is about
    count = len(asked.names)
    if count < least or (most is not None and count > most):
        takes = " ".join(question.takes) or "no name"
        detail = f"the question '{asked.question}' takes {takes}, not {count} name{'' if count == 1 else 's'}"
        raise WrongUsage(detail=detail, command="headwater ask")
    if asked.depth is not None and asked.depth < 0:
        raise WrongUsage(detail=f"--depth {asked.depth} is below 0", command="headwater ask")
    for revision in (asked.diff, asked.since):
        if revision is not None and (not revision or revision.startswith("-")):
            raise RevisionUnknown(revision=revision, detail="a revision has another beginning")
