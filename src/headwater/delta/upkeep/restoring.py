"""A table brought back to an earlier version, as one more commit.

Delta brings back the properties of that version too, cleans the log where they allow it, and checks that its
files are there. Not here: what a build makes of a table that was restored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.delta.columns import table_in_sql
from headwater.delta.digests import find_content, keep_content
from headwater.delta.files import list_files
from headwater.delta.history import commit_time
from headwater.delta.snapshot import describe_pin
from headwater.delta.upkeep.failing import upkeep_errors
from headwater.delta.upkeep.holds import Hold, needed_files
from headwater.delta.upkeep.log import check_commit
from headwater.delta.upkeep.note import noted_session
from headwater.delta.upkeep.receipt import UpkeepReceipt, table_state
from headwater.delta.upkeep.retention import retention_of
from headwater.errors import BeyondRetention, DataFileMissing
from headwater.runtime import local_path_of

if TYPE_CHECKING:
    from headwater.delta.upkeep.task import UpkeepTask
    from headwater.names import TablePin
    from headwater.runtime import RunSession


def restore_table(task: UpkeepTask, wanted: TablePin) -> UpkeepReceipt:
    """Makes a table what it was at a version; that is a commit, and newer versions stay readable.

    Raises:
        BeyondRetention: the version is older than the table keeps replaced files, and nobody forces it.
        DataFileMissing: a file of that version is gone.
        PinsAtRisk: the commit would let Delta clean commits from the log that are needed.
        CommitConflict: another writer was first; nothing was restored.
    """
    session, uri, version = task.session, task.uri, wanted.version
    pin, before = table_state(task)
    if version == pin.version:
        words = f"version {version} is the newest already"
        return UpkeepReceipt(
            operation="restore", outcome="unchanged", summary=words, before=before, after=before
        )
    _check_age(task, pin, wanted)
    _check_files(session, wanted)
    lost = check_commit(task, "restore", describe_pin(session, wanted))
    there = {each.path for each in list_files(session, pin)}
    wanted_files = {each.path for each in list_files(session, wanted)}
    counts = {"files_restored": len(wanted_files - there), "files_removed": len(there - wanted_files)}
    after = before
    if not task.dry_run:
        with upkeep_errors("restore", uri), noted_session(session, task.note) as own:
            own.spark.sql(f"RESTORE TABLE {table_in_sql(uri)} TO VERSION AS OF {version}").collect()
        newest, after = table_state(task)
        known = find_content(wanted)
        if known is not None and newest.version == before.version + 1:
            keep_content(newest, known)
    verb = "would become" if task.dry_run else "is"
    return UpkeepReceipt(
        operation="restore",
        outcome="planned" if task.dry_run else "done",
        summary=f"the table {verb} what it was at version {version}",
        before=before,
        after=after,
        metrics=tuple(counts.items()),
        lost=lost,
    )


def _check_age(task: UpkeepTask, pin: TablePin, wanted: TablePin) -> None:
    """Raises BeyondRetention for a version that other readers of Delta would refuse because of its age."""
    kept = retention_of(describe_pin(task.session, pin).table_properties).deleted_files_ms
    if commit_time(wanted.uri, wanted.version) < task.now_ms - kept and not task.guard.forced:
        path = str(local_path_of(wanted.uri))
        raise BeyondRetention(path=path, version=wanted.version)


def _check_files(session: RunSession, wanted: TablePin) -> None:
    """Raises DataFileMissing for a version that is not whole any more; Delta looks at data files only."""
    root = local_path_of(wanted.uri)
    for each in sorted(needed_files(session, Hold(pin=wanted))):
        if not (root / each).is_file():
            raise DataFileMissing(path=str(root), file=each)
