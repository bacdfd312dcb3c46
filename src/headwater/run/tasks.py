"""One task: make a stored table, or find that it is there already, and register it at its version.

A table's commit carries the key of the task that made it, so the table itself can say that it is up to date,
even if the run that made it was killed before it could record anything. Not here: the order of tasks.
"""

from __future__ import annotations

import math
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from msgspec.structs import replace as replaced

from headwater.artifacts import RefreshRecord, TableRecord
from headwater.delta import (
    LogHead,
    Overwrite,
    commit_mutation,
    find_content,
    find_head,
    marked_approximate,
    read_head,
    read_pinned,
    register_delta,
    retention_properties,
    rows_commit,
    scans_of,
)
from headwater.errors import (
    DataFileMissing,
    EngineFailed,
    HeadwaterError,
    RowsDiffer,
    SourceChanged,
    VersionNotFound,
)
from headwater.pipeline import FileChanged
from headwater.plan import QueryLog
from headwater.run.events import NoEvents
from headwater.run.fixpoint import fixpoint_rows
from headwater.run.refreshes import full as full_refresh
from headwater.run.task_records import is_made_by, record_of, rows_written
from headwater.run.watching import RowChecks, WatchedView

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Mapping, Sequence
    from pathlib import Path

    from pyspark.sql import DataFrame

    from headwater.artifacts import RoundRecord
    from headwater.delta import CommitNote, Receipt, Registration, ReplaceKeys, TableScan
    from headwater.names import TablePin
    from headwater.origin import Origin
    from headwater.plan import OperatorMetrics, PlanBundle
    from headwater.policies import WritePolicy
    from headwater.run.caching import ViewCaches
    from headwater.run.events import RunEvents
    from headwater.run.refreshes import Refresh, ReplacedKeys
    from headwater.run.scheduled import ScheduledView
    from headwater.run.task_records import RunNotes
    from headwater.runtime import RunSession

WITHDRAWN = "withdrawn"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskContext:
    """What all tasks of a run share.

    `retain` tells how many hours each table keeps its past, if it says; `approximate` which columns have
    no exact values; `hot` of which columns files keep minimum and maximum, if its policy leaves that open.
    `inputs` are what each table is made of, with versions, for the notes of commits; `derived` the plans that
    were run instead of a view's own; `caches` keep rows of views that are not stored. `replaced` are the keys
    of tables that were refreshed by few, by their names.
    Of a task that takes `slow_seconds` or more, what its operators counted is kept.
    The `rounds` of fixpoints are kept as they come, by name, and told; their rows are in `rounds_place`.
    `events` hear of tables whose rows are made.
    """

    session: RunSession
    notes: RunNotes
    retain: Callable[[str], int | None] = lambda _name: None
    approximate: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, "tuple[str, ...]"])
    hot: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, "tuple[str, ...]"])
    checks: RowChecks = field(default_factory=RowChecks)
    registrations: dict[str, Registration] = field(default_factory=dict[str, "Registration"])
    receipts: list[Receipt] = field(default_factory=list["Receipt"])
    caches: ViewCaches | None = None
    slow_seconds: float = math.inf
    monotonic: Callable[[], float] = lambda: 0.0
    inputs: dict[str, dict[str, int | None]] = field(default_factory=dict[str, "dict[str, int | None]"])
    scans: dict[str, tuple[TableScan, ...]] = field(default_factory=dict[str, "tuple[TableScan, ...]"])
    operators: dict[str, tuple[OperatorMetrics, ...]] = field(
        default_factory=dict[str, "tuple[OperatorMetrics, ...]"]
    )
    derived: dict[str, PlanBundle] = field(default_factory=dict[str, "PlanBundle"])
    replaced: dict[str, ReplacedKeys] = field(default_factory=dict[str, "ReplacedKeys"])
    rounds_place: Path | None = None
    rounds: dict[str, tuple[RoundRecord, ...]] = field(default_factory=dict[str, "tuple[RoundRecord, ...]"])
    tell: Callable[[str], None] = lambda _words: None
    events: RunEvents = field(default_factory=NoEvents)


