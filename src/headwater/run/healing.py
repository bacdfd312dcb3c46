"""Runs that were stopped before they could record themselves: found, and recorded by the run after them.

What such a run has committed is in the logs of its tables, under its id. Not here: making the tables that it
did not get to; the run after it does that anyway.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from headwater.artifacts import (
    PinRecord,
    TableRecord,
    commit_manifest,
    marked_runs,
    read_manifest,
)
from headwater.delta import find_content, note_of, read_history
from headwater.errors import DeltaError, ManifestUnreadable
from headwater.names import TablePin
from headwater.run.outcome import Progress
from headwater.run.task_records import STOPPED, rows_written
from headwater.run.tasks import WITHDRAWN

if TYPE_CHECKING:
    from headwater.artifacts import Manifest
    from headwater.delta import CommitRecord
    from headwater.run.outcome import Listener
    from headwater.run.warehouse import Warehouse
    from headwater.runtime import StorageProfile

_BEFORE = "made before the run was stopped"


def record_stopped(warehouse: Warehouse, storage: StorageProfile, listen: Listener) -> tuple[Manifest, ...]:
    """The runs that were stopped, each with its manifest written; what is still missing is the ledger's part.

    Raises:
        WarehouseNotWritable: a manifest cannot be written.
    """
    found: list[Manifest] = []
    try:
        for left in marked_runs(warehouse.root):
            listen(Progress(message=f"recording run {left.run_id}, which was stopped"))
            found.append(_recorded(left, warehouse, storage))
    except ManifestUnreadable as error:
        listen(Progress(message=f"going on without the record of a run that was stopped: {error}"))
    return tuple(found)


def _recorded(left: Manifest, warehouse: Warehouse, storage: StorageProfile) -> Manifest:
    path = warehouse.root / "runs" / left.run_id / "manifest.json"
    if path.is_file():
        return read_manifest(path)
    tables = tuple(
        _table(view.name, storage.canonical_uri(str(warehouse.table_path(view.name))), left.run_id)
        for view in left.views
        if view.stored
    )
    manifest = replace(left, tables=tables)
    commit_manifest(warehouse.root, manifest)
    return manifest


def _table(name: str, uri: str, run_id: str) -> TableRecord:
    """What a run has made of a table, by the table's own log."""
    try:
        commits = read_history(uri)
    except DeltaError:
        commits = ()
    for commit in commits:
        note = note_of(commit.user_metadata)
        if note is not None and (note.run_id, note.table) == (run_id, name):
            if note.task_key == WITHDRAWN:
                break
            return _made(name, uri, commit, note.task_key)
    return TableRecord(name=name, action="skipped", reason=f"not reached: {STOPPED}")


def _made(name: str, uri: str, commit: CommitRecord, key: str) -> TableRecord:
    content = find_content(TablePin(name=name, uri=uri, version=commit.version, digest=commit.digest))
    return TableRecord(
        name=name,
        action="built",
        reason=_BEFORE,
        version=commit.version,
        rows=content.rows if content else rows_written(commit.metrics),
        digest=content.text if content else None,
        pin=PinRecord(version=commit.version, digest=commit.digest),
        task_key=key,
    )
