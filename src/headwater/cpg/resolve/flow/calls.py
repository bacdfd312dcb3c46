"""Flow through calls of functions of the repository: arguments to parameters, and what comes back.

Every candidate of a call counts, with how sure it is. Decorators are left out: what they are given and give
back are functions, and what those are the candidates of calls say. Not here: calls of anything else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.cpg.resolve.objects import CLASS, FUNCTION, PARTIAL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.cpg.resolve.flow.rows import Flowing
    from headwater.cpg.resolve.flow.sites import Argument
    from headwater.cpg.resolve.objects import Call, Function

ANY = "[*]"
MOST_WAYS_BACK = 64  # of one call; a call with more candidates and returns together is left out
_UNARY = frozenset({"__invert__", "__pos__", "__neg__"})
_COMPARING = frozenset({"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__contains__"})
_ITEM_METHODS = frozenset({"__getitem__", "__setitem__", "__delitem__", "__missing__"})
# Methods that builtin functions ask their first argument for.
_ASKED = frozenset(
    {
        "__len__",
        "__str__",
        "__repr__",
        "__hash__",
        "__int__",
        "__float__",
        "__bool__",
        "__abs__",
        "__format__",
    }
    | {"__round__", "__bytes__", "__dir__", "__divmod__", "__iter__", "__next__"}
)
# Methods that are asked without being written, of whose result the value of the node is made.
_MADE_OF = frozenset({"__iter__", "__aiter__", "__str__", "__repr__", "__format__"})
_NOTHING_BACK = _COMPARING | {
    *("__init__", "__setitem__", "__delitem__", "__exit__", "__aexit__", "__hash__", "__bool__", "__set__"),
    *("__post_init__", "__init_subclass__", "__set_name__"),
}
# Functions that only choose or order by what a function that is handed to them says.
_CHOOSING = frozenset(
    {
        "sorted",
        "min",
        "max",
        "filter",
        "sort",
        "itertools.takewhile",
        "itertools.dropwhile",
        "itertools.groupby",
    }
)


def flow_through_call(flowing: Flowing, number: int, things: Sequence[tuple[int, float]]) -> bool:
    """Add the flow of one call; whether a function or class of the repository is among its candidates.

    Args:
        flowing: what is found so far
        number: the index of the call
        things: its candidates, and how sure each is
    """
    solver = flowing.outcome.program.solver
    call = flowing.outcome.order[number]
    kinds = solver.objects.kind
    own = [
        (solver.functions[solver.objects.of[each]], each, sure)
        for each, sure in things
        if kinds[each] == FUNCTION
    ]
    for function, thing, sure in own:
        if call.dispatch == "decorator":
            continue
        if call.dispatch == "callback":
            _pass_back(flowing, number, call, function, sure)
        else:
            _pass(flowing, number, call, (function, thing, sure))
    is_chosen = call.dispatch == "callback" and flowing.called(call.site) in _CHOOSING
    if own and call.dispatch != "decorator" and not is_chosen:
        _give_back(flowing, number, call, own)
    made = [(each, sure) for each, sure in things if kinds[each] == CLASS]
    for each, sure in made:
        _make(flowing, number, call, (solver.objects.of[each], sure))
    return bool(own or made)


def _pass(flowing: Flowing, number: int, call: Call, target: tuple[Function, int, float]) -> None:
    function, thing, sure = target
    is_bound = any(each == thing and receiver >= 0 for each, receiver in call.bound)
    is_bound = is_bound or (not call.bound and function.owner is not None)
    if is_bound and function.positional:
        receiver = _receiver(flowing, call, function)
        if receiver is not None:
            flowing.found.append(
                (receiver, function.positional[0].variable, "arg_param", None, True, number, sure)
            )
    arguments = _arguments(flowing, call)
    _bind(flowing, number, (function, sure), arguments, 1 if is_bound else 0)


def _receiver(flowing: Flowing, call: Call, function: Function) -> int | None:
    """The node of what a method is called on: what is made, what stands before the dot, or on the left."""
    site = call.site
    if call.dispatch:
        return _implied_receiver(flowing, call)
    read = flowing.sites.receivers.get(site + 1)
    name = None if read is None else read[1]
    if function.name == "__init__" and name != "__init__":
        return site
    if function.name == "__call__" and name != "__call__":
        return site + 1
    return None if read is None else site + 2


def _implied_receiver(flowing: Flowing, call: Call) -> int | None:
    """The same of a call that is not written: an operand, an argument, or what stands before a bracket."""
    sites, site, slot = flowing.sites, call.site, call.slot
    method = sites.operators.get(site)
    if method is not None:
        if method in _UNARY:
            return site + 2
        if method in _COMPARING:
            return None
        if slot.startswith("__r") and slot != "__repr__":
            return sites.arguments[site][0][0]
        return site + 1
    if site in sites.arguments:
        written = sites.arguments[site]
        return written[0][0] if written and slot in _ASKED else None
    is_part = call.dispatch == "property" or (slot in _ITEM_METHODS and flowing.is_item(site))
    return site + 1 if is_part and site not in sites.again else None


def _arguments(flowing: Flowing, call: Call) -> Sequence[Argument]:
    """The arguments of a call, after those of the partial that it calls; what is stored goes to a setter."""
    sites, solver = flowing.sites, flowing.outcome.program.solver
    if call.dispatch:
        if call.slot == "set":
            return [(call.site, None, -1)]
        if call.slot == "__setitem__":
            return [(-1, None, -1), (call.site, None, -1)]
        is_reflected = call.slot.startswith("__r")
        return () if is_reflected or call.site not in sites.operators else sites.arguments[call.site]
    written = sites.arguments.get(call.site, [])
    for each in sorted(solver.has[call.callee] or ()) if call.callee >= 0 else ():
        if solver.objects.kind[each] == PARTIAL:
            made = solver.partials[solver.objects.of[each]]
            return [*sites.arguments.get(made.site, [])[1:], *written]
    return written


def _bind(
    flowing: Flowing,
    number: int,
    target: tuple[Function, float],
    arguments: Sequence[Argument],
    place: int,
) -> None:
    function, sure = target
    positional, found = function.positional, flowing.found
    first, is_open = place, False
    for node, text, _ in arguments:
        if node < 0:
            place += 1
        elif text == "*":
            is_open = True
            some = positional[place:] if function.rest is None else [*positional[place:], function.rest]
            found += [(node, each.variable, "arg_param", ANY, False, number, sure) for each in some]
        elif text == "**":
            some = (
                list(function.named.values())
                if function.keywords is None
                else [*function.named.values(), function.keywords]
            )
            taken = {each.variable for each in positional[:first]}
            found += [
                (node, each.variable, "arg_param", ANY, False, number, sure)
                for each in some
                if each.variable not in taken
            ]
        elif text is not None:
            parameter = function.named.get(text)
            if parameter is not None:
                found.append((node, parameter.variable, "arg_param", None, True, number, sure))
            elif function.keywords is not None:
                found.append(
                    (node, function.keywords.variable, "arg_param", f"['{text}']", False, number, sure)
                )
        else:
            if place < len(positional):
                found.append((node, positional[place].variable, "arg_param", None, True, number, sure))
            if function.rest is not None and (is_open or place >= len(positional)):
                path = ANY if is_open else f"[{place - len(positional)}]"
                found.append((node, function.rest.variable, "arg_param", path, False, number, sure))
            place += 1


def _pass_back(flowing: Flowing, number: int, call: Call, function: Function, sure: float) -> None:
    """A function that is handed over may get anything of the other arguments."""
    for node, _, value in flowing.sites.arguments.get(call.site, ()):
        if str(value) != call.slot:
            flowing.found += [
                (node, each.variable, "arg_param", ANY, False, number, sure) for each in function.positional
            ]


def _give_back(flowing: Flowing, number: int, call: Call, own: Sequence[tuple[Function, int, float]]) -> None:
    sites, ways = flowing.sites, list[tuple[int, str, bool, float]]()
    is_same = call.dispatch != "callback" and call.slot not in _MADE_OF
    for function, _, sure in own:
        if function.name in _NOTHING_BACK and (call.dispatch or function.name == "__init__"):
            continue
        if function.is_generator:
            some = sites.yielded.get(function.variable, ())
            ways += [(node, "yield", False, sure) for node, _ in some]
        else:
            some_ = sites.returned.get(function.variable, ())
            ways += [(node, "return_call", is_same, sure) for node in some_]
    if len(ways) > MOST_WAYS_BACK:
        flowing.leave_out("return_call")
        return
    flowing.found += [
        (node, call.site, kind, ANY if kind == "yield" else None, same, number, sure)
        for node, kind, same, sure in ways
    ]


def _make(flowing: Flowing, number: int, call: Call, target: tuple[int, float]) -> None:
    """What is made of a class without code of its own has its arguments in it, by the names of its fields."""
    variable, sure = target
    solver = flowing.outcome.program.solver
    fields: dict[str, None] = {}
    for each in reversed(solver.classes[variable].order):
        if solver.objects.kind[each] == CLASS:
            fields |= dict.fromkeys(solver.classes[solver.objects.of[each]].fields)
    names = list(fields)
    for place, (node, text, _) in enumerate(flowing.sites.arguments.get(call.site, ())):
        name = (
            text
            if text not in {None, "*", "**"}
            else names[place]
            if place < len(names) and text is None
            else None
        )
        path = None if name is None else f".{name}"
        flowing.found.append((node, call.site, "store", path, False, number, sure))
