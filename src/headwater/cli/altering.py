"""`headwater table features|properties|constraints`: what a table says of itself, shown or changed.

Not here: what each operation does; `run` does that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from headwater.cli.options import (
    Debug,
    DryRun,
    ForceUnsafe,
    Graph,
    Json,
    Master,
    NoColor,
    ProfileName,
    ProjectFolder,
    Quiet,
    Reason,
    Settings,
    TablePlace,
    TableTarget,
    WarehouseFolder,
    flags_of,
)
from headwater.cli.receipts import show_upkeep
from headwater.cli.render import print_lines, showing_progress, write_json
from headwater.delta import table_constraints
from headwater.errors import InvalidSetting
from headwater.run import Constraints, Features, Properties, TableRequest, describe_table, keep_table

if TYPE_CHECKING:
    from headwater.delta import SnapshotInfo
    from headwater.run import UpkeepOperation, UpkeepRequest


def features(  # noqa: PLR0913, PLR0917  a command's flags are its arguments
    target: TableTarget,
    enable: Annotated[
        list[str] | None,
        typer.Option("--enable", metavar="NAME", help="Switch a feature on; may be given again."),
    ] = None,
    dry_run: DryRun = False,
    reason: Reason = "",
    force_unsafe: ForceUnsafe = None,
    json: Json = False,
    project: ProjectFolder = None,
    graph: Graph = False,
    warehouse: WarehouseFolder = None,
    profile: ProfileName = None,
    master: Master = None,
    settings: Settings = None,
    quiet: Quiet = False,
    no_color: NoColor = False,
    debug: Debug = False,  # noqa: ARG001  read by the one place that shows errors
) -> None:
    """Show a table's features, or switch some on; most cannot be taken back.

    Example: headwater table features lake/orders --enable deletionVectors
    """
    place = TablePlace(project, graph, warehouse, profile, flags_of(master, settings))
    request = place.upkeep(target, dry_run=dry_run, reason=reason, force_unsafe=force_unsafe)
    shown = _Shown("features", json=json, quiet=quiet, no_color=no_color)
    wanted = Features(enable=tuple(enable or ()))
    shown.alter(request, wanted) if enable else shown.describe(request)


def properties(  # noqa: PLR0913, PLR0917  a command's flags are its arguments
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
    json: Json = False,
    project: ProjectFolder = None,
    graph: Graph = False,
    warehouse: WarehouseFolder = None,
    profile: ProfileName = None,
    master: Master = None,
    settings: Settings = None,
    quiet: Quiet = False,
    no_color: NoColor = False,
    debug: Debug = False,  # noqa: ARG001  read by the one place that shows errors
) -> None:
    """Show a table's properties, or change some; those that decide how far back it can be read are guarded.

    Example: headwater table properties lake/orders --set-property delta.appendOnly=true
    """
    place = TablePlace(project, graph, warehouse, profile, flags_of(master, settings))
    request = place.upkeep(target, dry_run=dry_run, reason=reason, force_unsafe=force_unsafe)
    shown = _Shown("properties", json=json, quiet=quiet, no_color=no_color)
    wanted = Properties(wanted=_pairs("--set-property", set_), unwanted=tuple(unset or ()))
    shown.alter(request, wanted) if set_ or unset else shown.describe(request)


def constraints(  # noqa: PLR0913, PLR0917  a command's flags are its arguments
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
    json: Json = False,
    project: ProjectFolder = None,
    graph: Graph = False,
    warehouse: WarehouseFolder = None,
    profile: ProfileName = None,
    master: Master = None,
    settings: Settings = None,
    quiet: Quiet = False,
    no_color: NoColor = False,
    debug: Debug = False,  # noqa: ARG001  read by the one place that shows errors
) -> None:
    """Show a table's constraints, or change them; one that rows do not meet is refused, with some of them.

    Example: headwater table constraints lake/orders --add "paid=amount >= 0"
    """
    place = TablePlace(project, graph, warehouse, profile, flags_of(master, settings))
    request = place.upkeep(target, dry_run=dry_run, reason=reason, force_unsafe=force_unsafe)
    shown = _Shown("constraints", json=json, quiet=quiet, no_color=no_color)
    wanted = Constraints(added=_pairs("--add", add), dropped=tuple(drop or ()))
    shown.alter(request, wanted) if add or drop else shown.describe(request)


@dataclass(frozen=True, slots=True)
class _Shown:
    """How a command shows what it finds or does."""

    command: str
    json: bool
    quiet: bool
    no_color: bool

    def alter(self, request: UpkeepRequest, wanted: UpkeepOperation) -> None:
        with showing_progress(quiet=self.quiet, no_color=self.no_color) as listen:
            done = keep_table(request, wanted, listen)
        show_upkeep(request, done, json=self.json, quiet=self.quiet, no_color=self.no_color)

    def describe(self, request: UpkeepRequest) -> None:
        with showing_progress(quiet=self.quiet, no_color=self.no_color) as listen:
            asked = TableRequest(table=request.table, profile=request.profile)
            info = describe_table(asked, listen).info
        document = _DOCUMENTS[self.command](info)
        if self.json:
            write_json({"table": request.table.name, "table_uri": info.table_uri, **document})
        elif not self.quiet:
            lines = (f"{key} = {value}" for key, value in _lines(document))
            print_lines(*lines, no_color=self.no_color)


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


_DOCUMENTS = {
    "features": features_document,
    "properties": properties_document,
    "constraints": constraints_document,
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
