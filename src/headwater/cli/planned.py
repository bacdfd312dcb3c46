"""Plans, lineage and explanations, drawn: for a person as lines, for a program as documents.

Not here: the commands, and where these things come from.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import msgspec

from headwater.cli.outcomes import PLAIN_CODES
from headwater.names import same_name
from headwater.plan import top_column

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from headwater.plan import Edge, PlanText
    from headwater.run import Explanation, PlannedView, ProjectPlan

_MARKS = {"built": "+", "skipped": "=", "inlined": "·"}
_KILO = 1024


def plan_document(planned: ProjectPlan) -> dict[str, Any]:
    """A plan as `plan --json` prints it."""
    return {
        "status": "unchanged" if planned.is_unchanged else "work",
        "views": [msgspec.to_builtins(each) for each in planned.views],
        "generations": [list(each) for each in planned.graph.generations],
        "critical_path": list(planned.graph.critical_path()),
    }


def plan_lines(planned: ProjectPlan) -> Iterator[str]:
    """A plan for a person, as a tree: each table with why it would be made and what it would read.

    Below a table stand the views that are a part of it; one that was shown already is not taken apart again.
    """
    views = {same_name(each.name): each for each in planned.views}
    seen: set[str] = set()
    tables = [each for each in planned.views if each.stored]
    for each in tables:
        yield from _branch(views, each, 0, seen)
    for each in planned.views:
        if same_name(each.name) not in seen:  # no table has it as a part
            yield from _branch(views, each, 0, seen)
    runs = sum(each.action == "built" for each in planned.views)
    noun = "table" if len(tables) == 1 else "tables"
    yield (
        f"{runs} of {len(tables)} {noun} would be made."
        if runs
        else f"Nothing to do: {len(tables)} {noun} {'is' if len(tables) == 1 else 'are'} up to date."
    )


def _branch(views: Mapping[str, PlannedView], view: PlannedView, depth: int, seen: set[str]) -> Iterator[str]:
    indent = "  " * depth
    reads = f", reads {', '.join(view.reads)}" if view.reads else ""
    again = same_name(view.name) in seen
    kept = f", cache {view.cache}" if view.cache != "none" else ""
    rest = " …" if again else f"{kept}{reads}"
    yield f"{indent}{_MARKS[view.action]} {view.name}  {view.action}: {view.reason}{rest}"
    if again:
        return
    seen.add(same_name(view.name))
    for change in view.changes if view.action != "skipped" else ():
        yield f"{indent}    {change}"
    if view.action == "built" and view.mode_code not in {"", *PLAIN_CODES}:
        yield f"{indent}    {view.mode}, {view.mode_code}: {view.mode_reason}"
    for scan in view.scans:
        files = _read(scan.kept_files, scan.candidate_files)
        sizes = _sizes(scan.kept_bytes, scan.candidate_bytes)
        yield f"{indent}    {scan.dataset}@{scan.version}: {files}, {sizes}"
    for finding in view.findings:
        yield f"{indent}    {finding.severity} {finding.code}: {finding.detail}"
    for name in view.reads:
        inner = views.get(same_name(name))
        if inner is not None and not inner.stored:
            yield from _branch(views, inner, depth + 1, seen)


def _read(kept: int, total: int) -> str:
    return f"reads {kept} of {total} file{'' if total == 1 else 's'}"


def _sizes(kept: int, total: int) -> str:
    """Two sizes in the unit of the greater."""
    unit, scale = "B", 1
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if total < scale * _KILO or unit == "TB":
            break
        scale *= _KILO
    return f"{_number(kept / scale)} of {_number(total / scale)} {unit}"


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def lineage_document(target: str, edges: Sequence[Edge]) -> dict[str, Any]:
    """Lineage as `lineage --json` prints it."""
    return {
        "target": target,
        "edges": [
            {
                "from": {"dataset": each.from_dataset, "column": each.from_column},
                "to": {"dataset": each.to_dataset, "column": each.to_column},
                "kind": each.kind,
            }
            for each in edges
        ],
    }


def lineage_lines(target: str, edges: Sequence[Edge], *, up: bool, down: bool) -> Iterator[str]:
    """Lineage for a person, as two trees; a column that was shown already is not taken apart again."""
    name, _, column = target.partition(".")
    into: dict[tuple[str, str], dict[tuple[str, str], list[str]]] = defaultdict(dict)
    out_of: dict[tuple[str, str], dict[tuple[str, str], list[str]]] = defaultdict(dict)
    spelled: dict[tuple[str, str], tuple[str, str]] = {}
    made: dict[tuple[str, str], tuple[str, str]] = {}
    for each in edges:
        start, end = (each.from_dataset, each.from_column), (each.to_dataset, _path(each.to_column))
        into[_folded(end)].setdefault(start, []).append(each.kind)
        out_of[_folded(start)].setdefault(end, []).append(each.kind)
        spelled |= {_folded(start): (start[0], _path(top_column(start[1])))}
        made |= {_folded(end): end}
    spelled |= made  # as a view writes its own column
    wanted_columns = {column.casefold(), top_column(column).casefold()}
    for wanted, tree, words in ((up, into, "depends on"), (down, out_of, "is used by")):
        if not wanted:
            continue
        tops = sorted(key for key in tree if key[0] == name.casefold())
        tops = [key for key in tops if not column or key[1] in wanted_columns]
        if not tops:
            yield f"{target} {words} nothing"
        seen: set[tuple[str, str]] = set()
        for top in tops:
            yield f"{'.'.join(spelled[top])} {words}"
            yield from _branches(tree, top, "  ", seen)


def _branches(
    tree: dict[tuple[str, str], dict[tuple[str, str], list[str]]],
    top: tuple[str, str],
    indent: str,
    seen: set[tuple[str, str]],
) -> Iterator[str]:
    for end, kinds in sorted(tree.get(top, {}).items()):
        below = _folded(end)
        again = below in seen and below in tree
        yield f"{indent}{'.'.join(end)}  ({', '.join(sorted(set(kinds)))}){' …' if again else ''}"
        if not again:
            seen.add(below)
            yield from _branches(tree, below, indent + "  ", seen)


def _folded(place: tuple[str, str]) -> tuple[str, str]:
    return place[0].casefold(), top_column(place[1]).casefold()


def _path(column: str) -> str:
    """A whole column as the beginning of a path."""
    return f"`{column}`" if "." in column else column


def explanation_document(explained: Explanation) -> dict[str, Any]:
    """An explanation as `explain --json` prints it."""
    bundle = explained.bundle
    return {
        "view": bundle.view,
        "file": bundle.file,
        "line": bundle.line,
        "fingerprint": {**msgspec.to_builtins(bundle.fingerprint), "digest": bundle.fingerprint.digest},
        "analysed": msgspec.to_builtins(bundle.analysed),
        "optimised": msgspec.to_builtins(bundle.optimised),
        "physical": msgspec.to_builtins(bundle.physical),
        "columns": [msgspec.to_builtins(each) for each in bundle.columns],
        "inputs": [msgspec.to_builtins(each) for each in bundle.inputs],
        "required": {name: list(columns) for name, columns in bundle.required.items()},
        "findings": [msgspec.to_builtins(each) for each in bundle.findings],
        **({"fixpoint": msgspec.to_builtins(bundle.fixpoint)} if bundle.fixpoint else {}),
        "metrics": [msgspec.to_builtins(each) for each in explained.metrics],
    }


def explanation_lines(explained: Explanation) -> Iterator[str]:
    """An explanation for a person."""
    bundle = explained.bundle
    yield f"{bundle.view}  {bundle.file}:{bundle.line}  {bundle.fingerprint.digest[:16]}"
    if bundle.fixpoint is not None:
        given = "the new rows" if bundle.fixpoint.linear else f"all rows so far: {bundle.fixpoint.reason}"
        yield f"A fixpoint of {bundle.fixpoint.max_rounds} rounds at most, each given {given}"
    for title, text in (
        ("Analysed", bundle.analysed),
        ("Optimised", bundle.optimised),
        ("Physical", bundle.physical),
    ):
        if text is not None:
            yield ""
            yield f"{title} plan"
            yield from _plan_lines(text)
    if explained.metrics:
        yield ""
        yield "Counted"
        for each in explained.metrics:
            counts = ", ".join(f"{name} {count:,}" for name, count in _telling(each.metrics.items()))
            yield f"{'  ' * each.depth}{each.operator.strip()}{'  ' if counts else ''}{counts}"


def _plan_lines(text: PlanText) -> list[str]:
    return text.text.rstrip("\n").split("\n") if text.error is None else [text.error]


def _telling(counts: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    return sorted((name, count) for name, count in counts if count > 0)
