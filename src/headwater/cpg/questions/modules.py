"""Modules among each other: who imports whom, and where they import each other in a circle.

Not here: how an import is resolved.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import rustworkx as rx

from headwater.cpg.questions.naming import named
from headwater.cpg.questions.standing import each_once, site, standing, subject_of
from headwater.inquiry import Answer, Finding, Link

if TYPE_CHECKING:
    from headwater.cpg.questions.code import Code, Edge

_IMPORT = "IMPORTS"


def imports(code: Code, name: str | None = None) -> Answer:
    """What a module imports and who imports it; without a name, all modules that depend on each other."""
    if name is None:
        return _all(code)
    modules = [_module(code, each) for each in named(code, name)]
    inside = {path for path in (code.paths[each] for each in modules) if path is not None}
    edges = sorted(code.edges(_IMPORT), key=lambda each: standing(code, each))
    from_here = [each for each in edges if code.paths[each.source] in inside]
    to_here = [each for each in edges if code.paths[each.target] in inside and each not in from_here]
    if not inside:  # it is outside of the repository
        to_here = [each for each in edges if each.target in modules or _is_below(code, each, modules)]
    findings = [
        *(site(code, each, each.target, _how("imported", each), section="imports") for each in from_here),
        *(
            site(
                code,
                each,
                each.source,
                f"{_how('imports', each)} {code.names[each.target]}",
                section="imported by",
            )
            for each in to_here
        ),
    ]
    links = [_link(code, each) for each in (*from_here, *to_here)]
    return Answer(
        question="imports",
        subject=subject_of(code, modules),
        findings=each_once(findings),
        links=each_once(each for each in links if each.source != each.target),
    )


def cycles(code: Code) -> Answer:
    """Modules that import each other in a circle, with an import of each that closes it.

    Imports in functions and for type checkers only make no circle when a program starts.
    """
    early = _between(code, late=False)
    every = _between(code, late=True)
    findings: list[Finding] = []
    links: list[Link] = []
    circles = _circles(early)
    for number, circle in enumerate(circles, 1):
        for one, other in circle:
            edge = early[one, other]
            reason = f"imports {code.names[other]}"
            findings.append(site(code, edge, one, reason, section=f"cycle {number}, {len(circle)} modules"))
            links.append(Link(source=code.names[one], target=code.names[other], label="imports"))
    late = len(_circles(every)) - len(circles)
    notes = (f"{_count(len(circles))} when modules are loaded.",)
    if late > 0:
        notes += (f"{_count(late)} more by imports in functions or for type checkers.",)
    return Answer(
        question="cycles", subject="all modules", findings=tuple(findings), links=tuple(links), notes=notes
    )


def _count(number: int) -> str:
    return f"{number} cycle{'' if number == 1 else 's'}"


def _all(code: Code) -> Answer:
    between = _between(code, late=True)
    found = sorted(between.items(), key=lambda each: standing(code, each[1]))
    findings = [
        site(code, edge, one, f"{_how('imports', edge)} {code.names[other]}") for (one, other), edge in found
    ]
    links = [Link(source=code.names[one], target=code.names[other]) for (one, other), _ in found]
    return Answer(question="imports", subject="all modules", findings=tuple(findings), links=tuple(links))


def _between(code: Code, *, late: bool) -> dict[tuple[int, int], Edge]:
    """By two modules of the repository, the first import that makes one depend on the other."""
    found: dict[tuple[int, int], Edge] = {}
    for edge in sorted(code.edges(_IMPORT), key=lambda each: standing(code, each)):
        one, other = code.module_of(edge.source), code.module_of(edge.target)
        if one is None or other is None or one == other or (edge.label and not late):
            continue
        # A name may be found further on than in the module that is loaded, which has an edge of its own.
        if code.kinds[edge.target] == "module":
            found.setdefault((one, other), edge)
    for edge in code.edges(_IMPORT):
        one, other = code.module_of(edge.source), code.module_of(edge.target)
        if one is not None and other is not None and one != other and (late or not edge.label):
            found.setdefault((one, other), edge)
    return found


def _circles(between: dict[tuple[int, int], Edge]) -> list[list[tuple[int, int]]]:
    """The shortest circle in each group of modules that all reach each other, smallest groups first."""
    graph: rx.PyDiGraph[int, None] = rx.PyDiGraph()
    places: dict[int, int] = {}
    for pair in between:
        for each in pair:
            if each not in places:
                places[each] = graph.add_node(each)
    graph.add_edges_from([(places[one], places[other], None) for one, other in between])
    groups = [sorted(graph[each] for each in group) for group in rx.strongly_connected_components(graph)]
    return [
        _shortest(graph, places, group)
        for group in sorted((each for each in groups if len(each) > 1), key=lambda each: (len(each), each))
    ]


def _shortest(
    graph: rx.PyDiGraph[int, None], places: dict[int, int], group: list[int]
) -> list[tuple[int, int]]:
    """A shortest circle through the first module of a group."""
    own = graph.subgraph([places[each] for each in group])
    start = next(each for each in own.node_indices() if own[each] == group[0])
    ways = [
        [*rx.dijkstra_shortest_paths(own, after, target=start, default_weight=1.0)[start]]
        for after in own.successor_indices(start)
        if after != start
    ]
    way = [start, *min(ways, key=lambda each: (len(each), [own[one] for one in each]))]
    return [(own[one], own[other]) for one, other in pairwise(way)]


def _module(code: Code, node: int) -> int:
    found = code.module_of(node)
    return node if found is None else found


def _is_below(code: Code, edge: Edge, nodes: list[int]) -> bool:
    return any(code.names[edge.target].startswith(f"{code.names[each]}.") for each in nodes)


def _how(verb: str, edge: Edge) -> str:
    """An import that is not made when its module is loaded says so."""
    return f"{verb} ({edge.label})" if edge.label else verb


def _link(code: Code, edge: Edge) -> Link:
    one, other = _module(code, edge.source), _module(code, edge.target)
    return Link(source=code.names[one], target=code.names[other], label="imports")
