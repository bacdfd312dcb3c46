"""What a task leaves on record of its table, and whether a table is what a task would make of it.

Not here: the task.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.artifacts import PinRecord, TableRecord
from headwater.delta import CommitNote, note_of
from headwater.digest import digest_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from headwater.artifacts import Action, Manifest, RefreshRecord
    from headwater.delta import ContentDigest, LogHead
    from headwater.names import TablePin

# The error of a run that nobody heard of again.
STOPPED = "the run was stopped before it ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunNotes:
    """What the commits of one run say of themselves."""

    pipeline: str
    run_id: str
    new_token: Callable[[], str]

    def note(self, table: str, key: str, base: int, inputs: Mapping[str, int | None]) -> CommitNote:
        """That of a commit upon version `base`, by the task `key`, of inputs at their versions."""
        return CommitNote(
            pipeline=self.pipeline,
            table=table,
            run_id=self.run_id,
            task_key=key,
            mutation_id=digest_of([self.run_id, table, key, base, self.new_token()]),
            inputs=tuple(sorted(inputs.items())),
        )


def left_by(run: Manifest | None, name: str) -> TableRecord | None:
    """A table as a run left it; None if that left none."""
    tables = run.tables if run else ()
    return next((each for each in tables if each.name == name and each.pin), None)


def is_made_by(head: LogHead, name: str, key: str, recorded: TableRecord | None = None) -> bool:
    """Whether a table's rows are what a task would make: their commit says so, or a run that left them."""
    note = note_of(head.user_metadata)
    if note is None or note.table != name:
        return False
    if note.task_key == key:
        return True
    pin = recorded.pin if recorded else None
    return recorded is not None and pin is not None and (recorded.task_key, pin.digest) == (key, head.digest)


def rows_written(counts: tuple[tuple[str, str], ...]) -> int | None:
    """How many rows a table has by the metrics of its commit, if that wrote all of them."""
    metrics = dict(counts)
    is_whole = "numTargetRowsInserted" not in metrics and "numCopiedRows" not in metrics
    count = metrics.get("numOutputRows") if is_whole else None
    return int(count) if count is not None else None


def record_of(
    pin: TablePin,
    key: str,
    action: Action,
    reason: str,
    rows: int | None,
    content: ContentDigest | None,
    refresh: RefreshRecord | None,
) -> TableRecord:
    """A table as a task leaves it."""
    return TableRecord(
        name=pin.name,
        action=action,
        reason=reason,
        version=pin.version,
        rows=rows,
        digest=content.text if content else None,
        pin=PinRecord(version=pin.version, digest=pin.digest),
        task_key=key,
        refresh=refresh,
    )
