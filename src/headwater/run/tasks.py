"""One task: make a stored table, or find that it is there already, and register it at its version.

A table's commit carries the key of the task that made it, so the table itself can say that it is up to date,
even if the run that made it was killed before it could record anything. Not here: the order of tasks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.artifacts import PinRecord, TableRecord
from headwater.delta import (
    CommitNote,
    LogHead,
    Overwrite,
    commit_mutation,
    find_head,
    note_of,
    read_head,
    read_pinned,
    register_delta,
    storage_error,
)
from headwater.digest import digest_of
from headwater.errors import DeltaError, EngineFailed, HeadwaterError, SourceChanged
from headwater.pipeline import FileChanged
from headwater.run.watching import RowChecks, WatchedView

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyspark.sql import DataFrame

    from headwater.delta import Registration
    from headwater.names import TablePin
    from headwater.origin import Origin
    from headwater.pipeline import ViewSpec
    from headwater.runtime import RunSession

_WITHDRAWN = "withdrawn"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskContext:
    """What all tasks of a run share."""

    session: RunSession
    pipeline: str
    run_id: str
    new_token: Callable[[], str]
    checks: RowChecks = field(default_factory=RowChecks)
    registrations: dict[str, Registration] = field(default_factory=dict[str, "Registration"])


def run_task(
    context: TaskContext,
    view: ViewSpec,
    *,
    uri: str,
    key: str,
    reason: str,
    full: bool,
    between: Sequence[ViewSpec] = (),
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

    Raises:
        RowsDiffer: a table that it reads is not what its log promises; what was made of it is withdrawn.
    """
    head = find_head(uri)
    if head is not None and not full and _made_by(head, view.name, key):
        pin = head.pin(view.name)
        _register(context, pin, _rows(head))
        return _record(pin, key, action="skipped", reason="nothing it reads changed", rows=_rows(head))
    if head is not None and reason == "new":
        reason = "no run on record made its table"
    watched = WatchedView(context.session, view, between, context.checks)
    try:
        pin, count = write_table(
            context, view.name, watched.rows, uri=uri, key=key, head=head, origin=view.origin
        )
        try:
            watched.check()
        except HeadwaterError as error:
            try:
                _withdraw(context, view, pin, head)
            except HeadwaterError as second:
                raise second from error
            raise
    finally:
        watched.close()
    return _record(pin, key, action="built", reason=reason, rows=count)


def _withdraw(context: TaskContext, view: ViewSpec, pin: TablePin, before: LogHead | None) -> None:
    """Puts back what was in a table before a commit that must not be relied on, in one more commit.

    If there was nothing, or it cannot be read any more, the table is empty afterwards.
    """
    kept = [before.pin(view.name)] if before else []
    for each in (*kept, pin):
        try:
            rows = read_pinned(context.session, each)
            write_table(
                context,
                view.name,
                rows.limit(0) if each == pin else rows,
                uri=pin.uri,
                key=_WITHDRAWN,
                head=read_head(pin.uri),
                origin=view.origin,
            )
        except DeltaError:
            if each == pin:
                raise
        else:
            return


def write_table(
    context: TaskContext,
    name: str,
    rows: DataFrame,
    *,
    uri: str,
    key: str,
    head: LogHead | None,
    origin: Origin,
) -> tuple[TablePin, int | None]:
    """Commits rows as the whole content of a table, and registers it at its new version."""
    base = head.version if head else -1
    note = CommitNote(
        pipeline=context.pipeline,
        table=name,
        run_id=context.run_id,
        task_key=key,
        mutation_id=digest_of([context.run_id, name, key, base, context.new_token()]),
    )
    try:
        receipt = commit_mutation(Overwrite(uri=uri, base_version=base, note=note), rows, origin)
    except EngineFailed as error:
        told = error.detail.partition(f"{FileChanged.__name__}: ")[2]
        if told:
            raise SourceChanged(view=name, detail=told, origin=origin) from error
        raise storage_error(error) or error from error
    _register(context, receipt.pin, receipt.rows)
    return receipt.pin, receipt.rows


def _made_by(head: LogHead, name: str, key: str) -> bool:
    note = note_of(head.user_metadata)
    return note is not None and note.table == name and note.task_key == key


def _register(context: TaskContext, pin: TablePin, rows: int | None) -> None:
    context.registrations[pin.name] = register_delta(context.session, pin)
    context.checks.add(pin, promised=rows)


def _rows(head: LogHead) -> int | None:
    count = dict(head.metrics).get("numOutputRows")
    return int(count) if count is not None else None


def _record(pin: TablePin, key: str, *, action: str, reason: str, rows: int | None) -> TableRecord:
    return TableRecord(
        name=pin.name,
        action="built" if action == "built" else "skipped",
        reason=reason,
        version=pin.version,
        rows=rows,
        pin=PinRecord(version=pin.version, digest=pin.digest),
        task_key=key,
    )
