"""`headwater build`: brings a project's tables up to date.

Not here: how.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headwater.cli.options import (
    ProjectPath,
)
from headwater.cli.render import outcome_document, show_error, show_outcome, write_json
from headwater.cli.sharing import ProjectPlace, Shown, over_project
from headwater.cpg import GRAPH_TABLES

if TYPE_CHECKING:
    from headwater.run import RunOutcome


@over_project
def build(
    path: ProjectPath = Path(),
    full: Annotated[bool, typer.Option("--full", help="Make every table anew, changed or not.")] = False,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="Go on where the last run did not end well, with the data that it had pinned."
        ),
    ] = False,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="VIEW", help="This view, with all that it reads; can be given again."),
    ] = None,
    *,
    place: ProjectPlace,
    shown: Shown,
) -> None:
    """Bring every stored table of a project, or the code graph of a repository, up to date.

    A folder with headwater.toml is a project; of any other folder with Python files the code graph is built.
    What has not changed is not made again; if nothing has, Spark is not even started.

    Example: headwater build examples/orders --set shuffle_partitions=4
    """
    project = place.opened(path)
    with shown.progress() as listen:
        outcome = project.build(full=full, resume=resume, only=only or (), listen=listen)
    if shown.json:
        write_json(outcome_document(outcome))
    elif not shown.quiet:
        show_outcome(outcome, no_color=shown.no_color)
        if project.config.declare and outcome.error is None:
            typer.echo(_graph_summary(outcome))
            typer.echo(f"Next: {_first_question(path, place)}")
    for error in outcome.errors.values():
        show_error(error, debug=shown.debug)
    if outcome.error is not None:
        if not shown.quiet:
            typer.echo("What failed can be mended and gone on with: headwater build --resume", err=True)
        raise typer.Exit(outcome.error.exit_code)


def _graph_summary(outcome: RunOutcome) -> str:
    rows = {table.name: table.rows for table in outcome.tables}
    counts = {name: rows.get(name) or 0 for name in GRAPH_TABLES}
    counted = ", ".join(f"{n:,} {name if n != 1 else name.removesuffix('s')}" for name, n in counts.items())
    return f"The code graph has {counted}."


def _first_question(path: Path, place: ProjectPlace) -> str:
    """A command that asks what was just built, wherever it is."""
    question = "SELECT node_kind, count(*) FROM nodes GROUP BY ALL"
    where = ["--graph"] if place.graph else []
    where += ["--warehouse", str(place.warehouse)] if place.warehouse else []
    return shlex.join(["headwater", "query", question, str(path), *where])
