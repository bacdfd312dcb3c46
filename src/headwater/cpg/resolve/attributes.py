"""What reading and storing an attribute means, by the kind of object.

An attribute of an instance is its own, or it comes from the first class in its order that has it, and then a
function is bound. What is found nowhere may come from a base outside of the repository, once all else is done.
Not here: calls, though properties are called where they are read.
"""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

from headwater.cpg.resolve.objects import (
    BOUND,
    BUILTIN,
    CLASS,
    CLASSMETHOD,
    CONST,
    CONTAINER,
    CONTEXT,
    COROUTINE,
    ENTERED,
    EXTERNAL,
    FUNCTION,
    GENERATOR,
    INSTANCE,
    MADE,
    METHOD,
    MODULE,
    NAMESPACE,
    PARTIAL,
    PROPERTY,
    STATICMETHOD,
    SUPER,
    TYPED,
    UNBOUND,
    Call,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from headwater.cpg.resolve.objects import Class
    from headwater.cpg.resolve.solving import Rule, Solver

_MOST_PARTS = 8  # of a dotted name outside; what loops through attributes has no end
_MOST_SUBCLASSES = 8
_TEXTS = frozenset({"__name__", "__qualname__", "__doc__", "__module__", "__file__"})
_CLASS, _GETATTR = "__class__", "__getattr__"
_BOUND_KINDS = frozenset({FUNCTION, PARTIAL})
_TYPES_OF: dict[str, type[object]] = {
    name: each for name, each in vars(builtins).items() if isinstance(each, type)
}
_OTHER_METHODS: dict[str, frozenset[str]] = {
    "generator": frozenset({"send", "throw", "close", "__next__", "__iter__"}),
    "coroutine": frozenset({"send", "throw", "close"}),
    "iterator": frozenset({"__next__", "__iter__"}),
    "file": frozenset(
        {"read", "write", "readline", "readlines", "writelines", "close", "flush", "seek", "tell"}
        | {"truncate", "fileno", "__enter__", "__exit__"}
    ),
}


def has_method(kind: str, name: str) -> bool:
    """Whether a builtin type has an attribute of this name."""
    known = _TYPES_OF.get(kind)
    if known is None:
        return name in _OTHER_METHODS.get(kind, ())
    return any(name in vars(each) for each in known.__mro__)


# Reading, by the kind of object; what is found goes into `target`.


def _read_instance(solver: Solver, thing: int, name: str, target: int) -> None:
    class_ = solver.classes[solver.objects.of[thing]]
    solver.copy(solver.cell(thing, name), target)
    if name == _CLASS:
        solver.add(target, solver.objects.get(CLASS, class_.variable))
        return
    if not inherit(solver, class_.order, name, thing, target):
        solver.late_members.setdefault(name, []).append((class_.variable, thing, target))
        solver.fallbacks.append((_read_outside, thing, name, target, class_.order))


def _read_class(solver: Solver, thing: int, name: str, target: int) -> None:
    class_ = solver.classes[solver.objects.of[thing]]
    if name in _TEXTS:
        solver.add(target, solver.objects.get(TYPED, "str"))
        return
    if not inherit(solver, class_.order, name, thing, target):
        if solver.put_off is not None:  # bases are not known yet
            solver.early.append((thing, name, target))
            return
        solver.late_members.setdefault(name, []).append((class_.variable, thing, target))
        for metaclass in class_.metaclasses:
            solver.wait(metaclass, (_read_metaclass, thing, name, target))
        solver.fallbacks.append((_read_outside, thing, name, target, class_.order))


def _read_metaclass(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    _, thing, name, target = rule
    for each in things:
        if solver.objects.kind[each] == CLASS:
            inherit(solver, solver.classes[solver.objects.of[each]].order, name, thing, target)


def inherit(solver: Solver, order: Sequence[int], name: str, thing: int, target: int) -> bool:
    """Read an attribute in the first class that has it, bound to an object; whether there is one."""
    objects = solver.objects
    for each in order:
        if objects.kind[each] == CLASS:
            found = member_of(solver, solver.classes[objects.of[each]], name)
            if found is not None:
                solver.wait(found, (_bind, thing, target))
                return True
    return False


def member_of(solver: Solver, class_: Class, name: str) -> int | None:
    """The variable of what a class has under a name, written in it or stored later."""
    found = class_.members.get(name)
    if found is None:
        found = solver.cells.get((solver.objects.get(CLASS, class_.variable), name))
    return found


def _bind(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    _, thing, target = rule
    for each in things:
        solver.add(target, bound(solver, each, thing))


def bound(solver: Solver, member: int, thing: int) -> int:
    """What a member of a class is when it is read from an instance or from the class."""
    objects = solver.objects
    kind = objects.kind[member]
    is_class = objects.kind[thing] == CLASS
    if kind in _BOUND_KINDS:
        return member if is_class and kind == FUNCTION else _bound_to(solver, member, thing)
    if kind == CLASSMETHOD:
        owner = thing if is_class else _class_of(solver, thing)
        return objects.get(BOUND, objects.of[member], owner)
    if kind == STATICMETHOD:
        return objects.of[member]
    if kind == CONTEXT and not is_class:
        return objects.get(CONTEXT, bound(solver, objects.of[member], thing))
    if kind == PROPERTY and not is_class:
        return objects.get(BOUND, member, thing)
    return member


def _bound_to(solver: Solver, member: int, thing: int) -> int:
    if solver.objects.kind[member] == PARTIAL:
        return member
    return solver.objects.get(BOUND, member, thing)


def _class_of(solver: Solver, thing: int) -> int:
    objects = solver.objects
    return objects.get(CLASS, objects.of[thing]) if objects.kind[thing] == INSTANCE else thing


def _read_outside(solver: Solver, rule: Rule) -> None:
    """An attribute that was found nowhere: that of a base outside, or what `__getattr__` gives."""
    _, thing, name, target, order = rule
    objects = solver.objects
    if solver.has[target] or (objects.kind[thing] == INSTANCE and _read_stored(solver, order, name, target)):
        return
    outside = [each for each in order if objects.kind[each] == EXTERNAL]
    if outside:
        solver.add(target, objects.get(EXTERNAL, f"{objects.of[outside[0]]}.{name}"))
        return
    for each in order:
        if objects.kind[each] == BUILTIN and has_method(objects.of[each], name):
            solver.add(target, objects.get(METHOD, (objects.of[each], name), thing))
            return
    if name.startswith("__") or objects.kind[thing] != INSTANCE:
        return
    hook = solver.variable()
    if inherit(solver, order, _GETATTR, thing, hook):
        for at in solver.hooked.get(target, ()):
            call = implied_call(solver, at, "dunder", _GETATTR, target)
            solver.wait(hook, (invoke_all, call))
        return
    below = solver.subclasses.get(objects.get(CLASS, objects.of[thing]), ())
    for each in below[:_MOST_SUBCLASSES]:  # a class that is made to be mixed in
        _read_below(solver, each, name, target)


def _read_stored(solver: Solver, order: Sequence[int], name: str, target: int) -> bool:
    """Read what methods of a base store in instances of the base; whether there is anything."""
    objects = solver.objects
    is_stored = False
    for each in order:
        if objects.kind[each] == CLASS:
            cell = solver.cells.get((objects.get(INSTANCE, objects.of[each]), name))
            if cell is not None and solver.has[cell]:
                solver.copy(cell, target)
                is_stored = True
    return is_stored


def _read_below(solver: Solver, class_: int, name: str, target: int) -> None:
    objects = solver.objects
    order = solver.classes[class_].order
    if not inherit(solver, order, name, objects.get(INSTANCE, class_), target):
        outside = next((objects.of[each] for each in order if objects.kind[each] == EXTERNAL), None)
        if outside is not None:
            solver.add(target, objects.get(EXTERNAL, f"{outside}.{name}"))


def invoke_all(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    """Call all objects of a variable."""
    call: Call = rule[1]
    for each in things:
        solver.invoke(each, call)


def _read_super(solver: Solver, thing: int, name: str, target: int) -> None:
    objects = solver.objects
    owner, receiver = objects.of[thing], objects.to[thing]
    if objects.kind[receiver] not in {INSTANCE, CLASS}:
        return
    order = solver.classes[objects.of[receiver]].order
    own = objects.get(CLASS, owner)
    behind = order[order.index(own) + 1 :] if own in order else solver.classes[owner].order[1:]
    if not inherit(solver, behind, name, receiver, target):
        solver.fallbacks.append((_read_outside, receiver, name, target, behind))


def _read_module(solver: Solver, thing: int, name: str, target: int) -> None:
    file = solver.objects.of[thing]
    found = module_member(solver, file, name)
    if found is not None:
        solver.copy(found, target)
        return
    solver.copy(solver.cell(thing, name), target)
    if name in _TEXTS:
        solver.add(target, solver.objects.get(TYPED, "str"))
    elif (hook := solver.modules[file].get(_GETATTR)) is not None:
        call = Call(-1, target, -1, "dunder", hook, target)
        solver.wait(hook, (invoke_all, call))


def module_member(solver: Solver, file: int, name: str) -> int | None:
    """The variable of what a module has under a name: its own, a module in it, or what a star import has."""
    found = solver.modules[file].get(name)
    if found is not None:
        return found
    place = solver.places[file]
    inner = module_at(solver, f"{place}/{name}" if place else name) if _is_package(solver, file) else None
    if inner is not None:
        variable = solver.cell(solver.objects.get(MODULE, file), f"{name}/")
        solver.add(variable, inner)
        return variable
    return starred_member(solver, file, name, set())


def _is_package(solver: Solver, file: int) -> bool:
    place = solver.places[file]
    return place in solver.index.packages or not place


def starred_member(solver: Solver, file: int, name: str, seen: set[int]) -> int | None:
    """What a module has by a star import, or by one of a module that it imports so."""
    seen.add(file)
    for other, outside in solver.stars[file]:
        if other is None:
            if outside and not name.startswith("_"):
                continue  # nobody knows what a module outside exports
        elif other not in seen:
            listed = solver.exports[other]
            if name not in listed if listed is not None else name.startswith("_"):
                continue
            found = solver.modules[other].get(name)
            if found is None:
                found = starred_member(solver, other, name, seen)
            if found is None and listed is not None:
                found = module_member(solver, other, name)
            if found is not None:
                return found
    return None


def module_at(solver: Solver, place: str) -> int | None:
    """The object of the module at a place, or of the folder that is a namespace package."""
    at = solver.index.at(place)
    if at is None:
        return None
    if at[0] is None or at[0] not in solver.file_of_path:
        return solver.objects.get(NAMESPACE, place)
    return solver.objects.get(MODULE, solver.file_of_path[at[0]])


def _read_namespace(solver: Solver, thing: int, name: str, target: int) -> None:
    found = module_at(solver, f"{solver.objects.of[thing]}/{name}")
    if found is not None:
        solver.add(target, found)


def _read_external(solver: Solver, thing: int, name: str, target: int) -> None:
    dotted = solver.objects.of[thing]
    if dotted.count(".") < _MOST_PARTS:
        solver.add(target, solver.objects.get(EXTERNAL, f"{dotted}.{name}"))


def _read_typed(solver: Solver, thing: int, name: str, target: int) -> None:
    kind = solver.objects.of[thing]
    if has_method(kind, name):
        solver.add(target, solver.objects.get(METHOD, (kind, name), thing))


def _read_container(solver: Solver, thing: int, name: str, target: int) -> None:
    kind = solver.objects.to[thing]
    if has_method(kind, name):
        solver.add(target, solver.objects.get(METHOD, (kind, name), thing))


def _read_builtin(solver: Solver, thing: int, name: str, target: int) -> None:
    kind = solver.objects.of[thing]
    if kind in _TYPES_OF and has_method(kind, name):
        solver.add(target, solver.objects.get(METHOD, (kind, name), UNBOUND))


def _read_function(solver: Solver, thing: int, name: str, target: int) -> None:
    objects = solver.objects
    kind, of = objects.kind[thing], objects.of[thing]
    solver.copy(solver.cell(thing, name), target)
    if name in _TEXTS:
        solver.add(target, objects.get(TYPED, "str"))
    elif name in {"__call__", "__get__"}:
        solver.add(target, thing)
    elif kind == BOUND:
        if name == "__func__":
            solver.add(target, of)
        elif name == "__self__":
            solver.add(target, objects.to[thing])
        else:
            solver.copy(solver.attribute(of, name), target)
    elif kind in {CLASSMETHOD, STATICMETHOD} and name in {"__func__", "__wrapped__"}:
        solver.add(target, of)


def _read_property(solver: Solver, thing: int, name: str, target: int) -> None:
    objects = solver.objects
    if name in {"setter", "getter", "deleter"}:
        solver.add(target, objects.get(METHOD, ("property", name), thing))
    elif name in {"fget", "func"}:
        solver.add(target, objects.of[thing])


def _read_iterator(solver: Solver, thing: int, name: str, target: int) -> None:
    kind = "generator" if solver.objects.kind[thing] == GENERATOR else "coroutine"
    if has_method(kind, name):
        solver.add(target, solver.objects.get(METHOD, (kind, name), thing))


READERS: dict[int, Callable[[Solver, int, str, int], None]] = {
    INSTANCE: _read_instance,
    CLASS: _read_class,
    SUPER: _read_super,
    MODULE: _read_module,
    NAMESPACE: _read_namespace,
    EXTERNAL: _read_external,
    MADE: _read_external,
    TYPED: _read_typed,
    CONST: _read_typed,
    CONTAINER: _read_container,
    BUILTIN: _read_builtin,
    **dict.fromkeys((FUNCTION, BOUND, PARTIAL, CLASSMETHOD, STATICMETHOD, CONTEXT), _read_function),
    PROPERTY: _read_property,
    **dict.fromkeys((GENERATOR, COROUTINE, ENTERED), _read_iterator),
}


# Rules.


def read_attribute(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    """Rule (…, target, name, file, site, caller): the target gets the attribute of all objects."""
    _, target, name, file, site, caller = rule
    kinds = solver.objects.kind
    for each in things:
        found = solver.attribute(each, name)
        if solver.has_hooks and kinds[each] == INSTANCE and has_member(solver, each, _GETATTR):
            solver.hooked.setdefault(found, []).append((file, site, caller))
        if name in solver.decorated_names:
            solver.wait(found, (_get, target, file, site, caller))
        else:
            solver.copy(found, target)


def _get(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    """Give what was read to a target; a property is called for it."""
    _, target, file, site, caller = rule
    objects = solver.objects
    plain: list[int] = []
    for each in things:
        if objects.kind[each] == BOUND and objects.kind[objects.of[each]] == PROPERTY:
            getter, receiver = objects.of[objects.of[each]], objects.to[each]
            call = implied_call(solver, (file, site, caller), "property", "get", target)
            solver.invoke(bound(solver, getter, receiver), call)
        else:
            plain.append(each)
    if plain:
        solver.add_all(target, plain)


def store_attribute(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    """Rule (…, source, name, file, site, caller): all objects get the attribute."""
    _, source, name, file, site, caller = rule
    objects = solver.objects
    for each in things:
        kind = objects.kind[each]
        if kind == INSTANCE:
            solver.copy(source, solver.cell(each, name))
            if name in solver.decorated_names:
                _set_property(solver, each, name, (source, file, site, caller))
        elif kind == CLASS:
            _store_member(solver, each, name, source)
        elif kind == MODULE:
            own = solver.modules[objects.of[each]].get(name)
            solver.copy(source, solver.cell(each, name) if own is None else own)
        elif kind in {FUNCTION, BOUND}:
            owner = objects.of[each] if kind == BOUND else each
            solver.copy(source, solver.cell(owner, name))


def _store_member(solver: Solver, thing: int, name: str, source: int) -> None:
    """Store an attribute of a class; who looked for it in vain is told."""
    class_ = solver.classes[solver.objects.of[thing]]
    own = class_.members.get(name)
    if own is not None:
        solver.copy(source, own)
        return
    is_new = (thing, name) not in solver.cells
    solver.copy(source, solver.cell(thing, name))
    if is_new:
        for of, reader, target in list(solver.late_members.get(name, ())):
            if thing in solver.classes[of].order:
                solver.wait(solver.cell(thing, name), (_bind, reader, target))


def _set_property(solver: Solver, thing: int, name: str, stored: tuple[int, int, int, int]) -> None:
    found = solver.attribute(thing, name)
    solver.wait(found, (_set, *stored))


def _set(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    _, source, file, site, caller = rule
    objects = solver.objects
    for each in things:
        if objects.kind[each] == BOUND and objects.kind[objects.of[each]] == PROPERTY:
            call = implied_call(solver, (file, site, caller), "property", "set", solver.variable())
            if not call.positional:
                call.positional.append(source)
            receiver = objects.to[each]
            solver.wait(solver.cell(objects.of[each], "set"), (_call_setter, call, receiver))


def _call_setter(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    _, call, receiver = rule
    for each in things:
        solver.invoke(bound(solver, each, receiver), call)


def implied_call(
    solver: Solver, at: tuple[int, int, int], dispatch: str, slot: str, result: int, *arguments: int
) -> Call:
    """The call that is made at a site without being written; one of its kind and slot."""
    file, site, caller = at
    key = (site, f"{dispatch} {slot}")
    found = solver.implied.get(key)
    if found is None:
        found = solver.implied[key] = Call(
            file, site, caller, dispatch, -1, result, positional=list(arguments), slot=slot
        )
        solver.calls.append(found)
    return found


def invoke_method(
    solver: Solver, thing: int, name: str, at: tuple[int, int, int], result: int, *arguments: int
) -> None:
    """Call a method of an object that is called without being written."""
    call = implied_call(solver, at, "dunder", name, result, *arguments)
    solver.wait(solver.attribute(thing, name), (invoke_all, call))


def has_member(solver: Solver, thing: int, name: str) -> bool:
    """Whether the class of an instance has a member, by itself or by a base in the repository."""
    objects = solver.objects
    order: Any = solver.classes[objects.of[thing]].order
    return any(
        objects.kind[each] == CLASS and member_of(solver, solver.classes[objects.of[each]], name) is not None
        for each in order
    )
