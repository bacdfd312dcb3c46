"""One table kept in good order, on request: guarded by what recorded runs need, and put on record.

    Optimize Vacuum Restore Export Checkpoint CleanLog Properties Features Constraints    what is asked for
    UpkeepRequest    of which table, by whom, why, and under which guard
    keep_table       does it

Not here: when a policy asks; see `maintaining`.
"""

from __future__ import annotations

import getpass
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from headwater.artifacts import commit_upkeep, ended_record, forget_upkeep, upkeep_record
from headwater.clock import Clock, SystemClock, new_run_id
from headwater.delta import (
    Guard,
    Operation,
    Optimizing,
    UpkeepNote,
    UpkeepReceipt,
    UpkeepTask,
    alter_constraints,
    alter_properties,
    checkpoint_table,
    clean_log,
    enable_features,
    export_snapshot,
    optimize_table,
    pin_version,
    read_head,
    restore_table,
    vacuum_table,
)
from headwater.errors import WarehouseNotWritable
from headwater.run.holds import holds_on
from headwater.run.ledger import record_upkeep
from headwater.run.outcome import Listener, Progress, ignore_progress
from headwater.run.sessions import opened_session
from headwater.runtime import check_writable, local_path_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from headwater.delta import Hold
    from headwater.run.project import Project
    from headwater.run.tables import LocatedTable
    from headwater.runtime import RunSession, RuntimeProfile


@dataclass(frozen=True, slots=True, kw_only=True)
class Optimize:
    """Fewer, fuller files; see `Optimizing`."""

    operation: ClassVar[Operation] = "optimize"
    how: Optimizing = field(default_factory=Optimizing)


@dataclass(frozen=True, slots=True, kw_only=True)
class Vacuum:
    """Files that no version within the retention has, deleted; the table's own retention if None."""

    operation: ClassVar[Operation] = "vacuum"
    retention_hours: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Restore:
    """The table as it was at a version or at a time in ISO 8601, made the newest version."""

    operation: ClassVar[Operation] = "restore"
    version: int | None = None
    timestamp: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """A copy, in a folder that is not there yet, of the table at a version or a time; the newest if None."""

    operation: ClassVar[Operation] = "export"
    target: Path
    version: int | None = None
    timestamp: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A checkpoint of the newest version."""

    operation: ClassVar[Operation] = "checkpoint"


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanLog:
    """Commits that are older than the log keeps, taken out; the table's own retention if None."""

    operation: ClassVar[Operation] = "cleanup-log"
    retention_hours: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Properties:
    """Properties that are set, and those that are taken back."""

    operation: ClassVar[Operation] = "properties"
    wanted: tuple[tuple[str, str], ...] = ()
    unwanted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """Features that are switched on."""

    operation: ClassVar[Operation] = "features"
    enable: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraints:
    """Constraints that are added, names with SQL conditions, and those that are dropped."""

    operation: ClassVar[Operation] = "constraints"
    added: tuple[tuple[str, str], ...] = ()
    dropped: tuple[str, ...] = ()


UpkeepOperation: TypeAlias = (
    Optimize | Vacuum | Restore | Export | Checkpoint | CleanLog | Properties | Features | Constraints
)


@dataclass(frozen=True, kw_only=True)
class UpkeepRequest:
    """An operation that somebody asks for.

    Args:
        table: which table.
        profile: under which profile.
        project: whose recorded runs count, beside those of the warehouse that the table lies in.
        reason: why.
        force_unsafe: why a guard is to be overruled; it is not if None.
        keep_pinned: leave what recorded runs need, and do the rest.
        dry_run: only say what would be done, and lost.
    """

    table: LocatedTable
    profile: RuntimeProfile
    project: Project | None = None
    reason: str = ""
    force_unsafe: str | None = None
    keep_pinned: bool = False
    dry_run: bool = False

    @property
    def spark(self) -> SparkSession | None:
        """The session that the project was given to work in, if it was given one."""
        return self.project.spark if self.project else None

    def holds(self) -> tuple[Hold, ...]:
        """What recorded runs need of the table; one that cannot be read is passed over only by force."""
        is_forced = self.force_unsafe is not None
        return holds_on(self.table.uri, self.profile.storage, self.project, pass_over=is_forced)


@dataclass(frozen=True, kw_only=True)
class UpkeepDone:
    """What came of it; `record` is the file that tells of it, if anything was done."""

    receipt: UpkeepReceipt
    note: UpkeepNote
    record: Path | None = None


