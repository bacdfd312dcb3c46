"""What a build would do, and why: the same steps as a run, up to where it would begin to write.

Tables that are up to date are registered as they are, so that what would be read of them can be told; those
that would be made are planned as empty. Not here: doing it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec.structs import replace

from headwater.artifacts import read_plans
from headwater.delta import find_content, find_head, register_delta, rows_commit, scans_of
from headwater.errors import ManifestUnreadable
from headwater.names import TablePin, same_name
from headwater.pipeline import SourceSpec
from headwater.plan import (
    Edge,
    PlanBundle,
    PlanFinding,
    ScanUnit,
    TaskGraph,
    analysed_tree,
    changes_between,
    makes_fresh_rows,
    order_of,
    task_graph,
    top_column,
)
from headwater.run.bundling import file_of
from headwater.run.compile import rehydrate_view
from headwater.run.making import EVERY_RUN, reached_by
from headwater.run.outcome import Progress
from headwater.run.refreshes import full as full_refresh
from headwater.run.refreshing import RefreshQuestion
from headwater.run.scanning import scan_units
from headwater.run.sessions import LazySession
from headwater.run.steps import (
    Run,
    bundling_of,
    open_run,
    plan_views,
    read_definitions,
    refreshing_of,
    table_uris,
    unchanged_since,
)
from headwater.run.task_records import is_made_by, left_by
from headwater.runtime import engine_errors

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.clock import Clock
    from headwater.pipeline import Pipeline, ProjectConfig, ViewSpec
    from headwater.run.bundling import Bundling
    from headwater.run.compile import Compiled
    from headwater.run.outcome import Listener
    from headwater.run.refreshes import Refresh
    from headwater.run.refreshing import Refreshing
    from headwater.run.steps import RunRequest
    from headwater.runtime import RunSession

PlanAction = Literal["built", "skipped", "inlined"]
_UP_TO_DATE = "up to date"
_REASONS = {
    "new": "new",
    "code": "changed plan",
    "schema": "changed columns of an input",
    "function": "changed function",
    "setting": "changed setting",
    "policy": "changed policy",
    "input": "changed input",
}
_UNCHANGED = {"skipped": full_refresh("up-to-date"), "inlined": full_refresh("inlined")}


class PlannedView(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a build would do about one view.

    Attributes:
        action: `built`, `skipped`; or `inlined`, a view that is not stored and is a part of others.
        reason: Why, in a word or two; `changes` says it in full.
        mode: Whether all of a table is made, or the rows of affected keys.
        mode_code, mode_reason: Why, as a code and in words.
        files_kept, files_total, bytes_kept, bytes_total: What would be read of pinned Delta tables, all in
            all; 0 where nothing would run.
        scans: The same, table by table.
        findings: What may not repeat.
        cache: How a run keeps the rows of a view that is not stored: `none`, `memory` or `delta_staging`.
    """

    name: str
    file: str
    line: int
    stored: bool
    action: PlanAction
    reason: str
    changes: tuple[str, ...] = ()
    mode: Literal["full", "incremental"] = "full"
    mode_code: str = ""
    mode_reason: str = ""
    reads: tuple[str, ...] = ()
    files_kept: int = 0
    files_total: int = 0
    bytes_kept: int = 0
    bytes_total: int = 0
    scans: tuple[ScanUnit, ...] = ()
    findings: tuple[PlanFinding, ...] = ()
    key: str = ""
    cache: str = "none"


@dataclass(frozen=True, kw_only=True)
class ProjectPlan:
    """All views of a project in the order in which they can be made, with their bundles by name."""

    views: tuple[PlannedView, ...]
    bundles: Mapping[str, PlanBundle]

    @property
    def is_unchanged(self) -> bool:
        """Whether a build would do nothing."""
        return not any(each.action == "built" for each in self.views)

    @cached_property
    def graph(self) -> TaskGraph:
        """Views, scans and columns, and what depends on what."""
        return task_graph(self.bundles.values())

    def lineage(self, target: str, *, up: bool = True, down: bool = True) -> tuple[Edge, ...]:
        """Every dependence that a dataset, or `dataset.column`, has; and every one on it.

        A field inside a column is followed as the whole column.

        Raises:
            NotPlanned: there is no such dataset, or no such column.
        """
        name, _, column = target.partition(".")
        columns = self.graph.columns_of(name)
        if column:
            is_whole = same_name(column) in {same_name(each) for each in columns}
            columns = (column if is_whole else top_column(column),)
        found: set[Edge] = set()
        for each in columns:
            found.update(self.graph.column_upstream(name, each) if up else ())
            found.update(self.graph.column_downstream(name, each) if down else ())
        return tuple(sorted(found))


