"""Where attributes are found: in classes by their order, bound to what they are read from, and in modules.

Not here: what reading an attribute means for each kind of object.
"""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING

from headwater.cpg.resolve.objects import (
    BOUND,
    CLASS,
    CLASSMETHOD,
    CONST,
    CONTAINER,
    CONTEXT,
    EXTERNAL,
    FUNCTION,
    INSTANCE,
    MODULE,
    NAMESPACE,
    PARTIAL,
    PROPERTY,
    STATICMETHOD,
    TYPED,
    Call,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.cpg.resolve.objects import Class
    from headwater.cpg.resolve.solving import Rule, Solver


_PLAIN = frozenset({CONST, TYPED, CONTAINER})
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


def is_type(name: str) -> bool:
    """Whether a builtin is a type."""
    return name in _TYPES_OF


def has_method(kind: str, name: str) -> bool:
    """Whether a builtin type has an attribute of this name."""
    known = _TYPES_OF.get(kind)
    if known is None:
        return name in _OTHER_METHODS.get(kind, ())
    return any(name in vars(each) for each in known.__mro__)


# Reading, by the kind of object; what is found goes into `target`.


def inherit(solver: Solver, order: Sequence[int], name: str, thing: int, target: int) -> bool:
    """Read an attribute in the first class that has it, bound to an object; whether there is one."""
    for each in order:
        class_ = solver.class_of.get(each)
        if class_ is not None:
            found = class_.members.get(name)
            if found is None:
                found = solver.cells.get((each, name))
            if found is not None:
                solver.wait(found, (bind_all, thing, target))
                return True
    return False


def member_of(solver: Solver, class_: Class, name: str) -> int | None:
    """The variable of what a class has under a name, written in it or stored later."""
    found = class_.members.get(name)
    if found is None:
        found = solver.cells.get((solver.objects.get(CLASS, class_.variable), name))
    return found


def bind_all(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    """Rule (…, thing, target): the target gets members of a class, bound to an object."""
    _, thing, target = rule
    kinds = solver.objects.kind
    for each in things:
        if solver.put_off is not None and kinds[each] in _PLAIN:  # whether it is an enum is not known yet
            solver.unbound.append((each, thing, target))
        else:
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
    if kind == INSTANCE and not is_class and has_member(solver, member, "__get__"):
        return objects.get(BOUND, member, thing)
    if is_class and kind in _PLAIN and is_enum(solver, thing):
        return objects.get(INSTANCE, objects.of[thing])
    return member


def is_enum(solver: Solver, thing: int) -> bool:
    """Whether the values of a class are instances of it."""
    objects = solver.objects
    order = solver.classes[objects.of[thing]].order
    return any(objects.kind[each] == EXTERNAL and objects.of[each].startswith("enum.") for each in order)


def _bound_to(solver: Solver, member: int, thing: int) -> int:
    if solver.objects.kind[member] == PARTIAL:
        return member
    return solver.objects.get(BOUND, member, thing)


def metaclasses_of(solver: Solver, class_: Class) -> Sequence[int]:
    """The variables of the metaclass of a class, its own or that of the first base that has one."""
    objects = solver.objects
    for each in class_.order:
        if objects.kind[each] == CLASS:
            found = solver.classes[objects.of[each]].metaclasses
            if found:
                return found
    return ()


def plain(solver: Solver, thing: int) -> int:
    """The instance whose attributes a declared one shares: that of the same class."""
    objects = solver.objects
    return thing if objects.to[thing] is None else objects.get(INSTANCE, objects.of[thing])


def _class_of(solver: Solver, thing: int) -> int:
    objects = solver.objects
    return objects.get(CLASS, objects.of[thing]) if objects.kind[thing] == INSTANCE else thing


def invoke_all(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    """Call all objects of a variable."""
    call: Call = rule[1]
    for each in things:
        solver.invoke(each, call)


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
    key = (objects.of[thing], name)
    known = solver.known_members.get(key)
    if known is None:
        known = solver.known_members[key] = any(
            (class_ := solver.class_of.get(each)) is not None
            and (name in class_.members or (each, name) in solver.cells)
            for each in solver.classes[key[0]].order
        )
    return known
