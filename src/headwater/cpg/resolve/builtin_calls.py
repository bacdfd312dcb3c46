"""What builtin functions and types do when they are called, as far as values go through them.

Functions that are handed over are called where they are handed over. Also here: functions of the standard
library that hand functions on, such as `functools.partial`. Not here: methods of builtin types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.cpg.extract.values.facts import INT_KEY
from headwater.cpg.resolve.containers import SOME, all_items, item, iterate_into, pour
from headwater.cpg.resolve.lookup import (
    has_member,
    implied_call,
    invoke_method,
)
from headwater.cpg.resolve.objects import (
    CLASSMETHOD,
    CONST,
    CONTAINER,
    INSTANCE,
    PROPERTY,
    STATICMETHOD,
    TYPED,
    Call,
)
from headwater.cpg.resolve.reflecting import (
    argument,
    at_of,
    call_getattr,
    call_setattr,
    call_super,
    call_type,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from headwater.cpg.resolve.solving import Rule, Solver


_FIRST, _SECOND, _THIRD = 0, 1, 2
_COLLECTIONS = frozenset({"list", "tuple", "set", "frozenset", "dict", "reversed"})
_TYPED = {
    **dict.fromkeys(("str", "repr", "format", "chr", "hex", "bin", "oct", "ascii", "input"), "str"),
    **dict.fromkeys(("int", "len", "ord", "hash", "id"), "int"),
    **{name: name for name in ("float", "bytes", "bytearray", "complex", "object", "memoryview")},
    "open": "file",
}
# Functions that ask their argument for a method.
_ASKING = {
    "len": ("__len__",),
    "str": ("__str__", "__repr__"),
    "repr": ("__repr__",),
    "print": ("__str__", "__repr__"),
    "hash": ("__hash__",),
    "int": ("__int__",),
    "float": ("__float__",),
    "bool": ("__bool__", "__len__"),
    "abs": ("__abs__",),
    "format": ("__format__", "__str__"),
    "round": ("__round__",),
    "bytes": ("__bytes__",),
    "dir": ("__dir__",),
    "divmod": ("__divmod__",),
}


def hand_over(solver: Solver, call: Call, function: int, result: int, arguments: Sequence[int]) -> None:
    """What a variable has is called by who was called here; the call is that of the site."""
    if function >= 0:
        inner = implied_call(solver, at_of(call), "callback", f"{function:012d}", result, *arguments)
        solver.wait(function, (_call_back, inner))


def _call_back(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    kinds = solver.objects.kind
    for each in things:
        if kinds[each] not in {CONST, TYPED, CONTAINER}:
            solver.invoke(each, rule[1])


def items_of(solver: Solver, call: Call, source: int) -> int:
    """A variable with each item of what another has."""
    made = solver.variable()
    solver.wait(source, (_items, made, at_of(call)))
    return made


def _items(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    _, target, at = rule
    for each in things:
        iterate_into(solver, each, target, at, "")


def collection(solver: Solver, call: Call, kind: str) -> int:
    """The container that a call makes."""
    made = solver.objects.get(CONTAINER, call.result if call.result >= 0 else call.site, kind)
    if call.result >= 0:
        solver.add(call.result, made)
    return made


def call_builtin(solver: Solver, thing: int, call: Call) -> None:
    """A builtin function or type is called."""
    name = solver.objects.of[thing]
    is_new = thing not in call.targets
    call.targets.setdefault(thing, "builtin")
    if not is_new:
        return
    if name in _ASKING and call.positional:
        solver.wait(call.positional[0], (_ask, call, name))
    model = _MODELS.get(name)
    if model is not None:
        model(solver, call)
    elif name in _TYPED and call.result >= 0:
        solver.add(call.result, solver.objects.get(TYPED, _TYPED[name]))


def _ask(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    _, call, name = rule
    for each in things:
        if solver.objects.kind[each] == INSTANCE:
            for method in _ASKING[name]:
                if has_member(solver, each, method):
                    invoke_method(solver, each, method, at_of(call), solver.variable())
                    break


def _map(solver: Solver, call: Call) -> None:
    made = collection(solver, call, "iterator")
    values = [items_of(solver, call, each) for each in call.positional[1:]]
    for place, function in enumerate(call.positional):
        arguments = values if place == 0 else [items_of(solver, call, call.positional[0])]
        hand_over(solver, call, function, item(solver, made, SOME), arguments)


def _filter(solver: Solver, call: Call) -> None:
    made = collection(solver, call, "iterator")
    source = argument(call, _SECOND)
    values = items_of(solver, call, source)
    solver.copy(values, item(solver, made, SOME))
    hand_over(solver, call, argument(call, _FIRST), solver.variable(), [values])


def collect(kind: str) -> Callable[[Solver, Call], None]:
    """A container of the items of the first argument; a copy of one of the same kind keeps its keys."""

    def model(solver: Solver, call: Call) -> None:
        made = collection(solver, call, kind)
        source = argument(call, _FIRST)
        if source >= 0:
            solver.wait(source, (_fill, made, at_of(call)))
        if kind == "dict":
            for name, each in call.named:
                solver.copy(each, item(solver, made, f"s{name}"))

    return model


def _fill(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    _, made, at = rule
    objects = solver.objects
    for each in things:
        if objects.kind[each] == CONTAINER and (
            objects.to[each] == objects.to[made] or {objects.to[each], objects.to[made]} <= {"list", "tuple"}
        ):
            pour(solver, each, made)
        elif objects.to[made] == "dict":
            pair = solver.variable()
            iterate_into(solver, each, pair, at, "")
            solver.wait(pair, (_fill_pair, made))
        else:
            iterate_into(solver, each, item(solver, made, SOME), at, "")


def _fill_pair(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    for each in things:
        if solver.objects.kind[each] == CONTAINER:
            solver.copy(item(solver, each, f"{INT_KEY}1"), item(solver, rule[1], SOME))


def _sorted(solver: Solver, call: Call) -> None:
    made = collection(solver, call, "list")
    values = items_of(solver, call, argument(call, _FIRST))
    solver.copy(values, item(solver, made, SOME))
    solver.wait(values, (_compare, call))
    hand_over(solver, call, argument(call, len(call.positional), "key"), solver.variable(), [values])


def _compare(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    for each in things:
        if solver.objects.kind[each] == INSTANCE and has_member(solver, each, "__lt__"):
            invoke_method(solver, each, "__lt__", at_of(rule[1]), solver.variable())


def _choose(solver: Solver, call: Call) -> None:
    """`min` and `max`: one of the items, or one of the arguments."""
    values = solver.variable()
    if len(call.positional) == 1:
        solver.wait(call.positional[0], (_items, values, at_of(call)))
    else:
        for each in call.positional:
            solver.copy(each, values)
    if call.result >= 0:
        solver.copy(values, call.result)
    hand_over(solver, call, argument(call, len(call.positional), "key"), solver.variable(), [values])


def _enumerate(solver: Solver, call: Call) -> None:
    made = collection(solver, call, "iterator")
    pair = solver.objects.get(CONTAINER, all_items(solver, made), "tuple")
    solver.add(item(solver, pair, f"{INT_KEY}0"), solver.objects.get(TYPED, "int"))
    solver.copy(items_of(solver, call, argument(call, _FIRST)), item(solver, pair, f"{INT_KEY}1"))
    solver.add(item(solver, made, SOME), pair)


def _zip(solver: Solver, call: Call) -> None:
    made = collection(solver, call, "iterator")
    row = solver.objects.get(CONTAINER, all_items(solver, made), "tuple")
    for place, source in enumerate(call.positional):
        solver.copy(items_of(solver, call, source), item(solver, row, f"{INT_KEY}{place}"))
    solver.add(item(solver, made, SOME), row)


def _iter(solver: Solver, call: Call) -> None:
    made = collection(solver, call, "iterator")
    source = argument(call, _FIRST)
    if len(call.positional) > 1:
        hand_over(solver, call, source, item(solver, made, SOME), [])
    else:
        solver.copy(items_of(solver, call, source), item(solver, made, SOME))


def _next(solver: Solver, call: Call) -> None:
    source = argument(call, _FIRST)
    target = call.result if call.result >= 0 else solver.variable()
    solver.wait(source, (_take, target, at_of(call)))
    solver.copy(argument(call, _SECOND), target)


def _take(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    _, target, at = rule
    for each in things:
        if solver.objects.kind[each] == INSTANCE:
            if has_member(solver, each, "__next__"):
                invoke_method(solver, each, "__next__", at, target)
        else:
            iterate_into(solver, each, target, at, "")


def _range(solver: Solver, call: Call) -> None:
    made = collection(solver, call, "iterator")
    solver.add(item(solver, made, SOME), solver.objects.get(TYPED, "int"))


def wrap(kind: int) -> Callable[[Solver, Call], None]:
    """What comes back is a wrapper of the argument."""

    def model(solver: Solver, call: Call) -> None:
        if call.result < 0:
            return
        source = argument(call, _FIRST, "fget")
        if source >= 0:
            solver.wait(source, (_wrapped, call.result, kind, argument(call, _SECOND, "fset")))

    return model


def _wrapped(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    _, target, kind, setter = rule
    for each in things:
        made = solver.objects.get(kind, each)
        if kind == PROPERTY and setter >= 0:
            solver.copy(setter, solver.cell(made, "set"))
        solver.add(target, made)


def pass_through(solver: Solver, call: Call) -> None:
    """What comes back is the first argument."""
    if call.result >= 0:
        solver.copy(argument(call, _FIRST), call.result)


def _first_of_items(solver: Solver, call: Call) -> None:
    if call.result >= 0:
        solver.copy(items_of(solver, call, argument(call, _FIRST)), call.result)


_MODELS: dict[str, Callable[[Solver, Call], None]] = {
    "map": _map,
    "filter": _filter,
    **{name: collect(name) for name in sorted(_COLLECTIONS - {"reversed", "frozenset"})},
    "frozenset": collect("set"),
    "reversed": collect("iterator"),
    "sorted": _sorted,
    "min": _choose,
    "max": _choose,
    "sum": _first_of_items,
    "enumerate": _enumerate,
    "zip": _zip,
    "iter": _iter,
    "aiter": _iter,
    "next": _next,
    "range": _range,
    "getattr": call_getattr,
    "setattr": call_setattr,
    "super": call_super,
    "type": call_type,
    "property": wrap(PROPERTY),
    "classmethod": wrap(CLASSMETHOD),
    "staticmethod": wrap(STATICMETHOD),
    "any": _first_of_items,
    "all": _first_of_items,
}


# The standard library.