def run_task(  # noqa: PLR0913  a task is all of this
    context: TaskContext,
    view: ScheduledView,
    *,
    uri: str,
    key: str,
    reason: str,
    full: bool,
    between: Sequence[ScheduledView] = (),
    reached: Collection[str] | None = None,
    recorded: TableRecord | None = None,
    refresh: Callable[[LogHead], TableRecord | Refresh] | None = None,
) -> TableRecord:
    """Makes a stored view's table if its last commit is not this very task's, and registers it.

    Args:
        context: the run.
        view: the stored view.
        uri: where its table lives.
        key: the identity of this task: the view, all it reads at its versions, the settings.
        reason: why it is built, if it is.
        full: build even if the table is there.
        between: the views that are not stored and that it reads through, each after what it reads.
        reached: every name that it reads, itself or through those; all if None.
        recorded: the table as a run has left it, having seen its sources whole.
        refresh: makes just the rows of some keys, or says why all of the table is made.

    Raises:
        RowsDiffer: a table that it reads is not what its log promises; what was made of it is withdrawn.
    """
    head = find_head(uri)
    rows = rows_commit(head) if head is not None and not full else None
    if head and rows and is_made_by(rows, view.name, key, recorded):
        if recorded is None or recorded.pin is None or rows.digest != recorded.pin.digest:
            _confirm(context, view, reached)
        return left_alone(context, view, rows, head, key)
    context.events.started(context, view.name)
    reason = "no run on record made its table" if head and reason == "new" else reason
    done = refresh(head) if refresh and head else full_refresh("no-table")
    if isinstance(done, TableRecord):
        return replaced(done, reason=done.reason or reason)
    with _watched(context, view, between, reached) as watched:
        receipt = _build(context, view, watched, uri=uri, key=key, head=head)
    told = RefreshRecord(mode="full", code=done.code, detail=done.detail)
    made = record_of(receipt.pin, key, "built", reason, receipt.rows, receipt.content, told)
    return replaced(made, rounds=context.rounds.get(view.name, ()))


@contextmanager
def _watched(
    context: TaskContext,
    view: ScheduledView,
    between: Sequence[ScheduledView],
    reached: Collection[str] | None,
) -> Generator[WatchedView]:
    """A view's rows in a session of the task's own, over what is kept of views between."""
    own = context.session.copy()
    try:
        with own.active(), watching_operators(context, own, view.name), ExitStack() as leaving:
            if context.caches is not None:
                between = context.caches.open_in(own, view.name, between)
            watched = WatchedView(own, view, between, context.checks, reached)
            context.scans[view.name] = scans_of(own, watched.rows, context.checks.pins_of(reached))
            if view.fixpoint is not None:
                watched.rows = leaving.enter_context(all_rounds(context, own, view))
            yield watched
    finally:
        own.release()


@contextmanager
def all_rounds(context: TaskContext, session: RunSession, view: ScheduledView) -> Generator[DataFrame]:
    """The rows of a fixpoint; its rounds are kept and told as they come."""

    def hear(each: RoundRecord) -> None:
        context.rounds[view.name] = (*context.rounds.get(view.name, ()), each)
        context.tell(f"{view.name} round {each.number}: {each.new_rows:,} new rows, {each.rows:,} in all")

    if context.rounds_place is None:
        message = "there is no place for the rounds of a fixpoint"
        raise ValueError(message)
    place = context.rounds_place / view.name
    with fixpoint_rows(session, view, place, monotonic=context.monotonic, tell=hear) as rows:
        yield rows


@contextmanager
def watching_operators(context: TaskContext, session: RunSession, name: str) -> Generator[None]:
    """Keeps what the operators counted of what is done within it, if that takes long."""
    log, start = QueryLog(session), context.monotonic()
    try:
        yield
        if context.monotonic() - start >= context.slow_seconds:
            context.operators[name] = log.operators()
    finally:
        log.close()


def _build(
    context: TaskContext,
    view: ScheduledView,
    watched: WatchedView,
    *,
    uri: str,
    key: str,
    head: LogHead | None,
) -> Receipt:
    """Writes a view's rows, and withdraws them if what they were made of is not what it should be."""
    receipt = write_table(
        context,
        view.name,
        marked_approximate(context.session, watched.rows, context.approximate.get(view.name, ())),
        uri=uri,
        key=key,
        head=head,
        origin=view.origin,
        policy=policy_of(context, view),
    )
    try:
        watched.check()
    except RowsDiffer as error:
        _withdraw(context, view, receipt.pin, head, error)
        raise
    return receipt


