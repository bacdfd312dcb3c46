"""A recorded run made again: its plans, at its pins, into a scratch place, and whether the rows are the same.

Each stored view is run from what the run itself recorded, so one that differs does not make others differ.
Its rows are compared with the digest that the run recorded, with what the stored table's files hold now, and
with what somebody else has made of that table since. Not here: what was recorded, and comparing rows one by
one.
"""

from __future__ import annotations

import shutil
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from headwater.clock import Clock, new_run_id
from headwater.delta import (
    compute_content,
    content_of_text,
    describe_pin,
    find_head,
    marked_approximate,
    note_of,
    read_commit,
    register_delta,
    rows_commit,
)
from headwater.errors import HeadwaterError, PinsGone, VersionNotFound, WarehouseNotWritable
from headwater.names import same_name
from headwater.plan import CHANCES, parts_of, rehydrate
from headwater.policies import write_policy_of
from headwater.run.comparing import RowDifference, compare_rows, count_far, far_words
from headwater.run.compile import register_source
from headwater.run.drift import check_drift
from headwater.run.fixpoint import fixpoint_rows
from headwater.run.outcome import Listener, Progress
from headwater.run.recorded import RecordedRun, open_recorded, origin_of, stored_view
from headwater.run.scheduled import ScheduledView
from headwater.run.sessions import opened_session
from headwater.run.task_records import RunNotes
from headwater.run.tasks import TaskContext, write_table
from headwater.runtime import engine_errors

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from headwater.artifacts import Manifest
    from headwater.delta import ContentDigest, LogHead, SnapshotInfo
    from headwater.names import TablePin
    from headwater.pipeline import ProjectConfig
    from headwater.plan import PlanBundle
    from headwater.run.warehouse import Warehouse
    from headwater.runtime import RunSession, RuntimeProfile


@dataclass(frozen=True, kw_only=True)
class ReplayRequest:
    """A replay that is asked for; `view` if only one, `keep` if what is made is to stay."""

    config: ProjectConfig
    profile: RuntimeProfile
    warehouse: Warehouse
    run: str
    view: str | None = None
    keep: bool = False
    spark: SparkSession | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedView:
    """One stored view, made again.

    `equal` and `different` tell of its rows. `failed` could not be made again. `skipped` was not: the run did
    not make it either, or it cannot be repeated. `recorded` and `replayed` are content digests.
    """

    name: str
    status: Literal["equal", "different", "failed", "skipped"]
    recorded: str | None = None
    replayed: str | None = None
    rows: int | None = None
    difference: RowDifference | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayReport:
    """A replay that is over: the views in the order in which the run made them.

    `kept` is where the tables are that were made again, if they were to stay.
    """

    run_id: str
    views: tuple[ReplayedView, ...]
    seconds: float
    kept: Path | None = None

    @property
    def first(self) -> ReplayedView | None:
        """The first view that did not come out as recorded; None if all did."""
        return next((each for each in self.views if each.status in {"different", "failed"}), None)

    @property
    def status(self) -> Literal["equal", "different"]:
        """Whether every view that was made again is as recorded."""
        return "equal" if self.first is None else "different"


def replay_run(request: ReplayRequest, clock: Clock, listen: Listener) -> ReplayReport:
    """Makes the stored views of a run again, and compares.

    Raises:
        RunNotFound, RunAmbiguous: there is no such run, or several.
        NotRecorded: it has no such stored view.
        PinsGone: something that the run read or made is not there any more; all of it is listed.
        PlanDrift: this installation would not run the plans as they were planned.
        WarehouseNotWritable: there is no place to make anything.
    """
    start = clock.monotonic()
    run, profile = open_recorded(
        request.run, root=request.config.root, warehouse=request.warehouse, profile=request.profile
    )
    chosen, skipped = chosen_views(run, request.view)
    made: list[ReplayedView] = []
    place = request.warehouse.staging_path / f"replay-{new_run_id(clock)}"
    if chosen:
        request.warehouse.check_writable()
        with opened_session(profile, listen, request.spark) as session:
            listen(Progress(message="checking pins", total=len(chosen)))
            run.check_pins(session, chosen)
            reached = run.reached_by(chosen)
            needed = [run.bundles[name] for name in (*chosen, *reached) if name in run.bundles]
            check_drift(needed, session, lambda name: _snapshot(session, run, name))
            replay = _Replay(request=request, run=run, session=session, place=place, clock=clock)
            try:
                made = replay.all(chosen, listen)
            finally:
                if not request.keep:
                    _remove(place)
    by_name = {each.name: each for each in (*made, *skipped)}
    return ReplayReport(
        run_id=run.manifest.run_id,
        views=tuple(by_name[name] for name in run.order if name in by_name),
        seconds=clock.monotonic() - start,
        kept=place if request.keep and made else None,
    )