def plan_project(request: RunRequest, clock: Clock, listen: Listener, *, scans: bool = True) -> ProjectPlan:
    """What a build would do; writes nothing, and starts Spark only if something changed.

    Args:
        request: the build.
        clock: the time.
        listen: hears what is being done.
        scans: whether to ask what would be read of each table.

    Raises:
        HeadwaterError: what a build would raise before it writes.
    """
    with (
        engine_errors(),
        LazySession(
            request.profile, lambda message: listen(Progress(message=message)), request.spark
        ) as engine,
    ):
        run = open_run(request, clock, listen, engine)
        pipeline = read_definitions(run)
        sources = [run.pins.pinned(source) for source in pipeline.sources]
        last = unchanged_since(run, pipeline, sources)
        before = recorded_plans(run)
        if last is not None and {view.name for view in pipeline.views} <= before.keys():
            return _unchanged(run.request.config, pipeline, before)
        bundling = bundling_of(run, pipeline)
        compiled = plan_views(run, pipeline, sources, bundling)
        return Planning(run, pipeline, compiled, bundling, before, scans=scans).plan()


def recorded_plans(run: Run) -> dict[str, PlanBundle]:
    """The plans of the last run; none if it has none that can be read."""
    if run.last is None:
        return {}
    try:
        found = read_plans(run.request.warehouse.root, run.last.run_id)
    except ManifestUnreadable as error:
        run.listen(Progress(message=f"going on without the last run's plans: {error}"))
        return {}
    if run.last.views and not found:
        run.listen(Progress(message="going on without the last run's plans: it has none on record"))
    return found


def _unchanged(config: ProjectConfig, pipeline: Pipeline, recorded: Mapping[str, PlanBundle]) -> ProjectPlan:
    """The last run's plans, in the order in which they would be made; views may have moved since."""
    stored = {view.name: view.stored for view in pipeline.views}
    caches = {view.name: view.cache for view in pipeline.views}
    bundles = {
        view.name: replace(recorded[view.name], file=file_of(view, config), line=view.origin.line)
        for view in pipeline.views
    }
    reads = {name: tuple(each.name for each in bundles[name].inputs) for name in stored}
    everything = {**{source.name: () for source in pipeline.sources}, **reads}
    order = [name for name in order_of(everything, {}) if name in stored]
    return ProjectPlan(
        views=tuple(
            replace(
                _planned(bundles[name], "skipped" if stored[name] else "inlined", _UP_TO_DATE),
                cache=caches[name],
            )
            for name in order
        ),
        bundles={name: bundles[name] for name in order},
    )


def _planned(
    bundle: PlanBundle,
    action: PlanAction,
    reason: str,
    changes: tuple[str, ...] = (),
    refresh: Refresh | None = None,
) -> PlannedView:
    how = refresh or _UNCHANGED[action]
    read = bundle.scans if action == "built" else ()
    return PlannedView(
        name=bundle.view,
        file=bundle.file,
        line=bundle.line,
        stored=bundle.stored,
        action=action,
        reason=reason,
        changes=changes,
        mode=how.mode,
        mode_code=how.code,
        mode_reason=how.words,
        reads=tuple(each.name for each in bundle.inputs),
        files_kept=sum(each.kept_files for each in read),
        files_total=sum(each.candidate_files for each in read),
        bytes_kept=sum(each.kept_bytes for each in read),
        bytes_total=sum(each.candidate_bytes for each in read),
        scans=read,
        findings=bundle.findings,
        key=bundle.key,
    )


