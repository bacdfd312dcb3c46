"""`headwater build`: brings a project's tables up to date.

Not here: how.
"""

from __future__ import annotations

import shlex
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headwater.cli.options import (
    Debug,
    Graph,
    Json,
    Master,
    NoColor,
    ProfileName,
    ProjectPath,
    Quiet,
    Settings,
    WarehouseFolder,
    flags_of,
)
from headwater.cli.render import outcome_document, show_error, show_outcome, showing_progress, write_json
from headwater.cpg import GRAPH_TABLES
from headwater.opening import open_project

if TYPE_CHECKING:
    from headwater.run import RunOutcome


def build(  # noqa: PLR0913, PLR0917  a command's flags are its arguments
    path: ProjectPath = Path(),
    json: Json = False,
    full: Annotated[bool, typer.Option("--full", help="Make every table anew, changed or not.")] = False,
    graph: Graph = False,
    warehouse: WarehouseFolder = None,
    profile: ProfileName = None,
    master: Master = None,
    settings: Settings = None,
    quiet: Quiet = False,
    no_color: NoColor = False,
    debug: Debug = False,
) -> None:
    """Bring every stored table of a project, or the code graph of a repository, up to date.

    A folder with headwater.toml is a project; of any other folder with Python files the code graph is built.
    What has not changed is not made again; if nothing has, Spark is not even started.

    Example: headwater build examples/orders --set shuffle_partitions=4
    """
    flags = flags_of(master, settings)
    project = open_project(path, graph=graph, warehouse=warehouse, profile=profile, settings=flags)
    # What a view prints must not get between a program and its JSON.
    with showing_progress(quiet=quiet, no_color=no_color) as listen, redirect_stdout(sys.stderr):
        outcome = project.build(full=full, listen=listen)
    if json:
        write_json(outcome_document(outcome))
    elif not quiet:
        show_outcome(outcome, no_color=no_color)
        if project.config.declare and outcome.error is None:
            typer.echo(_graph_summary(outcome))
            typer.echo(f"Next: {_first_question(path, graph=graph, warehouse=warehouse)}")
    if outcome.error is not None:
        show_error(outcome.error, debug=debug)
        raise typer.Exit(outcome.error.exit_code)


def _graph_summary(outcome: RunOutcome) -> str:
    rows = {table.name: table.rows for table in outcome.tables}
    counts = {name: rows.get(name) or 0 for name in GRAPH_TABLES}
    counted = ", ".join(f"{n:,} {name if n != 1 else name.removesuffix('s')}" for name, n in counts.items())
    return f"The code graph has {counted}."


def _first_question(path: Path, *, graph: bool, warehouse: Path | None) -> str:
    """A command that asks what was just built, wherever it is."""
    question = "SELECT node_kind, count(*) FROM nodes GROUP BY ALL"
    place = ["--graph"] if graph else []
    place += ["--warehouse", str(warehouse)] if warehouse else []
    return shlex.join(["headwater", "query", question, str(path), *place])