def is_view_of(manifest: Manifest, name: str) -> bool:
    """Whether a run has a view of that name, without regard to case."""
    return same_name(name) in {same_name(each.name) for each in manifest.views}


def chosen_views(run: RecordedRun, view: str | None) -> tuple[list[str], list[ReplayedView]]:
    """The stored views to make again, in order; and those that are passed over, with the reason.

    Raises:
        NotRecorded: the run has no such stored view, or did not make it.
    """
    if view is not None:
        return [stored_view(run, view)], []
    chosen: list[str] = []
    skipped: list[ReplayedView] = []
    for name in run.order:
        record, chance = run.tables.get(name), _chance(run, name)
        if not run.bundles[name].stored:
            continue
        if record is None or record.pin is None:
            words = f"the run did not make it: {record.reason if record else 'it was not asked for'}"
        elif chance is not None:
            words = f"cannot be replayed: has {chance}"
        else:
            chosen.append(name)
            continue
        digest = record.digest if record else None
        skipped.append(ReplayedView(name=name, status="skipped", recorded=digest, reason=words))
    return chosen, skipped


def _chance(run: RecordedRun, view: str) -> str | None:
    """What makes each run of a view differ, be it in a view that is not stored; None if nothing does."""
    parts = parts_of(run.bundles[view], run.bundles)
    found = {each.rule: each.code for bundle in parts for each in bundle.findings if each.rule in CHANCES}
    return ", ".join(f"{CHANCES[rule]} ({found[rule]})" for rule in sorted(found)) or None


def _snapshot(session: RunSession, run: RecordedRun, name: str) -> SnapshotInfo | None:
    source = run.source(name)
    is_delta = source is not None and source.spec.kind in {"delta", "changes", "made"}
    pin = source.pin if source is not None and is_delta else run.table_pin(name)
    return describe_pin(session, pin) if pin is not None else None


def _remove(place: Path) -> None:
    shutil.rmtree(place, ignore_errors=True)
    with suppress(OSError):  # another replay may be at work there
        place.parent.rmdir()


