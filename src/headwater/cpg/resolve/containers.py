"""What lists, tuples, sets, dicts and iterators have in them, by key where keys are known.

A container is known by where it is made. Each key that is known has a variable of its own, all unknown keys
have one together, and one has all items; a dict has one more for its keys.
Not here: methods of containers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.cpg.extract.values.facts import INT_KEY, PREFIX_KEY, SLICE_KEY
from headwater.cpg.resolve.lookup import has_member, invoke_method, is_enum, plain
from headwater.cpg.resolve.objects import (
    BUILTIN,
    CLASS,
    CONST,
    CONTAINER,
    COROUTINE,
    ENTERED,
    EXTERNAL,
    GENERATOR,
    INSTANCE,
    MADE,
    TYPED,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.cpg.resolve.solving import Rule, Solver

SOME, ALL, KEYS = "*", "+", "?"
_MOST_KEYS = 200


def item(solver: Solver, container: int, key: str | None) -> int:
    """The variable of the items with a key; a new one is told to those who watch the container."""
    key = SOME if key is None else key
    found = solver.cells.get((container, key))
    if found is not None:
        return found
    keys = solver.keys_of.setdefault(container, [])
    if len(keys) > _MOST_KEYS and key != SOME:
        return item(solver, container, SOME)
    found = solver.cell(container, key)
    keys.append(key)
    solver.copy(found, solver.cell(container, ALL))
    for watcher in solver.watchers.get(container, ()):
        solver.tasks.append((watcher, key))
    return found


def known_key(solver: Solver, thing: int) -> str | None:
    """The key that an object is, if it is a literal."""
    objects = solver.objects
    if objects.kind[thing] != CONST:
        return None
    key: str = objects.to[thing]
    return None if key.startswith(PREFIX_KEY) else key


def all_items(solver: Solver, container: int) -> int:
    """The variable of all items."""
    return solver.cell(container, ALL)


def watch(solver: Solver, container: int, rule: Rule) -> None:
    """Let a rule have every key of a container, now and later."""
    solver.watchers.setdefault(container, []).append(rule)
    for key in solver.keys_of.get(container, ()):
        solver.tasks.append((rule, key))


def pour(solver: Solver, source: int, target: int) -> None:
    """All that one container has, another gets under the same keys."""
    watch(solver, source, (_pour, source, target))
    solver.copy(solver.cell(source, KEYS), solver.cell(target, KEYS))


def _pour(solver: Solver, key: str, rule: Rule) -> None:
    _, source, target = rule
    solver.copy(item(solver, source, key), item(solver, target, key))


def load_item(solver: Solver, container: int, key: str, target: int) -> None:
    """The target gets what a container has at a key that is known."""
    if key.startswith(f"{INT_KEY}-") and solver.objects.to[container] != "dict":
        solver.copy(all_items(solver, container), target)
        return
    solver.copy(item(solver, container, key), target)
    solver.copy(item(solver, container, SOME), target)


def shift(solver: Solver, source: int, target: int, begin: int, end: int | None) -> None:
    """A container gets the items of another from one place on, up to another."""
    watch(solver, source, (_shift, source, target, begin, end))


def _shift(solver: Solver, key: str, rule: Rule) -> None:
    _, source, target, begin, end = rule
    if key == SOME:
        solver.copy(item(solver, source, SOME), item(solver, target, SOME))
    elif key.startswith(INT_KEY):
        place = int(key[1:])
        if place >= begin and (end is None or place < end):
            solver.copy(item(solver, source, key), item(solver, target, f"{INT_KEY}{place - begin}"))


# Rules for facts.


def read_item(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    """Rule (…, target, key or nothing, file, site, caller): the target gets an item of all objects."""
    _, target, key, file, site, caller = rule
    objects = solver.objects
    for each in things:
        kind = objects.kind[each]
        if kind == CONTAINER:
            if key is None:
                solver.copy(all_items(solver, each), target)
            elif key.startswith(SLICE_KEY):
                _slice(solver, each, key, target)
            else:
                load_item(solver, each, key, target)
        elif kind == INSTANCE:
            _read_instance_item(solver, each, key, target, (file, site, caller))
        elif kind in {CLASS, BUILTIN, EXTERNAL}:
            solver.add(target, each)  # a generic class with its arguments
            if kind == CLASS and has_member(solver, each, "__class_getitem__"):
                invoke_method(solver, each, "__class_getitem__", (file, site, caller), target)
        elif kind in {TYPED, CONST} and objects.of[each] in {"str", "bytes"}:
            solver.add(target, objects.get(TYPED, objects.of[each]))


def _read_instance_item(
    solver: Solver, thing: int, key: str | None, target: int, at: tuple[int, int, int]
) -> None:
    """What a class says of its items; what it inherits of a builtin type works as that does."""
    if has_member(solver, thing, "__getitem__"):
        invoke_method(solver, thing, "__getitem__", at, target)
        return
    if has_member(solver, thing, "__missing__"):
        invoke_method(solver, thing, "__missing__", at, target)
    own = plain(solver, thing)
    if key is None or key.startswith(SLICE_KEY):
        solver.copy(all_items(solver, own), target)
    else:
        load_item(solver, own, key, target)


def _slice(solver: Solver, container: int, key: str, target: int) -> None:
    objects = solver.objects
    begin, _, end = key[1:].partition(":")
    made = objects.get(CONTAINER, target, objects.to[container])
    if begin.startswith("-") or end.startswith("-"):
        solver.copy(all_items(solver, container), item(solver, made, SOME))
    else:
        shift(solver, container, made, int(begin or 0), int(end) if end else None)
    solver.add(target, made)


def read_item_by(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    """Rule (…, target, key's variable, file, site, caller): the same with a key that is a value."""
    _, target, key, file, site, caller = rule
    kinds = solver.objects.kind
    if key < 0:
        read_item(solver, things, (read_item, target, None, file, site, caller))
        return
    keyed = [each for each in things if kinds[each] == CONTAINER]
    read_item(
        solver,
        [each for each in things if kinds[each] != CONTAINER],
        (read_item, target, None, file, site, caller),
    )
    for each in keyed:
        solver.wait(key, (_read_keyed, target, each))
        solver.fallbacks.append((_read_unkeyed, key, target, each))


def _read_keyed(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    _, target, container = rule
    for each in things:
        if (key := known_key(solver, each)) is not None:
            load_item(solver, container, key, target)
        else:
            solver.copy(all_items(solver, container), target)


def _read_unkeyed(solver: Solver, rule: Rule) -> None:
    """A key of which nothing is known may be any."""
    _, key, target, container = rule
    if not solver.has[key]:
        solver.copy(all_items(solver, container), target)


def store_item(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    """Rule (…, source, key or nothing, file, site, caller): all objects get an item."""
    _, source, key, file, site, caller = rule
    objects = solver.objects
    for each in things:
        kind = objects.kind[each]
        if kind == CONTAINER:
            is_plain = key is not None and not key.startswith((SLICE_KEY, f"{INT_KEY}-"))
            solver.copy(source, item(solver, each, key if is_plain else SOME))
            if key is not None and is_plain and objects.to[each] == "dict":
                of = "int" if key.startswith(INT_KEY) else "str"
                solver.add(solver.cell(each, KEYS), objects.get(CONST, of, key))
        elif kind == INSTANCE and not has_member(solver, each, "__setitem__"):
            solver.copy(source, item(solver, plain(solver, each), SOME))
        elif kind == INSTANCE:
            invoke_method(solver, each, "__setitem__", (file, site, caller), solver.variable(), -1, source)


def store_item_by(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    """Rule (…, source, key's variable, file, site, caller): the same with a key that is a value."""
    _, source, key, file, site, caller = rule
    kinds = solver.objects.kind
    others = [each for each in things if kinds[each] != CONTAINER]
    store_item(solver, others, (store_item, source, None, file, site, caller))
    for each in things:
        if kinds[each] == CONTAINER:
            if key < 0:
                solver.copy(source, item(solver, each, SOME))
                continue
            solver.wait(key, (_store_keyed, source, each))
            solver.copy(key, solver.cell(each, KEYS))
            solver.fallbacks.append((_store_unkeyed, key, source, each))


def _store_keyed(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    _, source, container = rule
    for each in things:
        solver.copy(source, item(solver, container, known_key(solver, each)))


def _store_unkeyed(solver: Solver, rule: Rule) -> None:
    _, key, source, container = rule
    if not solver.has[key]:
        solver.copy(source, item(solver, container, SOME))


def unpack(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    """Rule (…, target, place, file, site, caller): the target gets an item by place, or those of a star."""
    _, target, place, file, site, caller = rule
    objects = solver.objects
    for each in things:
        if objects.kind[each] != CONTAINER or objects.to[each] in {"set", "dict", "iterator", "generator"}:
            if place.startswith(SLICE_KEY):
                made = objects.get(CONTAINER, target, "list")
                iterate_into(solver, each, item(solver, made, SOME), (file, site, caller), "")
                solver.add(target, made)
            else:
                iterate_into(solver, each, target, (file, site, caller), "")
        elif place.startswith(INT_KEY):
            load_item(solver, each, place, target)
        elif place.startswith(SLICE_KEY):
            _unpack_star(solver, each, place, target)
        else:
            _unpack_behind(solver, each, int(place), target)


def _length(solver: Solver, container: int) -> int | None:
    """How many items a container has, if they are all known by their place."""
    keys = solver.keys_of.get(container, ())
    if not keys or SOME in keys:
        return None
    return max((int(key[1:]) for key in keys if key.startswith(INT_KEY)), default=-1) + 1


def _unpack_star(solver: Solver, container: int, place: str, target: int) -> None:
    begin, _, behind = place[1:].partition(":")
    made = solver.objects.get(CONTAINER, target, "list")
    length = _length(solver, container)
    shift(solver, container, made, int(begin), None if length is None else length - int(behind))
    solver.add(target, made)


def _unpack_behind(solver: Solver, container: int, place: int, target: int) -> None:
    length = _length(solver, container)
    if length is None:
        solver.copy(all_items(solver, container), target)
    else:
        load_item(solver, container, f"{INT_KEY}{length + place}", target)


def spread(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    """Rule (…, display, file, site, caller): what is unpacked into a display."""
    _, display, file, site, caller = rule
    objects = solver.objects
    for each in things:
        if objects.kind[each] == CONTAINER and objects.to[each] == objects.to[display] == "dict":
            pour(solver, each, display)
        else:
            iterate_into(solver, each, item(solver, display, SOME), (file, site, caller), "")


def iterate(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    """Rule (…, target, text, file, site, caller): the target gets each item of all objects."""
    _, target, text, file, site, caller = rule
    for each in things:
        iterate_into(solver, each, target, (file, site, caller), "a" if text else "")


def iterate_into(solver: Solver, thing: int, target: int, at: tuple[int, int, int], mode: str) -> None:
    """The target gets each item of an object; `mode` is `a` for `async for`."""
    objects = solver.objects
    kind = objects.kind[thing]
    if kind == CONTAINER:
        if objects.to[thing] == "dict":
            solver.copy(solver.cell(thing, KEYS), target)
        else:
            solver.copy(all_items(solver, thing), target)
    elif kind == GENERATOR:
        solver.copy(solver.functions[objects.of[thing]].yielded, target)
    elif kind == INSTANCE:
        name = f"__{mode}iter__"
        if has_member(solver, thing, name):
            made = solver.variable()
            invoke_method(solver, thing, name, at, made)
            call = solver.implied[at[1], f"dunder {name}"]
            if call.result == made:
                solver.wait(made, (_next, target, at, mode))
        elif has_member(solver, thing, "__getitem__"):
            invoke_method(solver, thing, "__getitem__", at, target)
    elif kind in {TYPED, CONST} and objects.of[thing] == "str":
        solver.add(target, objects.get(TYPED, "str"))
    elif kind == CLASS and is_enum(solver, thing):
        solver.add(target, objects.get(INSTANCE, objects.of[thing]))


def _next(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    """Take items of what `__iter__` gave."""
    _, target, at, mode = rule
    for each in things:
        if solver.objects.kind[each] == INSTANCE:
            name = f"__{mode}next__"
            if has_member(solver, each, name):
                made = target
                if mode:
                    made = solver.variable()
                    solver.wait(made, (awaited, target, *at))
                invoke_method(solver, each, name, at, made)
        else:
            iterate_into(solver, each, target, at, mode)


def enter(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    """Rule (…, target, text, file, site, caller): what `with` makes of objects."""
    _, target, text, *at = rule
    objects = solver.objects
    mode = "a" if text else ""
    for each in things:
        kind = objects.kind[each]
        if kind == INSTANCE:
            for name in (f"__{mode}enter__", f"__{mode}exit__"):
                if has_member(solver, each, name):
                    made = solver.variable()
                    if "enter" in name:
                        solver.wait(made, (awaited, target, *at)) if mode else solver.copy(made, target)
                    invoke_method(solver, each, name, (at[0], at[1], at[2]), made)
        elif kind == ENTERED:
            solver.copy(solver.functions[objects.of[each]].yielded, target)
        elif kind in {MADE, TYPED}:
            solver.add(target, each)


def awaited(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    """Rule (…, target, file, site, caller): what comes back when objects are awaited."""
    _, target, *at = rule
    objects = solver.objects
    for each in things:
        kind = objects.kind[each]
        if kind == COROUTINE:
            solver.copy(solver.functions[objects.of[each]].returned, target)
        elif kind == INSTANCE and has_member(solver, each, "__await__"):
            invoke_method(solver, each, "__await__", (at[0], at[1], at[2]), solver.variable())