def policy_of(context: TaskContext, view: ScheduledView) -> WritePolicy:
    """How a view's table is written; what its policy leaves open about statistics, its readers say."""
    policy, hot = view.policy, context.hot.get(view.name, ())
    return replace(policy, stats_columns=hot) if policy.stats_policy == "auto" and hot else policy


def left_alone(
    context: TaskContext,
    view: ScheduledView,
    made: LogHead,
    newest: LogHead,
    key: str,
    reason: str = "nothing it reads changed",
    refresh: RefreshRecord | None = None,
) -> TableRecord:
    """A table that stays: it is known by the commit that made its rows, and read as it is laid out now."""
    pin = made.pin(view.name)
    content = find_content(pin)
    rows = content.rows if content else rows_written(made.metrics)
    _register(context, newest.pin(view.name), rows)
    return record_of(pin, key, "skipped", reason, rows, content, refresh)


def _confirm(context: TaskContext, view: ScheduledView, reached: Collection[str] | None) -> None:
    """Looks at the tables that a view reads whole: who made its table may have been stopped before that."""
    rows = view.rows(context.session)
    for name in context.checks.read_whole(rows, reached):
        context.checks.confirm(context.session, name, view.origin)


def _withdraw(
    context: TaskContext, view: ScheduledView, pin: TablePin, before: LogHead | None, error: RowsDiffer
) -> None:
    """Puts back what was in a table before a commit that must not be relied on, in one more commit.

    If there was nothing, or it is gone, the table is empty afterwards. What somebody else has committed since
    stays. A failure is noted on the error: the next build looks at the sources before it relies on the table.
    """
    head = read_head(pin.uri)
    if head.digest != pin.digest:
        return
    try:
        if not before or not _put_back(context, view, before, head):
            nothing = read_pinned(context.session, pin).limit(0)
            _replace(context, view, nothing, head)
    except HeadwaterError as second:
        error.add_note(f"what was made of it could not be withdrawn: {second}")


def _put_back(context: TaskContext, view: ScheduledView, before: LogHead, head: LogHead) -> bool:
    """Whether the rows of before are the table's again; not if they are gone."""
    try:
        _replace(context, view, read_pinned(context.session, before.pin(view.name)), head)
    except (DataFileMissing, VersionNotFound):
        return False
    return True


def _replace(context: TaskContext, view: ScheduledView, rows: DataFrame, head: LogHead) -> None:
    write_table(context, view.name, rows, uri=head.uri, key=WITHDRAWN, head=head, origin=view.origin)


def write_table(
    context: TaskContext,
    name: str,
    rows: DataFrame,
    *,
    uri: str,
    key: str,
    head: LogHead | None,
    origin: Origin,
    policy: WritePolicy | None = None,
) -> Receipt:
    """Commits rows as the whole content of a table, and registers it at its new version."""
    base = head.version if head else -1
    mode, hours = policy.schema_mode if policy else None, context.retain(name)
    mutation = Overwrite(
        uri=uri,
        base_version=base,
        note=note_for(context, name, key, base),
        exact=True,
        policy=policy,
        schema_mode=mode or "overwrite",
        born_with=tuple(retention_properties(hours).items()) if hours else (),
    )
    return commit_rows(context, mutation, rows, origin)


def note_for(context: TaskContext, name: str, key: str, base: int) -> CommitNote:
    """What a commit of this run says of itself, with what its table is made of."""
    return context.notes.note(name, key, base, context.inputs.get(name, {}))


def commit_rows(
    context: TaskContext,
    mutation: Overwrite | ReplaceKeys,
    rows: DataFrame,
    origin: Origin,
    affected: DataFrame | None = None,
) -> Receipt:
    """Commits what a task has made, and registers the table at its new version."""
    name = mutation.note.table
    try:
        receipt = commit_mutation(context.session, mutation, rows, origin, affected=affected)
    except EngineFailed as error:
        told = error.detail.partition(f"{FileChanged.__name__}: ")[2]
        if told:
            raise SourceChanged(view=name, detail=told, origin=origin) from error
        raise
    context.receipts.append(receipt)
    _register(context, receipt.pin, receipt.content.rows if receipt.content else None)
    return receipt


def _register(context: TaskContext, pin: TablePin, rows: int | None) -> None:
    context.registrations[pin.name] = register_delta(context.session, pin)
    context.checks.add(pin, promised=rows)
