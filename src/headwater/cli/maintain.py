"""`headwater table maintain`: what the policies of a project ask for, done or told.

Not here: when something is due; `run` finds that out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from headwater.cli.options import (
    DryRun,
    Reason,
)
from headwater.cli.places import TablePlace, over_table
from headwater.cli.receipts import show_maintained
from headwater.cli.render import show_error
from headwater.cli.sharing import Shown
from headwater.run import maintain as maintain_tables
from headwater.run import maintain_request

if TYPE_CHECKING:
    from headwater.run import MaintainRequest

AnyTable = Annotated[
    str | None,
    typer.Argument(
        metavar="[PATH_OR_NAME]", help="One table. Default: all of the project's", show_default=False
    ),
]


@over_table
def maintain(
    target: AnyTable = None,
    dry_run: DryRun = False,
    reason: Reason = "",
    *,
    place: TablePlace,
    shown: Shown,
) -> None:
    """Do what is due by [maintenance] in headwater.toml, and say why. What recorded runs need stays.

    Exits 1 if anything that was due failed; the rest is done all the same.

    Example: headwater table maintain --project examples/orders --dry-run
    """
    request = _request(place, target, reason, dry_run=dry_run)
    with shown.progress() as listen:
        found = maintain_tables(request, listen)
    show_maintained(found, dry_run=dry_run, json=shown.json, quiet=shown.quiet, no_color=shown.no_color)
    failed = [each.error for each in found if each.error is not None]
    for error in failed:
        show_error(error, debug=shown.debug)
    if failed:
        raise typer.Exit(1)


def _request(place: TablePlace, target: str | None, reason: str, *, dry_run: bool) -> MaintainRequest:
    if target is None:
        return maintain_request(place.opened_project(), reason=reason, dry_run=dry_run)
    return maintain_request(place.upkeep(target, dry_run=dry_run, reason=reason))
