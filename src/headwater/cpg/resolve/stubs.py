"""Which nodes of a source the nodes of the stub beside it speak of: those of the same dotted name.

Where a stub has a function more often than its source has it (overloads), all of them speak of the one.
Not here: what they say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.cpg.extract.hints.facts import ATTRIBUTE, VARIABLE
from headwater.cpg.resolve.modules import place_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headwater.cpg.resolve.objects import Function
    from headwater.cpg.resolve.resolution import Program

_STUB = ".pyi"


def pair_files(program: Program) -> dict[int, int]:
    """The source beside each stub, both by their place among files."""
    index = program.solver.index
    found: dict[int, int] = {}
    for number, each in enumerate(program.files):
        if each.path.endswith(_STUB):
            source = index.files.get(place_of(each.path))
            if source is not None and source != each.path:
                found[number] = program.solver.file_of_path[source]
    return found


def pair_nodes(program: Program, pairs: Mapping[int, int]) -> dict[tuple[int, int], list[tuple[int, int]]]:
    """For each node of a source the nodes of its stub that speak of it, all by file and number."""
    functions = _functions(program, {*pairs, *pairs.values()})
    found: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for stub, source in sorted(pairs.items()):
        said = _named_nodes(program, stub, functions.get(stub, ()))
        for name, nodes in _named_nodes(program, source, functions.get(source, ())).items():
            speaking = said.get(name, [])
            if len(speaking) == len(nodes):
                for node, other in zip(nodes, speaking, strict=True):
                    found[source, node] = [(stub, other)]
            elif speaking and len(nodes) == 1:
                found[source, nodes[0]] = [(stub, other) for other in speaking]
    return found


def _functions(program: Program, files: set[int]) -> dict[int, list[Function]]:
    found: dict[int, list[Function]] = {}
    ranges = [
        (program.bases[file], program.bases[file] + program.files[file].nodes, file) for file in sorted(files)
    ]
    for variable, function in program.solver.functions.items():
        for begin, end, file in ranges:
            if begin <= variable < end:
                found.setdefault(file, []).append(function)
    return found


def _named_nodes(program: Program, file: int, functions: Sequence[Function]) -> dict[str, list[int]]:
    """The nodes of functions (`C.f`), parameters (`C.f(x)`) and names (`C.x`) of a file."""
    solver, base = program.solver, program.bases[file]
    found: dict[str, list[int]] = {}
    for function in functions:
        if not function.is_lambda:
            name = _path(program, function.variable, base)
            found.setdefault(name, []).append(function.variable - base)
            parameters = [*function.positional, *function.named.values()]
            parameters += [each for each in (function.rest, function.keywords) if each is not None]
            for each in dict.fromkeys(parameters):
                found.setdefault(f"{name}({each.name})", []).append(each.variable - base)
    named = {variable: name for name, variable in solver.modules[file].items()}
    for variable, class_ in solver.classes.items():
        if class_.file == file:
            path = _path(program, variable, base)
            named |= {each: f"{path}.{name}" for name, each in class_.members.items()}
    hints, top = program.files[file].hints, base + program.files[file].nodes - 2
    if hints is None:
        return found
    for op, target, source, text in zip(hints.op, hints.target, hints.source, hints.text, strict=True):
        if op == VARIABLE and source < -1 and top - source in named:
            found.setdefault(named[top - source], []).append(target)
        elif op == ATTRIBUTE:
            name = f"{_path(program, base + source, base)}.{text}"
            found.setdefault(name, [target])  # a name of the class itself comes first
    return found


def _path(program: Program, variable: int, base: int) -> str:
    parts: list[str] = []
    solver = program.solver
    while variable != base + 1:
        made = solver.classes.get(variable) or solver.functions[variable]
        parts.append(made.name)
        variable = made.around
    return ".".join(reversed(parts))
