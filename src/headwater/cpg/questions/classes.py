"""What classes are and what they become: bases, subclasses, and methods that override others.

Not here: in which order attributes are looked up; `mro` has that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.cpg.questions.code import same_of
from headwater.cpg.questions.naming import named
from headwater.cpg.questions.standing import each_once, finding, link, site, subject_of
from headwater.inquiry import Answer

if TYPE_CHECKING:
    from headwater.cpg.questions.code import Code, Edge

_BASE, _OVER = "INHERITS", "OVERRIDES"


def hierarchy(code: Code, name: str, *, depth: int | None = None) -> Answer:
    """The classes that a class is made of, those made of it, and what they override; of a method the same."""
    starts = same_of(code, named(code, name))
    above = code.reached(starts, lambda node: code.out_of(node, _BASE, _OVER), into=False, depth=depth)
    below = code.reached(starts, lambda node: code.into(node, _BASE, _OVER), into=True, depth=depth)
    up = [(steps, edge) for steps, edge in above.values() if edge is not None]
    down = [(steps, edge) for steps, edge in below.values() if edge is not None]
    members = [
        edge
        for start in starts
        if code.kinds[start] == "class"
        for owned in code.out_of(start, "CONTAINS")
        for edge in code.out_of(owned.target, _OVER)
        if edge.label is None
    ]
    findings = [
        *(
            finding(
                code, edge.target, f"{_said(edge)} {code.names[edge.source]}", depth=steps, section="above"
            )
            for steps, edge in up
        ),
        *(
            site(code, edge, edge.source, _does(code, edge), depth=steps, section="below")
            for steps, edge in sorted(down, key=lambda each: (each[0], code.names[each[1].source]))
        ),
        *(site(code, edge, edge.source, _does(code, edge), section="overrides") for edge in members),
    ]
    links = (link(code, edge) for _, edge in [*up, *down])
    return Answer(
        question="hierarchy",
        subject=subject_of(code, starts),
        findings=each_once(findings),
        links=each_once(links),
    )


def _said(edge: Edge) -> str:
    """How an edge reads from its target."""
    return "base of" if edge.kind == _BASE else "overridden by"


def _does(code: Code, edge: Edge) -> str:
    return f"{'inherits from' if edge.kind == _BASE else 'overrides'} {code.names[edge.target]}"
