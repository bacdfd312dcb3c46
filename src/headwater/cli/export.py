"""`headwater export`: what is in a code graph, in forms that other tools read.

Not here: what is in a code graph.
"""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from headwater.cli.render import write_json
from headwater.cli.sharing import ProjectPlace, Shown, over_project
from headwater.cpg import EXPORT_THRESHOLD, RESOLUTION, callgraph_query, callgraphs_of
from headwater.opening import open_roots

export = typer.Typer(
    name="export", help="Write what a code graph has, in forms that other tools read.", no_args_is_help=True
)


class CallGraphFormat(StrEnum):
    """The forms of a call graph."""

    pycg = "pycg"


@export.callback()
def _export() -> None:
    """Write what a code graph has, in forms that other tools read."""


@export.command()
@over_project
def callgraph(
    roots: Annotated[list[Path], typer.Argument(metavar="ROOT...", help="Folders with Python files.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where the files are written.")],
    form: Annotated[
        CallGraphFormat, typer.Option("--format", help="pycg: {caller: [callee, ...]} by dotted names.")
    ] = CallGraphFormat.pycg,
    min_confidence: Annotated[
        float,
        typer.Option(
            "--min-confidence",
            min=0,
            max=1,
            help="How sure a candidate must be that is not the best of its call.",
        ),
    ] = EXPORT_THRESHOLD,
    *,
    place: ProjectPlace,
    shown: Shown,
) -> None:
    """Write who calls whom in each root, as one JSON file per root.

    Each root is a repository of its own; all are built in one run. Its file is named by its path from the
    folder that all roots lie in: of one root, that is its name. Tables are kept in DIR/.headwater, so that a
    second run reads only what changed, unless --warehouse says where.

    Example: headwater export callgraph src/shop src/billing --out build/callgraphs
    """
    del form  # there is one
    warehouse = place.warehouse or out / ".headwater"
    project, names = open_roots(roots, warehouse=warehouse, profile=place.profile, settings=place.flags)
    with shown.progress() as listen:
        outcome = project.build(only=[RESOLUTION + project.config.name], listen=listen)
        if outcome.error is not None:
            raise outcome.error
        with project.query(callgraph_query(project.config.name)) as result:
            graphs = callgraphs_of(result.read_all().to_pylist(), names, min_confidence)
    written = [_write(out, name, graphs[name]) for name in names]
    if shown.json:
        write_json({"run_id": outcome.run_id, "callgraphs": written})
    elif not shown.quiet:
        for each in written:
            typer.echo(f"{each['file']}: {each['callers']:,} callers, {each['calls']:,} calls")


def _write(out: Path, name: str, graph: dict[str, list[str]]) -> dict[str, str | int]:
    place = out / f"{name}.json"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps(graph, indent=1, ensure_ascii=False) + "\n", "utf-8")
    calls = sum(len(callees) for callees in graph.values())
    return {"root": name, "file": str(place), "callers": sum(map(bool, graph.values())), "calls": calls}
