"""What operators call: the methods that stand for them, on the left or on the right.

Not here: subscripts, loops and `with`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.cpg.resolve.containers import SOME, all_items, item
from headwater.cpg.resolve.lookup import has_member, invoke_method
from headwater.cpg.resolve.objects import CONST, CONTAINER, INSTANCE, TYPED, Call

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.cpg.resolve.solving import Rule, Solver

# Of comparisons, the method that is asked on the other side.
_SWAPPED = {
    "__eq__": "__eq__",
    "__ne__": "__ne__",
    "__lt__": "__gt__",
    "__le__": "__ge__",
    "__gt__": "__lt__",
    "__ge__": "__le__",
}
_INSTEAD = {"__str__": ("__repr__",), "__ne__": ("__eq__",), "__contains__": ("__iter__",)}
_LEAST = len("__ior__")


def operate(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    """Rule (…, call, method): an operation on all objects that stand on its left."""
    _, call, method = rule
    objects = solver.objects
    for each in things:
        kind = objects.kind[each]
        if kind == INSTANCE:
            if not _operate_on(solver, each, method, call, call.positional):
                _operate_right(solver, method, call)
        elif kind in {TYPED, CONST}:
            if objects.of[each] in {"str", "bytes", "int", "float"} and method not in _SWAPPED:
                solver.add(call.result, objects.get(TYPED, objects.of[each]))
            _operate_right(solver, method, call)
        elif kind == CONTAINER:
            _join(solver, each, method, call)


def _operate_on(solver: Solver, thing: int, method: str, call: Call, arguments: Sequence[int]) -> bool:
    names = [method, *_INSTEAD.get(method, ())]
    if method.startswith("__i") and len(method) >= _LEAST and method not in {"__iter__", "__invert__"}:
        names.append(f"__{method[3:]}")
    for name in names:
        if has_member(solver, thing, name):
            at = (call.file, call.site, call.caller)
            invoke_method(solver, thing, name, at, call.result, *arguments)
            return True
    return False


def _operate_right(solver: Solver, method: str, call: Call) -> None:
    """Ask what stands on the right, where the left does not know the operation."""
    plain = f"__{method[3:]}" if method.startswith("__i") else method
    name = _SWAPPED.get(plain, f"__r{plain[2:]}")
    if call.positional and call.positional[0] >= 0 and method != "__contains__":
        solver.wait(call.positional[0], (_reflect, call, name))


def _reflect(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    _, call, name = rule
    for each in things:
        if solver.objects.kind[each] == INSTANCE and has_member(solver, each, name):
            at = (call.file, call.site, call.caller)
            invoke_method(solver, each, name, at, call.result)


def _join(solver: Solver, thing: int, method: str, call: Call) -> None:
    """Sums of containers have the items of both."""
    objects = solver.objects
    if method in {"__iadd__", "__ior__"}:
        solver.add(call.result, thing)
        made = thing
    elif method in {"__add__", "__or__", "__mul__", "__and__", "__sub__"}:
        made = objects.get(CONTAINER, call.result, objects.to[thing])
        solver.copy(all_items(solver, thing), item(solver, made, SOME))
        solver.add(call.result, made)
    else:
        return
    if call.positional:
        solver.wait(call.positional[0], (_join_right, made))


def _join_right(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    _, made = rule
    for each in things:
        if solver.objects.kind[each] == CONTAINER and each != made:
            solver.copy(all_items(solver, each), item(solver, made, SOME))
