"""Calls as a plain graph of names: who calls whom.

Names are dotted: module, classes and functions; `<lambda1>` is the first lambda of its def, `<builtin>.len` a
builtin, `<**PyStr**>.join` a method of a builtin type. The body of a module is the module. A class without a
constructor of its own runs no code, so nothing is called where it is, unless a base outside has one; marks
such as `staticmethod`, used as decorators, run none either. Not here: what calls reach.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.cpg.resolve.confidence import EXPORT_THRESHOLD
from headwater.cpg.resolve.objects import BUILTIN, CLASS, EXTERNAL, FUNCTION, METHOD

if TYPE_CHECKING:
    from headwater.cpg.resolve.outcome import Outcome
    from headwater.cpg.resolve.resolution import Program

_TYPES = {
    "str": "PyStr",
    "bytes": "PyBytes",
    "dict": "PyDict",
    "list": "PyList",
    "tuple": "PyTuple",
    "set": "PySet",
    "int": "PyNum",
    "float": "PyNum",
}
_MODULE_ROW = 1


def call_graph(outcome: Outcome, threshold: float = EXPORT_THRESHOLD) -> dict[str, list[str]]:
    """For each def the names of what it calls, both in order.

    Args:
        outcome: the calls of a program
        threshold: how sure a candidate must be that is not the best of its call, or that was found by name
    """
    program, calls, targets = outcome.program, outcome.order, outcome.targets
    names = names_of(program)
    graph: dict[str, set[str]] = {name: set() for name in names.values()}
    for number, thing, sure, is_winner, resolver in zip(
        targets.call, outcome.things, targets.confidence, targets.is_winner, targets.resolver, strict=True
    ):
        call = calls[number]
        if not is_called(
            threshold, sure=sure, is_winner=is_winner, resolver=resolver, dispatch=call.dispatch
        ):
            continue
        name = target_name(program, names, thing)
        if name is not None and call.caller in names:
            graph[names[call.caller]].add(name)
    return {caller: sorted(graph[caller]) for caller in sorted(graph)}


def is_called(threshold: float, *, sure: float, is_winner: bool, resolver: str, dispatch: str) -> bool:
    """Whether a candidate counts as called: it is sure enough, or the best by where values go.

    What is builtin and used as a decorator is a mark, and runs no code that anybody would look for.
    """
    if dispatch == "decorator" and resolver == "builtin":
        return False
    return sure >= threshold or (is_winner and resolver != "name")


def target_names(outcome: Outcome) -> list[str | None]:
    """The name of each candidate as the graph has it; nothing for what runs no code."""
    names = names_of(outcome.program)
    known: dict[int, str | None] = {}
    for thing in outcome.things:
        if thing not in known:
            known[thing] = target_name(outcome.program, names, thing)
    return [known[thing] for thing in outcome.things]


def names_of(program: Program) -> dict[int, str]:
    """The dotted name of each def, by its variable."""
    solver = program.solver
    names: dict[int, str] = {}
    lambdas: dict[int, int] = {}
    for file, base in zip(program.files, program.bases, strict=True):
        names[base + _MODULE_ROW] = solver.index.names.get(file.path, file.path)
    defs = sorted([*solver.functions.values(), *solver.classes.values()], key=lambda each: each.variable)
    for each in defs:
        name = each.name
        if name == "<lambda>":
            lambdas[each.around] = number = lambdas.get(each.around, 0) + 1
            name = f"<lambda{number}>"
        names[each.variable] = f"{names[each.around]}.{name}"
    return names


def target_name(program: Program, names: dict[int, str], target: int) -> str | None:
    """The name of what is called; nothing for what runs no code."""
    objects = program.solver.objects
    kind, of = objects.kind[target], objects.of[target]
    if kind == FUNCTION:
        return names[of]
    if kind == EXTERNAL:
        return of
    if kind == BUILTIN:
        return f"<builtin>.{of}"
    if kind == METHOD:
        return None if of[0] == "object" else f"<**{_TYPES.get(of[0], of[0])}**>.{of[1]}"
    if kind == CLASS:
        order = program.solver.classes[of].order
        outside = next((objects.of[each] for each in order if objects.kind[each] == EXTERNAL), None)
        return None if outside is None else f"{outside}.__init__"
    return None
