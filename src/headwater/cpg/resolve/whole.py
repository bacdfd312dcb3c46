"""All rows that come of the value facts of a repository, in one call.

Not here: how any of them is found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.cpg.resolve.arguments import argument_rows
from headwater.cpg.resolve.callgraph import target_names
from headwater.cpg.resolve.definitions import definition_rows
from headwater.cpg.resolve.flow import flow_rows, gather_sites
from headwater.cpg.resolve.hierarchy import base_rows, order_rows, override_rows
from headwater.cpg.resolve.hinting import type_rows
from headwater.cpg.resolve.importing import export_rows, import_rows
from headwater.cpg.resolve.outcome import call_rows
from headwater.cpg.resolve.referring import Bound, binding_rows, member_rows, reference_rows
from headwater.cpg.resolve.resolution import solve
from headwater.cpg.resolve.summaries import summary_rows
from headwater.cpg.resolve.symbols import Distributions, symbols_of
from headwater.memory import without_collections

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from headwater.cpg.resolve.arguments import ArgumentRows
    from headwater.cpg.resolve.defining import FileValues
    from headwater.cpg.resolve.definitions import DefinitionRows
    from headwater.cpg.resolve.flow import FlowRows
    from headwater.cpg.resolve.hierarchy import BaseRows, OrderRows, OverrideRows
    from headwater.cpg.resolve.importing import ExportRows, ImportRows
    from headwater.cpg.resolve.outcome import CallRows, Outcome, TargetRows
    from headwater.cpg.resolve.referring import BindingRows, MemberRows, ReferenceRows
    from headwater.cpg.resolve.summaries import EffectRows, SummaryRows
    from headwater.cpg.resolve.typefacts import TypeFactRows, TypeRows


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedRows:
    """What a repository's values say: entry `i` of every list of one of these belongs to row `i`.

    `roots` are the folders that imports begin at; `target_names` has the name of each candidate in a call
    graph. There are types for files that are given with hints.
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
    target_names: Sequence[str | None]
    arguments: ArgumentRows
    bindings: BindingRows
    references: ReferenceRows
    members: MemberRows
    types: TypeRows
    type_facts: TypeFactRows
    flows: FlowRows
    summaries: SummaryRows
    effects: EffectRows


def resolve_files(
    files: Iterable[FileValues],
    names: Distributions | None = None,
    bound: Bound | None = None,
) -> ResolvedRows:
    """All rows of a repository; the order in which its files are given does not matter.

    Args:
        files: the value facts of all its files
        names: the distribution that the repository is, and those of modules outside
        bound: what binds names; without it, only names of modules and classes have symbols
    """
    with without_collections():
        return _rows(_solved(files, names or Distributions()), bound or Bound())


def find_calls(files: Iterable[FileValues], names: Distributions | None = None) -> Outcome:
    """What a call graph is made of: the program that files are, its calls and all their candidates."""
    with without_collections():
        return _solved(files, names or Distributions())


def _solved(files: Iterable[FileValues], names: Distributions) -> Outcome:
    program = solve(files)
    return call_rows(program, symbols_of(program, names), names)


def _rows(outcome: Outcome, bound: Bound) -> ResolvedRows:
    program = outcome.program
    imports = import_rows(outcome)
    types, type_facts = type_rows(outcome)
    sites = gather_sites(program)
    summaries, effects, ways = summary_rows(outcome, sites)
    return ResolvedRows(
        roots=program.solver.index.roots,
        definitions=definition_rows(program, outcome.symbols),
        imports=imports,
        exports=export_rows(outcome),
        bases=base_rows(outcome),
        orders=order_rows(outcome),
        overrides=override_rows(outcome),
        calls=outcome.calls,
        targets=outcome.targets,
        target_names=target_names(outcome),
        bindings=binding_rows(outcome, imports, bound),
        references=reference_rows(outcome),
        members=member_rows(outcome),
        types=types,
        type_facts=type_facts,
        arguments=argument_rows(outcome, sites.arguments),
        flows=flow_rows(outcome, sites, ways),
        summaries=summaries,
        effects=effects,
    )
