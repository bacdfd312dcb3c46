"""The ledger: one Delta table per warehouse, one commit per run, read under typed names.

    append_ledger     adds the rows of a run or of an operation, once
    record_run        the same for a run, from its manifest and its plans; append_runs for runs on disk
    record_upkeep     the same for an operation of upkeep, if its table lies in a warehouse
    LedgerNames       what the ledger's names mean, at one version of it

Not here: what rows there are, and the columns of each name; `artifacts` has both.
"""

from __future__ import annotations

from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING

import pyarrow as pa

from headwater.artifacts import (
    LEDGER_COLUMNS,
    LEDGER_NAMES,
    ledger_rows,
    ledger_select,
    maintenance_row,
    read_schedule,
    remove_mark,
)
from headwater.delta import (
    Append,
    CommitNote,
    commit_mutation,
    find_head,
    note_of,
    read_commit,
    read_pinned,
)
from headwater.digest import digest_of
from headwater.errors import HeadwaterError, NotBuilt, VersionNotFound
from headwater.names import same_name
from headwater.run.outcome import Progress
from headwater.run.warehouse import Warehouse
from headwater.runtime import engine_errors, local_path_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from pyspark.sql import DataFrame

    from headwater.artifacts import LedgerRow, Manifest, UpkeepRecord
    from headwater.delta import LogHead, Receipt
    from headwater.names import SnapshotKey, TablePin
    from headwater.plan import PlanBundle
    from headwater.run.outcome import Listener
    from headwater.runtime import RunSession, StorageProfile

LEDGER = "ledger"
_ENTRIES = {same_name(each.sql_name): each for each in LEDGER_NAMES}
_ARROW_TYPES = {"STRING": pa.string(), "BIGINT": pa.int64(), "TIMESTAMP": pa.timestamp("us", "UTC")}
# Of the texts in `details` a file needs no minimum and maximum; whoever looks for a run or a name does.
_BORN_WITH = (("delta.dataSkippingStatsColumns", "run_id,kind,at,name,number"),)
# A commit may be this much older, by its machine's clock, than the run that it belongs to.
_SKEW = timedelta(days=1)


def append_ledger(
    session: RunSession, warehouse: Warehouse, rows: Sequence[LedgerRow], *, run_id: str, pipeline: str
) -> Receipt | None:
    """Adds the rows of one run or operation in one commit; None if they are there already, or there are none.

    Raises:
        CommitConflict, WriteFailed, EngineFailed, LogUnreadable: they could not be added.
    """
    uri = session.runtime.profile.storage.canonical_uri(str(warehouse.ledger_path))
    head = find_head(uri)
    if not rows or _has(head, run_id, rows):
        return None
    mutation = Append(
        uri=uri,
        base_version=head.version if head else -1,
        note=CommitNote(
            pipeline=pipeline,
            table=LEDGER,
            run_id=run_id,
            task_key=LEDGER,
            mutation_id=digest_of([LEDGER, run_id]),
        ),
        blind=True,
        born_with=_BORN_WITH,
    )
    return commit_mutation(session, mutation, _frame(session, rows))


def record_run(
    session: RunSession,
    warehouse: Warehouse,
    manifest: Manifest,
    bundles: Iterable[PlanBundle],
) -> Receipt | None:
    """Adds everything that a run knows to the ledger; None if it is there already.

    Raises:
        HeadwaterError: as `append_ledger`.
    """
    rows = ledger_rows(manifest, bundles)
    with engine_errors():
        return append_ledger(session, warehouse, rows, run_id=manifest.run_id, pipeline=manifest.project)


def append_runs(
    session: RunSession, warehouse: Warehouse, manifests: Iterable[Manifest]
) -> HeadwaterError | None:
    """Adds runs whose manifests and plans are written, and takes away the marks of those that were stopped.

    A run that cannot be added keeps its mark, so that the next run adds it; the error is what comes back.
    """
    for manifest in manifests:
        try:
            schedule = read_schedule(warehouse.root, manifest.run_id)
            record_run(session, warehouse, manifest, (*schedule.plans, *schedule.derived))
        except HeadwaterError as error:
            return error
        remove_mark(warehouse.root, manifest.run_id)
    return None


