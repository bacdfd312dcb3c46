"""The rows that come of a solved program: calls, and all candidates of each with what speaks for it.

Nodes are told by their file's path and their number in it. Not here: arguments, classes and imports.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from headwater.cpg.resolve.confidence import confidence_of, resolution_of
from headwater.cpg.resolve.guessing import guess_by_name
from headwater.cpg.resolve.objects import BUILTIN, CLASS, EXTERNAL, FUNCTION, METHOD, MODULE
from headwater.cpg.resolve.symbols import builtin_symbol, external_symbol

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from headwater.cpg.resolve.objects import Call
    from headwater.cpg.resolve.resolution import Program
    from headwater.cpg.resolve.symbols import Distributions

# How an object that is called was found, by its kind.
RESOLVERS = {
    FUNCTION: "value",
    CLASS: "class",
    BUILTIN: "builtin",
    METHOD: "builtin",
    EXTERNAL: "external",
}
_OWN = frozenset({FUNCTION, CLASS})
_MODULE_NODE = 1
# A symbol, and the file and node of its definition; both are missing for what is outside.
Meaning: TypeAlias = "tuple[str, str | None, int | None]"


@dataclass(frozen=True, slots=True)
class CallRows:
    """One entry per call, by path, node, dispatch and slot.

    `dispatch` is call (it is written so), decorator, property, dunder, callback or constructor (a class that
    is raised). `slot` tells calls apart that are implied at one node: the method's name, or a number.
    `caller` is the node of the def that makes the call. `reason` says why nothing was found.
    """

    path: list[str] = field(default_factory=list[str])
    node: list[int] = field(default_factory=list[int])
    caller: list[int] = field(default_factory=list[int])
    dispatch: list[str] = field(default_factory=list[str])
    slot: list[str] = field(default_factory=list[str])
    resolution: list[str] = field(default_factory=list[str])
    candidates: list[int] = field(default_factory=list[int])
    reason: list[str | None] = field(default_factory=list["str | None"])


@dataclass(frozen=True, slots=True)
class TargetRows:
    """One entry per candidate; `call` is the index of the call, the node is missing for what is outside."""

    call: list[int] = field(default_factory=list[int])
    symbol: list[str] = field(default_factory=list[str])
    path: list[str | None] = field(default_factory=list["str | None"])
    node: list[int | None] = field(default_factory=list["int | None"])
    resolver: list[str] = field(default_factory=list[str])
    resolution: list[str] = field(default_factory=list[str])
    confidence: list[float] = field(default_factory=list[float])
    rank: list[int] = field(default_factory=list[int])
    is_winner: list[bool] = field(default_factory=list[bool])


@dataclass
class Outcome:
    """What is at hand while rows are made; `winner` has the best target of each call."""

    program: Program
    symbols: Mapping[int, str]
    names: Distributions
    calls: CallRows = field(default_factory=CallRows)
    targets: TargetRows = field(default_factory=TargetRows)
    order: list[Call] = field(default_factory=list["Call"])
    things: list[int] = field(default_factory=list[int])
    winner: list[int | None] = field(default_factory=list["int | None"])
    meanings: dict[int, Meaning] = field(default_factory=dict[int, "Meaning"])

    @cached_property
    def members(self) -> Mapping[int, Sequence[tuple[int, Mapping[str, int]]]]:
        """By file, its classes with their members."""
        found: dict[int, list[tuple[int, Mapping[str, int]]]] = {}
        for each in self.program.solver.classes.values():
            found.setdefault(each.file, []).append((each.variable, each.members))
        return found


def call_rows(program: Program, symbols: Mapping[int, str], names: Distributions) -> Outcome:
    """The calls of a program and all their candidates, in order."""
    outcome = Outcome(program, symbols, names)
    solver = program.solver
    guesses = guess_by_name(program)
    known = [call for call in solver.calls if call.file >= 0 and (call.targets or call.dispatch == "")]
    known += [call for call in solver.calls if call.file >= 0 and _is_open_decorator(call)]
    outcome.order = sorted(known, key=lambda call: (call.file, call.site, call.dispatch, call.slot))
    for call in outcome.order:
        _add_call(outcome, call, guesses.get(call.site, ()) if call.dispatch == "" else ())
    return outcome


def _is_open_decorator(call: Call) -> bool:
    return call.dispatch == "decorator" and not call.targets


def _add_call(outcome: Outcome, call: Call, guesses: Sequence[int]) -> None:
    solver, calls = outcome.program.solver, outcome.calls
    base = outcome.program.bases[call.file]
    targets = list(call.targets) or list(guesses)
    is_guessed = not call.targets
    is_wide = solver.is_wide(call.callee)
    number = len(calls.path)
    calls.path.append(outcome.program.files[call.file].path)
    calls.node.append(call.site - base)
    calls.caller.append(call.caller - base)
    calls.dispatch.append(call.dispatch or "call")
    calls.slot.append(_slot(calls, call))
    calls.candidates.append(len(targets))
    if not targets:
        calls.resolution.append("dynamic" if is_wide else "unresolved")
        calls.reason.append(_reason(solver.has[call.callee] if call.callee >= 0 else None, call))
        outcome.winner.append(None)
        return
    calls.reason.append(None)
    ranked = _ranked(outcome, call, targets, is_guessed=is_guessed, is_wide=is_wide)
    said = resolution_of(ranked[0][3], len(targets), is_wide=is_wide)
    calls.resolution.append(said)
    outcome.winner.append(ranked[0][4])
    for rank, (sure, _, symbol, resolver, thing) in enumerate(ranked, 1):
        _, path, node = _called_meaning(outcome, thing)
        rows = outcome.targets
        outcome.things.append(thing)
        rows.call.append(number)
        rows.symbol.append(symbol)
        rows.path.append(path)
        rows.node.append(node)
        rows.resolver.append(resolver)
        rows.resolution.append(said)
        rows.confidence.append(-sure)
        rows.rank.append(rank)
        rows.is_winner.append(rank == 1)


def _slot(calls: CallRows, call: Call) -> str:
    """What tells a call apart from others implied at its node: of callbacks, how many came before."""
    if call.dispatch != "callback":
        return call.slot
    before = len(calls.slot) - 1  # the row itself has all but its slot
    is_next = before >= 0 and calls.node[-1] == calls.node[before] and calls.dispatch[before] == "callback"
    return str(int(calls.slot[before]) + 1) if is_next and calls.path[before] == calls.path[-1] else "0"


def _ranked(
    outcome: Outcome, call: Call, targets: Sequence[int], *, is_guessed: bool, is_wide: bool
) -> list[tuple[float, bool, str, str, int]]:
    """Candidates from the surest on; of those that are as sure, the ones of the caller's file come first."""
    kinds = outcome.program.solver.objects.kind
    if len(targets) == 1 and not is_guessed and call.targets[targets[0]] != "declared":
        (only,) = targets
        resolver = RESOLVERS[kinds[only]]
        sure = confidence_of(resolver, 1, is_wide=is_wide)
        return [(-sure, False, symbol_of_object(outcome, only), resolver, only)]
    has_own = any(kinds[each] in _OWN for each in targets)
    path = outcome.program.files[call.file].path
    strong = len(targets) - sum(how == "declared" for how in call.targets.values())
    ranked: list[tuple[float, bool, str, str, int]] = []
    for each in targets:
        resolver = "name" if is_guessed else RESOLVERS[kinds[each]]
        if not is_guessed and call.targets[each] == "declared":
            resolver = "declared"
        count = len(targets) if resolver == "declared" else strong
        sure = confidence_of(
            resolver, count, is_beside_own=has_own and kinds[each] == EXTERNAL, is_wide=is_wide
        )
        there = place_of_object(outcome, each)[0] != path
        ranked.append((-sure, there, symbol_of_object(outcome, each), resolver, each))
    return sorted(ranked)


