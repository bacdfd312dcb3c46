"""What answers each question, by its name.

Not here: what questions take and tell, and how any is answered.
"""

from __future__ import annotations

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

    from headwater.cpg.questions.graph import Graph
    from headwater.inquiry import Answer, Asked


_ANSWERS: Mapping[str, Callable[[Graph, Asked], Answer]] = {
    "callers": lambda graph, asked: callers(graph.code, *asked.names, depth=asked.steps(1)),
    "callees": lambda graph, asked: callees(graph.code, *asked.names, depth=asked.steps(1)),
    "refs": lambda graph, asked: refs(graph.code, *asked.names),
    "defs": lambda graph, asked: defs(graph.code, *asked.names),
    "impact": lambda graph, asked: (
        impact(graph.code, asked.names, depth=asked.steps(None))
        if asked.diff is None
        else impact_since(graph, asked.diff, asked.names, depth=asked.steps(None))
    ),
    "path": lambda graph, asked: path(graph.code, *asked.names),
    "flow": lambda graph, asked: flow(
        graph.code,
        (asked.names[0], asked.names[1]),
        graph.root,
        graph.flows,
        graph.sites,
    ),
    "imports": lambda graph, asked: imports(graph.code, *asked.names),
    "cycles": lambda graph, _: cycles(graph.code),
    "hierarchy": lambda graph, asked: hierarchy(graph.code, *asked.names, depth=asked.steps(None)),
    "dead": lambda graph, asked: dead(graph.code, graph.signs, *asked.names),
    "effects": lambda graph, asked: effects(graph.code, *asked.names),
    "exceptions": lambda graph, asked: exceptions(graph.code, *asked.names),
    "api": lambda graph, asked: api(graph, *asked.names, since=asked.since),
    "hotspots": lambda graph, asked: hotspots(graph, *asked.names),
}


def answer_to(graph: Graph, asked: Asked) -> Answer:
    """The answer to what is asked.

    Raises:
        NameUnknown, NameAmbiguous: a name that the question is about means nothing, or several things.
    """
    return _ANSWERS[asked.question](graph, asked)
