"""Where what a function is given goes: back to who calls it, into its parameters, or into global names.

Values are followed inside of each function, and through calls of functions of which the same is known; what
is found of a function is handed to those that call it, until nothing is new. A path has two steps at most,
and a variable few labels, so that this ends for functions that call themselves, too.
Not here: values that go through attributes and closures.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from headwater.cpg.extract.values.facts import KEYWORD_ONLY
from headwater.cpg.resolve.flow.heap import path_of_key
from headwater.cpg.resolve.flow.outside import HANDING_ON, SAYING
from headwater.cpg.resolve.objects import BUILTIN, EXTERNAL, METHOD
from headwater.cpg.resolve.summaries.transfers import ANY, Transfers, find_transfers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.cpg.resolve.flow import Sites
    from headwater.cpg.resolve.objects import Function
    from headwater.cpg.resolve.outcome import Outcome
    from headwater.cpg.resolve.summaries.calling import Callers

# A function, its parameter's number, the part of it, and whether it is that part as it is.
Label: TypeAlias = "tuple[int, int, str | None, bool]"
# A function, its parameter's number, the part of it, where it goes, where there, whether it stays the same.
Summary: TypeAlias = "tuple[int, int, str | None, str, str | None, bool]"

_MOST_STEPS = 2
_MOST_LABELS = 24  # at one variable; what more come together there is lost
_RETURN, _SELF, _GLOBAL = "return", "self", "global"


@dataclass(slots=True)
class _Following:
    outcome: Outcome
    transfers: Transfers
    labels: dict[int, list[Label]] = field(default_factory=dict[int, "list[Label]"])
    queue: deque[tuple[int, Label]] = field(default_factory=deque["tuple[int, Label]"])
    found: dict[Summary, None] = field(default_factory=dict["Summary", None])
    given: dict[tuple[int, int], list[tuple[int, int]]] = field(
        default_factory=dict["tuple[int, int]", "list[tuple[int, int]]"]
    )
    stores: dict[int, list[tuple[int, str]]] = field(default_factory=dict[int, "list[tuple[int, str]]"])
    parameters: dict[int, tuple[int, int]] = field(default_factory=dict[int, "tuple[int, int]"])
    shared: frozenset[int] = frozenset()

    def put(self, variable: int, label: Label) -> None:
        known = self.labels.get(variable)
        if known is None:
            self.labels[variable] = [label]
        elif len(known) < _MOST_LABELS and label not in known:
            known.append(label)
        else:
            return
        self.queue.append((variable, label))


def find_summaries(outcome: Outcome, sites: Sites, callers: Callers) -> list[Summary]:
    """Where parameters of all functions go, in order."""
    program = outcome.program
    following = _Following(outcome, find_transfers(program))
    for target, source, name in sites.stored:
        following.stores.setdefault(target, []).append((source, f".{name}"))
    for target, source, key in sites.item_stores:
        following.stores.setdefault(target, []).append((source, path_of_key(key)))
    following.shared = frozenset(member for module in program.solver.modules for member in module.values())
    _add_calls(following, sites, callers)
    for variable, function in program.solver.functions.items():
        for place, parameter in enumerate(parameters_of(function)):
            following.parameters[parameter] = (variable, place)
    for parameter, (variable, place) in following.parameters.items():
        following.put(parameter, (variable, place, None, True))
    while following.queue:
        _follow(following, *following.queue.popleft())
    return sorted(
        following.found, key=lambda each: (each[0], each[1], each[2] or "", each[3], each[4] or "", each[5])
    )


def parameters_of(function: Function) -> list[int]:
    """The variables of a function's parameters as they are written."""
    named = [each.variable for each in function.named.values() if each.kind == KEYWORD_ONLY]
    rest = [] if function.rest is None else [function.rest.variable]
    keywords = [] if function.keywords is None else [function.keywords.variable]
    return [*(each.variable for each in function.positional), *rest, *named, *keywords]


