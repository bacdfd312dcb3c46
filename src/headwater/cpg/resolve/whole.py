"""All rows that come of the value facts of a repository, in one call.

Not here: how any of them is found.
"""

from __future__ import annotations

import gc
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.cpg.resolve.arguments import argument_rows
from headwater.cpg.resolve.definitions import definition_rows
from headwater.cpg.resolve.hierarchy import base_rows, order_rows, override_rows
from headwater.cpg.resolve.importing import export_rows, import_rows
from headwater.cpg.resolve.outcome import call_rows
from headwater.cpg.resolve.resolution import solve
from headwater.cpg.resolve.symbols import Distributions, symbols_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from headwater.cpg.resolve.arguments import ArgumentRows
    from headwater.cpg.resolve.defining import FileValues
    from headwater.cpg.resolve.definitions import DefinitionRows
    from headwater.cpg.resolve.hierarchy import BaseRows, OrderRows, OverrideRows
    from headwater.cpg.resolve.importing import ExportRows, ImportRows
    from headwater.cpg.resolve.outcome import CallRows, Outcome, TargetRows


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedRows:
    """What a repository's values say: entry `i` of every list of one of these belongs to row `i`.

    `roots` are the folders that imports begin at; `outcome` is what a call graph is made of.
    """

    roots: tuple[str, ...]
    definitions: DefinitionRows
    imports: ImportRows
    exports: ExportRows
    bases: BaseRows
    orders: OrderRows
    overrides: OverrideRows
    calls: CallRows
    targets: TargetRows
    arguments: ArgumentRows
    outcome: Outcome


def resolve_files(files: Iterable[FileValues], names: Distributions | None = None) -> ResolvedRows:
    """All rows of a repository; the order in which its files are given does not matter.

    Args:
        files: the value facts of all its files
        names: the distribution that the repository is, and those of modules outside
    """
    is_enabled = gc.isenabled()
    gc.disable()  # there are millions of small objects, and none of them goes before all are done with
    try:
        return _resolved(files, names or Distributions())
    finally:
        if is_enabled:
            gc.enable()


def _resolved(files: Iterable[FileValues], known: Distributions) -> ResolvedRows:
    program = solve(files)
    symbols = symbols_of(program, known)
    outcome = call_rows(program, symbols, known)
    return ResolvedRows(
        roots=program.solver.index.roots,
        definitions=definition_rows(program, symbols),
        imports=import_rows(outcome),
        exports=export_rows(outcome),
        bases=base_rows(outcome),
        orders=order_rows(outcome),
        overrides=override_rows(outcome),
        calls=outcome.calls,
        targets=outcome.targets,
        arguments=argument_rows(outcome),
        outcome=outcome,
    )
