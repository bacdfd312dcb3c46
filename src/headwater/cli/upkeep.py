"""`headwater table optimize|vacuum|restore|export|checkpoint|cleanup-log`: a table kept in good order.

Not here: what each operation does; `run` does that.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headwater.cli.options import (
    DryRun,
    ForceUnsafe,
    KeepPinned,
    Reason,
    RetentionHours,
    TableTarget,
    Timestamp,
    Version,
)
from headwater.cli.places import TablePlace, over_table
from headwater.cli.receipts import show_upkeep
from headwater.cli.sharing import Shown
from headwater.delta import Optimizing
from headwater.errors import WrongUsage
from headwater.given import size
from headwater.run import Checkpoint, CleanLog, Export, Optimize, Restore, Vacuum, keep_table

_COPY = "The folder to copy to; it must not be there yet, or be empty."


@over_table
def optimize(  # noqa: PLR0913  a command's flags are its arguments
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
    *,
    place: TablePlace,
    shown: Shown,
) -> None:
    """Rewrite a table's files into fewer, fuller ones; by its clustering if it has any. Rows stay.

    Example: headwater table optimize revenue_by_country --project examples/orders
    """
    names = tuple(each.strip() for each in (zorder_by or "").split(",") if each.strip())
    bytes_ = size("target_file_size", target_file_size) if target_file_size else None
    how = Optimizing(where=where, zorder_by=names, target_file_size=bytes_, full=full)
    request = place.upkeep(target, dry_run=dry_run, reason=reason, force_unsafe=force_unsafe)
    with shown.progress() as listen:
        done = keep_table(request, Optimize(how=how), listen)
    show_upkeep(request, done, json=shown.json, quiet=shown.quiet, no_color=shown.no_color)


@over_table
def vacuum(
    target: TableTarget,
    retention_hours: RetentionHours = None,
    dry_run: DryRun = False,
    reason: Reason = "",
    keep_pinned: KeepPinned = False,
    force_unsafe: ForceUnsafe = None,
    *,
    place: TablePlace,
    shown: Shown,
) -> None:
    """Delete files that no version within the retention has. What recorded runs need is never taken.

    Refused (exit 1) with a list if a recorded run still needs a version that would lose files, or if fewer
    hours are asked for than the table keeps.

    Example: headwater table vacuum lake/orders --dry-run
    """
    request = place.upkeep(
        target, dry_run=dry_run, reason=reason, keep_pinned=keep_pinned, force_unsafe=force_unsafe
    )
    with shown.progress() as listen:
        done = keep_table(request, Vacuum(retention_hours=retention_hours), listen)
    show_upkeep(request, done, json=shown.json, quiet=shown.quiet, no_color=shown.no_color)


@over_table
def restore(
    target: TableTarget,
    version: Version = None,
    timestamp: Timestamp = None,
    dry_run: DryRun = False,
    reason: Reason = "",
    force_unsafe: ForceUnsafe = None,
    *,
    place: TablePlace,
    shown: Shown,
) -> None:
    """Make a table what it was at a version or a time; that is one more commit. The next build notices it.

    Exits 3 if that version is not there any more, or is older than the table keeps replaced files.

    Example: headwater table restore lake/orders --version 3 --reason "a wrong load"
    """
    if (version is None) == (timestamp is None):
        detail = "restore needs --version or --timestamp, and not both"
        raise WrongUsage(detail=detail, command="headwater table restore")
    request = place.upkeep(target, dry_run=dry_run, reason=reason, force_unsafe=force_unsafe)
    with shown.progress() as listen:
        done = keep_table(request, Restore(version=version, timestamp=timestamp), listen)
    show_upkeep(request, done, json=shown.json, quiet=shown.quiet, no_color=shown.no_color)


@over_table
def export(  # noqa: PLR0913  a command's flags are its arguments
    target: TableTarget,
    folder: Annotated[Path | None, typer.Argument(metavar="DIR", help=_COPY, show_default=False)] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="DIR", help="The same as DIR.")] = None,
    version: Version = None,
    timestamp: Timestamp = None,
    dry_run: DryRun = False,
    reason: Reason = "",
    *,
    place: TablePlace,
    shown: Shown,
) -> None:
    """Copy a table at a version to a folder of its own: data and a log that name nothing outside it.

    Example: headwater table export lake/orders backup/orders --version 3
    """
    if version is not None and timestamp is not None:
        detail = "--version and --timestamp ask for two versions"
        raise WrongUsage(detail=detail, command="headwater table export")
    copy = out or folder
    if copy is None:
        raise WrongUsage(detail="export needs a folder to copy to", command="headwater table export")
    request = place.upkeep(target, dry_run=dry_run, reason=reason)
    with shown.progress() as listen:
        done = keep_table(request, Export(target=copy, version=version, timestamp=timestamp), listen)
    show_upkeep(request, done, json=shown.json, quiet=shown.quiet, no_color=shown.no_color)


@over_table
def checkpoint(
    target: TableTarget,
    dry_run: DryRun = False,
    reason: Reason = "",
    *,
    place: TablePlace,
    shown: Shown,
) -> None:
    """Write a checkpoint of a table's newest version, so that its log loads faster. Takes nothing away.

    Example: headwater table checkpoint lake/orders
    """
    request = place.upkeep(target, dry_run=dry_run, reason=reason)
    with shown.progress() as listen:
        done = keep_table(request, Checkpoint(), listen)
    show_upkeep(request, done, json=shown.json, quiet=shown.quiet, no_color=shown.no_color)


@over_table
def cleanup_log(
    target: TableTarget,
    retention_hours: RetentionHours = None,
    dry_run: DryRun = False,
    reason: Reason = "",
    keep_pinned: KeepPinned = False,
    force_unsafe: ForceUnsafe = None,
    *,
    place: TablePlace,
    shown: Shown,
) -> None:
    """Take commits out of a table's log that are older than it keeps. What recorded runs need stays.

    Example: headwater table cleanup-log lake/orders --dry-run
    """
    request = place.upkeep(
        target, dry_run=dry_run, reason=reason, keep_pinned=keep_pinned, force_unsafe=force_unsafe
    )
    with shown.progress() as listen:
        done = keep_table(request, CleanLog(retention_hours=retention_hours), listen)
    show_upkeep(request, done, json=shown.json, quiet=shown.quiet, no_color=shown.no_color)