def _reason(things: Collection[int] | None, call: Call) -> str:
    if call.callee < 0:
        return "no value"
    return "nothing known of what is called" if not things else "what is called cannot be called"


def meaning_of(outcome: Outcome, thing: int) -> Meaning:
    """The symbol of a module, function, class, builtin or something outside, and where it is defined."""
    objects, program = outcome.program.solver.objects, outcome.program
    if objects.kind[thing] == MODULE:
        file: int = objects.of[thing]
        symbol = outcome.symbols[program.bases[file] + _MODULE_NODE]
        return symbol, program.files[file].path, _MODULE_NODE
    return _called_meaning(outcome, thing)


def place_of_object(outcome: Outcome, thing: int) -> tuple[str | None, int | None]:
    """The file and node of a function or class."""
    _, path, node = _called_meaning(outcome, thing)
    return path, node


def symbol_of_object(outcome: Outcome, thing: int) -> str:
    """The symbol of what is called."""
    return _called_meaning(outcome, thing)[0]


def _called_meaning(outcome: Outcome, thing: int) -> Meaning:
    """The meaning of what is called, which is looked up once: most is called more than once."""
    found = outcome.meanings.get(thing)
    if found is not None:
        return found
    objects = outcome.program.solver.objects
    kind, of = objects.kind[thing], objects.of[thing]
    if kind in _OWN:
        found = (outcome.symbols[of], *outcome.program.place(of))
    elif kind == EXTERNAL:
        found = (external_symbol(of, outcome.names), None, None)
    else:
        found = (builtin_symbol(*of) if kind == METHOD else builtin_symbol(of), None, None)
    outcome.meanings[thing] = found
    return found
