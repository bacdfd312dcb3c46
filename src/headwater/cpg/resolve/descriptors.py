"""Attributes that are called where they are read or stored: properties, and objects with `__get__`.

Not here: all other attributes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.cpg.resolve.lookup import bound, has_member, implied_call, invoke_method
from headwater.cpg.resolve.objects import BOUND, INSTANCE, PROPERTY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.cpg.resolve.solving import Rule, Solver


def get_all(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    """Rule (…, target, file, site, caller): the target gets what was read, or what that gives when asked."""
    _, target, file, site, caller = rule
    objects = solver.objects
    plain: list[int] = []
    for each in things:
        kind = _kind_of_member(solver, each)
        if kind == PROPERTY:
            getter, receiver = objects.of[objects.of[each]], objects.to[each]
            call = implied_call(solver, (file, site, caller), "property", "get", target)
            solver.invoke(bound(solver, getter, receiver), call)
        elif kind == INSTANCE:
            receiver = solver.variable()
            solver.add(receiver, objects.to[each])
            invoke_method(solver, objects.of[each], "__get__", (file, site, caller), target, receiver)
        else:
            plain.append(each)
    if plain:
        solver.add_all(target, plain)


def set_all(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    """Rule (…, source, file, site, caller): what is stored goes to the setters of what has the name."""
    _, source, file, site, caller = rule
    objects = solver.objects
    for each in things:
        kind = _kind_of_member(solver, each)
        if kind == PROPERTY:
            call = implied_call(solver, (file, site, caller), "property", "set", solver.variable(), source)
            solver.wait(solver.cell(objects.of[each], "set"), (_call_setter, call, objects.to[each]))
        elif kind == INSTANCE and has_member(solver, objects.of[each], "__set__"):
            receiver = solver.variable()
            solver.add(receiver, objects.to[each])
            at = (file, site, caller)
            invoke_method(solver, objects.of[each], "__set__", at, solver.variable(), receiver, source)


def _kind_of_member(solver: Solver, thing: int) -> int | None:
    """The kind of what is bound, if anything is."""
    objects = solver.objects
    if objects.kind[thing] != BOUND:
        return None
    member: int = objects.of[thing]
    return objects.kind[member]


def _call_setter(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    _, call, receiver = rule
    for each in things:
        solver.invoke(bound(solver, each, receiver), call)
