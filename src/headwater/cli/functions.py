"""`headwater functions`: what the catalogue has, as a list or one by one.

Not here: the catalogue; the rows are the same that the reference page is made of. Needs no Java.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from headwater.cli.options import Debug, Json, NoColor, Quiet
from headwater.cli.render import write_json
from headwater.errors import InvalidSetting, WrongUsage
from headwater.functions import FAMILIES, FunctionRow, function_rows, function_snapshot
from headwater.names import near_name

FunctionName = Annotated[
    str | None, typer.Argument(metavar="[NAME]", help="One function, shown with everything said about it.")
]
Family = Annotated[
    str | None, typer.Option("--family", metavar="TAG", help="Only the functions that have this tag.")
]


def functions(
    name: FunctionName = None,
    family: Family = None,
    json: Json = False,
    quiet: Quiet = False,
    no_color: NoColor = False,
    debug: Debug = False,  # noqa: ARG001  read by the one place that shows errors
) -> None:
    """List the functions that views can call, in Python and in SQL.

    Example: headwater functions span_make
    """
    rows = [row for row in function_rows() if family is None or _tagged(row, family)]
    if name is not None:
        rows = [_named(name, rows)]
    if json:
        write_json(functions_document(rows))
    elif not quiet:
        console = Console(no_color=no_color or None, highlight=False)
        if name is not None:
            _show_one(console, rows[0])
        else:
            _show_all(console, rows)


def functions_document(rows: list[FunctionRow]) -> dict[str, Any]:
    """Rows as `functions --json` prints them, with the digest of the whole catalogue."""
    listed = [
        row._asdict() | {"examples": [{"sql": sql, "result": result} for sql, result in row.examples]}
        for row in rows
    ]
    return {"functions": listed, "digest": function_snapshot().digest, "families": list(FAMILIES)}


def _tagged(row: FunctionRow, family: str) -> bool:
    if family not in FAMILIES:
        raise InvalidSetting(key="--family", value=repr(family), expected=f"one of {', '.join(FAMILIES)}")
    return family in row.tags


def _named(name: str, rows: list[FunctionRow]) -> FunctionRow:
    wanted = name.casefold()
    for row in rows:
        if wanted in {row.name, row.alias}:
            return row
    known = [each for row in rows for each in (row.name, row.alias) if each is not None]
    near = near_name(wanted, known)
    hint = f"; did you mean '{near}'?" if near else ""
    raise WrongUsage(detail=f"there is no function '{name}'{hint}", command="headwater functions")


def _show_all(console: Console, rows: list[FunctionRow]) -> None:
    table = Table("name", "signature", "tags", "gives", box=None, pad_edge=False, header_style="bold")
    for row in rows:
        taken = row.signature.removeprefix(row.name)
        table.add_row(row.name, Text(taken), Text(", ".join(row.tags), style="dim"), Text(row.summary))
    console.print(table)
    console.print(f"{len(rows)} functions. One of them in full: headwater functions NAME", soft_wrap=True)


def _show_one(console: Console, row: FunctionRow) -> None:
    console.print(Text(row.signature, style="bold"), soft_wrap=True)
    console.print(Text(f"\n{row.doc}\n"), soft_wrap=True)
    for sql, result in row.examples:
        console.print(Text(f"  > {sql};\n    {result}"), soft_wrap=True)
    facts = {
        "tags": ", ".join(row.tags),
        "family": row.family,
        "version": str(row.version),
        "digest": row.digest,
        "semantic type": row.semantic_type,
        "second name in Python": row.alias,
    }
    console.print()
    for key, value in facts.items():
        if value is not None:
            console.print(Text(f"{key}: {value}"), soft_wrap=True)
