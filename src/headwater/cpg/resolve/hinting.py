"""All that is known of the types of a program: what its files say, and what the solver found.

Not here: how types are told apart, and which of them wins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.cpg.extract.hints.facts import (
    ALIAS,
    ANNOTATION,
    ATTRIBUTE,
    DEFAULT,
    DOCSTRING,
    NAME,
    TYPEVAR,
    VARIABLE,
)
from headwater.cpg.extract.hints.terms import NotAType
from headwater.cpg.resolve.canonical import (
    NONE,
    UNKNOWN,
    build_type,
    class_of,
    class_type,
    parse_type,
    union_of,
)
from headwater.cpg.resolve.inferring import Inferring
from headwater.cpg.resolve.naming import Naming, Scope
from headwater.cpg.resolve.objects import BELOW, CLASSMETHOD, DECLARED, INSTANCE, STATICMETHOD
from headwater.cpg.resolve.stubs import pair_files, pair_nodes
from headwater.cpg.resolve.typefacts import Said, TypeFactRows, TypeRows, TypeTable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TypeAlias

    from headwater.cpg.resolve.canonical import Type
    from headwater.cpg.resolve.objects import Function
    from headwater.cpg.resolve.outcome import Outcome
    from headwater.cpg.resolve.solving import Solver

    FileSaid: TypeAlias = "dict[int, Said]"

_SOURCES = {ANNOTATION: "annotation", DOCSTRING: "docstring", DEFAULT: "default"}
_DECLARED = (DECLARED, BELOW)
_OF_CLASS = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})


def type_rows(outcome: Outcome) -> tuple[TypeRows, TypeFactRows]:
    """The types of a program and the facts about them, of files that have hints."""
    program = outcome.program
    if all(each.hints is None for each in program.files):
        return TypeRows(), TypeFactRows()
    naming = Naming(outcome)
    _learn_names(naming)
    said = [_written(naming, file) for file in range(len(program.files))]
    _add_stubs(naming, said)
    inferring = Inferring(naming)
    _infer_functions(inferring, said)
    for file, known in enumerate(said):
        _infer_names(inferring, file, known)
    table = TypeTable(naming)
    for file, known in enumerate(said):
        path = program.files[file].path
        for node in sorted(known):
            table.add(path, node, known[node])
    return table.rows()


def _stream(naming: Naming, file: int) -> Iterator[tuple[int, int, int, str, dict[str, int]]]:
    """The hints of a file with what names stand for at each; NAME itself is left out."""
    program = naming.outcome.program
    hints = program.files[file].hints
    if hints is None:
        return
    base = program.bases[file]
    top = base + program.files[file].nodes - 2
    names: dict[str, int] = {}
    for op, target, source, text in zip(hints.op, hints.target, hints.source, hints.text, strict=True):
        if op == NAME:
            names[text or ""] = base + target if target >= 0 else top - target if target < -1 else -1
        else:
            yield op, target, source, text or "", names


def _learn_names(naming: Naming) -> None:
    """Learn which names are aliases and type variables, before any type is read."""
    program = naming.outcome.program
    for file, each in enumerate(program.files):
        base = program.bases[file]
        top = base + each.nodes - 2
        for op, target, source, text, names in _stream(naming, file):
            variable = base + target if target >= 0 else top - target
            if op == ALIAS:
                naming.aliases[variable] = (text, Scope(file, dict(names)))
            elif op == TYPEVAR:
                naming.add_typevar(variable, base + source, text)
    naming.expand_aliases()


def _written(naming: Naming, file: int) -> FileSaid:
    """What annotations, docstrings and defaults of a file say."""
    said: FileSaid = {}
    base = naming.outcome.program.bases[file]
    for op, target, source, text, names in _stream(naming, file):
        kind = _SOURCES.get(op)
        if kind is None:
            continue
        own = base + source if source >= 0 else -1
        type_ = parse_type(text) if op == DEFAULT else _read(naming, text, Scope(file, names, own))
        if type_ is None or (op == DOCSTRING and _has_unknown(type_)):
            continue
        known = said.get(target)
        if known is None:
            known = said[target] = Said()
        known.by.setdefault(kind, type_)
    return said


def _read(naming: Naming, text: str, scope: Scope) -> Type | None:
    try:
        type_ = build_type(naming.full(text, scope))
    except NotAType:
        return None
    return None if type_ is UNKNOWN else type_


def _has_unknown(type_: Type) -> bool:
    return type_.form == "unknown" or any(_has_unknown(each) for each in type_.args)


def _add_stubs(naming: Naming, said: Sequence[FileSaid]) -> None:
    program = naming.outcome.program
    pairs = pair_files(program)
    if not pairs:
        return
    for (file, node), speaking in pair_nodes(program, pairs).items():
        found = [said[stub][other].by for stub, other in speaking if other in said[stub]]
        types = [each["annotation"] for each in found if "annotation" in each]
        if types:
            said[file].setdefault(node, Said()).by["stub"] = union_of(types)


def _infer_functions(inferring: Inferring, said: Sequence[FileSaid]) -> None:
    """What values parameters get, and what functions return."""
    program = inferring.naming.outcome.program
    solver = program.solver
    files = [(base, base + each.nodes) for base, each in zip(program.bases, program.files, strict=True)]
    file = 0
    for variable in sorted(solver.functions):
        while file < len(files) and variable >= files[file][1]:
            file += 1
        if file == len(files):
            break
        if program.files[file].hints is None or variable < files[file][0]:
            continue
        base, known = files[file][0], said[file]
        function = solver.functions[variable]
        _infer_return(inferring, function, variable - base, known)
        own = _receiver(inferring, function)
        for place, each in enumerate((*function.positional, *function.named.values())):
            if own is not None and not place:
                known.setdefault(each.variable - base, Said()).by["inferred"] = own
            elif place < len(function.positional) or each not in function.positional:
                _infer_parameter(inferring, function, each.variable, each.variable - base, known)


def _infer_return(inferring: Inferring, function: Function, node: int, known: FileSaid) -> None:
    solver = inferring.naming.outcome.program.solver
    if function.is_generator:
        name = "collections.abc.AsyncGenerator" if function.is_async else "collections.abc.Generator"
        known.setdefault(node, Said()).by["inferred"] = class_type(name)
        return
    passed = [function.positional[each].variable for each in function.passed]
    if function.returned not in solver.believed:
        _infer(
            inferring, [function.returned, *passed] if solver.has[function.returned] else passed, node, known
        )


def _receiver(inferring: Inferring, function: Function) -> Type | None:
    """The class of a method, or of what it is called on, for its first parameter."""
    if function.owner is None or not function.positional:
        return None
    solver = inferring.naming.outcome.program.solver
    marks = {solver.objects.kind[each] for each in solver.has[function.variable] or ()}
    if STATICMETHOD in marks:
        return None
    own = class_type(inferring.naming.name_of(function.owner))
    return class_of(own) if CLASSMETHOD in marks or function.name in _OF_CLASS else own


def _infer_parameter(
    inferring: Inferring, function: Function, variable: int, node: int, known: FileSaid
) -> None:
    """What a parameter gets beside its default, of which hints tell, or the solver if it is no literal."""
    solver = inferring.naming.outcome.program.solver
    things = solver.has[variable]
    if not things or variable in solver.believed:
        return
    default = function.defaults.get(variable, -1)
    given = solver.has[default] if default >= 0 else None
    if given:
        said = known.setdefault(node, Said())
        type_ = inferring.type_of(set(given))
        if "default" not in said.by and type_ is not None:
            said.by["default"] = type_
        if set(things) <= set(given):
            if not said.by:
                del known[node]
            return
    _infer(inferring, [variable], node, known)


def _infer(
    inferring: Inferring, variables: Sequence[int], node: int, known: FileSaid, *, is_optional: bool = False
) -> None:
    """Say what several variables may have together; None of a default is a value as well."""
    solver = inferring.naming.outcome.program.solver
    found = [solver.has[each] for each in variables]
    # What is there because it is declared would agree with its own declaration.
    declared = solver.objects.to
    things = {thing for each in found for thing in each or () if declared[thing] not in _DECLARED}
    if not things:
        return
    type_ = inferring.type_of(things)
    if type_ is None:
        return
    said = known.setdefault(node, Said())
    if is_optional or said.by.get("default") is NONE:
        type_ = union_of([type_, NONE])
    said.by["inferred"] = type_
    said.is_partial = not all(found)
    said.is_wide = any(solver.is_wide(each) for each in variables)


def _infer_names(inferring: Inferring, file: int, known: FileSaid) -> None:
    """What values names of modules, classes and functions get, and attributes of instances."""
    program = inferring.naming.outcome.program
    base = program.bases[file]
    top = base + program.files[file].nodes - 2
    values: dict[int, list[int]] = {}
    optional: set[int] = set()
    for op, target, source, text, _ in _stream(inferring.naming, file):
        if op == ATTRIBUTE:
            values.setdefault(target, []).append(_cell(program.solver, base + source, text))
        elif op == VARIABLE and source == -1:
            optional.add(target)
        elif op == VARIABLE:
            values.setdefault(target, []).append(base + source if source >= 0 else top - source)
    for node, variables in values.items():
        told = [each for each in variables if each >= 0 and each not in program.solver.believed]
        _infer(inferring, told, node, known, is_optional=node in optional)


def _cell(solver: Solver, class_: int, name: str) -> int:
    """The variable of an attribute of the instances of a class."""
    return solver.cells.get((solver.objects.get(INSTANCE, class_), name), -1)