def keep_table(
    request: UpkeepRequest,
    wanted: UpkeepOperation,
    listen: Listener = ignore_progress,
    clock: Clock | None = None,
) -> UpkeepDone:
    """Does one operation to one table, or says in a dry run what would be done and lost.

    Raises:
        PinsAtRisk, RetentionTooShort, BeyondRetention: a guard refuses it, and nobody forces it.
        CommitConflict: another writer was first; nothing was committed.
        DataFileMissing, VersionNotFound: what is asked for is not there any more.
        ManifestUnreadable: nobody knows what a run needs, and nobody forces it.
    """
    read_head(request.table.uri)  # without Spark: most mistakes are in the name
    with opened_session(request.profile, listen, request.spark) as session:
        return keep_table_in(session, request, wanted, listen, clock or SystemClock())


def keep_table_in(
    session: RunSession, request: UpkeepRequest, wanted: UpkeepOperation, listen: Listener, clock: Clock
) -> UpkeepDone:
    """The same in a session that is open."""
    table, folder = request.table, local_path_of(request.table.uri)
    check_writable(request.profile.storage, table.uri)
    note = UpkeepNote(
        operation=wanted.operation,
        upkeep_id=new_run_id(clock),
        asked_by=_user(),
        reason=request.reason,
        forced=request.force_unsafe,
    )
    task = UpkeepTask(
        session=session,
        name=table.name,
        uri=table.uri,
        note=note,
        now_ms=int(clock.now().timestamp() * 1000),
        guard=Guard(
            holds=request.holds(), spare=request.keep_pinned, forced=request.force_unsafe is not None
        ),
        dry_run=request.dry_run,
    )
    listen(Progress(message=f"{'trying' if request.dry_run else 'doing'} {wanted.operation} of {table.name}"))
    if request.dry_run:
        return UpkeepDone(receipt=_do(task, wanted, listen), note=note)
    record = upkeep_record(note, table.name, clock.now().isoformat(), _options(wanted))
    try:
        commit_upkeep(folder, record)
    except WarehouseNotWritable:
        if not isinstance(wanted, Export):
            raise
        return UpkeepDone(receipt=_do(task, wanted, listen), note=note)  # the copy's commit has the note
    try:
        receipt = _do(task, wanted, listen)
    except BaseException as error:
        stopped = error if isinstance(error, Exception) else RuntimeError("it was stopped")
        with suppress(WarehouseNotWritable):
            commit_upkeep(folder, ended_record(record, clock.now().isoformat(), None, stopped))
        raise
    if receipt.outcome == "unchanged" and wanted.operation != "vacuum":  # a policy asks when it last looked
        forget_upkeep(folder, record)
        return UpkeepDone(receipt=receipt, note=note)
    done = ended_record(record, clock.now().isoformat(), receipt)
    place = commit_upkeep(folder, done)
    record_upkeep(session, table.uri, done, listen)
    return UpkeepDone(receipt=receipt, note=note, record=place)


def _do(task: UpkeepTask, wanted: UpkeepOperation, listen: Listener) -> UpkeepReceipt:
    match wanted:
        case Optimize():
            return optimize_table(task, wanted.how)
        case Vacuum():
            return vacuum_table(task, wanted.retention_hours)
        case Restore() | Export():
            return _do_at_version(task, wanted, listen)
        case Checkpoint():
            return checkpoint_table(task)
        case CleanLog():
            return clean_log(task, wanted.retention_hours)
        case Properties():
            return alter_properties(task, dict(wanted.wanted), wanted.unwanted)
        case Features():
            return enable_features(task, wanted.enable)
        case Constraints():
            return alter_constraints(task, dict(wanted.added), wanted.dropped)


def _do_at_version(task: UpkeepTask, wanted: Restore | Export, listen: Listener) -> UpkeepReceipt:
    def tell(done: int, total: int) -> None:
        listen(Progress(message="copying files", done=done, total=total))

    pin = pin_version(task.name, task.uri, version=wanted.version, timestamp=wanted.timestamp)
    if isinstance(wanted, Restore):
        return restore_table(task, pin)
    return export_snapshot(task, pin, wanted.target, tell)


def _options(wanted: UpkeepOperation) -> dict[str, object]:
    """What was asked for, as far as it says anything, for the record."""
    said = asdict(wanted.how) if isinstance(wanted, Optimize) else asdict(wanted)
    if isinstance(wanted, Properties):
        said |= {"wanted": dict(wanted.wanted)}
    plain = {key: str(value) if isinstance(value, Path) else value for key, value in said.items()}
    return {key: value for key, value in plain.items() if value is not False and value not in (None, (), {})}


def _user() -> str:
    """The user's name on this machine; a number where it has none."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"
