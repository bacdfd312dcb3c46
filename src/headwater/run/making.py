"""Everything that was planned is made, in order: sources that are made once, then each stored view.

A failure stops what waits for it and nothing else. Not here: one task; and whether there is anything to do at
all.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from headwater.artifacts import TableRecord
from headwater.delta import check_gate, describe_pin, find_head
from headwater.errors import EngineFailed, HeadwaterError
from headwater.names import TablePin
from headwater.pipeline import SourceSpec, ViewSpec
from headwater.plan import analysed_tree, makes_fresh_rows, rehydrate
from headwater.run.changes import current_identities, reason_to_build
from headwater.run.outcome import Progress
from headwater.run.pins import made_key
from headwater.run.refreshed import RefreshTask
from headwater.run.refreshing import RefreshQuestion
from headwater.run.scanning import scan_units
from headwater.run.scheduled import ScheduledView
from headwater.run.scheduling import run_tasks
from headwater.run.task_records import STOPPED, left_by
from headwater.run.tasks import run_task, write_table
from headwater.runtime import ENGINE_GONE, engine_errors, for_thread

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from headwater.artifacts import Manifest
    from headwater.clock import Clock
    from headwater.delta import LogHead, Receipt, Registration
    from headwater.pipeline import Pipeline
    from headwater.plan import OperatorMetrics, PlanBundle
    from headwater.run.bundling import Bundling
    from headwater.run.compile import Compiled
    from headwater.run.outcome import Listener
    from headwater.run.pins import SourcePins
    from headwater.run.refreshes import Refresh
    from headwater.run.refreshing import Refreshing
    from headwater.run.scheduling import Ends
    from headwater.run.tasks import TaskContext

EVERY_RUN = "a clock or chance is allowed in it, so that every run makes it"
NOT_ASKED = "not asked for"


@dataclass(frozen=True, kw_only=True)
class MakingRequest:
    """All that making needs; nothing of it changes while tables are made.

    `only` are the names that are made, and all others are left as they are; `workers` how many at once.
    """

    context: TaskContext
    pipeline: Pipeline
    compiled: Compiled
    bundling: Bundling
    refreshing: Refreshing
    pins: SourcePins
    last: Manifest | None
    results_digest: str
    table_uris: Mapping[str, str]
    full: bool
    only: Collection[str] | None = None
    workers: int = 1
    clock: Clock
    listen: Listener

    @cached_property
    def read(self) -> frozenset[str]:
        """All that tables which are made read, themselves or through views that are not stored."""
        wanted = [name for name in self.table_uris if self.only is None or name in self.only]
        return frozenset(each for name in wanted for each in reached_by(self.compiled, self.pipeline, name))


@dataclass(kw_only=True)
class Made:
    """The tables so far, in the order in which they were made, how names were read, and what went wrong.

    `bundles` are the views that were reached, with their inputs as they were read, `derived` what was run
    instead of some; `errors` are by name. `caches` are the cached views whose rows were read, and whether
    they were there before.
    """

    bundles: dict[str, PlanBundle] = field(default_factory=dict[str, "PlanBundle"])
    tables: list[TableRecord] = field(default_factory=list[TableRecord])
    registrations: dict[str, Registration] = field(default_factory=dict[str, "Registration"])
    rows_checked: dict[str, int] = field(default_factory=dict[str, int])
    receipts: list[Receipt] = field(default_factory=list["Receipt"])
    errors: dict[str, HeadwaterError] = field(default_factory=dict[str, HeadwaterError])
    operators: dict[str, tuple[OperatorMetrics, ...]] = field(
        default_factory=dict[str, "tuple[OperatorMetrics, ...]"]
    )
    caches: dict[str, bool] = field(default_factory=dict[str, bool])
    derived: dict[str, PlanBundle] = field(default_factory=dict[str, "PlanBundle"])


def make_tables(request: MakingRequest) -> Made:
    """Makes what is planned; failures are in what comes back, not raised."""
    made = Made()
    wanted = [name for name in request.compiled.order if request.only is None or name in request.only]
    workers = min(request.workers, sum(name in request.table_uris for name in wanted)) or 1
    ends = run_tasks(
        wanted,
        {name: request.compiled.needs(name) for name in wanted},
        partial(_make, request, made),
        workers=workers,
        in_thread=lambda work: for_thread(request.context.session, work),
        is_light=lambda name: _is_light(request, name),
        ends_all=lambda error: isinstance(error, EngineFailed) and error.condition == ENGINE_GONE,
    )
    made.errors = {name: ends.errors[name] for name in request.compiled.order if name in ends.errors}
    made.tables += _not_made(request, ends)
    made.registrations = dict(request.context.registrations)
    made.receipts = list(request.context.receipts)
    made.operators = dict(request.context.operators)
    made.caches = dict(request.context.caches.used) if request.context.caches else {}
    made.derived = dict(request.context.derived)
    for name, scans in request.context.scans.items():
        units = scan_units(request.compiled.bundles, name, scans)
        made.bundles[name] = replace(made.bundles[name], scans=units)
    checks = request.context.checks
    made.rows_checked = {checks.pins[name][0].name: count for name, count in checks.checked.items()}
    return made


def _is_light(request: MakingRequest, name: str) -> bool:
    """Whether there is nothing to write: a view that is not stored, or a source that is there."""
    spec = request.pipeline.spec(name)
    return (
        not _is_to_be_made(request, spec) if isinstance(spec, SourceSpec) else name not in request.table_uris
    )


def _make(request: MakingRequest, made: Made, name: str) -> None:
    spec, caches = request.pipeline.spec(name), request.context.caches
    reading = caches.reading(name) if caches else nullcontext()
    told = request.context.events.watching(request.context, name)
    with told, reading, engine_errors(spec.origin if spec else None), request.context.session.active():
        if isinstance(spec, SourceSpec):
            _make_source(request, spec)
        elif isinstance(spec, ViewSpec):
            _make_view(request, made, spec)


def _is_to_be_made(request: MakingRequest, source: SourceSpec) -> bool:
    return source.kind == "made" and source.plan is not None and request.pins.pinned(source).pin is None


def _make_source(request: MakingRequest, source: SourceSpec) -> None:
    if not _is_to_be_made(request, source) or source.plan is None:
        return
    request.listen(Progress(message=f"making {source.name}", total=len(request.table_uris)))
    request.context.events.started(request.context, source.name)
    rows = rehydrate(request.context.session, source.plan.executable, source.name, source.origin)
    uri = request.pins.uri_of(source)
    receipt = write_table(
        request.context,
        source.name,
        rows,
        uri=uri,
        key=made_key(source),
        head=find_head(uri),
        origin=source.origin,
    )
    request.pins.made(source, receipt.pin, receipt.content.text if receipt.content else None)


def _make_view(request: MakingRequest, made: Made, view: ViewSpec) -> None:
    bundle = request.bundling.filled(request.compiled.bundles[view.name])
    made.bundles[view.name] = bundle
    scheduled = ScheduledView.of(bundle, view)
    if not view.stored:
        request.bundling.planned(bundle)
        if view.name not in request.read:
            return
        # Planned over empty stand-ins, if at all; now that what it reads is there, it is planned over that.
        scheduled.rows(request.context.session).createOrReplaceTempView(view.name)
        if request.context.caches is not None:
            request.context.caches.planned(scheduled, bundle)
        return
    total = len(request.table_uris)
    request.listen(Progress(message=view.name, done=len(made.tables), total=total))
    started_at, start = request.clock.now().isoformat(), request.clock.monotonic()
    reached = reached_by(request.compiled, request.pipeline, view.name)
    _check_sources(request, reached)
    between = _between(request, reached)
    is_fresh = makes_fresh_rows(bundle, made.bundles)
    request.context.inputs[view.name] = {each.name: each.version for each in bundle.inputs}
    inner = [ScheduledView.of(made.bundles[each.name], each) for each in between]
    refresh = RefreshTask(
        context=request.context,
        view=scheduled,
        bundle=bundle,
        between=inner,
        reached=reached,
        decide=lambda head: _decided(request, made, scheduled, view, head, is_fresh=is_fresh),
    )
    table = run_task(
        request.context,
        scheduled,
        uri=request.table_uris[view.name],
        key=bundle.fingerprint.digest,
        reason=EVERY_RUN if is_fresh else _reason(request, made, view.name, reached),
        full=request.full or is_fresh,
        between=inner,
        reached=reached,
        recorded=_recorded(request, view.name),
        refresh=refresh.run,
    )
    seconds = round(request.clock.monotonic() - start, 3)
    made.tables.append(replace(table, started_at=started_at, seconds=seconds))
    if table.pin is not None:
        uri = request.table_uris[view.name]
        pin = TablePin(name=view.name, uri=uri, version=table.pin.version, digest=table.pin.digest)
        request.bundling.made(bundle, pin, table.digest, is_fresh=is_fresh)
    request.listen(Progress(message=f"{view.name} {table.action}", done=len(made.tables), total=total))


def _decided(
    request: MakingRequest,
    made: Made,
    scheduled: ScheduledView,
    view: ViewSpec,
    head: LogHead,
    *,
    is_fresh: bool,
) -> Refresh:
    """Whether a table is refreshed key by key, now that all it reads is there."""
    session = request.context.session
    question = RefreshQuestion(
        view=view,
        bundle=made.bundles[view.name],
        bundles=made.bundles,
        keys=request.bundling.keys_of(view.name),
        head=head,
        full=request.full,
        is_fresh=is_fresh,
        tree=lambda: analysed_tree(scheduled.rows(session), opens_views=True),
    )
    return request.refreshing.decide(question)


def _recorded(request: MakingRequest, name: str) -> TableRecord | None:
    """A table as the last run left it, if that came to its end."""
    is_stopped = request.last is not None and request.last.error == STOPPED
    return None if is_stopped else left_by(request.last, name)


def _check_sources(request: MakingRequest, reached: list[str]) -> None:
    """Right before a view is run: its sources are still as planned with, and as their gates ask."""
    for name in reached:
        spec = request.pipeline.spec(name)
        if not isinstance(spec, SourceSpec) or spec.kind not in {"delta", "changes", "made"}:
            continue
        pin = request.pins.pinned(spec).pin
        if pin is not None:
            snapshot = describe_pin(request.context.session, pin, spec.origin)
            check_gate(spec.read.gate, snapshot, spec.name, spec.origin)
            if spec.kind != "changes":  # a feed's rows are not those that a log promises
                request.context.checks.add(pin, read=spec.read)


def _between(request: MakingRequest, reached: list[str]) -> list[ViewSpec]:
    """The views of `reached` that are not stored, each after all that it reads."""
    names = set(reached)
    specs = [request.pipeline.spec(name) for name in request.compiled.order if name in names]
    return [each for each in specs if isinstance(each, ViewSpec) and not each.stored]


def reached_by(compiled: Compiled, pipeline: Pipeline, name: str) -> list[str]:
    """Everything a view reads, itself or through views that are not stored; a stored one is a boundary."""
    found: set[str] = set()
    waiting = list(compiled.needs(name))
    while waiting:
        each = waiting.pop()
        if each in found:
            continue
        found.add(each)
        spec = pipeline.spec(each)
        if isinstance(spec, ViewSpec) and not spec.stored:
            waiting += compiled.needs(each)
    return sorted(found)


def _reason(request: MakingRequest, made: Made, view: str, reached: list[str]) -> str:
    if request.full:
        return "asked for in full"
    sources = [request.pins.pinned(source) for source in request.pipeline.sources]
    now = current_identities(request.pipeline, sources)
    remade = [table.name for table in made.tables if table.action in {"built", "incremental"}]
    return reason_to_build(
        view, reached, request.last, now, results_digest=request.results_digest, remade=remade
    )


def _not_made(request: MakingRequest, ends: Ends) -> list[TableRecord]:
    """The tables that failed, those that waited for something that did, and those that nobody asked for."""
    found: list[TableRecord] = []
    for name in request.table_uris:
        if name in ends.errors:
            rounds = request.context.rounds.get(name, ())
            reason = str(ends.errors[name])
            found.append(TableRecord(name=name, action="failed", reason=reason, rounds=rounds))
        elif name in ends.behind:
            reason = f"not reached: '{ends.behind[name]}' failed"
            found.append(TableRecord(name=name, action="skipped", reason=reason))
        elif request.only is not None and name not in request.only:
            found.append(_as_it_was(request, name))
    return found


def _as_it_was(request: MakingRequest, name: str) -> TableRecord:
    """A table that was not asked for, as the last run left it."""
    before = next((each for each in (request.last.tables if request.last else ()) if each.name == name), None)
    blank = TableRecord(name=name, action="skipped", reason=NOT_ASKED)
    if before is None:
        return blank
    passing = {"started_at": None, "seconds": None, "refresh": None, "rounds": ()}
    return replace(before, action="skipped", reason=NOT_ASKED, **passing)