def record_upkeep(session: RunSession, uri: str, record: UpkeepRecord, listen: Listener) -> Receipt | None:
    """Adds an operation to the ledger of the warehouse that its table lies in, if it lies in one.

    The operation is done, and on record beside its table: if the ledger does not take it, that is only said.
    """
    folder = local_path_of(uri).parent
    if folder.name != "tables" or not (folder.parent / "runs").is_dir():
        return None
    rows = [maintenance_row(record)]
    try:
        return append_ledger(
            session, Warehouse(folder.parent), rows, run_id=record.upkeep_id, pipeline="upkeep"
        )
    except HeadwaterError as error:
        listen(Progress(message=f"the ledger could not take {record.operation} of {record.table}: {error}"))
        return None


class LedgerNames:
    """What the ledger's names mean: rows of its newest version when the first of them is asked for."""

    def __init__(self, warehouse: Warehouse, storage: StorageProfile, project: Path) -> None:
        self._warehouse = warehouse
        self._storage = storage
        self._project = project

    @property
    def names(self) -> tuple[str, ...]:
        """All of them, as they are written."""
        return tuple(each.sql_name for each in LEDGER_NAMES)

    def __contains__(self, name: str) -> bool:
        return same_name(name) in _ENTRIES

    @cached_property
    def pin(self) -> TablePin | None:
        """The ledger at the version that is read; None if there is none yet."""
        head = find_head(self._storage.canonical_uri(str(self._warehouse.ledger_path)))
        return head.pin(LEDGER) if head else None

    def register(self, session: RunSession, name: str) -> tuple[SnapshotKey, ...]:
        """Makes a name readable in a session, and says what is read; no rows if no run kept a ledger yet.

        Raises:
            NotBuilt: there was no run yet.
        """
        entry = _ENTRIES[same_name(name)]
        with engine_errors():
            rows = self._rows(session, name)
            inner, outer = ledger_select(entry)
            shown = rows.where(f"kind = '{entry.event}'").selectExpr(*inner).selectExpr(*outer)
            shown.createOrReplaceTempView(name)
        return (self.pin.key,) if self.pin else ()

    def _rows(self, session: RunSession, name: str) -> DataFrame:
        if self.pin is not None:
            return read_pinned(session, self.pin)
        if not any(self._warehouse.root.glob("runs/*/manifest.json")):
            raise NotBuilt(name=name, path=str(self._project))
        nulls = (f"CAST(NULL AS {kind}) AS {column}" for column, kind in LEDGER_COLUMNS.items())
        return session.spark.range(0).selectExpr(*nulls)


def _has(head: LogHead | None, run_id: str, rows: Sequence[LedgerRow]) -> bool:
    """Whether a commit has these rows, among those that are not older than they are."""
    oldest_ms = (min(each.at for each in rows) - _SKEW).timestamp() * 1000
    while head is not None and head.timestamp_ms >= oldest_ms:
        note = note_of(head.user_metadata)
        if note is not None and (note.table, note.run_id) == (LEDGER, run_id):
            return True
        try:
            head = read_commit(head.uri, head.version - 1) if head.version else None
        except VersionNotFound:  # taken away by the log's own cleanup
            return False
    return False


def _frame(session: RunSession, rows: Sequence[LedgerRow]) -> DataFrame:
    """The rows in one part, so that they become one file."""
    columns = [
        pa.array([getattr(each, name) for each in rows], _ARROW_TYPES[kind])
        for name, kind in LEDGER_COLUMNS.items()
    ]
    table = pa.Table.from_arrays(columns, names=list(LEDGER_COLUMNS))
    with engine_errors():
        return session.spark.createDataFrame(table).coalesce(1)
