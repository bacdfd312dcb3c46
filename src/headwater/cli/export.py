"""`headwater export`: what is in a code graph, in forms that other tools read.

Not here: what is in a code graph.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import pyarrow as pa
import typer

from headwater.cli.exporting import check_file, check_folder, write_pieces, write_tables
from headwater.cli.options import ProjectPath
from headwater.cli.render import write_json
from headwater.cli.sharing import ProjectPlace, Shown, over_project
from headwater.cpg import (
    DEFINITION_EDGES,
    DEFINITION_KINDS,
    EXPORT_THRESHOLD,
    RESOLUTION,
    callgraph_query,
    callgraphs_of,
    definitions_query,
    dot_of,
    graph_tables,
    graphml_of,
    scip_index,
    scip_queries,
)
from headwater.errors import InvalidSetting
from headwater.opening import open_roots
from headwater.run import Project

export = typer.Typer(
    name="export", help="Write what a code graph has, in forms that other tools read.", no_args_is_help=True
)


class CallGraphFormat(StrEnum):
    """The forms of a call graph."""

    pycg = "pycg"


class GraphFormat(StrEnum):
    """The forms of a graph of definitions."""

    graphml = "graphml"
    dot = "dot"
    parquet = "parquet"
    csv = "csv"


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
        outcome = project.build(only=[RESOLUTION + project.config.name], alone=True, listen=listen)
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


@export.command()
@over_project
def graph(
    path: ProjectPath = Path(),
    form: Annotated[
        GraphFormat,
        typer.Option("--format", help="graphml and dot are one file, parquet and csv a folder of two."),
    ] = GraphFormat.graphml,
    kinds: Annotated[
        str,
        typer.Option(
            "--kinds", metavar="K,K", help="Only these: kinds of definitions, or of edges. Default: all"
        ),
    ] = "",
    is_repository_only: Annotated[
        bool, typer.Option("--repository-only", help="Leave out what is outside of the repository.")
    ] = False,
    *,
    out: Annotated[Path, typer.Option("--out", metavar="PLACE", help="The file or folder to write.")],
    place: ProjectPlace,
    shown: Shown,
) -> None:
    """Write the definitions of a built code graph, and the edges between them, as a graph.

    Nodes are modules, classes, functions, methods, lambdas, variables and what is outside; edges
    are calls, imports, uses, bases, overrides, and what stands in what. A file that is there is
    replaced; a folder must be empty.

    Example: headwater export graph src/shop --format graphml --out shop.graphml
    """
    wanted = _kinds(kinds)
    is_file = form in {GraphFormat.graphml, GraphFormat.dot}
    (check_file if is_file else check_folder)(out)
    project = replace(place, graph=True).opened(path)
    (rows,) = _asked(project, shown, definitions_query(project.config.name))
    tables = graph_tables(rows, wanted, is_repository_only=is_repository_only)
    if is_file:
        texts = graphml_of(tables) if form is GraphFormat.graphml else dot_of(tables)
        write_pieces(out, (each.encode() for each in texts))
        files = [out]
    else:
        files = write_tables(out, tables, form)
    nodes, edges = tables.nodes.num_rows, tables.edges.num_rows
    if shown.json:
        write_json({"format": form, "files": [str(each) for each in files], "nodes": nodes, "edges": edges})
    elif not shown.quiet:
        typer.echo(f"{out}: {nodes:,} nodes, {edges:,} edges")


@export.command()
@over_project
def scip(
    path: ProjectPath = Path(),
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The file to write.")] = Path(
        "index.scip"
    ),
    *,
    place: ProjectPlace,
    shown: Shown,
) -> None:
    """Write every place where a symbol is written, as a SCIP index for code search and editors.

    A file that is there is replaced.

    Example: headwater export scip src/shop --out index.scip
    """
    check_file(out)
    project = replace(place, graph=True).opened(path)
    name = project.config.name
    definitions, files, occurrences = _asked(project, shown, definitions_query(name), *scip_queries(name))
    index = scip_index(
        files,
        occurrences,
        graph_tables(definitions, ["INHERITS", "OVERRIDES"]),
        root=path.resolve().as_uri(),
        version=version("headwater"),
    )
    write_pieces(out, index.pieces)
    told = {
        "documents": index.documents,
        "occurrences": index.occurrences,
        "symbols": index.symbols,
        "external_symbols": index.external_symbols,
    }
    if shown.json:
        write_json({"file": str(out), **told, "left_out": list(index.left_out)})
    elif not shown.quiet:
        counts = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in told.items())
        typer.echo(f"{out}: {counts}" + (f"; {len(index.left_out):,} left out" if index.left_out else ""))


def _kinds(text: str) -> list[str]:
    """The kinds that are named.

    Raises:
        InvalidSetting: one of them is none.
    """
    known = (*DEFINITION_KINDS, *DEFINITION_EDGES)
    named = [each.strip() for each in text.split(",") if each.strip()]
    for each in named:
        if each not in known:
            raise InvalidSetting(key="--kinds", value=repr(each), expected=f"some of {', '.join(known)}")
    return named


def _asked(project: Project, shown: Shown, *queries: str) -> Iterator[pa.Table]:
    """The rows of each query."""
    with shown.progress() as listen:
        for each in queries:
            with project.query(each, listen=listen) as result:
                yield result.read_all()


def _write(out: Path, name: str, graph: dict[str, list[str]]) -> dict[str, str | int]:
    place = out / f"{name}.json"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps(graph, indent=1, ensure_ascii=False) + "\n", "utf-8")
    calls = sum(len(callees) for callees in graph.values())
    return {"root": name, "file": str(place), "callers": sum(map(bool, graph.values())), "calls": calls}
