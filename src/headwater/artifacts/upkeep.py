"""What was done to a table beside writing it, as records in the table's own folder: who, why, before, after.

A record is there before an operation begins, so that one that was killed is not forgotten. Not here: what the
operation's commits say of it, which goes with the log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from headwater.artifacts.records import decode_record, encode_record, without_secrets, write_whole
from headwater.errors import RecordUnreadable

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.delta import TableState, UpkeepNote, UpkeepReceipt

UpkeepStatus = Literal["started", "done", "failed"]
_FOLDER = ("_headwater", "upkeep")


class StateRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table at one moment: its newest version with its data, and what lay in its log's folder."""

    version: int
    digest: str
    files: int
    bytes: int
    log_files: int
    log_bytes: int


class LossRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A version, or a window of changes, that could not be read any more; and which runs had named it."""

    version: int
    starting_version: int | None
    runs: tuple[str, ...]
    files: int


class UpkeepRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One operation. `reason` is why it was asked for, `forced` why a guard was overruled."""

    schema_version: int = 1
    upkeep_id: str
    operation: str
    table: str
    status: UpkeepStatus
    asked_by: str
    reason: str
    forced: str | None
    started_at: str
    finished_at: str | None = None
    options: dict[str, Any] = {}
    summary: str | None = None
    before: StateRecord | None = None
    after: StateRecord | None = None
    metrics: dict[str, int] = {}
    lost: tuple[LossRecord, ...] = ()
    error: str | None = None


def upkeep_record(note: UpkeepNote, table: str, started_at: str, options: dict[str, Any]) -> UpkeepRecord:
    """The record of an operation that is about to begin; secrets among its options are struck out."""
    return UpkeepRecord(
        upkeep_id=note.upkeep_id,
        operation=note.operation,
        table=table,
        status="started",
        asked_by=note.asked_by,
        reason=note.reason,
        forced=note.forced,
        started_at=started_at,
        options=without_secrets(options),
    )


def ended_record(
    record: UpkeepRecord, finished_at: str, receipt: UpkeepReceipt | None, error: Exception | None = None
) -> UpkeepRecord:
    """The record of an operation that is over, well or not."""
    if receipt is None:
        return msgspec.structs.replace(record, status="failed", finished_at=finished_at, error=str(error))
    return msgspec.structs.replace(
        record,
        status="done",
        finished_at=finished_at,
        summary=receipt.summary,
        before=_state(receipt.before),
        after=_state(receipt.after),
        metrics=dict(receipt.metrics),
        lost=tuple(
            LossRecord(
                version=each.hold.pin.version,
                starting_version=each.hold.starting_version,
                runs=each.hold.holders,
                files=each.files,
            )
            for each in receipt.lost
        ),
    )


def commit_upkeep(table: Path, record: UpkeepRecord) -> Path:
    """Writes a record in one step, over the one that said it had begun.

    Raises:
        WarehouseNotWritable: the table's folder cannot be written.
    """
    path = table.joinpath(*_FOLDER, f"{record.upkeep_id}.json")
    return write_whole(path, msgspec.json.format(encode_record(record), indent=2) + b"\n", table)


def forget_upkeep(table: Path, record: UpkeepRecord) -> None:
    """Takes back the record of an operation that turned out to have nothing to do."""
    table.joinpath(*_FOLDER, f"{record.upkeep_id}.json").unlink(missing_ok=True)


def read_upkeep(table: Path) -> tuple[UpkeepRecord, ...]:
    """The records of a table, oldest first.

    Raises:
        RecordUnreadable: a file is none.
    """
    folder = table.joinpath(*_FOLDER)
    paths = sorted(folder.glob("*.json")) if folder.is_dir() else []
    # A leading dot is a draft of somebody who was killed.
    return tuple(_read(path) for path in paths if not path.name.startswith("."))


def _read(path: Path) -> UpkeepRecord:
    try:
        return decode_record(UpkeepRecord, path.read_bytes())
    except OSError as error:
        detail = f"{path}: {error.strerror or error}"
        raise RecordUnreadable(kind=UpkeepRecord.__name__, form="json", detail=detail) from error


def _state(state: TableState) -> StateRecord:
    return StateRecord(
        version=state.version,
        digest=state.digest,
        files=state.files,
        bytes=state.bytes,
        log_files=state.log_files,
        log_bytes=state.log_bytes,
    )
