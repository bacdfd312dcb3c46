"""Rows of classes: their bases, the order in which attributes are looked up, and what overrides what.

Not here: how the order is found.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.cpg.resolve.objects import CLASS
from headwater.cpg.resolve.outcome import place_of_object, symbol_of_object

if TYPE_CHECKING:
    from headwater.cpg.resolve.outcome import Outcome


@dataclass(frozen=True, slots=True)
class BaseRows:
    """One entry per class, base as it is written, and what that may be; the symbol is missing if unknown."""

    path: list[str] = field(default_factory=list[str])
    node: list[int] = field(default_factory=list[int])
    base_idx: list[int] = field(default_factory=list[int])
    symbol: list[str | None] = field(default_factory=list["str | None"])
    base_path: list[str | None] = field(default_factory=list["str | None"])
    base_node: list[int | None] = field(default_factory=list["int | None"])


@dataclass(frozen=True, slots=True)
class OrderRows:
    """One entry per class and class in its order, itself first; `object` is left out."""

    path: list[str] = field(default_factory=list[str])
    node: list[int] = field(default_factory=list[int])
    pos: list[int] = field(default_factory=list[int])
    symbol: list[str] = field(default_factory=list[str])
    base_path: list[str | None] = field(default_factory=list["str | None"])
    base_node: list[int | None] = field(default_factory=list["int | None"])


@dataclass(frozen=True, slots=True)
class OverrideRows:
    """One entry per method and method of the same name further back in the order of its class.

    `is_transitive` is false for the one that is nearest.
    """

    path: list[str] = field(default_factory=list[str])
    node: list[int] = field(default_factory=list[int])
    overridden_path: list[str] = field(default_factory=list[str])
    overridden_node: list[int] = field(default_factory=list[int])
    is_transitive: list[bool] = field(default_factory=list[bool])


def base_rows(outcome: Outcome) -> BaseRows:
    """The bases of all classes."""
    program = outcome.program
    solver, rows = program.solver, BaseRows()
    for variable in sorted(solver.classes):
        path, node = program.place(variable)
        for index, base in enumerate(solver.classes[variable].bases):
            known = [
                each
                for each in (solver.has[base] or () if base >= 0 else ())
                if solver.objects.kind[each] in outcome.program.class_kinds
            ]
            found = sorted((symbol_of_object(outcome, each), each) for each in known)
            for symbol, thing in found or [(None, None)]:
                there, at = (None, None) if thing is None else place_of_object(outcome, thing)
                rows.path.append(path)
                rows.node.append(node)
                rows.base_idx.append(index)
                rows.symbol.append(symbol)
                rows.base_path.append(there)
                rows.base_node.append(at)
    return rows


def order_rows(outcome: Outcome) -> OrderRows:
    """The order of all classes."""
    program = outcome.program
    solver, rows = program.solver, OrderRows()
    for variable in sorted(solver.classes):
        path, node = program.place(variable)
        for pos, thing in enumerate(solver.classes[variable].order):
            there, at = place_of_object(outcome, thing)
            rows.path.append(path)
            rows.node.append(node)
            rows.pos.append(pos)
            rows.symbol.append(symbol_of_object(outcome, thing))
            rows.base_path.append(there)
            rows.base_node.append(at)
    return rows


def override_rows(outcome: Outcome) -> OverrideRows:
    """What methods override, nearest first."""
    program = outcome.program
    solver, rows = program.solver, OverrideRows()
    objects = solver.objects
    methods: dict[int, dict[str, int]] = {}
    for function in solver.functions.values():
        if function.owner is not None:
            methods.setdefault(function.owner, {})[function.name] = function.variable
    for variable in sorted(methods):
        behind = [
            objects.of[each] for each in solver.classes[variable].order[1:] if objects.kind[each] == CLASS
        ]
        for name, method in sorted(methods[variable].items()):
            found = [methods[each][name] for each in behind if name in methods.get(each, ())]
            path, node = program.place(method)
            for index, each in enumerate(found):
                there, at = program.place(each)
                rows.path.append(path)
                rows.node.append(node)
                rows.overridden_path.append(there)
                rows.overridden_node.append(at)
                rows.is_transitive.append(index > 0)
    return rows
