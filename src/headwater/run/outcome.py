"""What a run tells while it goes on, and what it did in the end.

Not here: how either is shown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from headwater.artifacts import Status, TableRecord
    from headwater.errors import HeadwaterError
    from headwater.names import SnapshotKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """One step of a run: `done` of `total` tables are finished and `message` says what goes on now."""

    message: str
    done: int = 0
    total: int = 0


Listener = Callable[[Progress], None]


def ignore_progress(_step: Progress) -> None:
    """The listener of somebody who only wants the outcome."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutcome:
    """A run that is over. For an unchanged project `run_id` is that of the run that made what is there.

    `snapshots` are the stored tables that have a version, by name; `warnings` what a rerun may not repeat;
    `errors` are by the name of what failed, and `error` is the first of them.
    """

    run_id: str
    status: Status
    tables: tuple[TableRecord, ...]
    views: int
    sources: int
    seconds: float
    manifest: Path
    warnings: tuple[str, ...] = ()
    snapshots: Mapping[str, SnapshotKey] = field(default_factory=dict[str, "SnapshotKey"])
    error: HeadwaterError | None = None
    errors: Mapping[str, HeadwaterError] = field(default_factory=dict[str, "HeadwaterError"])
