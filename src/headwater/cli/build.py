"""`headwater build`: brings a project's tables up to date.

Not here: how.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headwater.cli.graph import (
    questions_text,
    short_text,
    summary_document,
    summary_of_build,
    summary_text,
)
from headwater.cli.options import ProjectPath
from headwater.cli.outcomes import outcome_document, show_outcome
from headwater.cli.render import show_error, write_json
from headwater.cli.sharing import ProjectPlace, Shown, over_project


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
        outcome = project.build(full=full, resume=resume, only=only or (), alone=True, listen=listen)
        is_graph = project.config.declare is not None and not only
        summary = summary_of_build(project, outcome) if is_graph and not _is_mute(shown) else None
    if shown.json:
        found = {"graph": summary_document(summary)} if summary else {}
        write_json(outcome_document(outcome) | found)
    elif not shown.quiet:
        show_outcome(outcome, no_color=shown.no_color)
        if is_graph and outcome.error is None:
            typer.echo(summary_text(summary, outcome) if summary else short_text(outcome))
            typer.echo(questions_text(path, place))
    for error in outcome.errors.values():
        show_error(error, debug=shown.debug)
    if outcome.error is not None:
        if not shown.quiet:
            typer.echo("What failed can be mended and gone on with: headwater build --resume", err=True)
        raise typer.Exit(outcome.error.exit_code)


def _is_mute(shown: Shown) -> bool:
    """Whether nobody sees what was found."""
    return shown.quiet and not shown.json
