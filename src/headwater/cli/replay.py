"""`headwater replay`: makes a recorded run again and shows whether the rows are the same.

Not here: how.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from headwater.cli.render import counted, error_document, print_lines, show_error, write_json
from headwater.cli.sharing import ProjectPlace, Shown, over_project
from headwater.errors import HeadwaterError, PinsGone

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headwater.run import ReplayedView, ReplayReport, RowDifference, SampleRow

# What differs, in the words of a replay: what is stored stands before what was made again.
_KINDS = {"removed": "only_stored", "added": "only_replayed", "changed": "changed"}


@over_project
def replay(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run's id, the beginning of one, or last.")],
    view: Annotated[
        str | None, typer.Argument(metavar="VIEW", help="A stored view of that run.", show_default="all")
    ] = None,
    path: Annotated[
        Path | None,
        typer.Argument(
            help="The folder of a project (with headwater.toml) or a repository.", show_default="here"
        ),
    ] = None,
    keep: Annotated[bool, typer.Option("--keep", help="Leave what was made, and say where.")] = False,
    connect: Annotated[
        str | None,
        typer.Option(
            "--connect", metavar="URL", help="Send the plans to this Spark Connect server: sc://host:15002"
        ),
    ] = None,
    *,
    place: ProjectPlace,
    shown: Shown,
) -> None:
    """Make a recorded run again at its recorded versions, and compare its rows with what it recorded.

    Neither the view files nor the settings of today count, and no table is touched. Exit code 0: the same
    rows; 1: different ones; 3: versions or files that the run read are gone.

    Example: headwater replay last examples/orders
    """
    name, folder = _meant(run, view, path, place)
    project = place.opened(folder)
    try:
        with shown.progress() as listen:
            report = project.replay(run, name, keep=keep, connect=connect, listen=listen)
    except PinsGone as error:
        if not shown.json:
            raise
        gone = {"run_id": error.run_id, "status": "gone", "views": [], "gone": list(error.gone)}
        write_json({**gone, "error": error_document(error)})
        show_error(error, debug=shown.debug)
        raise typer.Exit(error.exit_code) from error
    if shown.json:
        write_json(replay_document(report))
    elif not shown.quiet:
        print_lines(*replay_lines(report), no_color=shown.no_color)
    if report.status != "equal":
        raise typer.Exit(1)


def replay_document(report: ReplayReport) -> dict[str, Any]:
    """A replay as `replay --json` prints it."""
    return {
        "run_id": report.run_id,
        "status": report.status,
        "first": report.first.name if report.first else None,
        "views": [_view_document(each) for each in report.views],
        "seconds": round(report.seconds, 3),
        **({"kept": str(report.kept)} if report.kept else {}),
    }


def replay_lines(report: ReplayReport) -> Iterator[str]:
    """A replay for a person: the first view that differs, and then each view."""
    if report.first is not None:
        yield f"'{report.first.name}' is the first view that is not as recorded: {report.first.reason}"
    width = max((len(each.name) for each in report.views), default=0)
    for each in report.views:
        rows = "" if each.rows is None else f"  {counted(each.rows, 'row')}"
        digest = each.recorded if each.status == "equal" else None
        words = f"  {digest or each.reason}" if digest or each.reason else ""
        yield f"{each.status:9} {each.name:{width}}{rows}{words}"
        if each.difference is not None:
            yield f"  recorded {each.recorded}, replayed {each.replayed}"
            yield from (f"  {line}" for line in _difference_lines(each.difference))
    equal = sum(each.status == "equal" for each in report.views)
    yield f"{equal} of {counted(len(report.views), 'view')} of run {report.run_id} came out as recorded."
    if report.kept is not None:
        yield f"What was made is in {report.kept}"


def _meant(run: str, view: str | None, path: Path | None, place: ProjectPlace) -> tuple[str | None, Path]:
    """VIEW may be left out: a folder that is no view's name is PATH."""
    if view is not None and path is None and Path(view).is_dir() and not _is_view(run, view, place):
        return None, Path(view)
    return view, path or Path()


def _is_view(run: str, name: str, place: ProjectPlace) -> bool:
    try:
        return place.opened(Path()).has_view(run, name)
    except HeadwaterError:
        return False  # there is no such run, or no project, here


def _view_document(view: ReplayedView) -> dict[str, Any]:
    found = view.difference
    return {
        "name": view.name,
        "status": view.status,
        "recorded": view.recorded,
        "replayed": view.replayed,
        "rows": view.rows,
        "only_stored": found.only_before if found else None,
        "only_replayed": found.only_after if found else None,
        "changed": found.changed if found else None,
        "samples": [_sample_document(each) for each in found.samples] if found else [],
        "reason": view.reason or None,
    }


def _sample_document(sample: SampleRow) -> dict[str, Any]:
    return {"kind": _KINDS[sample.kind], "stored": sample.before, "replayed": sample.after}


def _difference_lines(found: RowDifference) -> Iterator[str]:
    changed = "" if found.changed is None else f", {counted(found.changed, 'key')} with another row"
    yield f"{counted(found.only_before, 'row')} only stored, {found.only_after:,} only replayed{changed}"
    for each in found.samples:
        for sign, row in (("-", each.before), ("+", each.after)):
            if row is not None:
                yield f"{sign} {msgspec.json.encode(row).decode()}"
