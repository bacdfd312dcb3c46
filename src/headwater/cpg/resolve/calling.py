"""What calling an object means, by its kind: who is reached, where arguments go, what comes back.

Not here: builtin functions, and methods of builtin types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.cpg.extract.values.facts import INT_KEY, KEYWORD_ONLY, TEXT_KEY
from headwater.cpg.resolve.attributes import bound, has_member, inherit, invoke_all, invoke_method
from headwater.cpg.resolve.containers import SOME, item, iterate_into, watch
from headwater.cpg.resolve.objects import (
    BOUND,
    CLASS,
    CLASSMETHOD,
    CONTAINER,
    CONTEXT,
    COROUTINE,
    ENTERED,
    EXTERNAL,
    FUNCTION,
    GENERATOR,
    INSTANCE,
    MADE,
    PARTIAL,
    PROPERTY,
    STATICMETHOD,
    Call,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from headwater.cpg.resolve.objects import Class, Function, Parameter
    from headwater.cpg.resolve.solving import Rule, Solver

NO_RECEIVER = -1
_MOST_RECEIVERS = 16
_MOST_PLACES = 12  # that are told apart in `*args`; a function that hands on more each time has no end


def _call_function(solver: Solver, thing: int, call: Call) -> None:
    reach(solver, thing, call, NO_RECEIVER)


def _call_bound(solver: Solver, thing: int, call: Call) -> None:
    objects = solver.objects
    function, receiver = objects.of[thing], objects.to[thing]
    kind = objects.kind[function]
    if kind == FUNCTION:
        reach(solver, function, call, receiver)
    elif kind == BOUND:
        solver.invoke(function, call)
    elif kind in {CLASSMETHOD, STATICMETHOD}:
        solver.invoke(bound(solver, function, receiver), call)
    elif kind == CONTEXT:
        solver.invoke(objects.get(CONTEXT, objects.get(BOUND, objects.of[function], receiver)), call)
    elif kind != PROPERTY:
        solver.invoke(function, call)


def reach(solver: Solver, thing: int, call: Call, receiver: int) -> None:
    """A call reaches a function with these arguments; what is bound comes first."""
    function = solver.functions[solver.objects.of[thing]]
    key = (thing, receiver)
    if key in call.bound:
        return
    is_first = thing not in call.targets
    call.targets.setdefault(thing, "value")
    call.bound.add(key)
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
    if function.owner is not None and known is not None and len(known) >= _MOST_RECEIVERS:
        if receiver not in known and solver.objects.kind[receiver] == INSTANCE:
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


def _call_class(solver: Solver, thing: int, call: Call) -> None:
    """An instance comes back; `__init__`, and `__new__` and a metaclass's `__call__`, are reached."""
    objects = solver.objects
    class_ = solver.classes[objects.of[thing]]
    for metaclass in class_.metaclasses:
        solver.wait(metaclass, (_call_by_metaclass, thing, call))
    made = objects.get(INSTANCE, class_.variable)
    if thing in call.targets or any((each, made) in call.bound for each in call.targets):
        return
    found = solver.variable()
    new = solver.variable()
    has_new = inherit(solver, class_.order, "__new__", thing, new)
    if has_new:
        solver.wait(new, (_call_new, call, thing))
    if call.result >= 0:
        solver.add(call.result, made)
    is_known = inherit(solver, class_.order, "__init__", made, found)
    if is_known:
        inner = Call(
            call.file,
            call.site,
            call.caller,
            call.dispatch,
            call.callee,
            -1,
            call.positional,
            call.named,
            call.stars,
            call.mappings,
            call.targets,
            call.bound,
            call.slot,
        )
        solver.wait(found, (invoke_all, inner))
    elif not has_new:
        call.targets.setdefault(thing, "class")
        _make_dataclass(solver, class_, made, call)


