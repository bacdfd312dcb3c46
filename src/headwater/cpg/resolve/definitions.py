"""Rows of definitions: modules, classes and functions with their names and symbols.

Not here: how symbols are written.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.cpg.resolve.callgraph import names_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.cpg.resolve.resolution import Program


@dataclass(frozen=True, slots=True)
class DefinitionRows:
    """One entry per definition, by path and node; `kind` is module, class, function, method or lambda."""

    path: list[str] = field(default_factory=list[str])
    node: list[int] = field(default_factory=list[int])
    kind: list[str] = field(default_factory=list[str])
    module: list[str] = field(default_factory=list[str])
    name: list[str] = field(default_factory=list[str])
    symbol: list[str] = field(default_factory=list[str])


def definition_rows(program: Program, symbols: Mapping[int, str]) -> DefinitionRows:
    """All definitions of a program, file by file."""
    rows = DefinitionRows()
    for variable, name in sorted(names_of(program).items()):
        path, node = program.place(variable)
        rows.path.append(path)
        rows.node.append(node)
        rows.kind.append(_kind_of(program, variable))
        rows.module.append(program.solver.index.names.get(path, path))
        rows.name.append(name)
        rows.symbol.append(symbols[variable])
    return rows


def _kind_of(program: Program, variable: int) -> str:
    function = program.solver.functions.get(variable)
    if function is None:
        return "class" if variable in program.solver.classes else "module"
    if function.is_lambda:
        return "lambda"
    return "function" if function.owner is None else "method"
