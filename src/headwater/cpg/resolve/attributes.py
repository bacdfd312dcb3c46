"""What reading and storing an attribute means, by the kind of object.

An attribute of an instance is its own, or it comes from the first class in its order that has it, and then a
function is bound. What is found nowhere may come from a base outside of the repository when all else is done.
Not here: calls, though properties are called where they are read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.cpg.resolve.descriptors import get_all, set_all
from headwater.cpg.resolve.lookup import (
    bind_all,
    has_member,
    has_method,
    implied_call,
    inherit,
    invoke_all,
    is_type,
    metaclasses_of,
    module_at,
    module_member,
    plain,
)
from headwater.cpg.resolve.objects import (
    BELOW,
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


def _read_instance(solver: Solver, thing: int, name: str, target: int) -> None:
    objects = solver.objects
    class_ = solver.classes[objects.of[thing]]
    if solver.put_off is not None:  # bases are not known yet
        solver.early.append((thing, name, target))
        return
    solver.copy(solver.cell(plain(solver, thing), name), target)
    if name == _CLASS:
        solver.add(target, objects.get(CLASS, class_.variable))
        return
    is_below = objects.to[thing] is not None and _read_overrides(solver, class_, name, target)
    if not inherit(solver, class_.order, name, thing, target) and not is_below:
        solver.late_members.setdefault(name, []).append((class_.variable, thing, target))
        solver.fallbacks.append((_read_outside, thing, name, target, class_.order))


def _read_overrides(solver: Solver, class_: Class, name: str, target: int) -> bool:
    """Read an attribute in all classes below that have it as their own; whether there are any."""
    objects = solver.objects
    found = False
    for each in solver.subclasses.get(objects.get(CLASS, class_.variable), ()):
        member = solver.classes[each].members.get(name)
        if member is not None:
            found = True
            solver.wait(member, (bind_all, objects.get(INSTANCE, each, BELOW), target))
    return found


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
        for metaclass in metaclasses_of(solver, class_):
            solver.wait(metaclass, (_read_metaclass, thing, name, target))
        solver.fallbacks.append((_read_outside, thing, name, target, class_.order))


def _read_metaclass(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    _, thing, name, target = rule
    for each in things:
        if solver.objects.kind[each] == CLASS:
            inherit(solver, solver.classes[solver.objects.of[each]].order, name, thing, target)


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
    file: int = solver.objects.of[thing]
    found = module_member(solver, file, name)
    if found is not None:
        solver.copy(found, target)
        return
    solver.copy(solver.cell(thing, name), target)
    if name in _TEXTS:
        solver.add(target, solver.objects.get(TYPED, "str"))
        return
    hook = solver.modules[file].get(_GETATTR)
    if hook is not None:
        call = Call(-1, target, -1, "dunder", hook, target)
        solver.wait(hook, (invoke_all, call))


def _read_namespace(solver: Solver, thing: int, name: str, target: int) -> None:
    found = module_at(solver, f"{solver.objects.of[thing]}/{name}")
    if found is not None:
        solver.add(target, found)


def _read_external(solver: Solver, thing: int, name: str, target: int) -> None:
    dotted = solver.objects.of[thing]
    stored = solver.cells.get((thing, name))
    if stored is not None:
        solver.copy(stored, target)
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
    if is_type(kind) and has_method(kind, name):
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
            solver.wait(found, (get_all, target, file, site, caller))
        else:
            solver.copy(found, target)


def store_attribute(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    """Rule (…, source, name, file, site, caller): all objects get the attribute."""
    _, source, name, file, site, caller = rule
    objects = solver.objects
    for each in things:
        kind = objects.kind[each]
        if kind == INSTANCE:
            solver.copy(source, solver.cell(plain(solver, each), name))
            if name in solver.decorated_names:
                _set_property(solver, each, name, (source, file, site, caller))
        elif kind == CLASS:
            _store_member(solver, each, name, source)
        elif kind == MODULE:
            file_: int = objects.of[each]
            own = solver.modules[file_].get(name)
            solver.copy(source, solver.cell(each, name) if own is None else own)
        elif kind in {EXTERNAL, MADE}:
            _store_outside(solver, each, name, source)
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
        solver.known_members.clear()
        for of, reader, target in list(solver.late_members.get(name, ())):
            if thing in solver.classes[of].order:
                solver.wait(solver.cell(thing, name), (bind_all, reader, target))


def _store_outside(solver: Solver, thing: int, name: str, source: int) -> None:
    """Store an attribute of something outside, such as `sys.stdout`; who has read it before gets it, too."""
    is_new = (thing, name) not in solver.cells
    cell = solver.cell(thing, name)
    solver.copy(source, cell)
    if is_new and (thing, name) in solver.looked_up:
        solver.copy(cell, solver.looked_up[thing, name])


def _set_property(solver: Solver, thing: int, name: str, stored: tuple[int, int, int, int]) -> None:
    found = solver.attribute(thing, name)
    solver.wait(found, (set_all, *stored))