def _call_new(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    """`__new__` gets the class first, though it is a static method."""
    _, call, thing = rule
    for each in things:
        if solver.objects.kind[each] == FUNCTION:
            reach(solver, each, call, thing)
        elif solver.objects.kind[each] == STATICMETHOD:
            reach(solver, solver.objects.of[each], call, thing)


def _call_by_metaclass(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    _, thing, call = rule
    objects = solver.objects
    for each in things:
        if objects.kind[each] == CLASS:
            found = solver.variable()
            if inherit(
                solver,
                solver.classes[objects.of[each]].order,
                "__call__",
                objects.get(INSTANCE, objects.of[each]),
                found,
            ):
                solver.wait(found, (_call_metaclass, thing, call))


def _call_metaclass(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    _, thing, call = rule
    objects = solver.objects
    for each in things:
        if objects.kind[each] == BOUND and objects.kind[objects.of[each]] == FUNCTION:
            reach(solver, objects.of[each], call, thing)


def _make_dataclass(solver: Solver, class_: Class, made: int, call: Call) -> None:
    """Arguments become the annotated attributes of a class without `__init__`, as dataclasses have them."""
    objects = solver.objects
    fields: dict[str, None] = {}
    for each in reversed(class_.order):
        if objects.kind[each] == CLASS:
            fields |= dict.fromkeys(solver.classes[objects.of[each]].fields)
    if fields and has_member(solver, made, "__post_init__"):
        at = (call.file, call.site, call.caller)
        invoke_method(solver, made, "__post_init__", at, solver.variable())
    for name, source in (*zip(fields, call.positional, strict=False), *call.named):
        if source >= 0 and name in fields:
            solver.copy(source, solver.cell(made, name))


def _call_instance(solver: Solver, thing: int, call: Call) -> None:
    solver.wait(solver.attribute(thing, "__call__"), (invoke_all, call))


def _call_external(solver: Solver, thing: int, call: Call) -> None:
    """Something outside is reached; what looks like a class gives an instance, a decorator what it got."""
    objects = solver.objects
    call.targets.setdefault(thing, "external")
    name = objects.of[thing]
    if call.result < 0:
        return
    if call.dispatch == "decorator":
        if call.positional:
            solver.copy(call.positional[0], call.result)
        return
    last = name.rpartition(".")[2].lstrip("_")
    if last[:1].isupper() and not last.isupper():
        solver.add(call.result, objects.get(MADE, name))


def _call_partial(solver: Solver, thing: int, call: Call) -> None:
    """The call reaches what the partial was made of, with the arguments of both."""
    made = solver.partials[solver.objects.of[thing]]
    if (thing, NO_RECEIVER) in call.bound:
        return
    call.bound.add((thing, NO_RECEIVER))
    inner = Call(
        call.file,
        call.site,
        call.caller,
        call.dispatch,
        -1,
        call.result,
        positional=[*made.positional[1:], *call.positional],
        named=[*made.named, *call.named],
        stars=[*made.stars, *((place + len(made.positional) - 1, each) for place, each in call.stars)],
        mappings=[*made.mappings, *call.mappings],
        targets=call.targets,
        bound=call.bound,
        slot=call.slot,
    )
    if made.positional:
        solver.wait(made.positional[0], (invoke_all, inner))


def _call_context(solver: Solver, thing: int, call: Call) -> None:
    """The generator function behind a context manager is reached, and can be entered."""
    objects = solver.objects
    function = objects.of[thing]
    inner = Call(
        call.file,
        call.site,
        call.caller,
        call.dispatch,
        -1,
        -1,
        call.positional,
        call.named,
        call.stars,
        call.mappings,
        call.targets,
        call.bound,
        call.slot,
    )
    solver.invoke(function, inner)
    while objects.kind[function] == BOUND:
        function = objects.of[function]
    if objects.kind[function] == FUNCTION and call.result >= 0:
        solver.add(call.result, objects.get(ENTERED, objects.of[function]))


def _call_wrapped(solver: Solver, thing: int, call: Call) -> None:
    solver.invoke(solver.objects.of[thing], call)


CALLERS: dict[int, Callable[[Solver, int, Call], None]] = {
    FUNCTION: _call_function,
    BOUND: _call_bound,
    CLASS: _call_class,
    INSTANCE: _call_instance,
    EXTERNAL: _call_external,
    PARTIAL: _call_partial,
    CONTEXT: _call_context,
    STATICMETHOD: _call_wrapped,
    CLASSMETHOD: _call_wrapped,
}


def call_all(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    """Rule (…, call): a call of all objects, put off until classes are known."""
    call: Call = rule[1]
    if solver.put_off is not None:
        solver.put_off += [(call, each) for each in things]
        return
    callers, kinds = solver.callers, solver.objects.kind
    for each in things:
        if call.dispatch == "decorator" and kinds[each] == CLASS and each in solver.decorated:
            continue  # what a decorator that may also be written without brackets gave another class
        caller = callers.get(kinds[each])
        if caller is not None:
            caller(solver, each, call)


def raise_all(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    """Rule (…, call): what is raised is called if it is a class of the repository or outside."""
    call: Call = rule[1]
    for each in things:
        if solver.objects.kind[each] == CLASS:
            solver.invoke(each, call)