@dataclass(frozen=True, kw_only=True)
class _Replay:
    """One replay at work."""

    request: ReplayRequest
    run: RecordedRun
    session: RunSession
    place: Path
    clock: Clock
    registered: set[str] = field(default_factory=set[str])

    def all(self, views: list[str], listen: Listener) -> list[ReplayedView]:
        """Makes each view again, one after another; a failure of one is in what comes back."""
        try:
            self.place.mkdir(parents=True)
        except OSError as error:
            detail = error.strerror or str(error)
            raise WarehouseNotWritable(path=str(self.request.warehouse.root), detail=detail) from error
        done: list[ReplayedView] = []
        for name in views:
            listen(Progress(message=f"replaying {name}", done=len(done), total=len(views)))
            done.append(self._one(name))
            listen(Progress(message=f"{name} {done[-1].status}", done=len(done), total=len(views)))
        return done

    def _one(self, name: str) -> ReplayedView:
        recorded = self.run.tables[name].digest
        try:
            with engine_errors(origin_of(self.run.bundles[name])):
                return self._compared(name, *self._made(name))
        except HeadwaterError as error:
            if (
                error.exit_code == PinsGone.exit_code
            ):  # it went since it was looked at, or only a read could tell
                raise PinsGone(run_id=self.run.manifest.run_id, gone=(f"{name}: {error.message}",)) from error
            reason = f"{error.code} {error.message}"
            return ReplayedView(name=name, status="failed", recorded=recorded, reason=reason)

    def _made(self, name: str) -> tuple[TablePin, ContentDigest]:
        """The view's rows in a table of their own."""
        bundle = self.run.bundles[name]
        self._register(name)
        own = self.session.copy()  # what is made gets the name that what was recorded has here
        try:
            with self._rows(own, bundle) as rows:
                receipt = write_table(
                    TaskContext(
                        session=own,
                        notes=RunNotes(
                            pipeline=self.run.manifest.project,
                            run_id=self.place.name,
                            new_token=self.clock.new_token,
                        ),
                    ),
                    name,
                    marked_approximate(own, rows, bundle.approximate),
                    uri=self.request.profile.storage.canonical_uri(str(self.place / name)),
                    key=bundle.fingerprint.digest,
                    head=None,
                    origin=origin_of(bundle),
                    policy=write_policy_of(bundle.policy),
                )
        finally:
            own.release()
        return receipt.pin, receipt.content or compute_content(self.session, receipt.pin)

    @contextmanager
    def _rows(self, session: RunSession, bundle: PlanBundle) -> Generator[DataFrame]:
        """The rows of a view; those of a fixpoint are there within it only."""
        view = ScheduledView(
            name=bundle.view, plan=bundle.plan, origin=origin_of(bundle), fixpoint=bundle.fixpoint
        )
        if view.fixpoint is None:
            yield view.rows(session)
            return
        place = self.place / f"rounds of {bundle.view}"
        with fixpoint_rows(session, view, place, monotonic=self.clock.monotonic) as rows:
            yield rows

    def _register(self, view: str) -> None:
        """Gives names to all that a view reads, each after what it reads itself."""
        for name in (each for each in self.run.read_by(view) if each not in self.registered):
            pin, source = self.run.table_pin(name), self.run.source(name)
            bundle = self.run.bundles.get(name)
            if pin is not None:
                register_delta(self.session, pin)
            elif source is not None:
                register_source(self.session, source)
            elif bundle is not None:
                rows = rehydrate(self.session, bundle.plan, name, origin_of(bundle))
                rows.createOrReplaceTempView(name)
            self.registered.add(name)

    def _compared(self, name: str, again: TablePin, replayed: ContentDigest) -> ReplayedView:
        record, stored = self.run.tables[name], self.run.table_pin(name)
        known = content_of_text(record.digest) if record.digest else None
        expected = known or replayed
        reasons: list[str] = []
        if replayed != expected:
            reasons.append("a replay makes other rows than the run recorded")
        if stored is not None and compute_content(self.session, stored) != expected:
            reasons.append(f"the files of version {stored.version} hold other rows than the run recorded")
        altered = _altered(stored) if stored is not None else None
        newest = altered.pin(name) if altered is not None else stored
        words = f"altered from outside at version {altered.version} by {altered.operation}" if altered else ""
        if altered is not None and compute_content(self.session, altered.pin(name)) != expected:
            reasons.append(words)
        difference = None
        if newest is not None and reasons:
            difference = compare_rows(self.session, newest, again, self.run.key_of(name))
        elif newest is not None and self.run.bundles[name].approximate:
            reasons += self._far(newest, again, words)
        return ReplayedView(
            name=name,
            status="different" if reasons else "equal",
            recorded=record.digest,
            replayed=replayed.text,
            rows=replayed.rows,
            difference=difference,
            reason="; ".join([*reasons, *(_excuses(self.run, name) if reasons else ())]),
        )

    def _far(self, stored: TablePin, again: TablePin, altered: str) -> list[str]:
        far = count_far(self.session, stored, again)
        return [*([altered] if altered else ()), far_words(far)] if far else []


def _altered(recorded: TablePin) -> LogHead | None:
    """The newest commit that changed a table's rows, if nobody but others did since a recorded version."""
    head = find_head(recorded.uri)
    made = rows_commit(head) if head is not None else None
    if made is None or made.version <= recorded.version:
        return None
    for version in range(made.version, recorded.version, -1):
        try:
            note = note_of(read_commit(recorded.uri, version).user_metadata)
        except VersionNotFound:
            return None
        if note is not None and same_name(note.table) == same_name(recorded.name):
            return None  # a later run of ours made rows of its own
    return made


def _excuses(run: RecordedRun, view: str) -> list[str]:
    """What in a view comes out otherwise in every run, or may, and was let pass."""
    chance = _chance(run, view)
    bundle: PlanBundle = run.bundles[view]
    may = [each for each in bundle.findings if (each.arbitrary or each.rows) and each.rule not in CHANCES]
    return [
        *([f"it has {chance}, so every run differs"] if chance else ()),
        *(f"it was let pass with {each.code} ({each.rule}), so a run may differ" for each in may),
    ]
