"""Who calls what, who uses it, what could break with it, and how one thing leads to another.

Not here: which candidates of a call are edges.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.cpg.questions.code import same_of
from headwater.cpg.questions.naming import matching, named
from headwater.cpg.questions.standing import VERBS, each_once, finding, link, site, standing, subject_of
from headwater.inquiry import Answer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from headwater.cpg.questions.code import Code, Edge

_CALL, _USE = "CALLS", "REFERENCES_SYMBOL"
# A decorator may call others that make what it gives.
_MOST_DECORATING = 2
# What a call of a class runs; its edge leads there if the class, or one above it, has any.
_MAKERS = ("__init__", "__new__")
# Of several reasons for one step of an impact, the first of these is told.
_STRENGTH = ("CALLS", "INHERITS", "OVERRIDES", "REFERENCES_SYMBOL", "IMPORTS")


def callers(code: Code, name: str, *, depth: int | None = 1) -> Answer:
    """Who calls something, at which lines; with a larger `depth`, who calls them.

    Who calls a class makes an instance of it, whichever class above it says how.
    """
    starts = named(code, name)
    return _calls(code, "callers", starts, into=True, depth=depth)


def callees(code: Code, name: str, *, depth: int | None = 1) -> Answer:
    """What something calls, at which lines; with a larger `depth`, what they call."""
    starts = same_of(code, named(code, name))
    return _calls(code, "callees", starts, into=False, depth=depth)


def refs(code: Code, name: str) -> Answer:
    """Every place where something is called, used, imported, inherited from or overridden."""
    starts = named(code, name)
    edges = [each for start in starts for each in code.into(start) if each.kind != "CONTAINS"]
    called = {(each.source, each.line) for each in edges if each.kind in {_CALL, "INHERITS"}}
    kept = [each for each in edges if each.kind != _USE or (each.source, each.line) not in called]
    findings = [
        site(code, each, each.source, f"{VERBS[each.kind]} it", section=VERBS[each.kind])
        for each in sorted(kept, key=lambda each: (_order(each.kind), *standing(code, each)))
    ]
    return Answer(question="refs", subject=subject_of(code, starts), findings=each_once(findings))


def defs(code: Code, name: str) -> Answer:
    """Every definition that a name may mean, of this repository or outside."""
    found = matching(code, name) or named(code, name)
    return Answer(question="defs", subject=name, findings=tuple(finding(code, each) for each in found))


def impact(code: Code, names: Iterable[str], *, depth: int | None = None) -> Answer:
    """What could break if something changes, nearest first, with the reason for each."""
    starts = same_of(code, [each for name in names for each in named(code, name)])
    return impact_of(code, starts, subject_of(code, starts), depth=depth)


def impact_of(
    code: Code,
    starts: list[int],
    subject: str,
    *,
    depth: int | None = None,
    whole: Iterable[int] | None = None,
) -> Answer:
    """The same, of definitions that are known; `whole` are those that change with all that is in them."""
    begins = dict.fromkeys([*starts, *_inside(code, starts if whole is None else whole)])

    def step(node: int) -> list[Edge]:
        # Who has a module in which something is used does not feel it by that alone.
        if code.kinds[node] == "module" and node not in begins:
            return []
        edges = [each for each in code.into(node, *_STRENGTH) if _matters(code, each)]
        return sorted(edges, key=lambda each: (_STRENGTH.index(each.kind), -each.confidence))

    reached = code.reached(begins, step, into=True, depth=depth)
    hit = sorted(
        ((steps, edge) for steps, edge in reached.values() if edge is not None),
        key=lambda each: (each[0], *standing(code, each[1])),
    )
    findings = [
        site(code, edge, edge.source, f"{VERBS[edge.kind]} {code.names[edge.target]}", depth=steps)
        for steps, edge in hit
    ]
    links = [link(code, edge) for _, edge in hit]
    tests = sum(code.is_test[edge.source] for _, edge in hit)
    files = len({code.paths[edge.source] for _, edge in hit})
    notes = (f"{len(hit)} definitions in {files} files, {tests} of them in tests",) if hit else ()
    return Answer(
        question="impact", subject=subject, findings=tuple(findings), links=each_once(links), notes=notes
    )


def path(code: Code, start: str, end: str) -> Answer:
    """The shortest way by which one thing comes to call, use or contain another."""
    starts, ends = same_of(code, named(code, start)), set(named(code, end))

    def step(node: int) -> list[Edge]:
        return sorted(code.out_of(node, _CALL, _USE), key=lambda each: (each.kind != _CALL, -each.confidence))

    reached = code.reached(starts, step, into=False, depth=None)
    subject = f"{subject_of(code, starts)} to {subject_of(code, sorted(ends))}"
    there = min((each for each in ends if each in reached), key=lambda each: reached[each][0], default=None)
    if there is None:
        return Answer(question="path", subject=subject, notes=("There is no way by calls and uses.",))
    way: list[Edge] = []
    while (edge := reached[there][1]) is not None:
        way.insert(0, edge)
        there = edge.source
    findings = [
        site(code, edge, edge.source, f"{VERBS[edge.kind]} {code.names[edge.target]}", depth=number)
        for number, edge in enumerate(way, 1)
    ]
    last = [finding(code, way[-1].target, depth=len(way) + 1)] if way else []
    links = tuple(link(code, edge) for edge in way)
    return Answer(question="path", subject=subject, findings=(*findings, *last), links=links)


def _calls(code: Code, question: str, starts: list[int], *, into: bool, depth: int | None) -> Answer:
    step: Callable[[int], list[Edge]] = (
        (lambda node: calls_of(code, node)) if into else (lambda node: code.out_of(node, _CALL))
    )
    reached = code.reached(starts, step, into=into, depth=depth)
    edges = {
        each: steps + 1
        for node, (steps, _) in reached.items()
        if depth is None or steps < depth
        for each in step(node)
    }
    shown = sorted(edges, key=lambda each: (edges[each], *standing(code, each)))
    findings = [
        site(
            code,
            edge,
            edge.source if into else edge.target,
            _how(edge) + (f" {code.names[edge.target]}" if into and edges[edge] > 1 else ""),
            depth=edges[edge],
        )
        for edge in shown
    ]
    links = [link(code, edge) for edge in shown]
    return Answer(
        question=question,
        subject=subject_of(code, starts),
        findings=each_once(findings),
        links=each_once(links),
    )


def calls_of(code: Code, node: int) -> list[Edge]:
    """The calls of a definition, whatever decorators made of it; of a class those that make instances."""
    own = code.into(node, _CALL)
    if code.kinds[node] != "class":
        return [*own, *_calls_of_decorated(code, node)] if node in code.decorators else own
    found, is_own = makers_of(code, node)
    here = _named_at(code, [node])
    others = _others_at(code, node) if is_own else here
    made = [
        edge
        for maker in found
        for edge in code.into(maker, _CALL)
        if (place := (edge.source, edge.line)) in here or (is_own and place not in others)
    ]
    return [*own, *made]


def _calls_of_decorated(code: Code, node: int) -> list[Edge]:
    """Calls of what a decorator made of a function, where the function is named in the same line."""
    made = code.reached(
        code.decorators[node], lambda each: code.out_of(each, _CALL), into=False, depth=_MOST_DECORATING
    )
    found: dict[Edge, None] = {}
    for use in code.into(node, _USE):
        for call in code.out_of(use.source, _CALL):
            if call.line == use.line and call.label == "call" and made.keys() & _around(code, call.target):
                found[call] = None
    return [each for each in found if each.target not in made]


def _around(code: Code, node: int) -> set[int]:
    """What a definition stands in, however deep."""
    found: set[int] = set()
    while (owner := code.owner_of(node)) is not None:
        found.add(owner)
        node = owner
    return {each for each in found if code.kinds[each] != "module"}


def makers_of(code: Code, node: int) -> tuple[list[int], bool]:
    """What a call of a class runs to make an instance, if that is known, and whether it is its own."""
    above = code.reached([node], lambda each: code.out_of(each, "INHERITS"), into=False, depth=None)
    for each in above:
        found = [own for name in _MAKERS for own in code.of_name(f"{code.names[each]}.{name}")]
        if found:
            return found, each == node
    return [], False


def _named_at(code: Code, nodes: Iterable[int]) -> frozenset[tuple[int, int | None]]:
    """The defs and lines in which definitions are named."""
    return frozenset((each.source, each.line) for node in nodes for each in code.into(node, _USE))


def _others_at(code: Code, node: int) -> frozenset[tuple[int, int | None]]:
    """Where what makes instances of a class is called for one of those below it."""
    below = code.reached([node], lambda each: code.into(each, "INHERITS"), into=True, depth=None)
    supers = {(each.source, each.line) for own in code.of_name("builtins.super") for each in code.into(own)}
    return _named_at(code, (each for each in below if each != node)) | supers


def _how(edge: Edge) -> str:
    return "calls" if edge.label in {None, "call"} else f"calls by {edge.label}"


def _inside(code: Code, starts: Iterable[int]) -> list[int]:
    """What changes with a class or module: whatever is in it."""
    found = code.reached(starts, lambda node: code.out_of(node, "CONTAINS"), into=False, depth=None)
    return list(found)


def _matters(code: Code, edge: Edge) -> bool:
    """Whether a change of what an edge leads to can be felt where it comes from.

    Who imports a module for one of its names feels a change of that name, and has an edge to it.
    """
    if edge.kind != "IMPORTS":
        return True
    return edge.label != "type-checking" and code.kinds[edge.target] != "module"


def _order(kind: str) -> int:
    return list(VERBS).index(kind)
