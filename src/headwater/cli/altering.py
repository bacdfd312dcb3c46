"""`headwater table features|properties|constraints`: what a table says of itself, shown or changed.

Not here: what each operation does; `run` does that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from headwater.cli.options import (
    DryRun,
    ForceUnsafe,
    Reason,
    TableTarget,
)
from headwater.cli.places import TablePlace, over_table
from headwater.cli.receipts import show_upkeep
from headwater.cli.render import print_lines, write_json
from headwater.cli.sharing import Shown
from headwater.delta import table_constraints
from headwater.errors import InvalidSetting
from headwater.run import Constraints, Features, Properties, TableRequest, describe_table, keep_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.delta import SnapshotInfo
    from headwater.run import UpkeepOperation, UpkeepRequest


@over_table
def features(
    target: TableTarget,
    enable: Annotated[
        list[str] | None,
        typer.Option("--enable", metavar="NAME", help="Switch a feature on; may be given again."),
    ] = None,
    dry_run: DryRun = False,
    reason: Reason = "",
    force_unsafe: ForceUnsafe = None,
    *,
    place: TablePlace,
    shown: Shown,
) -> None:
    """Show a table's features, or switch some on; most cannot be taken back.

    Example: headwater table features lake/orders --enable deletionVectors
    """
    request = place.upkeep(target, dry_run=dry_run, reason=reason, force_unsafe=force_unsafe)
    wanted = Features(enable=tuple(enable or ()))
    _alter(request, wanted, shown) if enable else _describe(request, features_document, shown)


@over_table
def properties(
    target: TableTarget,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set-property", metavar="KEY=VALUE", help="Set one; may be given again."),
    ] = None,
    unset: Annotated[
        list[str] | None,
        typer.Option("--unset-property", metavar="KEY", help="Take one back; may be given again."),
    ] = None,
    dry_run: DryRun = False,
    reason: Reason = "",
    force_unsafe: ForceUnsafe = None,
    *,
    place: TablePlace,
    shown: Shown,
) -> None:
    """Show a table's properties, or change some; those that decide how far back it can be read are guarded.

    Example: headwater table properties lake/orders --set-property delta.appendOnly=true
    """
    request = place.upkeep(target, dry_run=dry_run, reason=reason, force_unsafe=force_unsafe)
    wanted = Properties(wanted=_pairs("--set-property", set_), unwanted=tuple(unset or ()))
    _alter(request, wanted, shown) if set_ or unset else _describe(request, properties_document, shown)


@over_table
def constraints(
    target: TableTarget,
    add: Annotated[
        list[str] | None,
        typer.Option("--add", metavar="NAME=SQL", help="A condition that every row must meet."),
    ] = None,
    drop: Annotated[
        list[str] | None, typer.Option("--drop", metavar="NAME", help="Take one away; may be given again.")
    ] = None,
    dry_run: DryRun = False,
    reason: Reason = "",
    force_unsafe: ForceUnsafe = None,
    *,
    place: TablePlace,
    shown: Shown,
) -> None:
    """Show a table's constraints, or change them; one that rows do not meet is refused, with some of them.

    Example: headwater table constraints lake/orders --add "paid=amount >= 0"
    """
    request = place.upkeep(target, dry_run=dry_run, reason=reason, force_unsafe=force_unsafe)
    wanted = Constraints(added=_pairs("--add", add), dropped=tuple(drop or ()))
    _alter(request, wanted, shown) if add or drop else _describe(request, constraints_document, shown)


def _alter(request: UpkeepRequest, wanted: UpkeepOperation, shown: Shown) -> None:
    with shown.progress() as listen:
        done = keep_table(request, wanted, listen)
    show_upkeep(request, done, json=shown.json, quiet=shown.quiet, no_color=shown.no_color)


def _describe(
    request: UpkeepRequest, document_of: Callable[[SnapshotInfo], dict[str, Any]], shown: Shown
) -> None:
    with shown.progress() as listen:
        asked = TableRequest(table=request.table, profile=request.profile)
        info = describe_table(asked, listen).info
    document = document_of(info)
    if shown.json:
        write_json({"table": request.table.name, "table_uri": info.table_uri, **document})
    elif not shown.quiet:
        lines = (f"{key} = {value}" for key, value in _lines(document))
        print_lines(*lines, no_color=shown.no_color)


def features_document(info: SnapshotInfo) -> dict[str, Any]:
    """A table's features as JSON; `implied` are those that an old protocol has without naming them."""
    return {
        "version": info.version,
        "min_reader_version": info.min_reader_version,
        "min_writer_version": info.min_writer_version,
        "reader_features": list(info.reader_features),
        "writer_features": list(info.writer_features),
        "implied_reader_features": list(info.implied_reader_features),
        "implied_writer_features": list(info.implied_writer_features),
    }


def properties_document(info: SnapshotInfo) -> dict[str, Any]:
    """A table's properties as JSON; secrets among them were struck out."""
    return {"version": info.version, "properties": dict(info.table_properties)}


def constraints_document(info: SnapshotInfo) -> dict[str, Any]:
    """A table's constraints as JSON: names with conditions."""
    return {
        "version": info.version,
        "constraints": {each.name: each.expression for each in table_constraints(info)},
    }


def _lines(document: dict[str, Any]) -> list[tuple[str, object]]:
    found: list[tuple[str, object]] = []
    for key, value in document.items():
        if isinstance(value, dict):
            found += cast("dict[str, object]", value).items()
        else:
            listed = ", ".join(cast("list[str]", value)) if isinstance(value, list) else value
            found.append((key, listed))
    return found


def _pairs(flag: str, given: list[str] | None) -> tuple[tuple[str, str], ...]:
    found: list[tuple[str, str]] = []
    for each in given or ():
        key, equals, value = each.partition("=")
        if not equals or not key.strip():
            raise InvalidSetting(key=flag, value=repr(each), expected="NAME=VALUE")
        found.append((key.strip(), value.strip()))
    return tuple(found)
