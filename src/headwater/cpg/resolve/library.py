"""What functions of the standard library do when they are called, as far as they hand functions on.

Not here: builtin functions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.cpg.resolve.builtin_calls import (
    argument,
    at_of,
    collect,
    collection,
    hand_over,
    items_of,
    pass_through,
    wrap,
)
from headwater.cpg.resolve.containers import SOME, enter, item
from headwater.cpg.resolve.dispatching import make_dispatch
from headwater.cpg.resolve.lookup import (
    implied_call,
    invoke_all,
)
from headwater.cpg.resolve.objects import (
    CLASSMETHOD,
    CONTEXT,
    EXTERNAL,
    FUNCTION,
    MADE,
    PARTIAL,
    PROPERTY,
    STATICMETHOD,
    Call,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from headwater.cpg.resolve.solving import Rule, Solver

_FIRST, _SECOND, _THIRD = 0, 1, 2


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
        inner.stars = ((0, arguments),)
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


def _enter(solver: Solver, call: Call) -> None:
    """A stack of context managers enters one more."""
    target = call.result if call.result >= 0 else solver.variable()
    solver.wait(argument(call, _FIRST), (enter, target, None, *at_of(call)))


LIBRARY: dict[str, Callable[[Solver, Call], None]] = {
    "functools.partial": _partial,
    "functools.partialmethod": _partial,
    "functools.reduce": _reduce,
    "functools.wraps": _wraps,
    "functools.update_wrapper": pass_through,
    "functools.lru_cache": _cache,
    "functools.cache": _cache,
    "functools.cached_property": wrap(PROPERTY),
    "functools.singledispatch": make_dispatch,
    "functools.singledispatchmethod": make_dispatch,
    "contextlib.ExitStack.enter_context": _enter,
    "contextlib.closing": pass_through,
    "functools.total_ordering": pass_through,
    "abc.abstractmethod": pass_through,
    "abc.abstractproperty": wrap(PROPERTY),
    "abc.abstractclassmethod": wrap(CLASSMETHOD),
    "abc.abstractstaticmethod": wrap(STATICMETHOD),
    "contextlib.contextmanager": wrap(CONTEXT),
    "contextlib.asynccontextmanager": wrap(CONTEXT),
    "types.DynamicClassAttribute": wrap(PROPERTY),
    "enum.property": wrap(PROPERTY),
    "collections.defaultdict": _defaultdict,
    "collections.OrderedDict": collect("dict"),
    "collections.deque": collect("list"),
    "dataclasses.field": _field,
    "attr.ib": _field,
    "attr.field": _field,
    "attrs.field": _field,
    "copy.copy": pass_through,
    "copy.deepcopy": pass_through,
    "typing.cast": lambda solver, call: solver.copy(argument(call, _SECOND), call.result),
    "threading.Thread": _start,
    "multiprocessing.Process": _start,
    "asyncio.run": pass_through,
}


_PROPERTY = "property"  # so end the names of decorators that make what is called where it is read
_OTHER_PROPERTY = wrap(PROPERTY)


def calls_of_library(otherwise: Callable[[Solver, int, Call], None]) -> Callable[[Solver, int, Call], None]:
    """Calls of what is outside: those that are known here, and others as they are."""

    def call_outside(solver: Solver, thing: int, call: Call) -> None:
        name = solver.objects.of[thing]
        model = LIBRARY.get(name)
        if model is None and call.dispatch == "decorator" and name.endswith(_PROPERTY):
            model = _OTHER_PROPERTY
        if model is None:
            otherwise(solver, thing, call)
            return
        is_new = thing not in call.targets
        call.targets.setdefault(thing, "external")
        if is_new:
            model(solver, call)

    return call_outside
