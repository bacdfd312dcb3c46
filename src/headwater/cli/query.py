"""`headwater query`: one SELECT over what the last run left, as a table, JSON, CSV or Arrow.

Not here: what a query may do, and how rows are written.
"""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from headwater.cli.options import (
    ProjectPath,
)
from headwater.cli.render import show_error
from headwater.cli.rows import show_rows, write_arrow, write_csv, write_json_rows
from headwater.cli.sharing import ProjectPlace, Shown, over_project
from headwater.errors import WrongUsage
from headwater.run import QueryResult

_SHOWN_ROWS = 50


class Format(StrEnum):
    """The forms that rows can be printed in."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    ARROW = "arrow"


@over_project
def query(
    sql: Annotated[str, typer.Argument(metavar="SQL", help="One SELECT; - reads it from stdin.")],
    path: ProjectPath = Path(),
    form: Annotated[
        Format | None,
        typer.Option("--format", help="How rows are printed. Default: table", show_default=False),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit", metavar="N", min=0, help=f"The most rows. Default: {_SHOWN_ROWS} in a table, else all"
        ),
    ] = None,
    *,
    place: ProjectPlace,
    shown: Shown,
) -> None:
    """Ask a project's or a code graph's tables, views and sources, as the last run left them.

    A query only reads: one SELECT over names of the project (or DESCRIBE FUNCTION name). JSON, CSV and Arrow
    are written as rows come, however many there are.

    Example: headwater query "SELECT country, revenue_eur FROM revenue_by_country" examples/orders
    """
    chosen = _format(form, json=shown.json)
    text = sys.stdin.read() if sql == "-" else sql
    project = place.opened(path)
    wanted = _SHOWN_ROWS if limit is None and chosen is Format.TABLE else limit
    # A table shows that there is more; one row above the limit tells.
    asked = wanted + 1 if wanted is not None and chosen is Format.TABLE else wanted
    with shown.progress() as listen:
        result = project.query(text, limit=asked, listen=listen)
    with result:
        _write(result, chosen, wanted or 0, shown)


def _format(form: Format | None, *, json: bool) -> Format:
    if json and form not in {None, Format.JSON}:
        raise WrongUsage(detail=f"--json and --format {form} ask for two forms", command="headwater query")
    chosen = Format.JSON if json else form or Format.TABLE
    if chosen is Format.ARROW and sys.stdout.isatty():
        detail = "Arrow is binary and stdout is a terminal: send it to a file or a program (> rows.arrow)"
        raise WrongUsage(detail=detail, command="headwater query")
    return chosen


def _write(result: QueryResult, form: Format, most: int, shown: Shown) -> None:
    match form:
        case Format.TABLE:
            show_rows(result, most, quiet=shown.quiet, no_color=shown.no_color)
        case Format.JSON:
            error = write_json_rows(result)
            if error is not None:
                show_error(error, debug=shown.debug)
                raise typer.Exit(error.exit_code)
        case Format.CSV:
            write_csv(result)
        case Format.ARROW:
            write_arrow(result)
