"""One refresh: affected keys are found, their rows are made by the derived plan, and replaced in one commit.

What cannot be told any more is no failure: the table is then made in full. Not here: whether a refresh is
enough, and what its plan is.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from headwater.artifacts import RefreshRecord
from headwater.delta import (
    ReplaceKeys,
    find_content,
    marked_approximate,
    read_pinned,
    reading_errors,
    restrict_rows,
    rows_commit,
    scans_of,
)
from headwater.errors import DataFileMissing, DataFileUnreadable, DeltaError, NoFixpoint
from headwater.names import same_name
from headwater.run.deriving import cut_inputs, derived_bundle, found_keys
from headwater.run.refreshes import ReplacedKeys, full
from headwater.run.refreshing import MOST
from headwater.run.task_records import record_of, rows_written
from headwater.run.tasks import (
    all_rounds,
    commit_rows,
    left_alone,
    note_for,
    policy_of,
    watching_operators,
)
from headwater.runtime import local_path_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from pyspark.sql import DataFrame

    from headwater.artifacts import TableRecord
    from headwater.delta import LogHead
    from headwater.plan import PlanBundle
    from headwater.run.deriving import AffectedKeys
    from headwater.run.refreshes import Refresh
    from headwater.run.scheduled import ScheduledView
    from headwater.run.tasks import TaskContext
    from headwater.runtime import RunSession

_LEFT = "what changed in its inputs changes none of its rows"


@dataclass(frozen=True, kw_only=True)
class RefreshTask:
    """A stored view that may be refreshed key by key; `decide` says whether, once it is asked."""

    context: TaskContext
    view: ScheduledView
    bundle: PlanBundle
    between: Sequence[ScheduledView]
    reached: Collection[str]
    decide: Callable[[LogHead], Refresh]

    def run(self, head: LogHead) -> TableRecord | Refresh:
        """Refreshes the table whose newest commit is `head`; or says why all of it has to be made."""
        decided = self.decide(head)
        if decided.mode == "full":
            return decided
        own = self.context.session.copy()
        try:
            with ExitStack() as within:
                within.enter_context(own.active())
                within.enter_context(watching_operators(self.context, own, self.view.name))
                try:
                    with reading_errors(self.view.origin):
                        keys = within.enter_context(
                            found_keys(own, decided, self.view, self.context.replaced)
                        )
                except DeltaError as error:
                    return full("history-gone", str(error))
                try:
                    return self._replaced(own, decided, keys, head, within)
                except (DataFileMissing, DataFileUnreadable) as error:
                    if error.path != str(local_path_of(head.uri)):
                        raise  # an input's: nothing can be made of it
                    return full("table-changed", str(error))
        finally:
            own.release()

    def _replaced(
        self, own: RunSession, decided: Refresh, keys: AffectedKeys, head: LogHead, within: ExitStack
    ) -> TableRecord | Refresh:
        told = RefreshRecord(
            mode="incremental",
            code=decided.code,
            detail=decided.detail,
            key=decided.key,
            keys=keys.count,
            windows=keys.windows,
        )
        key = self.bundle.fingerprint.digest
        if keys.count == 0:
            return left_alone(self.context, self.view, rows_commit(head), head, key, _LEFT, told)
        if decided.is_large and (part := self._part(own, keys, head)) > MOST:
            return full("most-changed", f"{part:.0%} of its rows have one of the affected keys")
        try:
            new, step = self._rows(own, decided, keys, within)
        except NoFixpoint as error:  # all rows together may need fewer rounds than some of them
            self.context.rounds.pop(self.view.name, None)
            return full("too-many-rounds", error.message)
        derived = derived_bundle(self.bundle, step, decided, keys.windows)
        pins = self.context.checks.pins_of(self.reached)
        self.context.scans[self.view.name] = scans_of(own, new, pins)
        approximate = self.context.approximate.get(self.view.name, ())
        mutation = ReplaceKeys(
            uri=head.uri,
            base_version=head.version,
            note=note_for(self.context, self.view.name, key, head.version),
            exact=True,
            policy=policy_of(self.context, self.view),
            keys=decided.key,
        )
        marked = marked_approximate(self.context.session, new, approximate)
        receipt = commit_rows(self.context, mutation, marked, self.view.origin, affected=keys.rows)
        self.context.derived[self.view.name] = derived
        if keys.few is not None:
            self.context.replaced[same_name(self.view.name)] = ReplacedKeys(
                before=head.version, pin=receipt.pin, few=keys.few
            )
        rows = receipt.content.rows if receipt.content else None
        made = record_of(receipt.pin, key, "incremental", "", rows, receipt.content, told)
        return replace(made, rounds=self.context.rounds.get(self.view.name, ()))

    def _rows(
        self, own: RunSession, decided: Refresh, keys: AffectedKeys, within: ExitStack
    ) -> tuple[DataFrame, DataFrame]:
        """The new rows of these keys, and the view's own part in them, which is one step of a fixpoint.

        In the session, names come to stand for what they are made of.
        """
        cut_inputs(own, decided, keys, self.between)
        step = restrict_rows(own, self.view.rows(own), keys.rows, decided.key)
        if self.view.fixpoint is None:
            return step, step
        rows = within.enter_context(all_rounds(self.context, own, self.view))
        return restrict_rows(own, rows, keys.rows, decided.key), step

    def _part(self, own: RunSession, keys: AffectedKeys, head: LogHead) -> float:
        """How much of the table has one of the keys."""
        pin = head.pin(self.view.name)
        rows = read_pinned(own, pin)
        content = find_content(rows_commit(head).pin(self.view.name))
        total = content.rows if content else rows_written(head.metrics)
        if not total:
            return 0.0
        with reading_errors(self.view.origin):
            return restrict_rows(own, rows, keys.rows).count() / total
