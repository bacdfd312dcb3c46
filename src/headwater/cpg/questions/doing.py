"""What definitions do besides giving values: to the world, and by exceptions.

Not here: how that is found.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from headwater.cpg.questions.code import same_of
from headwater.cpg.questions.naming import named
from headwater.cpg.questions.standing import each_once, finding, link, site, subject_of
from headwater.cpg.resolve import EXPORT_THRESHOLD
from headwater.inquiry import Answer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from headwater.cpg.questions.code import Code, Edge
    from headwater.inquiry import Finding, Link

_CALL = "CALLS"


def effects(code: Code, name: str) -> Answer:
    """What something does to the world, and through which calls: files, network, processes and the like."""
    starts = same_of(code, named(code, name))
    found: list[Finding] = []
    links: list[Link] = []
    for effect in sorted({each for start in starts for each in code.effects[start]}):
        way = _way(
            code,
            starts,
            lambda node, effect=effect: effect in code.own_effects[node],
            lambda node, effect=effect: effect in code.effects[node],
        )
        findings, arrows = _told(code, way, effect, f"does {effect}")
        found += findings
        links += arrows
    notes = () if found else ("Nothing that is known.",)
    return _answer(code, "effects", starts, found, links, notes)


def exceptions(code: Code, name: str) -> Answer:
    """The exceptions that may leave something, and how they come there; of an exception, who lets it out."""
    starts = same_of(code, named(code, name))
    raised = sorted({each for start in starts for each in code.raises[start]})
    found: list[Finding] = []
    links: list[Link] = []
    for symbol in raised:
        way = _way(code, starts, partial(_begins, code, symbol), partial(_lets_out, code, symbol))
        findings, arrows = _told(code, way, code.title(symbol), f"raises {code.title(symbol)}")
        found += findings
        links += arrows
    if not raised:
        symbols = {code.symbols[each] for each in starts}
        found = [
            finding(code, node, "lets it out")
            for node, each in enumerate(code.raises)
            if symbols.intersection(each)
        ]
    notes = () if found else ("None that is known; those that Python raises itself are not told.",)
    return _answer(code, "exceptions", starts, found, links, notes)


def _lets_out(code: Code, symbol: str, node: int) -> bool:
    """Whether an exception leaves a def."""
    return symbol in code.raises[node]


def _begins(code: Code, symbol: str, node: int) -> bool:
    """Whether an exception that leaves a def comes from nothing that it calls."""
    return not any(_lets_out(code, symbol, each.target) for each in _sure_calls(code, node))


def _sure_calls(code: Code, node: int) -> list[Edge]:
    found = [each for each in code.out_of(node, _CALL) if each.confidence >= EXPORT_THRESHOLD]
    return sorted(found, key=lambda each: -each.confidence)


def _way(
    code: Code, starts: Sequence[int], begins: Callable[[int], bool], passes: Callable[[int], bool]
) -> tuple[int, list[Edge]]:
    """The shortest way by calls to where something begins, and where that is; all on it pass it on.

    It is empty where that is the start, or where all who pass it on call each other in a circle.
    """
    sources = [each for each in starts if passes(each)]
    reached = code.reached(
        sources,
        lambda node: [each for each in _sure_calls(code, node) if passes(each.target)],
        into=False,
        depth=None,
    )
    end = there = next((node for node in reached if begins(node)), sources[0])
    way: list[Edge] = []
    while (edge := reached[there][1]) is not None:
        way.insert(0, edge)
        there = edge.source
    return end, way


def _told(
    code: Code, found: tuple[int, Sequence[Edge]], section: str, last: str
) -> tuple[list[Finding], list[Link]]:
    """A way as lines of an answer, the last of which is where something happens."""
    end, way = found
    steps = [
        site(code, edge, edge.source, f"calls {code.names[edge.target]}", section=section, depth=number)
        for number, edge in enumerate(way, 1)
    ]
    return [*steps, finding(code, end, last, section=section, depth=len(way) + 1)], [
        link(code, edge) for edge in way
    ]


def _answer(
    code: Code,
    question: str,
    starts: list[int],
    found: list[Finding],
    links: list[Link],
    notes: tuple[str, ...],
) -> Answer:
    return Answer(
        question=question,
        subject=subject_of(code, starts),
        findings=each_once(found),
        links=each_once(links),
        notes=notes,
    )
