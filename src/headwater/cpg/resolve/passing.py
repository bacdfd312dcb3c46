"""Where the arguments of a call go when it reaches a function, and what comes back.

Not here: which functions a call reaches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.cpg.extract.values.facts import INT_KEY, KEYWORD_ONLY, TEXT_KEY
from headwater.cpg.resolve.containers import SOME, item, iterate_into, watch
from headwater.cpg.resolve.objects import (
    BELOW,
    CLASS,
    CONTAINER,
    COROUTINE,
    DECLARED,
    GENERATOR,
    INSTANCE,
    Call,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.cpg.resolve.objects import Function, Parameter
    from headwater.cpg.resolve.solving import Rule, Solver


NO_RECEIVER = -1
_MOST_RECEIVERS = 16
_MOST_PLACES = 12  # that are told apart in `*args`; a function that hands on more each time has no end


def reach(solver: Solver, thing: int, call: Call, receiver: int) -> None:
    """A call reaches a function with these arguments; what is bound comes first."""
    function = solver.functions[solver.objects.of[thing]]
    key = (thing, receiver)
    if key in call.bound:
        return
    is_first = thing not in call.targets
    call.bound[key] = None
    if receiver != NO_RECEIVER and solver.objects.to[receiver] is BELOW:
        call.targets.setdefault(thing, "declared")
        receiver = solver.objects.get(INSTANCE, solver.objects.of[receiver], DECLARED)
    else:
        call.targets[thing] = "value"
    place = 0
    if receiver != NO_RECEIVER:
        place = 1
        if function.positional:
            _receive(solver, function, receiver)
        elif function.rest is not None:
            solver.add(item(solver, _rest(solver, function.rest), f"{INT_KEY}0"), receiver)
        if 0 in function.passed and call.result >= 0:
            solver.add(call.result, receiver)
    if is_first or receiver == NO_RECEIVER:
        _pass_all(solver, function, call, place)
        _give_back(solver, function, call)


def _receive(solver: Solver, function: Function, receiver: int) -> None:
    """The first parameter of a method gets an object; beyond a number, what its class stands for."""
    variable = function.positional[0].variable
    known = solver.has[variable]
    is_full = function.owner is not None and known is not None and len(known) >= _MOST_RECEIVERS
    if is_full and receiver not in (known or ()) and solver.objects.kind[receiver] == INSTANCE:
        solver.wide.add(variable)
        receiver = solver.objects.get(INSTANCE, function.owner)
    solver.add(variable, receiver)


def _receive_all(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    """A method that is called through its class gets those objects first that are of its class."""
    function: Function = rule[1]
    objects = solver.objects
    owner = objects.get(CLASS, function.owner)
    for each in things:
        if objects.kind[each] in {INSTANCE, CLASS} and owner in solver.classes[objects.of[each]].order:
            _receive(solver, function, each)


def _give_back(solver: Solver, function: Function, call: Call) -> None:
    objects = solver.objects
    if call.result < 0:
        return
    if function.is_async:
        kind = GENERATOR if function.is_generator else COROUTINE
        solver.add(call.result, objects.get(kind, function.variable))
    elif function.is_generator:
        solver.add(call.result, objects.get(GENERATOR, function.variable))
    else:
        solver.copy(function.returned, call.result)


def _rest(solver: Solver, parameter: Parameter) -> int:
    return solver.objects.get(CONTAINER, parameter.variable, "tuple")


def _keywords(solver: Solver, parameter: Parameter) -> int:
    return solver.objects.get(CONTAINER, parameter.variable, "dict")


def _pass_all(solver: Solver, function: Function, call: Call, place: int) -> None:
    given: set[int] = set()
    for offset, source in enumerate(call.positional):
        _pass_at(solver, function, call, place + offset, source)
        given.add(place + offset)
    for name, source in call.named:
        parameter = function.named.get(name)
        if parameter is not None:
            _pass(solver, function, call, parameter, source)
            given.add(_place_of(function, parameter))
        elif function.keywords is not None:
            solver.copy(source, item(solver, _keywords(solver, function.keywords), f"{TEXT_KEY}{name}"))
    for before, source in call.stars:
        solver.wait(source, (_pass_star, function, call, place + before))
    for source in call.mappings:
        solver.wait(source, (_pass_mapping, function, call))
    for place_ in function.passed:
        parameter = function.positional[place_]
        if place_ not in given and parameter.variable in function.defaults and call.result >= 0:
            solver.copy(function.defaults[parameter.variable], call.result)


def _place_of(function: Function, parameter: Parameter) -> int:
    return function.positional.index(parameter) if parameter in function.positional else -1


def _pass_at(solver: Solver, function: Function, call: Call, place: int, source: int) -> None:
    if source < 0:
        return
    if place < len(function.positional):
        _pass(solver, function, call, function.positional[place], source)
    elif function.rest is not None:
        index = place - len(function.positional)
        key = f"{INT_KEY}{index}" if index < _MOST_PLACES else SOME
        solver.copy(source, item(solver, _rest(solver, function.rest), key))


def _pass(solver: Solver, function: Function, call: Call, parameter: Parameter, source: int) -> None:
    if source < 0:
        return
    if (
        function.owner is not None
        and parameter is next(iter(function.positional), None)
        and function.raw == function.variable
    ):
        solver.wait(source, (_receive_all, function))
    else:
        solver.copy(source, parameter.variable)
    if function.passed and call.result >= 0:
        place = _place_of(function, parameter)
        if place in function.passed:
            solver.copy(source, call.result)


def _pass_star(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    _, function, call, place = rule
    for each in things:
        if solver.objects.kind[each] == CONTAINER and solver.objects.to[each] in {"list", "tuple"}:
            watch(solver, each, (_pass_item, function, call, place, each))
        else:
            source = solver.variable()
            iterate_into(solver, each, source, (call.file, call.site, call.caller), "")
            _pass_rest(solver, function, call, place, source)


def _pass_item(solver: Solver, key: str, rule: Rule) -> None:
    _, function, call, place, container = rule
    source = item(solver, container, key)
    if key == SOME:
        _pass_rest(solver, function, call, place, source)
    elif key.startswith(INT_KEY) and not key.startswith(f"{INT_KEY}-"):
        _pass_at(solver, function, call, place + int(key[1:]), source)


def _pass_rest(solver: Solver, function: Function, call: Call, place: int, source: int) -> None:
    """An item whose place is not known may go to any parameter from a place on."""
    for parameter in function.positional[place:]:
        _pass(solver, function, call, parameter, source)
    if function.rest is not None:
        solver.copy(source, item(solver, _rest(solver, function.rest), SOME))


def _pass_mapping(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    _, function, call = rule
    for each in things:
        if solver.objects.kind[each] == CONTAINER and solver.objects.to[each] == "dict":
            watch(solver, each, (_pass_keyword, function, call, each))


def _pass_keyword(solver: Solver, key: str, rule: Rule) -> None:
    _, function, call, container = rule
    source = item(solver, container, key)
    parameter = function.named.get(key[1:]) if key.startswith(TEXT_KEY) else None
    if parameter is not None:
        _pass(solver, function, call, parameter, source)
    elif function.keywords is not None:
        solver.copy(source, item(solver, _keywords(solver, function.keywords), key))
    elif key == SOME:
        for each in function.named.values():
            if each.kind == KEYWORD_ONLY or each.variable in function.defaults:
                _pass(solver, function, call, each, source)
