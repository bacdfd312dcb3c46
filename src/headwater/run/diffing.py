"""Two recorded runs side by side: which rows of each table differ, and what changed that can account for it.

Tables whose content digests are equal are not read; if all are, no Spark is started. Not here: the causes
themselves, nor how rows are compared.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from headwater.errors import HeadwaterError, PinsGone
from headwater.run.causes import Cause, Traced
from headwater.run.comparing import RowDifference, compare_rows, count_far, far_words
from headwater.run.outcome import Listener, Progress
from headwater.run.recorded import open_recorded
from headwater.run.sessions import LazySession
from headwater.run.tracing import Tracing
from headwater.runtime import engine_errors

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from headwater.artifacts import TableRecord
    from headwater.pipeline import ProjectConfig
    from headwater.run.recorded import RecordedRun
    from headwater.run.warehouse import Warehouse
    from headwater.runtime import RuntimeProfile

TableStatus = Literal["same", "different", "new", "gone", "not_made"]


@dataclass(frozen=True, kw_only=True)
class DiffRequest:
    """A comparison that is asked for; with `rows` false, records alone are compared, and no table is read."""

    config: ProjectConfig
    profile: RuntimeProfile
    warehouse: Warehouse
    before: str
    after: str
    rows: bool = True
    spark: SparkSession | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnChange:
    """A column that only one of two tables has, or that has another type; None where it is not."""

    name: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDiff:
    """One stored table in two runs.

    Attributes:
        status: `same` and `different` tell of its rows and columns; `new` and `gone` is what only one run
            has; `not_made` what one of them should have made, and did not.
        version_before, version_after: What each run left; None if it left none.
        rows_before, rows_after: How many rows it had, if that was counted.
        added, removed, changed: Rows that only the later or the earlier run has, and keys that both have with
            other rows; None where that is not known, as without a key for `changed`.
        difference: The same, with a few of the rows; None if they were not compared.
        key: The columns by which rows are the same one, if some are known to be unique.
        columns: What differs in its schema.
        causes: What changed that reaches the table; for a table that is the same, why it was made again.
        reason: What else there is to say.
    """

    name: str
    status: TableStatus
    version_before: int | None = None
    version_after: int | None = None
    rows_before: int | None = None
    rows_after: int | None = None
    added: int | None = None
    removed: int | None = None
    changed: int | None = None
    difference: RowDifference | None = None
    key: tuple[str, ...] | None = None
    columns: tuple[ColumnChange, ...] = ()
    causes: tuple[Traced, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDiff:
    """Two runs, compared: tables in the order in which they are made.

    `gone` is what would have to be read to tell rows apart, and is not there any more.
    """

    before: str
    after: str
    tables: tuple[TableDiff, ...]
    gone: tuple[str, ...] = ()

    @property
    def causes(self) -> tuple[Cause, ...]:
        """Every cause that reaches a table, once."""
        return tuple(dict.fromkeys(each.cause for table in self.tables for each in table.causes))

    @property
    def status(self) -> Literal["same", "different"]:
        """Whether every table has the same rows in both runs."""
        return "same" if all(each.status == "same" for each in self.tables) else "different"


def diff_runs(request: DiffRequest, listen: Listener) -> RunDiff:
    """Compares two runs, table by table, and traces what differs to what changed between them.

    Raises:
        RunNotFound, RunAmbiguous: there is no such run, or several.
        NotRecorded, ManifestUnreadable: the plans of one were not kept, or cannot be read.
    """
    (before, _), (after, profile) = (
        open_recorded(each, root=request.config.root, warehouse=request.warehouse, profile=request.profile)
        for each in (request.before, request.after)
    )
    with (
        engine_errors(),
        LazySession(profile, lambda words: listen(Progress(message=words)), request.spark) as engine,
    ):
        work = _Diff(
            tracing=Tracing(before=before, after=after), engine=engine, rows=request.rows, listen=listen
        )
        return work.all()


@dataclass(frozen=True, kw_only=True)
class _Diff:
    """One comparison at work."""

    tracing: Tracing
    engine: LazySession
    rows: bool
    listen: Listener

    def all(self) -> RunDiff:
        """Every stored table of either run."""
        names, gone = self.tracing.order, list[str]()
        tables: list[TableDiff] = []
        for name in names:
            self.listen(Progress(message=f"comparing {name}", done=len(tables), total=len(names)))
            tables.append(self._table(name, gone))
        return RunDiff(
            before=self.tracing.before.manifest.run_id,
            after=self.tracing.after.manifest.run_id,
            tables=tuple(tables),
            gone=tuple(dict.fromkeys(gone)),
        )

    def _table(self, name: str, gone: list[str]) -> TableDiff:
        before, after = self.tracing.before, self.tracing.after
        one, two = before.tables.get(name), after.tables.get(name)
        found = TableDiff(
            name=name,
            status="same",
            version_before=one.pin.version if one and one.pin else None,
            version_after=two.pin.version if two and two.pin else None,
            rows_before=one.rows if one and one.pin else None,
            rows_after=two.rows if two and two.pin else None,
            key=after.key_of(name) if name in after.bundles else before.key_of(name),
        )
        if one is not None and two is not None and one.pin is not None and one.pin == two.pin:
            return replace(found, added=0, removed=0, changed=0)  # nobody has touched it
        found = replace(found, columns=_columns(before, after, name), causes=self.tracing.causes_of(name))
        if one is None or one.pin is None or two is None or two.pin is None:
            return self._one_sided(found, one, two)
        if self.tracing.is_same_table(name):
            return replace(found, added=0, removed=0, changed=0)
        found = self._compared(found, one, two, gone) if self.rows else _by_records(found, one, two)
        if found.status == "different" and not found.causes:
            return replace(found, causes=(_unknown(name),))
        return found

    def _one_sided(self, found: TableDiff, one: TableRecord | None, two: TableRecord | None) -> TableDiff:
        runs = (self.tracing.before, one), (self.tracing.after, two)
        for run, record in runs:
            if found.name in run.bundles and (record is None or record.pin is None):
                words = record.reason if record else "it was not asked for"
                reason = f"run {run.manifest.run_id} did not make it: {words}"
                return replace(found, status="not_made", reason=reason)
        if one is None:
            return replace(found, status="new", added=found.rows_after, removed=0)
        return replace(found, status="gone", added=0, removed=found.rows_before)

    def _compared(self, found: TableDiff, one: TableRecord, two: TableRecord, gone: list[str]) -> TableDiff:
        before, after = self.tracing.before.table_pin(found.name), self.tracing.after.table_pin(found.name)
        if before is None or after is None:
            return found
        session = self.engine.get()
        try:
            rows = compare_rows(session, before, after, found.key)
            far = 0
            if (
                not (rows.only_before or rows.only_after)
                and self.tracing.after.bundles[found.name].approximate
            ):
                far = count_far(session, before, after)
        except HeadwaterError as error:
            if error.exit_code != PinsGone.exit_code:
                raise
            gone.append(f"{found.name}: {error.message}")
            return replace(
                _by_records(found, one, two), reason=f"its rows cannot be compared: {error.message}"
            )
        is_other = bool(rows.only_before or rows.only_after or far or found.columns)
        return replace(
            found,
            status="different" if is_other else "same",
            added=rows.added,
            removed=rows.removed,
            changed=far or rows.changed,
            difference=rows,
            reason=far_words(far) if far else "",
        )


def _by_records(found: TableDiff, one: TableRecord, two: TableRecord) -> TableDiff:
    """What records alone tell: whether the digests are equal."""
    is_same = one.digest is not None and one.digest == two.digest and not found.columns
    return replace(found, status="same" if is_same else "different")


def _columns(before: RecordedRun, after: RecordedRun, name: str) -> tuple[ColumnChange, ...]:
    if name not in before.bundles or name not in after.bundles:
        return ()
    ours, theirs = ({each.name: each.type for each in run.bundles[name].columns} for run in (before, after))
    return tuple(
        ColumnChange(name=each, before=ours.get(each), after=theirs.get(each))
        for each in dict.fromkeys((*ours, *theirs))
        if ours.get(each) != theirs.get(each)
    )


def _unknown(name: str) -> Traced:
    words = "nothing on record accounts for it; headwater replay tells whether each run repeats"
    return Traced(cause=Cause(kind="unknown", view=name, detail=words), path=(name,))
