"""What calling an object means, by its kind: who is reached, where arguments go, what comes back.

Not here: builtin functions, and methods of builtin types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.cpg.resolve.lookup import (
    bound,
    has_member,
    implied_call,
    inherit,
    invoke_all,
    invoke_method,
    metaclasses_of,
)
from headwater.cpg.resolve.objects import (
    BOUND,
    CLASS,
    CLASSMETHOD,
    CONTEXT,
    ENTERED,
    EXTERNAL,
    FUNCTION,
    INSTANCE,
    MADE,
    PARTIAL,
    PROPERTY,
    STATICMETHOD,
    Call,
)
from headwater.cpg.resolve.passing import NO_RECEIVER, reach

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from headwater.cpg.resolve.objects import Class
    from headwater.cpg.resolve.solving import Rule, Solver


def _call_function(solver: Solver, thing: int, call: Call) -> None:
    reach(solver, thing, call, NO_RECEIVER)


def _call_bound(solver: Solver, thing: int, call: Call) -> None:
    objects = solver.objects
    function: int = objects.of[thing]
    receiver: int = objects.to[thing]
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


def _call_class(solver: Solver, thing: int, call: Call) -> None:
    """An instance comes back; `__init__`, and `__new__` and a metaclass's `__call__`, are reached."""
    objects = solver.objects
    class_ = solver.classes[objects.of[thing]]
    for metaclass in metaclasses_of(solver, class_):
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


def _make_class(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    """Rule (…, class): a metaclass makes it, with `__new__` and `__init__`."""
    class_: Class = rule[1]
    objects = solver.objects
    own = objects.get(CLASS, class_.variable)
    at = (class_.file, class_.variable, class_.around)
    for each in things:
        if objects.kind[each] == CLASS:
            order = solver.classes[objects.of[each]].order
            for name, receiver in (("__new__", each), ("__init__", own)):
                found = solver.variable()
                if inherit(solver, order, name, each, found):
                    solver.wait(found, (_call_new, implied_call(solver, at, "dunder", name, -1), receiver))


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
    if _is_new(thing, call):
        solver.wait(solver.attribute(thing, "__call__"), (invoke_all, call))


def _is_new(thing: int, call: Call) -> bool:
    """Whether a call has not met an object yet; some are called by themselves, again and again."""
    if (thing, NO_RECEIVER) in call.bound:
        return False
    call.bound[thing, NO_RECEIVER] = None
    return True


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
    if not _is_new(thing, call):
        return
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
    if not _is_new(thing, call):
        return
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
    if _is_new(thing, call):
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


def tell_bases(solver: Solver) -> None:
    """Where a class is made, `__init_subclass__` of its bases is called, and its metaclass makes it."""
    objects = solver.objects
    for class_ in solver.classes.values():
        for metaclass in metaclasses_of(solver, class_):
            solver.wait(metaclass, (_make_class, class_))
        thing, found = objects.get(CLASS, class_.variable), solver.variable()
        if inherit(solver, class_.order[1:], "__init_subclass__", thing, found):
            at = (class_.file, class_.variable, class_.around)
            call = implied_call(solver, at, "dunder", "__init_subclass__", -1)
            solver.wait(found, (_call_new, call, thing))
