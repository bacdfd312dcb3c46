"""Functions that choose another by the type of their argument: all that are registered may be called.

Not here: which one a call gets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.cpg.resolve.lookup import invoke_all
from headwater.cpg.resolve.objects import CLASS, DISPATCH, EXTERNAL, FUNCTION, METHOD
from headwater.cpg.resolve.reflecting import argument

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.cpg.resolve.objects import Call
    from headwater.cpg.resolve.solving import Rule, Solver

_CHOICES = "choices"
REGISTER = ("singledispatch", "register")


def make_dispatch(solver: Solver, call: Call) -> None:
    """What `singledispatch` makes of a function."""
    source = argument(call, 0)
    if call.result >= 0 and source >= 0:
        made = solver.objects.get(DISPATCH, call.result)
        solver.copy(source, solver.cell(made, _CHOICES))
        solver.add(call.result, made)


def call_dispatch(solver: Solver, thing: int, call: Call) -> None:
    """All that are registered are reached."""
    solver.wait(solver.cell(thing, _CHOICES), (invoke_all, call))


def read_dispatch(solver: Solver, thing: int, name: str, target: int) -> None:
    """The only attribute that is known is `register`."""
    if name == REGISTER[1]:
        solver.add(target, solver.objects.get(METHOD, REGISTER, thing))


def register(solver: Solver, thing: int, call: Call) -> None:
    """`@f.register`, or `@f.register(C)`, which gives back what is then called with the function."""
    source = argument(call, 0)
    if source >= 0:
        solver.wait(source, (_register, thing, call))
    second = argument(call, 1)
    if second >= 0:
        solver.copy(second, solver.cell(thing, _CHOICES))


def _register(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    _, thing, call = rule
    objects = solver.objects
    for each in things:
        if objects.kind[each] == FUNCTION:
            solver.add(solver.cell(thing, _CHOICES), each)
            solver.add(call.result, each)
        elif objects.kind[each] not in {CLASS, EXTERNAL} or call.dispatch != "decorator":
            solver.add(call.result, objects.get(METHOD, REGISTER, thing))
