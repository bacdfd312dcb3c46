"""`headwater query`: one SELECT over what the last run left, as a table, JSON, CSV or Arrow.

Not here: what a query may do, and how rows are written.
"""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from enum import StrEnum
from pathlib import Path
from typing import Annotated

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
from headwater.cli.render import show_error, showing_progress
from headwater.cli.rows import show_rows, write_arrow, write_csv, write_json_rows
from headwater.errors import WrongUsage
from headwater.opening import open_project
from headwater.run import QueryResult

_SHOWN_ROWS = 50


class Format(StrEnum):
    """The forms that rows can be printed in."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    ARROW = "arrow"


def query(  # noqa: PLR0913, PLR0917  a command's flags are its arguments
    sql: Annotated[str, typer.Argument(metavar="SQL", help="One SELECT; - reads it from stdin.")],
    path: ProjectPath = Path(),
    form: Annotated[
        Format | None,
        typer.Option("--format", help="How rows are printed. Default: table", show_default=False),
    ] = None,
    json: Json = False,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit", metavar="N", min=0, help=f"The most rows. Default: {_SHOWN_ROWS} in a table, else all"
        ),
    ] = None,
    graph: Graph = False,
    warehouse: WarehouseFolder = None,
    profile: ProfileName = None,
    master: Master = None,
    settings: Settings = None,
    quiet: Quiet = False,
    no_color: NoColor = False,
    debug: Debug = False,
) -> None:
    """Ask a project's or a code graph's tables, views and sources, as the last run left them.

    A query only reads: one SELECT over names of the project (or DESCRIBE FUNCTION name). JSON, CSV and Arrow
    are written as rows come, however many there are.

    Example: headwater query "SELECT country, revenue_eur FROM revenue_by_country" examples/orders
    """
    chosen = _format(form, json=json)
    text = sys.stdin.read() if sql == "-" else sql
    flags = flags_of(master, settings)
    project = open_project(path, graph=graph, warehouse=warehouse, profile=profile, settings=flags)
    wanted = _SHOWN_ROWS if limit is None and chosen is Format.TABLE else limit
    # A table shows that there is more; one row above the limit tells.
    asked = wanted + 1 if wanted is not None and chosen is Format.TABLE else wanted
    # What a view prints must not get between a program and its rows.
    with showing_progress(quiet=quiet, no_color=no_color) as listen, redirect_stdout(sys.stderr):
        result = project.query(text, limit=asked, listen=listen)
    with result:
        _write(result, chosen, shown=wanted or 0, quiet=quiet, no_color=no_color, debug=debug)


def _format(form: Format | None, *, json: bool) -> Format:
    if json and form not in {None, Format.JSON}:
        raise WrongUsage(detail=f"--json and --format {form} ask for two forms", command="headwater query")
    chosen = Format.JSON if json else form or Format.TABLE
    if chosen is Format.ARROW and sys.stdout.isatty():
        detail = "Arrow is binary and stdout is a terminal: send it to a file or a program (> rows.arrow)"
        raise WrongUsage(detail=detail, command="headwater query")
    return chosen


def _write(
    result: QueryResult, form: Format, *, shown: int, quiet: bool, no_color: bool, debug: bool
) -> None:
    match form:
        case Format.TABLE:
            show_rows(result, shown, quiet=quiet, no_color=no_color)
        case Format.JSON:
            error = write_json_rows(result)
            if error is not None:
                show_error(error, debug=debug)
                raise typer.Exit(error.exit_code)
        case Format.CSV:
            write_csv(result)
        case Format.ARROW:
            write_arrow(result)
