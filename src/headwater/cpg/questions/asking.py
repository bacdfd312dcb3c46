"""All questions by their names, and one way to ask each of them.

Not here: how any is answered.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.cpg.questions.calling import callees, callers, defs, impact, path, refs
from headwater.cpg.questions.changing import impact_since
from headwater.cpg.questions.churning import hotspots
from headwater.cpg.questions.classes import hierarchy
from headwater.cpg.questions.doing import effects, exceptions
from headwater.cpg.questions.exposing import api
from headwater.cpg.questions.flows import flow
from headwater.cpg.questions.modules import cycles, imports
from headwater.cpg.questions.unused import dead

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from headwater.cpg.questions.answer import Answer
    from headwater.cpg.questions.graph import Graph


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
class Question:
    """A question: what it takes, what it tells, and what answers it.

    Args:
        takes: what its names are, as a person reads them: ("NAME",), ("SOURCE", "SINK"); one in brackets may
            be left out.
        tells: one line about it.
        answer: gives the answer.
    """

    takes: tuple[str, ...]
    tells: str
    answer: Callable[[Graph, Asked], Answer]


QUESTIONS: Mapping[str, Question] = {
    "callers": Question(
        takes=("NAME",),
        tells="who calls it, at which lines",
        answer=lambda graph, asked: callers(graph.code, *asked.names, depth=asked.steps(1)),
    ),
    "callees": Question(
        takes=("NAME",),
        tells="what it calls, at which lines",
        answer=lambda graph, asked: callees(graph.code, *asked.names, depth=asked.steps(1)),
    ),
    "refs": Question(
        takes=("NAME",),
        tells="every place where it is called, used, imported, inherited from or overridden",
        answer=lambda graph, asked: refs(graph.code, *asked.names),
    ),
    "defs": Question(
        takes=("NAME",),
        tells="everything that a name may mean",
        answer=lambda graph, asked: defs(graph.code, *asked.names),
    ),
    "impact": Question(
        takes=("NAME",),
        tells="what could break if it changes, with the reason for each",
        answer=lambda graph, asked: (
            impact(graph.code, asked.names, depth=asked.steps(None))
            if asked.diff is None
            else impact_since(graph, asked.diff, asked.names, depth=asked.steps(None))
        ),
    ),
    "path": Question(
        takes=("FROM", "TO"),
        tells="the shortest way by which one comes to call or use the other",
        answer=lambda graph, asked: path(graph.code, *asked.names),
    ),
    "flow": Question(
        takes=("SOURCE", "SINK"),
        tells="the shortest ways of values that one gives to what the other takes, step by step",
        answer=lambda graph, asked: flow(
            graph.code,
            (asked.names[0], asked.names[1]),
            graph.root,
            graph.query,
            graph.flows,
            graph.sites,
        ),
    ),
    "imports": Question(
        takes=("[MODULE]",),
        tells="what a module imports and who imports it; of all modules without a name",
        answer=lambda graph, asked: imports(graph.code, *asked.names),
    ),
    "cycles": Question(
        takes=(),
        tells="modules that import each other in a circle",
        answer=lambda graph, _: cycles(graph.code),
    ),
    "hierarchy": Question(
        takes=("NAME",),
        tells="bases and subclasses of a class, and what overrides what",
        answer=lambda graph, asked: hierarchy(graph.code, *asked.names, depth=asked.steps(None)),
    ),
    "dead": Question(
        takes=("[MODULE]",),
        tells="definitions that nothing known needs, with how sure that is",
        answer=lambda graph, asked: dead(graph.code, graph.signs, *asked.names),
    ),
    "effects": Question(
        takes=("NAME",),
        tells="what it does to files, network, processes and the like, and through which calls",
        answer=lambda graph, asked: effects(graph.code, *asked.names),
    ),
    "exceptions": Question(
        takes=("NAME",),
        tells="the exceptions that may leave it, and where they come from; of an exception who lets it out",
        answer=lambda graph, asked: exceptions(graph.code, *asked.names),
    ),
    "api": Question(
        takes=("[MODULE]",),
        tells="what is public, with signatures; or what of it changed since a revision, and what that breaks",
        answer=lambda graph, asked: api(graph, *asked.names, since=asked.since),
    ),
    "hotspots": Question(
        takes=("[MODULE]",),
        tells="functions that change often and are complex, by commits and branches",
        answer=lambda graph, asked: hotspots(graph, *asked.names),
    ),
}


def answer_to(graph: Graph, asked: Asked) -> Answer:
    """The answer to what is asked.

    Raises:
        NameUnknown, NameAmbiguous: a name that the question is about means nothing, or several things.
    """
    return QUESTIONS[asked.question].answer(graph, asked)
