"""The runs that a warehouse has on record: the newest of them in short, and one of them whole.

All from manifests: no Spark, no Java, and nothing of what the project says today. Not here: how a run is
recorded, and what the commits of a table say.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from itertools import takewhile
from typing import TYPE_CHECKING, Literal, TypeAlias

from headwater.artifacts import manifest_paths, read_manifest
from headwater.errors import ManifestUnreadable, RunAmbiguous, RunNotFound

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from headwater.artifacts import Manifest, Status, TableRecord

LAST = "last"
PREVIOUS = "previous"
RunStatus: TypeAlias = "Status | Literal['unreadable']"
_SHOWN_NEAR = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """One run in short.

    Attributes:
        status: As in its manifest; or `unreadable`, and then nothing else is known but why, in `error`.
        started_at: When, in ISO 8601.
        seconds: How long it took.
        built, incremental, skipped, failed, not_reached: The number of tables of which that is true; one that
            is not reached stands behind one that failed.
        error: What ended it, if something did.
    """

    run_id: str
    status: RunStatus
    started_at: str | None = None
    seconds: float | None = None
    built: int = 0
    incremental: int = 0
    skipped: int = 0
    failed: int = 0
    not_reached: int = 0
    error: str | None = None


def recent_runs(warehouse: Path, limit: int | None = None) -> tuple[RunSummary, ...]:
    """The runs of a warehouse that came to an end, newest first, `limit` of them at the most.

    Raises:
        ManifestUnreadable: the folder of the runs cannot be read.
    """
    newest = manifest_paths(warehouse)[::-1][:limit]
    return tuple(_summary(path) for path in newest)


def find_run(warehouse: Path, text: str) -> Manifest:
    """The run that has this id, or the only one whose id begins so; or `last`, or `previous`, the one before.

    Raises:
        RunNotFound: there is none.
        RunAmbiguous: there are several.
        ManifestUnreadable: there is one, and its record cannot be read.
    """
    paths = {path.parent.name: path for path in manifest_paths(warehouse)}
    ids = list(paths)
    named = {LAST: ids[-1:], PREVIOUS: ids[-2:-1]}.get(text)
    if named:
        return read_manifest(paths[named[0]])
    found = [text] if text in paths else [each for each in ids if text and each.startswith(text)]
    if not found:
        raise _not_found(warehouse, text, _nearest(text, ids))
    if len(found) > 1:
        raise RunAmbiguous(run=text, count=len(found), near=tuple(found[: -_SHOWN_NEAR - 1 : -1]))
    return read_manifest(paths[found[0]])


def seconds_of(manifest: Manifest) -> float | None:
    """How long a run took; None if its record does not tell."""
    try:
        started, finished = map(datetime.fromisoformat, (manifest.started_at, manifest.finished_at))
        return (finished - started).total_seconds()
    except (ValueError, TypeError):  # somebody else wrote the times; one may have an offset, and one not
        return None


def is_not_reached(table: TableRecord) -> bool:
    """Whether a table was left as it was because another failed before."""
    return table.action == "skipped" and table.pin is None


def _summary(path: Path) -> RunSummary:
    try:
        manifest = read_manifest(path)
    except ManifestUnreadable as error:
        return RunSummary(run_id=path.parent.name, status="unreadable", error=error.detail)
    not_reached = sum(map(is_not_reached, manifest.tables))
    actions = [each.action for each in manifest.tables]
    return RunSummary(
        run_id=manifest.run_id,
        status=manifest.status,
        started_at=manifest.started_at,
        seconds=seconds_of(manifest),
        built=actions.count("built"),
        incremental=actions.count("incremental"),
        skipped=actions.count("skipped") - not_reached,
        failed=actions.count("failed"),
        not_reached=not_reached,
        error=manifest.error,
    )


def _not_found(warehouse: Path, text: str, near: tuple[str, ...]) -> RunNotFound:
    remedy = (
        f"Near it: {', '.join(near)}; headwater runs lists all."
        if near
        else "Nothing was built there yet: headwater build makes a run."
    )
    return RunNotFound(run=text, warehouse=str(warehouse), near=near, remedy=remedy)


def _nearest(text: str, ids: Sequence[str]) -> tuple[str, ...]:
    """Those that have most of their beginning in common with the text; of equals, the newest."""
    ranked = sorted(ids, key=lambda each: (_shared(text, each), each), reverse=True)
    return tuple(ranked[:_SHOWN_NEAR])


def _shared(one: str, other: str) -> int:
    """How many letters two texts have in common before the first in which they differ."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
