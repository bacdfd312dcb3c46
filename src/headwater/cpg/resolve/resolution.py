"""The whole way from value facts to what every call may reach, step by step.

Not here: the rows that come of it.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.cpg.resolve.attributes import READERS
from headwater.cpg.resolve.builtin_calls import call_builtin
from headwater.cpg.resolve.builtin_methods import call_method
from headwater.cpg.resolve.calling import CALLERS, tell_bases
from headwater.cpg.resolve.dispatching import call_dispatch, read_dispatch
from headwater.cpg.resolve.library import calls_of_library
from headwater.cpg.resolve.linking import link_builtins, link_classes, link_imports
from headwater.cpg.resolve.loading import load_files, make_instances
from headwater.cpg.resolve.lookup import bound, has_member, module_member
from headwater.cpg.resolve.modules import index_modules, place_of
from headwater.cpg.resolve.objects import (
    BELOW,
    BUILTIN,
    CLASS,
    DECLARED,
    DISPATCH,
    EXTERNAL,
    FAMILY,
    INSTANCE,
    METHOD,
    STATICMETHOD,
)
from headwater.cpg.resolve.reflecting import call_family
from headwater.cpg.resolve.solving import LEAST_STEPS, STEPS_PER_FACT, Solver
from headwater.memory import give_back

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from headwater.cpg.resolve.defining import FileValues, Loading
    from headwater.cpg.resolve.linking import Linked

_MOST_ROUNDS = 4


@dataclass(frozen=True, slots=True)
class Program:
    """A program that is solved: its files in order, where their variables begin, and the solver."""

    files: Sequence[FileValues]
    bases: Sequence[int]
    solver: Solver
    imports: Sequence[Linked]
    sources: dict[int, list[int]] = field(default_factory=dict[int, "list[int]"])
    class_kinds: frozenset[int] = frozenset({CLASS, EXTERNAL, BUILTIN})

    def place(self, variable: int) -> tuple[str, int]:
        """The file's path and the node of a variable that is one."""
        file = bisect_right(self.bases, variable) - 1
        return self.files[file].path, variable - self.bases[file]

    def sources_of(self, variable: int) -> Sequence[int]:
        """The variables that imports bind and that a variable gets its values from."""
        return self.sources.get(variable, ())


def solve(files: Iterable[FileValues]) -> Program:
    """What every variable of a repository may have; the order in which files are given does not matter."""
    ordered = sorted(files, key=lambda each: each.path)
    index = index_modules(each.path for each in ordered)
    solver = Solver(index)
    solver.places = [place_of(each.path) for each in ordered]
    solver.file_of_path = {each.path: number for number, each in enumerate(ordered)}
    solver.readers = READERS | {DISPATCH: read_dispatch}
    solver.callers = CALLERS | {
        BUILTIN: call_builtin,
        METHOD: call_method,
        DISPATCH: call_dispatch,
        FAMILY: call_family,
        EXTERNAL: calls_of_library(CALLERS[EXTERNAL]),
    }
    solver.most_steps = LEAST_STEPS + STEPS_PER_FACT * sum(len(each.op) for each in ordered)
    loading, bases = load_files(solver, ordered)
    linked = link_imports(solver, loading, [each.path for each in ordered])
    link_builtins(solver, loading)
    solver.run()
    link_classes(solver)
    _note_properties(solver)
    put_off, solver.put_off = solver.put_off or [], None
    for member, thing, target in solver.unbound:
        solver.add(target, bound(solver, member, thing))
    for thing, name, target in solver.early:
        READERS[solver.objects.kind[thing]](solver, thing, name, target)
    for call, thing in put_off:
        solver.invoke(thing, call)
    tell_bases(solver)
    solver.run()
    for number in range(_MOST_ROUNDS):
        _fill_gaps(solver, loading, number)
        if not solver.queue and not solver.tasks:
            break
        solver.run()
    sources = _sources(solver, linked)
    solver.forget()
    give_back()
    return Program(ordered, bases, solver, linked, sources)


def _sources(solver: Solver, linked: Sequence[Linked]) -> dict[int, list[int]]:
    """For variables that get what an import binds, the variables of these imports."""
    found: dict[int, list[int]] = {}
    for each in linked:
        for target in solver.copies_of(each.imported.variable):
            found.setdefault(target, []).append(each.imported.variable)
    return found


def _note_properties(solver: Solver) -> None:
    """Members that a call of `property` makes are read as those that are decorated."""
    made = {
        target
        for call in solver.calls
        if call.callee >= 0 and call.dispatch == "" and _is_property(solver, call.callee)
        for target in solver.copies_of(call.result)
    }
    for class_ in solver.classes.values():
        solver.decorated_names.update(name for name, variable in class_.members.items() if variable in made)


def _is_property(solver: Solver, variable: int) -> bool:
    """Whether what is called makes a property, or another object that is asked when it is read or stored."""
    objects = solver.objects
    for each in solver.has[variable] or ():
        kind = objects.kind[each]
        if kind == BUILTIN and objects.of[each] == "property":
            return True
        if kind == CLASS:
            made = objects.get(INSTANCE, objects.of[each])
            if has_member(solver, made, "__get__") or has_member(solver, made, "__set__"):
                return True
    return False


def _fill_gaps(solver: Solver, loading: Loading, number: int) -> None:
    """What nothing is known of gets what is likely: methods that nobody calls are called on their class."""
    fallbacks, solver.fallbacks = solver.fallbacks, []
    for rule in fallbacks:
        rule[0](solver, rule)
    if number:
        return
    for function in solver.functions.values():
        if function.owner is not None and function.positional:
            first = function.positional[0].variable
            if not any(
                solver.objects.kind[each] in {INSTANCE, CLASS} for each in solver.has[first] or ()
            ) and not _is_static(solver, function.variable):
                solver.add(first, solver.objects.get(INSTANCE, function.owner, DECLARED))
    for variable, raw in loading.decorated:
        if not solver.has[variable]:
            solver.copy(raw, variable)
    for annotation in loading.annotations:
        _believe(solver, annotation)


def _is_static(solver: Solver, variable: int) -> bool:
    return any(solver.objects.kind[each] == STATICMETHOD for each in solver.has[variable] or ())


def _believe(solver: Solver, annotation: tuple[int, int, str | None, int]) -> None:
    """What is annotated is an instance of what it is annotated with: surely, if nothing else is known."""
    target, source, text, file = annotation
    function = solver.functions.get(target)
    if function is not None and (function.is_generator or function.passed):
        return
    variable = target if function is None else function.returned
    named = module_member(solver, file, text) if text is not None else source
    if named is None:
        return
    if not solver.has[variable]:
        solver.believed.add(variable)
        solver.wait(named, (make_instances, variable))
        return
    objects = solver.objects
    is_own = any(objects.kind[each] == INSTANCE for each in solver.has[variable] or ())
    for each in solver.has[named] or ():
        if objects.kind[each] == CLASS:
            solver.add(variable, objects.get(INSTANCE, objects.of[each], BELOW if is_own else DECLARED))
