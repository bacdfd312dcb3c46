"""What methods of builtin types do to values: lists, dicts, sets, texts, generators.

Not here: builtin functions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.cpg.extract.values.facts import INT_KEY
from headwater.cpg.resolve.builtin_calls import argument, at_of, collection, hand_over, items_of
from headwater.cpg.resolve.containers import (
    KEYS,
    SOME,
    all_items,
    item,
    iterate_into,
    known_key,
    load_item,
    pour,
)
from headwater.cpg.resolve.dispatching import REGISTER, register
from headwater.cpg.resolve.objects import CONTAINER, GENERATOR, METHOD, TYPED, UNBOUND

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from headwater.cpg.resolve.objects import Call
    from headwater.cpg.resolve.solving import Rule, Solver

_TEXTS = frozenset(
    {"join", "format", "strip", "lstrip", "rstrip", "replace", "lower", "upper", "title", "capitalize"}
    | {"zfill", "ljust", "rjust", "center", "casefold", "swapcase", "translate", "expandtabs", "format_map"}
    | {"removeprefix", "removesuffix", "read", "readline", "hex"}
)
_PARTS = frozenset({"split", "rsplit", "splitlines", "partition", "rpartition", "readlines"})
_NUMBERS = frozenset({"count", "find", "rfind", "index", "rindex", "bit_length"})


def call_method(solver: Solver, thing: int, call: Call) -> None:
    """A method of a builtin type is called."""
    objects = solver.objects
    (kind, name), receiver = objects.of[thing], objects.to[thing]
    call.targets.setdefault(objects.get(METHOD, (kind, name), UNBOUND), "builtin")
    key = (thing, UNBOUND)
    if key in call.bound:
        return
    call.bound[key] = None
    if (kind, name) == REGISTER:
        register(solver, receiver, call)
    elif name == "fromkeys":
        _from_keys(solver, call)
    elif kind == "property":
        _extend_property(solver, name, receiver, call)
    elif receiver != UNBOUND and objects.kind[receiver] == CONTAINER:
        model = _MODELS.get(name)
        if model is not None:
            model(solver, receiver, call)
    elif receiver != UNBOUND and objects.kind[receiver] == GENERATOR:
        if name in {"send", "__next__"} and call.result >= 0:
            solver.copy(solver.functions[objects.of[receiver]].yielded, call.result)
    elif kind in {"str", "bytes", "file", "int"}:
        _call_text(solver, kind, name, call)


def _call_text(solver: Solver, kind: str, name: str, call: Call) -> None:
    if call.result < 0:
        return
    own = solver.objects.get(TYPED, "str" if kind == "file" else kind)
    if name in _TEXTS:
        solver.add(call.result, own)
    elif name == "encode":
        solver.add(call.result, solver.objects.get(TYPED, "bytes"))
    elif name == "decode":
        solver.add(call.result, solver.objects.get(TYPED, "str"))
    elif name in _PARTS:
        solver.add(item(solver, collection(solver, call, "list"), SOME), own)
    elif name in _NUMBERS:
        solver.add(call.result, solver.objects.get(TYPED, "int"))


def _extend_property(solver: Solver, name: str, thing: int, call: Call) -> None:
    """`@x.setter` gives back the property, which then has a setter."""
    source = argument(call, 0)
    if source >= 0 and name == "setter":
        solver.copy(source, solver.cell(thing, "set"))
    if call.result >= 0:
        solver.add(call.result, thing)


def _append(solver: Solver, thing: int, call: Call) -> None:
    solver.copy(argument(call, len(call.positional) - 1), item(solver, thing, SOME))


def _extend(solver: Solver, thing: int, call: Call) -> None:
    for each in call.positional:
        if each >= 0:
            solver.wait(each, (_extended, thing, at_of(call)))


def _extended(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    for each in things:
        iterate_into(solver, each, item(solver, rule[1], SOME), rule[2], "")


def _update(solver: Solver, thing: int, call: Call) -> None:
    if solver.objects.to[thing] != "dict":
        _extend(solver, thing, call)
        return
    for each in call.positional:
        if each >= 0:
            solver.wait(each, (_updated, thing))
    for name, source in call.named:
        solver.copy(source, item(solver, thing, f"s{name}"))


def _updated(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    for each in things:
        if solver.objects.kind[each] == CONTAINER and each != rule[1]:
            pour(solver, each, rule[1])


def _get(solver: Solver, thing: int, call: Call) -> None:
    """`get`, `pop` and `setdefault` with a key that is known, or with any."""
    if call.result < 0:
        return
    key = argument(call, 0)
    if key < 0:
        solver.copy(all_items(solver, thing), call.result)
    else:
        solver.wait(key, (_get_keyed, thing, call.result))
        solver.fallbacks.append((_get_unkeyed, key, thing, call.result))
    if solver.objects.to[thing] == "dict":
        solver.copy(argument(call, 1), call.result)


def _get_keyed(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    _, thing, target = rule
    for each in things:
        if (key := known_key(solver, each)) is not None:
            load_item(solver, thing, key, target)
        else:
            solver.copy(all_items(solver, thing), target)


def _get_unkeyed(solver: Solver, rule: Rule) -> None:
    _, key, thing, target = rule
    if not solver.has[key]:
        solver.copy(all_items(solver, thing), target)


def _setdefault(solver: Solver, thing: int, call: Call) -> None:
    _get(solver, thing, call)
    source = argument(call, 1)
    key = argument(call, 0)
    if source >= 0:
        solver.copy(source, item(solver, thing, SOME))
        if key >= 0:
            solver.copy(key, solver.cell(thing, KEYS))


def _values(solver: Solver, thing: int, call: Call) -> None:
    solver.copy(all_items(solver, thing), item(solver, collection(solver, call, "iterator"), SOME))


def _keys(solver: Solver, thing: int, call: Call) -> None:
    solver.copy(solver.cell(thing, KEYS), item(solver, collection(solver, call, "iterator"), SOME))


def _items(solver: Solver, thing: int, call: Call) -> None:
    made = collection(solver, call, "iterator")
    pair = solver.objects.get(CONTAINER, all_items(solver, thing), "tuple")
    solver.copy(solver.cell(thing, KEYS), item(solver, pair, f"{INT_KEY}0"))
    solver.copy(all_items(solver, thing), item(solver, pair, f"{INT_KEY}1"))
    solver.add(item(solver, made, SOME), pair)


def _from_keys(solver: Solver, call: Call) -> None:
    made = collection(solver, call, "dict")
    keys = argument(call, 0)
    if keys >= 0:
        solver.copy(items_of(solver, call, keys), solver.cell(made, KEYS))
    solver.copy(argument(call, 1), item(solver, made, SOME))


def _copy(solver: Solver, thing: int, call: Call) -> None:
    if call.result >= 0:
        solver.add(call.result, thing)


def _sort(solver: Solver, thing: int, call: Call) -> None:
    key = argument(call, len(call.positional), "key")
    hand_over(solver, call, key, solver.variable(), [all_items(solver, thing)])


def _popitem(solver: Solver, thing: int, call: Call) -> None:
    if call.result >= 0:
        pair = solver.objects.get(CONTAINER, all_items(solver, thing), "tuple")
        solver.copy(solver.cell(thing, KEYS), item(solver, pair, f"{INT_KEY}0"))
        solver.copy(all_items(solver, thing), item(solver, pair, f"{INT_KEY}1"))
        solver.add(call.result, pair)


def _next(solver: Solver, thing: int, call: Call) -> None:
    if call.result >= 0:
        solver.copy(all_items(solver, thing), call.result)


_MODELS: dict[str, Callable[[Solver, int, Call], None]] = {
    "append": _append,
    "appendleft": _append,
    "add": _append,
    "insert": _append,
    "extend": _extend,
    "update": _update,
    "get": _get,
    "pop": _get,
    "popleft": _next,
    "setdefault": _setdefault,
    "values": _values,
    "keys": _keys,
    "items": _items,
    "copy": _copy,
    "union": _copy,
    "sort": _sort,
    "popitem": _popitem,
    "__next__": _next,
    "__getitem__": _get,
}
