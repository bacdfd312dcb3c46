"""What builtin functions do that ask objects for their attributes, their class, and the class behind it.

Not here: other builtin functions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.cpg.extract.values.facts import PREFIX_KEY
from headwater.cpg.resolve.attributes import store_attribute
from headwater.cpg.resolve.lookup import invoke_all
from headwater.cpg.resolve.objects import (
    BUILTIN,
    CLASS,
    CONST,
    EXTERNAL,
    FAMILY,
    INSTANCE,
    MADE,
    SUPER,
    TYPED,
    UNBOUND,
    Call,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.cpg.resolve.solving import Rule, Solver


_FIRST, _SECOND, _THIRD = 0, 1, 2


def at_of(call: Call) -> tuple[int, int, int]:
    """Where a call is, for calls that it implies."""
    return call.file, call.site, call.caller


def argument(call: Call, place: int, name: str | None = None) -> int:
    """The variable of an argument by its place or its keyword, or -1."""
    if 0 <= place < len(call.positional):
        return call.positional[place]
    return next((source for keyword, source in call.named if keyword == name), -1) if name else -1


def call_getattr(solver: Solver, call: Call) -> None:
    """The attribute of a name that is known."""
    target = call.result
    if target >= 0 and len(call.positional) > 1:
        solver.wait(call.positional[1], (_getattr_named, call, target))
        solver.copy(argument(call, _THIRD), target)


def _getattr_named(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    _, call, target = rule
    for each in things:
        if solver.objects.kind[each] == CONST:
            key: str = solver.objects.to[each]
            rule_ = _getattr_like if key.startswith(PREFIX_KEY) else _getattr_of
            solver.wait(call.positional[0], (rule_, target, key[1:]))


def _getattr_of(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    _, target, name = rule
    for each in things:
        solver.copy(solver.attribute(each, name), target)


def _getattr_like(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    """All attributes of a class whose names begin so: `getattr(self, "visit_" + name)`; they go as one."""
    _, target, prefix = rule
    objects = solver.objects
    for each in things:
        if objects.kind[each] in {INSTANCE, CLASS} and prefix:
            solver.add(target, objects.get(FAMILY, prefix, each))


def call_family(solver: Solver, thing: int, call: Call) -> None:
    """All attributes whose names begin alike are called."""
    objects = solver.objects
    prefix, owner = objects.of[thing], objects.to[thing]
    if (thing, UNBOUND) in call.bound:
        return
    call.bound[thing, UNBOUND] = None
    classes = [
        objects.of[one] for one in solver.classes[objects.of[owner]].order if objects.kind[one] == CLASS
    ]
    names = {name for one in classes for name in solver.classes[one].members if name.startswith(prefix)}
    for name in sorted(names):
        solver.wait(solver.attribute(owner, name), (invoke_all, call))


def call_setattr(solver: Solver, call: Call) -> None:
    """The attribute of a name that is known is stored."""
    if len(call.positional) > _THIRD:
        solver.wait(call.positional[1], (_setattr_named, call))


def _setattr_named(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    call: Call = rule[1]
    for each in things:
        if solver.objects.kind[each] == CONST and not solver.objects.to[each].startswith(PREFIX_KEY):
            name = solver.objects.to[each][1:]
            solver.wait(call.positional[0], (store_attribute, call.positional[2], name, *at_of(call)))


def call_super(solver: Solver, call: Call) -> None:
    """Without arguments it is that of the class around and of the function's first parameter."""
    if call.result < 0:
        return
    if call.positional:
        solver.wait(call.positional[0], (_super_of, call.result, argument(call, _SECOND)))
        return
    caller = call.caller
    while caller in solver.functions and solver.functions[caller].owner is None:
        caller = solver.functions[caller].around
    function = solver.functions.get(caller)
    if function is not None and function.owner is not None and function.positional:
        solver.wait(function.positional[0].variable, (_super_to, call.result, function.owner))


def _super_of(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    _, target, receiver = rule
    for each in things:
        if solver.objects.kind[each] == CLASS and receiver >= 0:
            solver.wait(receiver, (_super_to, target, solver.objects.of[each]))


def _super_to(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    _, target, owner = rule
    for each in things:
        if solver.objects.kind[each] in {INSTANCE, CLASS}:
            solver.add(target, solver.objects.get(SUPER, owner, each))


def call_type(solver: Solver, call: Call) -> None:
    """The class of the argument."""
    if call.result >= 0 and len(call.positional) == 1:
        solver.wait(call.positional[0], (_type_of, call.result))


def _type_of(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    objects = solver.objects
    for each in things:
        kind = objects.kind[each]
        if kind == INSTANCE:
            solver.add(rule[1], objects.get(CLASS, objects.of[each]))
        elif kind == MADE:
            solver.add(rule[1], objects.get(EXTERNAL, objects.of[each]))
        elif kind in {TYPED, CONST}:
            solver.add(rule[1], objects.get(BUILTIN, objects.of[each]))
