"""What builtin functions and types do when they are called, as far as values go through them.

Functions that are handed over are called where they are handed over. Also here: functions of the standard
library that hand functions on, such as `functools.partial`. Not here: methods of builtin types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.cpg.extract.values.facts import INT_KEY
from headwater.cpg.resolve.attributes import (
    has_member,
    implied_call,
    invoke_all,
    invoke_method,
    store_attribute,
)
from headwater.cpg.resolve.containers import SOME, all_items, item, iterate_into, pour
from headwater.cpg.resolve.objects import (
    BUILTIN,
    CLASS,
    CLASSMETHOD,
    CONST,
    CONTAINER,
    CONTEXT,
    EXTERNAL,
    FUNCTION,
    INSTANCE,
    MADE,
    PARTIAL,
    PROPERTY,
    STATICMETHOD,
    SUPER,
    TYPED,
    Call,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from headwater.cpg.resolve.solving import Rule, Solver

_FIRST, _SECOND, _THIRD = 0, 1, 2
_COLLECTIONS = frozenset({"list", "tuple", "set", "frozenset", "dict", "reversed"})
_TYPED = {
    **{name: "str" for name in ("str", "repr", "format", "chr", "hex", "bin", "oct", "ascii", "input")},
    **{name: "int" for name in ("int", "len", "ord", "hash", "id")},
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


def at_of(call: Call) -> tuple[int, int, int]:
    """Where a call is, for calls that it implies."""
    return call.file, call.site, call.caller


def argument(call: Call, place: int, name: str | None = None) -> int:
    """The variable of an argument by its place or its keyword, or -1."""
    if place < len(call.positional):
        return call.positional[place]
    return next((source for keyword, source in call.named if keyword == name), -1) if name else -1


def hand_over(solver: Solver, call: Call, function: int, result: int, arguments: Sequence[int]) -> None:
    """What a variable has is called by who was called here; the call is that of the site."""
    if function >= 0:
        inner = implied_call(solver, at_of(call), "callback", str(function), result, *arguments)
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


def _collect(kind: str) -> Callable[[Solver, Call], None]:
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
    hand_over(solver, call, argument(call, len(call.positional), "key"), solver.variable(), [values])


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


def _getattr(solver: Solver, call: Call) -> None:
    target = call.result
    if target >= 0 and len(call.positional) > 1:
        solver.wait(call.positional[1], (_getattr_named, call, target))
        solver.copy(argument(call, _THIRD), target)


def _getattr_named(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    _, call, target = rule
    for each in things:
        if solver.objects.kind[each] == CONST:
            solver.wait(call.positional[0], (_getattr_of, target, solver.objects.to[each][1:]))


def _getattr_of(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    _, target, name = rule
    for each in things:
        solver.copy(solver.attribute(each, name), target)


def _setattr(solver: Solver, call: Call) -> None:
    if len(call.positional) > _THIRD:
        solver.wait(call.positional[1], (_setattr_named, call))


def _setattr_named(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    call: Call = rule[1]
    for each in things:
        if solver.objects.kind[each] == CONST:
            name = solver.objects.to[each][1:]
            solver.wait(call.positional[0], (store_attribute, call.positional[2], name, *at_of(call)))


def _super(solver: Solver, call: Call) -> None:
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


def _type(solver: Solver, call: Call) -> None:
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


def _wrap(kind: int) -> Callable[[Solver, Call], None]:
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


def _pass_through(solver: Solver, call: Call) -> None:
    if call.result >= 0:
        solver.copy(argument(call, _FIRST), call.result)


def _first_of_items(solver: Solver, call: Call) -> None:
    if call.result >= 0:
        solver.copy(items_of(solver, call, argument(call, _FIRST)), call.result)


_MODELS: dict[str, Callable[[Solver, Call], None]] = {
    "map": _map,
    "filter": _filter,
    **{name: _collect(name) for name in sorted(_COLLECTIONS - {"reversed", "frozenset"})},
    "frozenset": _collect("set"),
    "reversed": _collect("iterator"),
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
    "getattr": _getattr,
    "setattr": _setattr,
    "super": _super,
    "type": _type,
    "property": _wrap(PROPERTY),
    "classmethod": _wrap(CLASSMETHOD),
    "staticmethod": _wrap(STATICMETHOD),
    "any": _first_of_items,
    "all": _first_of_items,
}


# The standard library.


def _partial(solver: Solver, call: Call) -> None:
    if call.result >= 0:
        solver.partials.setdefault(call.result, call)
        solver.add(call.result, solver.objects.get(PARTIAL, call.result))


def _reduce(solver: Solver, call: Call) -> None:
    target = call.result if call.result >= 0 else solver.variable()
    values = items_of(solver, call, argument(call, _SECOND))
    solver.copy(values, target)
    solver.copy(argument(call, _THIRD), target)
    hand_over(solver, call, argument(call, _FIRST), target, [target, values])


def _wraps(solver: Solver, call: Call) -> None:
    """`wraps(f)` gives back a decorator that gives back what it gets."""
    if call.result >= 0:
        solver.add(call.result, solver.objects.get(EXTERNAL, "functools.update_wrapper"))


def _cache(solver: Solver, call: Call) -> None:
    """With a function it is the decorator, with options it makes one."""
    if call.result < 0:
        return
    if call.positional and call.dispatch == "decorator":
        solver.copy(call.positional[0], call.result)
    else:
        solver.wait(argument(call, _FIRST, "user_function"), (_cached, call.result))
        solver.add(call.result, solver.objects.get(EXTERNAL, "functools.update_wrapper"))


def _cached(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    solver.add_all(rule[1], [each for each in things if solver.objects.kind[each] == FUNCTION])


def _start(solver: Solver, call: Call) -> None:
    """A thread or process calls its target with the arguments it is given for it."""
    arguments = argument(call, len(call.positional), "args")
    inner = implied_call(solver, at_of(call), "callback", "target", solver.variable())
    if arguments >= 0 and not inner.stars:
        inner.stars.append((0, arguments))
    target = argument(call, _SECOND, "target")
    if target >= 0:
        solver.wait(target, (invoke_all, inner))
    if call.result >= 0:
        solver.add(call.result, solver.objects.get(MADE, "threading.Thread"))


def _defaultdict(solver: Solver, call: Call) -> None:
    made = collection(solver, call, "dict")
    hand_over(solver, call, argument(call, _FIRST), item(solver, made, SOME), [])


def _field(solver: Solver, call: Call) -> None:
    """What a field of a dataclass begins with: what its factory makes, or its default."""
    target = call.result if call.result >= 0 else solver.variable()
    place = len(call.positional)
    solver.copy(argument(call, place, "default"), target)
    for name in ("default_factory", "factory"):
        hand_over(solver, call, argument(call, place, name), target, [])


LIBRARY: dict[str, Callable[[Solver, Call], None]] = {
    "functools.partial": _partial,
    "functools.partialmethod": _partial,
    "functools.reduce": _reduce,
    "functools.wraps": _wraps,
    "functools.update_wrapper": _pass_through,
    "functools.lru_cache": _cache,
    "functools.cache": _cache,
    "functools.cached_property": _wrap(PROPERTY),
    "functools.singledispatch": _pass_through,
    "functools.total_ordering": _pass_through,
    "abc.abstractmethod": _pass_through,
    "abc.abstractproperty": _wrap(PROPERTY),
    "abc.abstractclassmethod": _wrap(CLASSMETHOD),
    "abc.abstractstaticmethod": _wrap(STATICMETHOD),
    "contextlib.contextmanager": _wrap(CONTEXT),
    "contextlib.asynccontextmanager": _wrap(CONTEXT),
    "types.DynamicClassAttribute": _wrap(PROPERTY),
    "enum.property": _wrap(PROPERTY),
    "collections.defaultdict": _defaultdict,
    "collections.OrderedDict": _collect("dict"),
    "collections.deque": _collect("list"),
    "dataclasses.field": _field,
    "attr.ib": _field,
    "attr.field": _field,
    "attrs.field": _field,
    "copy.copy": _pass_through,
    "copy.deepcopy": _pass_through,
    "typing.cast": lambda solver, call: solver.copy(argument(call, _SECOND), call.result),
    "threading.Thread": _start,
    "multiprocessing.Process": _start,
    "asyncio.run": _pass_through,
}


def calls_of_library(otherwise: Callable[[Solver, int, Call], None]) -> Callable[[Solver, int, Call], None]:
    """Calls of what is outside: those that are known here, and others as they are."""

    def call_outside(solver: Solver, thing: int, call: Call) -> None:
        model = LIBRARY.get(solver.objects.of[thing])
        if model is None:
            otherwise(solver, thing, call)
            return
        is_new = thing not in call.targets
        call.targets.setdefault(thing, "external")
        if is_new:
            model(solver, call)

    return call_outside
