"""START HERE. A run, as a page of contents: open, pin, plan, order, execute and commit, record.

Not here: any of these steps; each is a function of its own area.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.artifacts import Manifest, TableRecord, commit_manifest, last_manifest
from headwater.clock import Clock, new_run_id
from headwater.delta import find_head
from headwater.digest import digest_of
from headwater.errors import HeadwaterError, ManifestUnreadable
from headwater.names import same_name
from headwater.pipeline import Pipeline, ProjectConfig, ViewSpec, build_pipeline, open_definitions
from headwater.plan import rehydrate
from headwater.run.changes import current_identities, first_change, reason_to_build
from headwater.run.compile import Compiled, compile_views, reads_of
from headwater.run.outcome import Listener, Progress, RunOutcome
from headwater.run.pins import PinnedSource, SourcePins, made_key
from headwater.run.recording import manifest_of
from headwater.run.schemas import RecordedSchemas
from headwater.run.sessions import LazySession
from headwater.run.tasks import TaskContext, run_task, write_table
from headwater.runtime import RuntimeIdentity, identity_of

if TYPE_CHECKING:
    from headwater.delta import LatestVersions
    from headwater.run.warehouse import Warehouse
    from headwater.runtime import RuntimeProfile


@dataclass(frozen=True, kw_only=True)
class RunRequest:
    """A build that is asked for."""

    config: ProjectConfig
    profile: RuntimeProfile
    warehouse: Warehouse
    latest: LatestVersions
    full: bool = False


@dataclass(kw_only=True)
class _Run:
    """The state of a run that is going on; what every step adds to."""

    request: RunRequest
    clock: Clock
    listen: Listener
    run_id: str
    started_at: str
    identity: RuntimeIdentity
    last: Manifest | None
    engine: LazySession
    pins: SourcePins
    schemas: RecordedSchemas
    tables: list[TableRecord] = field(default_factory=list[TableRecord])


def execute(request: RunRequest, clock: Clock, listen: Listener) -> RunOutcome:
    """Brings every stored table of a project up to date.

    Raises:
        HeadwaterError: before anything was written. A failure after that is in the outcome, and recorded.
    """
    start = clock.monotonic()
    with LazySession(request.profile, lambda message: listen(Progress(message=message))) as engine:
        run = _open(request, clock, listen, engine)
        pipeline = _say(run)
        sources = [run.pins.pinned(source) for source in pipeline.sources]
        unchanged = _unchanged(run, pipeline, sources)
        if unchanged is not None:
            return _outcome(run, pipeline, unchanged, None, clock.monotonic() - start, unchanged.run_id)
        request.warehouse.prepare()
        compiled = _plan(run, pipeline, sources)
        error = _make(run, pipeline, compiled)
        manifest = _record(run, pipeline, compiled, error)
        return _outcome(run, pipeline, manifest, error, clock.monotonic() - start, run.run_id)


def _open(request: RunRequest, clock: Clock, listen: Listener, engine: LazySession) -> _Run:
    last = _last_run(request, listen)
    identity = identity_of(request.profile)
    pins = SourcePins(
        root=request.config.root,
        warehouse=request.warehouse,
        storage=request.profile.storage,
        latest=request.latest,
        last=last,
    )
    return _Run(
        request=request,
        clock=clock,
        listen=listen,
        run_id=new_run_id(clock),
        started_at=clock.now().isoformat(),
        identity=identity,
        last=last,
        engine=engine,
        pins=pins,
        schemas=RecordedSchemas(last=last, results_digest=identity.results_digest, pins=pins, engine=engine),
    )


def _last_run(request: RunRequest, listen: Listener) -> Manifest | None:
    try:
        return last_manifest(request.warehouse.root)
    except ManifestUnreadable as error:
        listen(Progress(message=f"going on without the last run's record: {error}"))
        return None


def _say(run: _Run) -> Pipeline:
    run.listen(Progress(message="reading definitions"))
    with open_definitions(run.request.config) as loaded:
        return build_pipeline(loaded, run.schemas)


def _unchanged(run: _Run, pipeline: Pipeline, sources: list[PinnedSource]) -> Manifest | None:
    if run.request.full:
        return None
    change = first_change(
        last=run.last,
        pipeline=pipeline,
        identity=run.identity,
        sources=sources,
        table_uris={view.name: _uri(run, view.name) for view in pipeline.views if view.stored},
    )
    if change is not None:
        run.listen(Progress(message=change))
        return None
    return run.last


def _plan(run: _Run, pipeline: Pipeline, sources: list[PinnedSource]) -> Compiled:
    session = run.engine.get()
    run.listen(Progress(message=f"planning {len(pipeline.views)} views"))
    reads = reads_of(session, pipeline.views)
    return compile_views(session, pipeline.views, sources, reads)


def _make(run: _Run, pipeline: Pipeline, compiled: Compiled) -> HeadwaterError | None:
    """Makes the sources that are made once, then each stored view, in order; stops at the first failure."""
    context = TaskContext(
        session=run.engine.get(), pipeline=pipeline.name, run_id=run.run_id, new_token=run.clock.new_token
    )
    views = {view.name: view for view in pipeline.views}
    waiting = [name for name in compiled.order if name in views and views[name].stored]
    try:
        for source in pipeline.sources:
            if source.kind == "made" and source.plan and run.pins.pinned(source).pin is None:
                run.listen(Progress(message=f"making {source.name}", total=len(waiting)))
                rows = rehydrate(context.session, source.plan.executable, source.name, source.origin)
                uri = run.pins.uri_of(source)
                key = made_key(source)
                pin, _ = write_table(
                    context, source.name, rows, uri=uri, key=key, head=find_head(uri), origin=source.origin
                )
                run.pins.made(source, pin)
        for name in compiled.order:
            if name in views:
                _make_view(run, context, pipeline, compiled, views[name], len(waiting))
    except HeadwaterError as error:
        done = {table.name for table in run.tables}
        left = [name for name in waiting if name not in done]
        run.tables += [
            TableRecord(
                name=name,
                action="failed" if name == left[0] else "skipped",
                reason=_why_not(name, left, error),
            )
            for name in left
        ]
        return error
    return None


def _make_view(
    run: _Run, context: TaskContext, pipeline: Pipeline, compiled: Compiled, view: ViewSpec, total: int
) -> None:
    if not view.stored:
        # Planned over empty stand-ins; now that what it reads is there, it is planned again.
        rehydrate(context.session, view.plan.executable, view.name, view.origin).createOrReplaceTempView(
            view.name
        )
        return
    run.listen(Progress(message=view.name, done=len(run.tables), total=total))
    reached = _reached(compiled, pipeline, view.name)
    sources = [run.pins.pinned(source) for source in pipeline.sources]
    reason = reason_to_build(view.name, reached, run.last, current_identities(pipeline, sources))
    table = run_task(
        context,
        view,
        uri=_uri(run, view.name),
        key=_task_key(run, pipeline, view, reached),
        reason="asked for in full" if run.request.full else reason,
        full=run.request.full,
    )
    run.tables.append(table)
    run.listen(Progress(message=f"{view.name} {table.action}", done=len(run.tables), total=total))


def _reached(compiled: Compiled, pipeline: Pipeline, name: str) -> list[str]:
    """Everything a view reads, itself or through views that are not stored; a stored one is a boundary."""
    by_folded = {same_name(each): each for each in compiled.reads}
    found: list[str] = []
    waiting = list(compiled.reads[name])
    while waiting:
        each = by_folded[same_name(waiting.pop(0))]
        if each in found:
            continue
        found.append(each)
        spec = pipeline.spec(each)
        if isinstance(spec, ViewSpec) and not spec.stored:
            waiting += compiled.reads[each]
    return sorted(found)


def _task_key(run: _Run, pipeline: Pipeline, view: ViewSpec, reached: list[str]) -> str:
    """The view's plan, the plans and pins of all it reaches, and the settings: equal keys, equal rows."""
    made = {table.name: table.pin for table in run.tables}
    inputs: dict[str, list[str | int | None]] = {}
    for name in reached:
        spec = pipeline.spec(name)
        if isinstance(spec, ViewSpec):
            pin = made.get(name)
            inputs[name] = [pin.version, pin.digest] if spec.stored and pin else [spec.digest]
        elif spec is not None:
            inputs[name] = run.pins.pinned(spec).identity
    return digest_of(["view", view.digest, run.identity.results_digest, inputs])


