"""`headwater table optimize|vacuum|restore|export|checkpoint|cleanup-log`: a table kept in good order.

Not here: what each operation does; `run` does that.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headwater.cli.options import (
    Debug,
    DryRun,
    ForceUnsafe,
    Graph,
    Json,
    KeepPinned,
    Master,
    NoColor,
    ProfileName,
    ProjectFolder,
    Quiet,
    Reason,
    RetentionHours,
    Settings,
    TablePlace,
    TableTarget,
    Timestamp,
    Version,
    WarehouseFolder,
    flags_of,
)
from headwater.cli.receipts import show_upkeep
from headwater.cli.render import showing_progress
from headwater.delta import Optimizing
from headwater.errors import WrongUsage
from headwater.given import size
from headwater.run import Checkpoint, CleanLog, Export, Optimize, Restore, Vacuum, keep_table

_COPY = "The folder to copy to; it must not be there yet, or be empty."


def optimize(  # noqa: PLR0913, PLR0917  a command's flags are its arguments
    target: TableTarget,
    where: Annotated[
        str | None, typer.Option("--where", metavar="SQL", help="Only partitions that meet this condition.")
    ] = None,
    zorder_by: Annotated[
        str | None,
        typer.Option("--zorder-by", metavar="A,B", help="Bring rows together by these columns."),
    ] = None,
    target_file_size: Annotated[
        str | None,
        typer.Option(
            "--target-file-size", metavar="SIZE", help="As in 64mb. Default: the table's own, or 1gb"
        ),
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Cluster everything anew, for a table with clustering.")
    ] = False,
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
    """Rewrite a table's files into fewer, fuller ones; by its clustering if it has any. Rows stay.

    Example: headwater table optimize revenue_by_country --project examples/orders
    """
    place = TablePlace(project, graph, warehouse, profile, flags_of(master, settings))
    names = tuple(each.strip() for each in (zorder_by or "").split(",") if each.strip())
    bytes_ = size("target_file_size", target_file_size) if target_file_size else None
    how = Optimizing(where=where, zorder_by=names, target_file_size=bytes_, full=full)
    request = place.upkeep(target, dry_run=dry_run, reason=reason, force_unsafe=force_unsafe)
    with showing_progress(quiet=quiet, no_color=no_color) as listen:
        done = keep_table(request, Optimize(how=how), listen)
    show_upkeep(request, done, json=json, quiet=quiet, no_color=no_color)


def vacuum(  # noqa: PLR0913, PLR0917  a command's flags are its arguments
    target: TableTarget,
    retention_hours: RetentionHours = None,
    dry_run: DryRun = False,
    reason: Reason = "",
    keep_pinned: KeepPinned = False,
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
    """Delete files that no version within the retention has. What recorded runs need is never taken.

    Refused (exit 1) with a list if a recorded run still needs a version that would lose files, or if fewer
    hours are asked for than the table keeps.

    Example: headwater table vacuum lake/orders --dry-run
    """
    place = TablePlace(project, graph, warehouse, profile, flags_of(master, settings))
    request = place.upkeep(
        target, dry_run=dry_run, reason=reason, keep_pinned=keep_pinned, force_unsafe=force_unsafe
    )
    with showing_progress(quiet=quiet, no_color=no_color) as listen:
        done = keep_table(request, Vacuum(retention_hours=retention_hours), listen)
    show_upkeep(request, done, json=json, quiet=quiet, no_color=no_color)


def restore(  # noqa: PLR0913, PLR0917  a command's flags are its arguments
    target: TableTarget,
    version: Version = None,
    timestamp: Timestamp = None,
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
    """Make a table what it was at a version or a time; that is one more commit. The next build notices it.

    Exits 3 if that version is not there any more, or is older than the table keeps replaced files.

    Example: headwater table restore lake/orders --version 3 --reason "a wrong load"
    """
    place = TablePlace(project, graph, warehouse, profile, flags_of(master, settings))
    if (version is None) == (timestamp is None):
        detail = "restore needs --version or --timestamp, and not both"
        raise WrongUsage(detail=detail, command="headwater table restore")
    request = place.upkeep(target, dry_run=dry_run, reason=reason, force_unsafe=force_unsafe)
    with showing_progress(quiet=quiet, no_color=no_color) as listen:
        done = keep_table(request, Restore(version=version, timestamp=timestamp), listen)
    show_upkeep(request, done, json=json, quiet=quiet, no_color=no_color)


def export(  # noqa: PLR0913, PLR0917  a command's flags are its arguments
    target: TableTarget,
    folder: Annotated[Path | None, typer.Argument(metavar="DIR", help=_COPY, show_default=False)] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="DIR", help="The same as DIR.")] = None,
    version: Version = None,
    timestamp: Timestamp = None,
    dry_run: DryRun = False,
    reason: Reason = "",
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
    """Copy a table at a version to a folder of its own: data and a log that name nothing outside it.

    Example: headwater table export lake/orders backup/orders --version 3
    """
    place = TablePlace(project, graph, warehouse, profile, flags_of(master, settings))
    if version is not None and timestamp is not None:
        detail = "--version and --timestamp ask for two versions"
        raise WrongUsage(detail=detail, command="headwater table export")
    copy = out or folder
    if copy is None:
        raise WrongUsage(detail="export needs a folder to copy to", command="headwater table export")
    request = place.upkeep(target, dry_run=dry_run, reason=reason)
    with showing_progress(quiet=quiet, no_color=no_color) as listen:
        done = keep_table(request, Export(target=copy, version=version, timestamp=timestamp), listen)
    show_upkeep(request, done, json=json, quiet=quiet, no_color=no_color)


def checkpoint(  # noqa: PLR0913, PLR0917  a command's flags are its arguments
    target: TableTarget,
    dry_run: DryRun = False,
    reason: Reason = "",
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
    """Write a checkpoint of a table's newest version, so that its log loads faster. Takes nothing away.

    Example: headwater table checkpoint lake/orders
    """
    place = TablePlace(project, graph, warehouse, profile, flags_of(master, settings))
    request = place.upkeep(target, dry_run=dry_run, reason=reason)
    with showing_progress(quiet=quiet, no_color=no_color) as listen:
        done = keep_table(request, Checkpoint(), listen)
    show_upkeep(request, done, json=json, quiet=quiet, no_color=no_color)


def cleanup_log(  # noqa: PLR0913, PLR0917  a command's flags are its arguments
    target: TableTarget,
    retention_hours: RetentionHours = None,
    dry_run: DryRun = False,
    reason: Reason = "",
    keep_pinned: KeepPinned = False,
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
    """Take commits out of a table's log that are older than it keeps. What recorded runs need stays.

    Example: headwater table cleanup-log lake/orders --dry-run
    """
    place = TablePlace(project, graph, warehouse, profile, flags_of(master, settings))
    request = place.upkeep(
        target, dry_run=dry_run, reason=reason, keep_pinned=keep_pinned, force_unsafe=force_unsafe
    )
    with showing_progress(quiet=quiet, no_color=no_color) as listen:
        done = keep_table(request, CleanLog(retention_hours=retention_hours), listen)
    show_upkeep(request, done, json=json, quiet=quiet, no_color=no_color)