def _add_calls(following: _Following, sites: Sites, callers: Callers) -> None:
    """Note where the arguments of calls go: to parameters, or through what is outside."""
    solver, outcome = following.outcome.program.solver, following.outcome
    for variable, reached in callers.of.items():
        function = solver.functions[variable]
        places = {each: place for place, each in enumerate(parameters_of(function))}
        for number, site, _ in reached:
            call = outcome.order[number]
            if call.dispatch:
                continue
            is_bound = function.owner is not None and any(receiver >= 0 for _, receiver in call.bound)
            first = 1 if is_bound else 0
            read = sites.receivers.get(site + 1)
            if is_bound and read is not None and function.name != "__init__" and read[0] >= 0:
                following.given.setdefault((variable, 0), []).append((read[0], site))
            for parameter, value in _bound(function, first, sites.arguments.get(site, ())):
                if value >= 0:
                    following.given.setdefault((variable, places[parameter]), []).append((value, site))
    for (_, site, _), thing in callers.outside:
        _add_outside(following, sites, site, thing)


def _bound(
    function: Function, place: int, arguments: Sequence[tuple[int, str | None, int]]
) -> list[tuple[int, int]]:
    """Parameters and the variables of the arguments that go there as they are."""
    found: list[tuple[int, int]] = []
    for _, text, value in arguments:
        if text in {"*", "**"}:
            break
        parameter = None
        if text is not None:
            parameter = function.named.get(text)
        elif place < len(function.positional):
            parameter = function.positional[place]
            place += 1
        if parameter is not None:
            found.append((parameter.variable, value))
    return found


def _add_outside(following: _Following, sites: Sites, site: int, thing: int) -> None:
    objects = following.outcome.program.solver.objects
    kind, of = objects.kind[thing], objects.of[thing]
    if kind not in {BUILTIN, EXTERNAL, METHOD}:
        return
    name = of[1] if kind == METHOD else of
    if name.rpartition(".")[2] in SAYING:
        return
    is_same = name in HANDING_ON
    for _, _, value in sites.arguments.get(site, ()):
        if value >= 0:
            following.transfers.add(value, site, None, is_same=is_same)
    read = sites.receivers.get(site + 1)
    if kind == METHOD and read is not None and read[0] >= 0:
        following.transfers.add(read[0], site, None, is_same=False)


def _follow(following: _Following, variable: int, label: Label) -> None:
    function, place, part, is_same = label
    for to, (path, stays) in following.transfers.of(variable):
        if to in following.shared:
            _find(following, (function, place, part, _GLOBAL, None, is_same and stays))
            continue
        step = _step(part, path) if is_same else part
        following.put(to, (function, place, step, is_same and stays and (path is None or step is not part)))
    for owner, is_yielded in following.transfers.returned.get(variable, ()):
        if owner == function:
            _find(following, (function, place, part, _RETURN, ANY if is_yielded else None, is_same))
    for source, path in following.stores.get(variable, ()):
        there = following.parameters.get(source)
        if there is not None and there[0] == function:
            solver = following.outcome.program.solver
            is_self = there[1] == 0 and solver.functions[function].owner is not None
            _find(
                following, (function, place, part, _SELF if is_self else f"param {there[1]}", path, is_same)
            )


def _step(part: str | None, path: str | None) -> str | None:
    """A part of a part; beyond two steps it is just a part of that."""
    if path is None:
        return part
    whole = f"{part or ''}{path}"
    return whole if whole.count(".") + whole.count("[") <= _MOST_STEPS else part


def _find(following: _Following, summary: Summary) -> None:
    """Something goes somewhere; if it goes back, so it does from the arguments of all calls."""
    if summary in following.found:
        return
    following.found[summary] = None
    function, place, part, to, path, is_same = summary
    if to != _RETURN:
        return
    stays = is_same and path is None
    for value, site in following.given.get((function, place), ()):
        following.transfers.add(value, site, part, is_same=stays)
        for label in sorted(following.labels.get(value, ()), key=repr):
            owner, number, known, same = label
            step = _step(known, part) if same else known
            following.put(site, (owner, number, step, same and stays and (part is None or step is not known)))
