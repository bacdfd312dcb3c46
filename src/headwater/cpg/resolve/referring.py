"""Rows of names: the symbol of every binding that others can mean, and what attributes refer to.

A name that is bound by an import means what is imported; by a `def` or `class`, that; any other name of a
module or class has a symbol of its own below that of its module or class. What is bound inside of functions
otherwise is nobody else's. Not here: sites, at which these names are written.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.cpg.extract.values.facts import ATTR, FIRST_BINDING, NOTHING
from headwater.cpg.resolve.confidence import confidence_of, resolution_of
from headwater.cpg.resolve.objects import (
    BOUND,
    BUILTIN,
    CLASS,
    CLASSMETHOD,
    EXTERNAL,
    FUNCTION,
    METHOD,
    MODULE,
    PROPERTY,
    STATICMETHOD,
)
from headwater.cpg.resolve.outcome import RESOLVERS, meaning_of
from headwater.cpg.resolve.symbols import member_symbol

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from headwater.cpg.resolve.importing import ImportRows
    from headwater.cpg.resolve.outcome import Meaning, Outcome

_WRAPPED = frozenset({BOUND, PROPERTY, CLASSMETHOD, STATICMETHOD})
_NAMED = frozenset({FUNCTION, CLASS, MODULE, EXTERNAL, BUILTIN, METHOD})
# An attribute that may be more than this is one of anything.
_MOST = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """What binds names, by path: bindings and the nodes of the imports, functions and classes that bind them.

    `attributes` are bindings that stand for attributes of instances, with the nodes of classes, and names.
    """

    defining: Mapping[str, Iterable[tuple[int, int]]] = field(
        default_factory=dict[str, "Iterable[tuple[int, int]]"]
    )
    attributes: Mapping[str, Iterable[tuple[int, int, str]]] = field(
        default_factory=dict[str, "Iterable[tuple[int, int, str]]"]
    )


@dataclass(frozen=True, slots=True)
class BindingRows:
    """One entry per binding that has a symbol, by path and the binding's number in its file.

    `def_path` and `def_node` are those of the definition that it stands for; where it stands for nothing but
    itself, such as a variable of a module, they are missing and `name` is there.
    """

    path: list[str] = field(default_factory=list[str])
    binding: list[int] = field(default_factory=list[int])
    symbol: list[str] = field(default_factory=list[str])
    def_path: list[str | None] = field(default_factory=list["str | None"])
    def_node: list[int | None] = field(default_factory=list["int | None"])
    name: list[str | None] = field(default_factory=list["str | None"])

    def add(self, path: str, binding: int, meaning: Meaning, name: str | None = None) -> None:
        """One more."""
        self.path.append(path)
        self.binding.append(binding)
        self.symbol.append(meaning[0])
        self.def_path.append(meaning[1])
        self.def_node.append(meaning[2])
        self.name.append(name)


@dataclass(frozen=True, slots=True)
class ReferenceRows:
    """One entry per attribute that is read and what it most likely refers to, by path and node."""

    path: list[str] = field(default_factory=list[str])
    node: list[int] = field(default_factory=list[int])
    symbol: list[str] = field(default_factory=list[str])
    def_path: list[str | None] = field(default_factory=list["str | None"])
    def_node: list[int | None] = field(default_factory=list["int | None"])
    resolver: list[str] = field(default_factory=list[str])
    resolution: list[str] = field(default_factory=list[str])
    confidence: list[float] = field(default_factory=list[float])


@dataclass(frozen=True, slots=True)
class MemberRows:
    """One entry per attribute that is read of a module of the repository (`settings.LIMIT`).

    It is told by path and node, and what it stands for by the module's path and the name's binding there.
    """

    path: list[str] = field(default_factory=list[str])
    node: list[int] = field(default_factory=list[int])
    member_path: list[str] = field(default_factory=list[str])
    member_binding: list[int] = field(default_factory=list[int])


def binding_rows(outcome: Outcome, imports: ImportRows, bound: Bound) -> BindingRows:
    """The symbols of bindings, from what imports mean and what binds names."""
    program, rows = outcome.program, BindingRows()
    imported = _imported(imports)
    for file, (each, base) in enumerate(zip(program.files, program.bases, strict=True)):
        known: dict[int, Meaning] = {}
        for binding, node in bound.defining.get(each.path, ()):
            meaning = imported.get((each.path, node))
            if meaning is None and base + node in outcome.symbols:
                meaning = (outcome.symbols[base + node], each.path, node)
            if meaning is not None:
                known.setdefault(binding, meaning)
        names: dict[int, str] = {}
        for binding, owner, name in (*_members(outcome, file), *bound.attributes.get(each.path, ())):
            if binding not in known and base + owner in outcome.symbols:
                known[binding] = (member_symbol(outcome.symbols[base + owner], name), None, None)
                names[binding] = name
        for binding in sorted(known):
            rows.add(each.path, binding, known[binding], names.get(binding))
    return rows


def _imported(imports: ImportRows) -> dict[tuple[str, int], Meaning]:
    columns = (imports.path, imports.node, imports.symbol, imports.def_path, imports.def_node)
    return {
        (path, node): (symbol, at, there)
        for path, node, symbol, at, there in zip(*columns, strict=True)
        if symbol is not None
    }


def _members(outcome: Outcome, file: int) -> list[tuple[int, int, str]]:
    """The bindings of a file that are members of its module and classes, the nodes of these, and names."""
    program, solver = outcome.program, outcome.program.solver
    base, size = program.bases[file], program.files[file].nodes
    first, last = base + size, base + size + program.files[file].bindings
    owners = [(base + 1, solver.modules[file]), *outcome.members.get(file, ())]
    return [
        (variable - first, owner - base, name)
        for owner, members in owners
        for name, variable in members.items()
        if first <= variable < last
    ]


def reference_rows(outcome: Outcome) -> ReferenceRows:
    """What attributes refer to, file by file, in the order in which facts speak of them."""
    program, solver = outcome.program, outcome.program.solver
    rows = ReferenceRows()
    known: dict[int, Meaning] = {}
    for file, base in zip(program.files, program.bases, strict=True):
        seen: set[int] = set()
        for op, target in zip(file.op, file.target, strict=True):
            if op != ATTR or target < 0 or target in seen:
                continue
            seen.add(target)
            things = solver.has[base + target]
            if not things or len(things) > _MOST:
                continue
            named = _named(outcome, things)
            if named:
                _add_reference(outcome, rows, (file.path, target), named, known)
    return rows


def member_rows(outcome: Outcome) -> MemberRows:
    """What is read of modules by the name that it has there, whatever that name means."""
    program, solver = outcome.program, outcome.program.solver
    rows = MemberRows()
    for file, base in zip(program.files, program.bases, strict=True):
        for op, target, source, name in zip(file.op, file.target, file.source, file.text, strict=True):
            if op != ATTR or target < 0 or source == NOTHING or name is None:
                continue
            things = solver.has[base + (source if source >= 0 else file.nodes + FIRST_BINDING - source)]
            if not things or len(things) > 1:
                continue
            (thing,) = things
            if solver.objects.kind[thing] != MODULE:
                continue
            home: int = solver.objects.of[thing]
            first = program.bases[home] + program.files[home].nodes
            member = solver.modules[home].get(name, -1) - first
            if 0 <= member < program.files[home].bindings:
                rows.path.append(file.path)
                rows.node.append(target)
                rows.member_path.append(program.files[home].path)
                rows.member_binding.append(member)
    return rows


def _named(outcome: Outcome, things: Iterable[int]) -> list[int]:
    """The definitions among objects, each once: what is bound is what is bound to something."""
    objects = outcome.program.solver.objects
    found: dict[int, None] = {}
    for thing in things:
        at = thing
        while objects.kind[at] in _WRAPPED:
            at = objects.of[at]
        if objects.kind[at] in _NAMED:
            found[at] = None
    return list(found)


def _add_reference(
    outcome: Outcome,
    rows: ReferenceRows,
    place: tuple[str, int],
    named: Sequence[int],
    known: dict[int, Meaning],
) -> None:
    kinds = outcome.program.solver.objects.kind
    best: tuple[float, Meaning, str] | None = None
    for thing in named:
        meaning = known.get(thing)
        if meaning is None:
            meaning = known[thing] = meaning_of(outcome, thing)
        resolver = RESOLVERS.get(kinds[thing], "value")
        sure = -confidence_of(resolver, len(named))
        if best is None or (sure, meaning[0]) < (best[0], best[1][0]):
            best = (sure, meaning, resolver)
    if best is None:
        return
    sure, meaning, resolver = best
    rows.path.append(place[0])
    rows.node.append(place[1])
    rows.symbol.append(meaning[0])
    rows.def_path.append(meaning[1])
    rows.def_node.append(meaning[2])
    rows.resolver.append(resolver)
    rows.resolution.append(resolution_of(resolver, len(named), is_wide=False))
    rows.confidence.append(-sure)
