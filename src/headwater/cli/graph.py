"""What a build of a code graph tells of it: numbers, what took longest, and questions to go on with.

Not here: the numbers; the graph's own package asks for them.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from headwater.cpg import EVIDENCE, EXAMPLE_QUESTIONS, GraphSummary, summary_of, summary_query

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from headwater.cli.sharing import ProjectPlace
    from headwater.run import Project, RunOutcome

_SLOWEST = 3
# Questions that need no name, which differ from one repository to the next.
_ASKED = ("hotspots", "cycles")
_PLURAL = {"CLASS": "classes"}


def summary_of_build(project: Project, outcome: RunOutcome) -> GraphSummary | None:
    """The numbers of the graph that was just built; None if it is as it was."""
    if outcome.status != "done":  # Spark was not even started
        return None
    with project.query(summary_query(project.config.name)) as result:
        return summary_of(result.read_all().to_pylist())


def summary_document(summary: GraphSummary) -> dict[str, Any]:
    """The numbers as `build --json` has them."""
    return {
        "files": dict(summary.files),
        "definitions": dict(summary.definitions),
        "nodes": dict(summary.nodes),
        "edges": dict(summary.edges),
        "diagnostics": dict(summary.diagnostics),
    }


def summary_text(summary: GraphSummary, outcome: RunOutcome) -> str:
    """The numbers for a person, one line for each thing."""
    edges = sum(summary.edges.values())
    lines = {
        "files": _all(summary.files, "none"),
        "definitions": _all(summary.definitions, "none", named=True),
        "nodes": f"{sum(summary.nodes.values()):,}",
        "edges": f"{edges:,}",
        **{f"  {name}": _each(kinds) for name, kinds in summary.families.items()},
        "diagnostics": _all(summary.diagnostics, "none", named=True),
        "slowest": ", ".join(_slowest(outcome)),
    }
    width = max(map(len, lines)) + 2
    return "\n".join(f"{name:{width}}{told}".rstrip() for name, told in lines.items())


def short_text(outcome: RunOutcome) -> str:
    """What is known of a graph without asking it: the rows of its tables."""
    rows = {table.name: table.rows or 0 for table in outcome.tables}
    files = sum(count for name, count in rows.items() if name.startswith(EVIDENCE))
    return f"The code graph has {files:,} {_word('FILE', files)} and {rows.get('file_nodes', 0):,} nodes."


def questions_text(path: Path, place: ProjectPlace) -> str:
    """Commands that ask what was just built, wherever it is."""
    warehouse = ["--warehouse", str(place.warehouse)] if place.warehouse else []
    after = shlex.join([str(path), *(["--graph"] if place.graph else []), *warehouse])
    asked = shlex.join(["--path", str(path), *warehouse])
    lines = [
        # Texts in SQL have single quotes, which double ones leave alone.
        *(f'headwater query "{each}" {after}' for each in EXAMPLE_QUESTIONS),
        *(f"headwater ask {each} {asked}" for each in _ASKED),
    ]
    return "\n".join(["Ask it:", *(f"  {each}" for each in lines)])


def _all(counts: Mapping[str, int], nothing: str, *, named: bool = False) -> str:
    """The sum of what is counted, and its parts."""
    if not counts:
        return nothing
    parts = ", ".join(f"{n:,} {_word(kind, n) if named else kind}" for kind, n in counts.items())
    return parts if named else f"{sum(counts.values()):,} ({parts})"


def _word(kind: str, count: int) -> str:
    word = kind.lower()
    return word if count == 1 else _PLURAL.get(kind, f"{word}s")


def _each(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{kind} {n:,}" for kind, n in counts.items())


def _slowest(outcome: RunOutcome) -> list[str]:
    timed = [(table.seconds, table.name) for table in outcome.tables if table.seconds is not None]
    return [f"{name} {seconds:.1f} s" for seconds, name in sorted(timed, reverse=True)[:_SLOWEST]]
