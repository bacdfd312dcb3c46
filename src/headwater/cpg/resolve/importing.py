"""Rows of imports: the module and the definition that each name means, through how many others it came.

Also what modules export, and which module needs which. Not here: how a module is found.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.cpg.extract.values.facts import FROM, STAR
from headwater.cpg.resolve.lookup import module_member, starred_member
from headwater.cpg.resolve.modules import STDLIB, is_of_python
from headwater.cpg.resolve.objects import CLASS, EXTERNAL, FUNCTION, MODULE
from headwater.cpg.resolve.outcome import meaning_of
from headwater.cpg.resolve.symbols import external_symbol

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from headwater.cpg.resolve.linking import Linked
    from headwater.cpg.resolve.outcome import Meaning, Outcome

_DEFINED = frozenset({FUNCTION, CLASS, MODULE})


@dataclass(frozen=True, slots=True)
class ImportRows:
    """One entry per imported name, by path and node of the alias.

    `module` is the module that is imported from and `resolved_path` its file; `symbol` is that of what the
    name means in the end, `def_path` and `def_node` where that is, and `chain` the modules that it came
    through on the way there. `dist` is the distribution outside. `resolution` is exact, ambiguous (more than
    one meaning), external or unresolved.
    """

    path: list[str] = field(default_factory=list[str])
    node: list[int] = field(default_factory=list[int])
    module: list[str | None] = field(default_factory=list["str | None"])
    resolved_path: list[str | None] = field(default_factory=list["str | None"])
    symbol: list[str | None] = field(default_factory=list["str | None"])
    def_path: list[str | None] = field(default_factory=list["str | None"])
    def_node: list[int | None] = field(default_factory=list["int | None"])
    dist: list[str | None] = field(default_factory=list["str | None"])
    chain: list[list[str]] = field(default_factory=list["list[str]"])
    resolution: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class ExportRows:
    """One entry per module and name that others get from it; `via` is definition, reexport or star."""

    module: list[str] = field(default_factory=list[str])
    path: list[str] = field(default_factory=list[str])
    name: list[str] = field(default_factory=list[str])
    symbol: list[str | None] = field(default_factory=list["str | None"])
    def_path: list[str | None] = field(default_factory=list["str | None"])
    def_node: list[int | None] = field(default_factory=list["int | None"])
    via: list[str] = field(default_factory=list[str])


def import_rows(outcome: Outcome) -> ImportRows:
    """What every import of the program means."""
    rows = ImportRows()
    bound = {each.imported.variable: each for each in outcome.program.imports if each.imported.op != STAR}
    for each in outcome.program.imports:
        path, node = outcome.program.place(each.imported.variable)
        rows.path.append(path)
        rows.node.append(node)
        if each.outside is not None:
            _add_outside(outcome, rows, each)
        else:
            _add_own(outcome, rows, each, bound)
    return rows


def _add_outside(outcome: Outcome, rows: ImportRows, each: Linked) -> None:
    outside = each.outside or ""
    is_known = not outside.startswith(".")
    full = each.imported.text.partition(" ")[0] if each.imported.op != FROM else outside
    dotted = full if each.name is None else f"{outside}.{each.name}"
    rows.module.append(full)
    rows.resolved_path.append(None)
    rows.symbol.append(external_symbol(dotted, outcome.names) if is_known else None)
    rows.def_path.append(None)
    rows.def_node.append(None)
    rows.dist.append(
        None if not is_known else STDLIB if is_of_python(outside) else outcome.names.of(outside)[0]
    )
    rows.chain.append([])
    rows.resolution.append("external" if is_known else "unresolved")


def _add_own(outcome: Outcome, rows: ImportRows, each: Linked, bound: Mapping[int, Linked]) -> None:
    program = outcome.program
    solver = program.solver
    file, place = each.module, each.place
    if each.imported.op != FROM:  # of `import a.b` the name is that of `a`, and the module that of `a.b`
        at = solver.index.find(program.files[each.imported.file].path, each.imported.text)
        if at is not None and each.imported.op != STAR:
            file, place = (None if at[0] is None else solver.file_of_path.get(at[0])), at[1]
    path = None if file is None else program.files[file].path
    rows.module.append(
        solver.index.names.get(path, "") if path is not None else (place or "").replace("/", ".")
    )
    rows.resolved_path.append(path)
    rows.dist.append(None)
    if each.imported.op == STAR:
        _add_meaning(rows, None)
        rows.chain.append([])
        rows.resolution.append("exact" if path is not None else "unresolved")
        return
    found = _meanings(outcome, solver.has[each.imported.variable] or ())
    _add_meaning(rows, found[0] if found else None)
    rows.chain.append(_chain(outcome, each, bound))
    is_there = bool(found) or _is_member(outcome, each)
    rows.resolution.append("ambiguous" if len(found) > 1 else "exact" if is_there else "unresolved")


def _meanings(outcome: Outcome, things: Iterable[int]) -> list[Meaning]:
    """What objects are definitions of; those outside count only where there are no others."""
    objects = outcome.program.solver.objects
    own = sorted(meaning_of(outcome, thing) for thing in things if objects.kind[thing] in _DEFINED)
    return own or sorted(meaning_of(outcome, thing) for thing in things if objects.kind[thing] == EXTERNAL)


def _add_meaning(rows: ImportRows | ExportRows, found: Meaning | None) -> None:
    symbol, path, node = found or (None, None, None)
    rows.symbol.append(symbol)
    rows.def_path.append(path)
    rows.def_node.append(node)


def _is_member(outcome: Outcome, each: Linked) -> bool:
    """Whether the module has the name at all, be it that of a plain value."""
    if each.name is None:
        return True
    return (
        each.module is not None and module_member(outcome.program.solver, each.module, each.name) is not None
    )


def _chain(outcome: Outcome, each: Linked, bound: Mapping[int, Linked]) -> list[str]:
    """The modules that a name is imported through, from the one that is named to the one that has it."""
    solver = outcome.program.solver
    chain: list[str] = []
    at: Linked | None = each
    seen: set[tuple[int, str]] = set()
    while at is not None and at.module is not None and at.name is not None:
        if (at.module, at.name) in seen:
            break
        seen.add((at.module, at.name))
        chain.append(solver.index.names.get(outcome.program.files[at.module].path, ""))
        found = solver.modules[at.module].get(at.name)
        if found is None:
            found = starred_member(solver, at.module, at.name, set())
            if found is None:
                break
        at = next((bound[source] for source in outcome.program.sources_of(found) if source in bound), None)
    return chain


def export_rows(outcome: Outcome) -> ExportRows:
    """What others get from every module: what `__all__` lists, or all names without an underscore."""
    program = outcome.program
    solver, rows = program.solver, ExportRows()
    bound = {each.imported.variable for each in program.imports}
    for file, each in enumerate(program.files):
        own = solver.modules[file]
        listed = solver.exports[file]
        names = sorted(set(listed)) if listed is not None else sorted(name for name in own if name[:1] != "_")
        for name in names:
            variable = own.get(name)
            via = "definition"
            if variable is None:
                variable, via = module_member(solver, file, name), "star"
            elif bound.intersection(program.sources_of(variable)):
                via = "reexport"
            things = (solver.has[variable] or ()) if variable is not None else ()
            rows.module.append(solver.index.names.get(each.path, each.path))
            rows.path.append(each.path)
            rows.name.append(name)
            _add_meaning(rows, next(iter(_meanings(outcome, things)), None))
            rows.via.append(via)
    return rows
