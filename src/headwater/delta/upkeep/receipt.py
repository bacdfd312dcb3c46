"""What an operation did to a table: how the table was before, how it is now, and what Delta counted.

Not here: doing it.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from headwater.delta.failures import loading_errors
from headwater.delta.head import read_head
from headwater.delta.log_files import log_folder
from headwater.delta.snapshot import open_snapshot
from headwater.runtime import local_path_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from headwater.delta.upkeep.holds import Loss
    from headwater.delta.upkeep.note import Operation
    from headwater.delta.upkeep.task import UpkeepTask
    from headwater.names import TablePin

# Done, nothing to do, or, in a dry run, what would be done.
UpkeepOutcome: TypeAlias = Literal["done", "unchanged", "planned"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableState:
    """A table at one moment: its newest version with its data, and what lies in its log's folder."""

    version: int
    digest: str
    files: int
    bytes: int
    log_files: int
    log_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UpkeepReceipt:
    """What an operation did, or would do.

    Args:
        operation: what was asked for.
        outcome: whether it was done.
        summary: one sentence on what was, or would be, done.
        before: the table when it began.
        after: the table when it ended; the same if nothing was done.
        metrics: what was counted, by name.
        lost: what cannot be read any more because of it, or could not if it were done.
        listed: the files that it takes, or makes.
    """

    operation: Operation
    outcome: UpkeepOutcome
    summary: str
    before: TableState
    after: TableState
    metrics: tuple[tuple[str, int], ...] = ()
    lost: tuple[Loss, ...] = ()
    listed: tuple[str, ...] = ()


def _sizes(folder: Path) -> Iterator[int]:
    """The sizes of a folder's files; one that goes meanwhile, as writers' drafts do, is passed over."""
    for each in sorted(folder.rglob("*")):
        with suppress(FileNotFoundError):
            if each.is_file():
                yield each.stat().st_size


def table_state(task: UpkeepTask) -> tuple[TablePin, TableState]:
    """The table as it is now, and its newest version pinned.

    Raises:
        NotADeltaTable, LogUnreadable, ProtocolUnsupported: there is none that could be read.
    """
    uri, pin = task.uri, read_head(task.uri).pin(task.name)
    with loading_errors(local_path_of(uri), pin.version, dataset=task.name):
        snapshot: Any = open_snapshot(task.session, pin)
        files, size = int(snapshot.numOfFiles()), int(snapshot.sizeInBytes())
    log = list(_sizes(log_folder(uri)))
    state = TableState(
        version=pin.version,
        digest=pin.digest,
        files=files,
        bytes=size,
        log_files=len(log),
        log_bytes=sum(log),
    )
    return pin, state