@dataclass
class Planning:
    """Goes through a compiled pipeline as a build would, and leaves every name as it would be read."""

    run: Run
    pipeline: Pipeline
    compiled: Compiled
    bundling: Bundling
    before: Mapping[str, PlanBundle]
    scans: bool = field(kw_only=True)
    _pins: dict[str, TablePin] = field(default_factory=dict[str, TablePin])
    _bundles: dict[str, PlanBundle] = field(default_factory=dict[str, PlanBundle])

    def plan(self) -> ProjectPlan:
        """What a build would do about each view."""
        uris = table_uris(self.run, self.pipeline)
        views: list[PlannedView] = []
        for name in self.compiled.order:
            spec = self.pipeline.spec(name)
            if spec is None or isinstance(spec, SourceSpec):
                continue
            bundle = self.bundling.filled(self.compiled.bundles[name])
            if spec.stored:
                views.append(self._stored(spec, bundle, uris[name]))
            else:
                rehydrate_view(self.session, spec).createOrReplaceTempView(name)
                self.bundling.planned(bundle)
                self._bundles[name] = bundle
                planned = _planned(bundle, "inlined", "not stored", self._changes(bundle))
                views.append(replace(planned, cache=spec.cache))
        return ProjectPlan(views=tuple(views), bundles=self._bundles)

    @property
    def session(self) -> RunSession:
        """Where the names are registered."""
        return self.run.engine.get()

    def pin_of(self, name: str) -> TablePin | None:
        """A Delta table that is there, at the version that would be read; None for what is not."""
        if name in self._pins:
            return self._pins[name]
        spec = self.pipeline.spec(name)
        if not isinstance(spec, SourceSpec) or spec.kind not in {"delta", "made"}:
            return None
        return self.run.pins.pinned(spec).pin

    def _stored(self, view: ViewSpec, bundle: PlanBundle, uri: str) -> PlannedView:
        is_fresh = makes_fresh_rows(bundle, self._bundles)
        is_asked = self.run.request.full or is_fresh
        made = None if is_asked else self._made_by(uri, view.name, bundle.fingerprint.digest)
        if made is not None:
            # As in a build: it is known by the commit that made its rows, and read as it is laid out now.
            rows, newest = made
            register_delta(self.session, newest)
            content = find_content(rows)
            self.bundling.made(bundle, rows, content.text if content else None)
            self._pins[view.name] = newest
            self._bundles[view.name] = bundle
            return _planned(bundle, "skipped", _UP_TO_DATE)
        refresh = self._refresh(view, bundle, uri, is_fresh=is_fresh)
        self._expect(bundle, is_fresh=is_fresh)
        if self.scans:
            self.run.listen(Progress(message=f"looking at what {view.name} reads"))
            bundle = replace(bundle, scans=self._scans(view))
        self._bundles[view.name] = bundle
        reason = EVERY_RUN if is_fresh else self._reason(bundle, uri)
        return _planned(bundle, "built", reason, self._changes(bundle), refresh)

    def _refresh(self, view: ViewSpec, bundle: PlanBundle, uri: str, *, is_fresh: bool) -> Refresh:
        question = RefreshQuestion(
            view=view,
            bundle=bundle,
            bundles=self._bundles,
            keys=self.bundling.keys_of(view.name),
            head=find_head(uri),
            full=self.run.request.full,
            is_fresh=is_fresh,
            tree=lambda: analysed_tree(rehydrate_view(self.session, view), opens_views=True),
        )
        return self.refreshing.decide(question)

    @cached_property
    def refreshing(self) -> Refreshing:
        """What decides how tables are refreshed."""
        return refreshing_of(self.run, self.pipeline, self.pin_of)

    def _expect(self, bundle: PlanBundle, *, is_fresh: bool) -> None:
        """Makes a table that is to be made an input of others: known, if the same task has made it before."""
        before = left_by(self.run.last, bundle.view)
        if before is None or before.pin is None or is_fresh or before.task_key != bundle.fingerprint.digest:
            self.bundling.planned(bundle)
            return
        pin = TablePin(name=bundle.view, uri="", version=before.pin.version, digest=before.pin.digest)
        self.bundling.made(bundle, pin, before.digest)

    def _changes(self, bundle: PlanBundle) -> tuple[str, ...]:
        before = self.before.get(bundle.view)
        return tuple(each.words for each in changes_between(before, bundle)) if before else ()

    def _reason(self, bundle: PlanBundle, uri: str) -> str:
        if self.run.request.full:
            return "asked for in full"
        tables = {table.name: table for table in self.run.last.tables} if self.run.last else {}
        if bundle.view not in tables:
            return "new" if find_head(uri) is None else "no run on record made its table"
        if tables[bundle.view].pin is None:
            return "the last run did not make it"
        before = self.before.get(bundle.view)
        if before is None:
            return "no earlier plan to compare with"
        return _REASONS.get(self._cause(bundle), "changed table")

    def _cause(self, bundle: PlanBundle) -> str:
        """The kind of a view's first change; of a view that is a part of it, that one's."""
        before = self.before.get(bundle.view)
        for change in changes_between(before, bundle) if before else ():
            inner = self._bundles.get(change.name) if change.kind == "input" else None
            if inner is None or inner.stored:
                return change.kind
            return self._cause(inner) or change.kind
        return ""

    def _scans(self, view: ViewSpec) -> tuple[ScanUnit, ...]:
        frame = rehydrate_view(self.session, view)
        reached = reached_by(self.compiled, self.pipeline, view.name)
        pins = [pin for name in reached if (pin := self.pin_of(name)) is not None]
        return scan_units(self.compiled.bundles, view.name, scans_of(self.session, frame, pins))

    def _made_by(self, uri: str, name: str, key: str) -> tuple[TablePin, TablePin] | None:
        """A table whose rows a task of this key has made: at the commit that made them, and at its newest."""
        head = find_head(uri)
        rows = rows_commit(head) if head is not None else None
        if head is None or rows is None or not is_made_by(rows, name, key, left_by(self.run.last, name)):
            return None
        return rows.pin(name), head.pin(name)
