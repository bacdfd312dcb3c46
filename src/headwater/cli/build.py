"""`headwater build`: brings a project's tables up to date.

Not here: how.
"""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated

import typer

from headwater.cli.options import (
    Debug,
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
from headwater.run import open_project


def build(  # noqa: PLR0913, PLR0917  a command's flags are its arguments
    path: ProjectPath = Path(),
    json: Json = False,
    full: Annotated[bool, typer.Option("--full", help="Make every table anew, changed or not.")] = False,
    warehouse: WarehouseFolder = None,
    profile: ProfileName = None,
    master: Master = None,
    settings: Settings = None,
    quiet: Quiet = False,
    no_color: NoColor = False,
    debug: Debug = False,
) -> None:
    """Bring every stored table of a project up to date.

    What has not changed is not made again; if nothing has, Spark is not even started.

    Example: headwater build examples/orders --set shuffle_partitions=4
    """
    project = open_project(path, warehouse=warehouse, profile=profile, settings=flags_of(master, settings))
    # What a view prints must not get between a program and its JSON.
    with showing_progress(quiet=quiet, no_color=no_color) as listen, redirect_stdout(sys.stderr):
        outcome = project.build(full=full, listen=listen)
    if json:
        write_json(outcome_document(outcome))
    elif not quiet:
        show_outcome(outcome, no_color=no_color)
    if outcome.error is not None:
        show_error(outcome.error, debug=debug)
        raise typer.Exit(outcome.error.exit_code)
