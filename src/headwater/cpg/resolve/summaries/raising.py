"""Which exceptions defs raise by themselves or let through from the functions that they call.

An exception is caught by a handler of its class or of one that it inherits from; of an exception outside only
its name is known, and that `Exception` catches it. What is raised comes to a handler in the same def, or in
one that calls the def that raises it; ways over several defs are left out: there are too many.
Not here: exceptions that Python raises itself.
"""

from __future__ import annotations

import builtins
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.cpg.resolve.containers import ALL
from headwater.cpg.resolve.objects import BUILTIN, CLASS, CONTAINER, EXTERNAL, FUNCTION, INSTANCE, MADE, TYPED
from headwater.cpg.resolve.outcome import symbol_of_object
from headwater.cpg.resolve.summaries.calling import spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.cpg.resolve.flow import Sites
    from headwater.cpg.resolve.flow.rows import Flow
    from headwater.cpg.resolve.flow.sites import Guard
    from headwater.cpg.resolve.outcome import Outcome
    from headwater.cpg.resolve.summaries.calling import Callers, Site

_EXCEPTIONS: dict[str, type[BaseException]] = {
    name: each
    for name, each in vars(builtins).items()
    if isinstance(each, type) and issubclass(each, BaseException)
}
_MOST_WAYS = 16  # from what is raised to the handlers around one call


@dataclass(slots=True)
class Raising:
    """Exceptions as bits: which object each is, what each class catches, what each def raises."""

    outcome: Outcome
    sites: Sites
    things: dict[int, int] = field(default_factory=dict[int, int])
    own: dict[int, list[tuple[int, int]]] = field(default_factory=dict[int, "list[tuple[int, int]]"])
    masks: dict[int, int] = field(default_factory=dict[int, int])
    caught: dict[int, int] = field(default_factory=dict[int, int])
    around: dict[int, list[Guard]] = field(default_factory=dict[int, "list[Guard]"])

    def bit(self, thing: int) -> int:
        """The bit of an exception."""
        return 1 << self.things.setdefault(thing, len(self.things))

    def names(self, bits: int) -> list[str]:
        """The symbols of exceptions, in order."""
        return sorted(
            symbol_of_object(self.outcome, each) for each, place in self.things.items() if bits >> place & 1
        )


def find_raised(outcome: Outcome, sites: Sites, callers: Callers) -> tuple[Raising, list[Flow]]:
    """What each def raises or lets through, and the ways from what is raised to who catches it."""
    raising = Raising(outcome, sites)
    for guard in sites.guards:
        raising.around.setdefault(guard.owner, []).append(guard)
    raised: list[tuple[int, int, int]] = []
    for row, source, owner in sites.raised:
        bits = 0
        for thing in _exceptions(outcome, source, row):
            bits |= raising.bit(thing)
        if bits:
            raised.append((row, bits, owner))
    flows: list[Flow] = []
    for row, bits, owner in raised:
        left = _let_through(raising, bits, row, owner)
        flows += [
            (row + 1, each, "exception", None, True, None, 1.0)
            for each in _handlers(raising, bits, row, owner)
        ]
        if left:
            raising.own.setdefault(owner, []).append((row, left))
            raising.masks[owner] = raising.masks.get(owner, 0) | left
    flows += _flows_to_callers(raising, callers)

    def pass_on(bits: int, site: Site) -> int:
        return _let_through(raising, bits, site[1], site[2])

    spread(raising.masks, callers, pass_on)
    return raising, flows


def _flows_to_callers(raising: Raising, callers: Callers) -> list[Flow]:
    flows: list[Flow] = []
    for function, own in raising.own.items():
        for number, site, caller in callers.of.get(function, ()):
            if caller not in raising.around:
                continue
            ways = [(row + 1, to) for row, bits in own for to in _handlers(raising, bits, site, caller)]
            if len(ways) <= _MOST_WAYS:
                flows += [(row, to, "exception", None, True, number, 1.0) for row, to in ways]
    return flows


def _exceptions(outcome: Outcome, variable: int, row: int) -> list[int]:
    """The classes of what is raised: a class, an instance, or what a function makes."""
    solver = outcome.program.solver
    found: dict[int, None] = {}
    for each in sorted(solver.has[variable] or ()):
        some = (each,) if solver.objects.kind[each] != FUNCTION else sorted(solver.has[row + 1] or ())
        found.update(
            (known, None) for known in (_exception(outcome, one) for one in some) if known is not None
        )
    return list(found)


def _exception(outcome: Outcome, thing: int) -> int | None:
    objects = outcome.program.solver.objects
    kind, of = objects.kind[thing], objects.of[thing]
    if kind in {CLASS, EXTERNAL}:
        return thing
    if kind == INSTANCE:
        return objects.get(CLASS, of)
    if kind == MADE:
        return objects.get(EXTERNAL, of)
    if kind in {BUILTIN, TYPED} and of in _EXCEPTIONS:
        return objects.get(BUILTIN, of)
    return None


def _enclosing(raising: Raising, site: int, owner: int) -> list[Guard]:
    """What is tried around a node of a def, innermost first."""
    found = [each for each in raising.around.get(owner, ()) if each.begin <= site < each.end]
    return sorted(found, key=lambda each: -each.begin)


def _let_through(raising: Raising, bits: int, site: int, owner: int) -> int:
    if owner not in raising.around:
        return bits
    for guard in _enclosing(raising, site, owner):
        for _, source, is_let_go in guard.catches:
            if not is_let_go:
                bits &= ~_caught_by(raising, source, bits)
    return bits


def _handlers(raising: Raising, bits: int, site: int, owner: int) -> list[int]:
    """The handlers that may get exceptions, from the innermost on."""
    found: dict[int, None] = {}
    for guard in _enclosing(raising, site, owner):
        for handler, source, is_let_go in guard.catches:
            caught = _caught_by(raising, source, bits)
            if caught:
                found[handler] = None
                bits = bits if is_let_go else bits & ~caught
    return list(found)


def _caught_by(raising: Raising, source: int, bits: int) -> int:
    """What of some exceptions a handler catches that names what a variable has; nothing named is all."""
    if source < 0:
        return bits
    solver = raising.outcome.program.solver
    found = 0
    for each in solver.has[source] or ():
        if solver.objects.kind[each] == CONTAINER:
            items = solver.cells.get((each, ALL))
            inner: Sequence[int] = () if items is None else sorted(solver.has[items] or ())
        else:
            inner = (each,)
        for one in inner:
            known = raising.caught.get(one)
            if known is None:  # all exceptions have their bits before the first handler is asked
                known = raising.caught[one] = _catches(raising, one)
            found |= known & bits
    return found


def _catches(raising: Raising, handler: int) -> int:
    objects = raising.outcome.program.solver.objects
    bits = 0
    name = objects.of[handler] if objects.kind[handler] == BUILTIN else None
    for thing, place in raising.things.items():
        if _is_caught(raising, thing, handler, name):
            bits |= 1 << place
    return bits


def _is_caught(raising: Raising, thing: int, handler: int, name: str | None) -> bool:
    solver = raising.outcome.program.solver
    objects = solver.objects
    lineage = solver.classes[objects.of[thing]].order if objects.kind[thing] == CLASS else (thing,)
    if handler in lineage:
        return True
    known = [
        _EXCEPTIONS[objects.of[each]]
        for each in lineage
        if objects.kind[each] == BUILTIN and objects.of[each] in _EXCEPTIONS
    ]
    if name is None or name not in _EXCEPTIONS:
        return False
    if any(issubclass(each, _EXCEPTIONS[name]) for each in known):
        return True
    return not known and name in {"Exception", "BaseException"}
