"""START HERE. A run, as a page of contents: open, pin, plan, order, execute and commit, record.

Not here: any of these steps; each is a function of its own area.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from headwater.artifacts import Manifest, commit_manifest, last_manifest
from headwater.clock import Clock, new_run_id
from headwater.errors import HeadwaterError, ManifestUnreadable
from headwater.names import SnapshotKey
from headwater.pipeline import Pipeline, ProjectConfig, SourceSpec, build_pipeline, open_definitions
from headwater.run.bundling import Bundling
from headwater.run.changes import first_change
from headwater.run.compile import Compiled, check_enabled, compile_views
from headwater.run.making import Made, MakingRequest, make_tables
from headwater.run.outcome import Listener, Progress, RunOutcome
from headwater.run.pins import PinnedSource, SourcePins
from headwater.run.recording import manifest_of
from headwater.run.schemas import RecordedSchemas
from headwater.run.sessions import LazySession
from headwater.run.tasks import TaskContext
from headwater.runtime import RuntimeIdentity, engine_errors, identity_of

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


@dataclass(frozen=True, kw_only=True)
class _Run:
    """What every step of a run needs."""

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


def execute(request: RunRequest, clock: Clock, listen: Listener) -> RunOutcome:
    """Brings every stored table of a project up to date.

    Raises:
        HeadwaterError: before anything was written. A failure after that is in the outcome, and recorded.
    """
    start = clock.monotonic()
    with (
        engine_errors(),
        LazySession(request.profile, lambda message: listen(Progress(message=message))) as engine,
    ):
        run = _open(request, clock, listen, engine)
        pipeline = _say(run)
        sources = [run.pins.pinned(source) for source in pipeline.sources]
        unchanged = _unchanged(run, pipeline, sources)
        if unchanged is not None:
            return _outcome(run, pipeline, unchanged, None, clock.monotonic() - start)
        request.warehouse.check_writable()
        bundling = _bundling(run, pipeline)
        compiled = _plan(run, pipeline, sources, bundling)
        request.warehouse.prepare()
        made = _make(run, pipeline, compiled, bundling)
        manifest = _record(run, pipeline, compiled, made)
        return _outcome(run, pipeline, manifest, made.error, clock.monotonic() - start)


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
    settings = dict(run.identity.settings.results)
    with open_definitions(run.request.config, settings=settings) as loaded:
        return build_pipeline(loaded, run.schemas, settings=settings)


def _unchanged(run: _Run, pipeline: Pipeline, sources: list[PinnedSource]) -> Manifest | None:
    if run.request.full:
        return None
    change = first_change(
        last=run.last,
        pipeline=pipeline,
        identity=run.identity,
        sources=sources,
        table_uris=_table_uris(run, pipeline),
        allowed=run.request.profile.allow_degraded,
    )
    if change is None and run.engine.is_open:
        change = "a view asks for a schema that no run has recorded"
    if change is not None:
        run.listen(Progress(message=change))
        return None
    return run.last


def _plan(run: _Run, pipeline: Pipeline, sources: list[PinnedSource], bundling: Bundling) -> Compiled:
    session = run.engine.get()
    run.listen(Progress(message=f"planning {len(pipeline.views)} views"))
    for spec in (*pipeline.sources, *pipeline.views):
        check_enabled(spec, run.schemas.functions_of(spec), run.identity.functions)
    reads = {view.name: run.schemas.reads_of(view) for view in pipeline.views}
    return compile_views(session, pipeline.views, sources, reads, bundling)


def _bundling(run: _Run, pipeline: Pipeline) -> Bundling:
    def source_of(name: str) -> PinnedSource | None:
        spec = pipeline.spec(name)
        return run.pins.pinned(spec) if isinstance(spec, SourceSpec) else None

    return Bundling(
        config=run.request.config,
        identity=run.identity,
        functions_of=run.schemas.functions_of,
        source_of=source_of,
    )


def _make(run: _Run, pipeline: Pipeline, compiled: Compiled, bundling: Bundling) -> Made:
    context = TaskContext(
        session=run.engine.get(),
        pipeline=pipeline.name,
        run_id=run.run_id,
        new_token=run.clock.new_token,
        retain=lambda name: run.request.config.upkeep_of(name).retain_hours,
        registrations={each.table.name: each for each in compiled.registrations},
    )
    request = MakingRequest(
        context=context,
        pipeline=pipeline,
        compiled=compiled,
        bundling=bundling,
        pins=run.pins,
        last=run.last,
        results_digest=run.identity.results_digest,
        table_uris=_table_uris(run, pipeline),
        full=run.request.full,
        listen=run.listen,
    )
    return make_tables(request)


def _table_uris(run: _Run, pipeline: Pipeline) -> dict[str, str]:
    storage, warehouse = run.request.profile.storage, run.request.warehouse
    stored = [view.name for view in pipeline.views if view.stored]
    return {name: storage.canonical_uri(str(warehouse.table_path(name))) for name in stored}


def _record(run: _Run, pipeline: Pipeline, compiled: Compiled, made: Made) -> Manifest:
    sources = [run.pins.pinned(source) for source in pipeline.sources]
    manifest = manifest_of(
        config=run.request.config,
        run_id=run.run_id,
        times=(run.started_at, run.clock.now().isoformat()),
        identity=run.identity,
        pipeline=pipeline,
        sources=sources,
        reads=compiled.reads,
        tables=made.tables,
        registrations=made.registrations,
        rows_checked=made.rows_checked,
        receipts=made.receipts,
        schemas=run.schemas,
        error=made.error,
    )
    commit_manifest(run.request.warehouse.root, manifest)
    return manifest


def _outcome(
    run: _Run,
    pipeline: Pipeline,
    manifest: Manifest,
    error: HeadwaterError | None,
    seconds: float,
) -> RunOutcome:
    """What comes back; the manifest of an earlier run means that nothing has changed since."""
    tables, status = manifest.tables, manifest.status
    if manifest.run_id != run.run_id:
        words = "nothing changed since the last run"
        tables = tuple(replace(table, action="skipped", reason=words) for table in tables)
        status = "unchanged"
    uris = _table_uris(run, pipeline)
    return RunOutcome(
        run_id=manifest.run_id,
        status=status,
        tables=tables,
        views=len(pipeline.views),
        sources=len(pipeline.sources),
        seconds=seconds,
        manifest=run.request.warehouse.root / "runs" / manifest.run_id / "manifest.json",
        snapshots={
            table.name: SnapshotKey(canonical_uri=uris[table.name], version=table.pin.version)
            for table in tables
            if table.pin is not None and table.name in uris
        },
        error=error,
    )