def _why_not(name: str, left: list[str], error: HeadwaterError) -> str:
    return str(error) if name == left[0] else f"not reached: '{left[0]}' failed"


def _uri(run: _Run, name: str) -> str:
    return run.request.profile.storage.canonical_uri(str(run.request.warehouse.table_path(name)))


def _record(run: _Run, pipeline: Pipeline, compiled: Compiled, error: HeadwaterError | None) -> Manifest:
    sources = [run.pins.pinned(source) for source in pipeline.sources]
    manifest = manifest_of(
        config=run.request.config,
        run_id=run.run_id,
        times=(run.started_at, run.clock.now().isoformat()),
        identity=run.identity,
        pipeline=pipeline,
        sources=sources,
        reads=compiled.reads,
        tables=run.tables,
        schemas=run.schemas,
        error=error,
    )
    commit_manifest(run.request.warehouse.root, manifest)
    return manifest


def _outcome(
    run: _Run,
    pipeline: Pipeline,
    manifest: Manifest,
    error: HeadwaterError | None,
    seconds: float,
    run_id: str,
) -> RunOutcome:
    is_old = run_id != run.run_id
    tables = manifest.tables
    if is_old:
        words = "nothing changed since the last run"
        tables = tuple(_skipped(table, words) for table in tables)
    return RunOutcome(
        run_id=run_id,
        status="unchanged" if is_old else manifest.status,
        tables=tables,
        views=len(pipeline.views),
        sources=len(pipeline.sources),
        seconds=seconds,
        manifest=run.request.warehouse.root / "runs" / run_id / "manifest.json",
        error=error,
    )


def _skipped(table: TableRecord, reason: str) -> TableRecord:
    return TableRecord(
        name=table.name,
        action="skipped",
        reason=reason,
        version=table.version,
        rows=table.rows,
        digest=table.digest,
        pin=table.pin,
        task_key=table.task_key,
    )
