"""A table's log: a checkpoint to load it faster, and commits that nobody needs any more taken out of it.

Delta's own cleaning goes by age alone and happens by the way; here it is asked for, says first what it would
take, and leaves whatever a hold needs. What is taken is what the protocol allows: everything before a version
that has a checkpoint. Not here: data files.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from headwater.delta.history import newest_until
from headwater.delta.log_files import first_version_of, list_log, log_folder
from headwater.delta.snapshot import describe_pin, forget_log, open_log, open_snapshot
from headwater.delta.upkeep.failing import upkeep_errors
from headwater.delta.upkeep.holds import Loss, held_log
from headwater.delta.upkeep.receipt import UpkeepReceipt, table_state
from headwater.delta.upkeep.retention import HOUR_MS, check_hours, retention_of
from headwater.errors import MutationRefused, WriteFailed
from headwater.runtime import local_path_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from headwater.delta.log_files import LogFiles
    from headwater.delta.snapshot import SnapshotInfo
    from headwater.delta.upkeep.holds import Hold
    from headwater.delta.upkeep.note import Operation
    from headwater.delta.upkeep.task import UpkeepTask
    from headwater.names import TablePin
    from headwater.runtime import RunSession

_VERSIONED = re.compile(
    r"\.?(\d{20})\.(?:json|crc|checkpoint\..+|\d{20}\.compacted\.json)(?:\.crc)?", re.ASCII
)
_DAY = 24 * HOUR_MS
# A table with this promises old readers that its checkpoints stay where they are.
_PROTECTED = "checkpointProtection"


def checkpoint_table(task: UpkeepTask) -> UpkeepReceipt:
    """Writes a checkpoint of the newest version, and takes nothing out of the log.

    Raises:
        WriteFailed: the log's folder cannot be written.
    """
    pin, before = table_state(task)
    files = list_log(task.uri)
    is_there = _has_checkpoint(files, pin.version)
    if is_there or task.dry_run:
        words = "has a checkpoint already" if is_there else "would get a checkpoint"
        return UpkeepReceipt(
            operation="checkpoint",
            outcome="unchanged" if is_there else "planned",
            summary=f"version {pin.version} {words}",
            before=before,
            after=before,
        )
    _write_checkpoint(task.session, pin, "checkpoint")
    _, after = table_state(task)
    return UpkeepReceipt(
        operation="checkpoint",
        outcome="done",
        summary=f"version {pin.version} has a checkpoint",
        before=before,
        after=after,
        metrics=(("commits_since_last", commits_since_checkpoint(files)),),
    )


def clean_log(task: UpkeepTask, retention_hours: float | None = None) -> UpkeepReceipt:
    """Takes out of a log the commits and checkpoints of versions that are older than it keeps.

    The newest version of before the limit stays, so that a time within it can still be asked for.
    `retention_hours` is how long commits stay; the table's own property if None.

    Raises:
        PinsAtRisk: a version that is needed would go, and nobody spares it or forces it.
        RetentionTooShort: fewer hours than the table's property, and nobody forces it.
        MutationRefused: the table protects its checkpoints.
    """
    check_hours(retention_hours)
    uri, guard, dry_run = task.uri, task.guard, task.dry_run
    pin, before = table_state(task)
    snapshot = describe_pin(task.session, pin)
    kept = retention_of(snapshot.table_properties).log_hours
    hours = kept if retention_hours is None else retention_hours
    limit = task.now_ms - int(hours * HOUR_MS)
    files, holds = held_log(uri, guard)
    first = first_kept(files, limit)
    lost = _lost_before(holds, first)
    if guard.spare and lost:
        first = min(first_needed(each.hold) for each in lost)
        lost = ()
    taken = files_before(uri, first)
    after = before
    if taken and not dry_run:
        _check_unprotected(snapshot, uri)
        guard.check("cleanup-log", uri, lost)
        guard.check_hours(uri, hours, kept, "its log")
        _take(task.session, pin, files, first, taken)
        _, after = table_state(task)
    verb = "would be taken" if dry_run else "taken"
    words = f"{len(taken):,} files of versions before {first} {verb} out of the log"
    return UpkeepReceipt(
        operation="cleanup-log",
        outcome="unchanged" if not taken else "planned" if dry_run else "done",
        summary=words if taken else "no version is older than the log keeps",
        before=before,
        after=after,
        metrics=(("first_version", first), ("files_taken", len(taken))),
        lost=lost,
        listed=tuple(each.name for each in taken),
    )


def lost_to_cleanup(task: UpkeepTask, afterwards: SnapshotInfo) -> tuple[Loss, ...]:
    """What Delta may take by the way of a commit after which a table has these properties.

    It cleans the log with some commits, by the age of files, if the table allows that; whether it will with
    the next one is not to be relied on.
    """
    kept = retention_of(afterwards.table_properties)
    if not kept.cleans_log:
        return ()
    files, holds = held_log(task.uri, task.guard)
    return _lost_before(holds, first_kept(files, (task.now_ms - kept.log_ms) // _DAY * _DAY))


def check_commit(task: UpkeepTask, operation: Operation, afterwards: SnapshotInfo) -> tuple[Loss, ...]:
    """What a commit may cost that is about to be made; raises PinsAtRisk unless that is nothing or forced.

    A dry run raises nothing.
    """
    lost = lost_to_cleanup(task, afterwards)
    if not task.dry_run:
        task.guard.check(operation, task.uri, lost)
    return lost


def commits_since_checkpoint(files: LogFiles) -> int:
    """How many commits a load of the newest version reads one by one."""
    last = max((each.version for each in files.checkpoints if each.is_complete), default=-1)
    return files.commits[-1][0] - last if files.commits else 0


def first_kept(files: LogFiles, limit_ms: int) -> int:
    """The first version that a log keeps: the newest one at or before the limit, or the first there is."""
    found = newest_until(files.uri, limit_ms)
    return first_version_of(files) if found is None else found


def files_before(uri: str, version: int) -> list[Path]:
    """The files of a log that belong to versions before one, oldest first, checksums among them."""
    found: list[tuple[int, str, Path]] = []
    for each in sorted(log_folder(uri).iterdir()):
        match = _VERSIONED.fullmatch(each.name)
        if match and int(match[1]) < version:
            found.append((int(match[1]), each.name, each))
    return [path for _, _, path in sorted(found)]


def first_needed(hold: Hold) -> int:
    """The first version that a hold needs the commit of."""
    return hold.pin.version if hold.starting_version is None else min(hold.starting_version, hold.pin.version)


def _lost_before(holds: Sequence[Hold], version: int) -> tuple[Loss, ...]:
    return tuple(
        Loss(hold=each, files=version - first_needed(each)) for each in holds if first_needed(each) < version
    )


def _check_unprotected(snapshot: SnapshotInfo, uri: str) -> None:
    if _PROTECTED in snapshot.writer_features:
        raise MutationRefused(
            path=str(local_path_of(uri)), kind="cleanup-log", detail="the table protects its checkpoints"
        )


def _take(session: RunSession, pin: TablePin, files: LogFiles, first: int, taken: Sequence[Path]) -> None:
    """Deletes files of a log, oldest first: wherever it stops, what is left is a log."""
    if not _has_checkpoint(files, first):
        _write_checkpoint(session, pin, "cleanup-log", first)
    if not _has_checkpoint(list_log(pin.uri), first):  # Delta only notes that it could not write one
        path = str(local_path_of(pin.uri))
        raise WriteFailed(path=path, detail=f"there is no checkpoint of version {first} to start from")
    if _last_checkpoint(pin.uri) < first:  # the log must not name one that is about to go
        _write_checkpoint(session, pin, "cleanup-log")
    try:
        for each in taken:
            each.unlink(missing_ok=True)
    except OSError as error:
        path, words = str(local_path_of(pin.uri)), error.strerror or str(error)
        raise WriteFailed(path=path, detail=words) from error
    finally:
        forget_log(session, pin.uri)


def _has_checkpoint(files: LogFiles, version: int) -> bool:
    return any(each.version == version and each.is_complete for each in files.checkpoints)


def _last_checkpoint(uri: str) -> int:
    """The version of the checkpoint that a log names as its last; -1 if it names none."""
    try:
        return int(json.loads((log_folder(uri) / "_last_checkpoint").read_bytes())["version"])
    except (OSError, ValueError, KeyError, TypeError):
        return -1


def _write_checkpoint(
    session: RunSession, pin: TablePin, operation: Operation, version: int | None = None
) -> None:
    """A checkpoint of the newest version, which the log then names as its last; or of an older one."""
    with upkeep_errors(operation, pin.uri):
        log: Any = open_log(session, pin.uri)
        if version is not None:
            log.createCheckpointAtVersion(version)
            return
        none = session.jvm.scala.Option.empty()
        written = log.writeCheckpointFiles(open_snapshot(session, pin), none)
        log.writeLastCheckpointFile(log, written, True)
