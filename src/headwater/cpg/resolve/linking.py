"""Imports, builtins and classes of a loaded program: what they mean across files.

Not here: calls and all that follows from them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.cpg.extract.values.facts import FROM, IMPORT, IMPORT_AS, STAR
from headwater.cpg.resolve.lookup import module_at, module_member, starred_member
from headwater.cpg.resolve.mro import linearise
from headwater.cpg.resolve.objects import BUILTIN, CLASS, EXTERNAL, MODULE, NAMESPACE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.cpg.resolve.defining import Imported, Loading
    from headwater.cpg.resolve.solving import Rule, Solver


@dataclass(frozen=True, slots=True)
class Linked:
    """What an import means: a module of the repository or a name outside; `name` is what is taken from it.

    `module` is the file of the module, missing for a namespace package and for what is outside or nowhere.
    """

    imported: Imported
    module: int | None
    place: str | None
    outside: str | None
    name: str | None


def link_imports(solver: Solver, loading: Loading, paths: Sequence[str]) -> list[Linked]:
    """Give the names that imports bind what they mean."""
    linked = [_link(solver, each, paths[each.file]) for each in loading.imports]
    for each in linked:
        if each.imported.op == STAR:
            solver.stars[each.imported.file].append((each.module, each.outside or ""))
    for each in linked:
        _bind(solver, each)
    return linked


def _link(solver: Solver, imported: Imported, path: str) -> Linked:
    """The module that is imported from; of `import a.b` it is `a`."""
    text, level = imported.text, imported.level
    module, _, name = text.partition(" ") if imported.op == FROM else (text, "", None)
    wanted = module.partition(".")[0] if imported.op == IMPORT else module
    index = solver.index
    at = index.find_relative(path, level, wanted) if level > 0 else index.find(path, wanted)
    if at is None:
        outside = "." * max(level, 0) + wanted if level > 0 else wanted
        return Linked(imported, None, None, outside, name)
    file = solver.file_of_path.get(at[0]) if at[0] is not None else None
    return Linked(imported, file, at[1], None, name)


def _bind(solver: Solver, linked: Linked) -> None:
    imported, objects = linked.imported, solver.objects
    variable = imported.variable
    if imported.op == STAR:
        return
    if linked.outside is not None:
        if not linked.outside.startswith("."):
            dotted = linked.outside if linked.name is None else f"{linked.outside}.{linked.name}"
            solver.add(variable, objects.get(EXTERNAL, dotted))
        return
    if imported.op in {IMPORT, IMPORT_AS}:
        made = MODULE if linked.module is not None else NAMESPACE
        solver.add(variable, objects.get(made, linked.place if linked.module is None else linked.module))
        return
    _bind_member(solver, linked, linked.name or "")


def _bind_member(solver: Solver, linked: Linked, name: str) -> None:
    """What a module has under a name; a package that takes a module from itself has no such name before."""
    variable = linked.imported.variable
    inner = None
    if linked.place is not None:
        inner = module_at(solver, f"{linked.place}/{name}" if linked.place else name)
    if linked.module is not None and (linked.module != linked.imported.file or inner is None):
        found = module_member(solver, linked.module, name)
        if found is not None and found != variable:
            solver.copy(found, variable)
            return
        thing = solver.objects.get(MODULE, linked.module)
        solver.copy(solver.attribute(thing, name), variable)
    if inner is not None:
        solver.add(variable, inner)


def link_builtins(solver: Solver, loading: Loading) -> None:
    """Give builtin names what they mean, unless a star import has another; and names only stars can have."""
    objects = solver.objects
    for file, variable, name in loading.builtins:
        found = starred_member(solver, file, name, set()) if solver.stars[file] else None
        if found is None:
            solver.add(variable, objects.get(BUILTIN, name))
        else:
            solver.copy(found, variable)
    for file, variable, name in loading.starred:
        found = starred_member(solver, file, name, set())
        if found is not None:
            solver.copy(found, variable)
            continue
        outside = [each for module, each in solver.stars[file] if module is None and each[:1] != "."]
        if outside:
            solver.add(variable, objects.get(EXTERNAL, f"{outside[-1]}.{name}"))


def link_classes(solver: Solver) -> None:
    """Put the classes in order, outermost bases first; bases that come up later are added then."""
    done: dict[int, Sequence[int]] = {}
    solver.known_members.clear()
    for variable in solver.classes:
        _order(solver, variable, done)
    for variable, class_ in solver.classes.items():
        for each in class_.order[1:]:
            solver.subclasses.setdefault(each, []).append(variable)
        for base in class_.bases:
            if base >= 0:
                solver.wait(base, (_add_base, variable))


def _order(solver: Solver, variable: int, done: dict[int, Sequence[int]]) -> None:
    """Put a class in order after those that it inherits from; it goes without recursion."""
    objects = solver.objects
    stack = [variable]
    opened: set[int] = set()
    while stack:
        at = stack[-1]
        own = objects.get(CLASS, at)
        if own in done:
            stack.pop()
            continue
        bases = base_objects(solver, at)
        waiting = [
            objects.of[each]
            for each in bases
            if objects.kind[each] == CLASS and each not in done and objects.of[each] not in opened
        ]
        opened.add(at)
        if waiting:
            stack += reversed(waiting)
            continue
        order = linearise(own, bases, lambda each: done.get(each, (each,)))
        solver.classes[at].order = done[own] = order
        stack.pop()


def base_objects(solver: Solver, variable: int) -> list[int]:
    """What the bases of a class may be, in order."""
    return [
        each
        for base in solver.classes[variable].bases
        for each in (sorted(solver.has[base] or ()) if base >= 0 else ())
        if _is_base(solver, each)
    ]


def _is_base(solver: Solver, thing: int) -> bool:
    objects = solver.objects
    kind = objects.kind[thing]
    return kind in {CLASS, EXTERNAL} or (kind == BUILTIN and objects.of[thing] != "object")


def _add_base(solver: Solver, things: Sequence[int], rule: Rule) -> None:
    """A base that was not known when classes were put in order comes behind those that were."""
    class_ = solver.classes[rule[1]]
    objects = solver.objects
    for each in things:
        if not _is_base(solver, each) or each in class_.order:
            continue
        solver.known_members.clear()
        more = solver.classes[objects.of[each]].order if objects.kind[each] == CLASS else (each,)
        class_.order = (*class_.order, *(new for new in more if new not in class_.order))
