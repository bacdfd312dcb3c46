"""START HERE. A run, as a page of contents: open, pin, plan, order, execute and commit, record.

Not here: any of these steps; each is a function of its own area.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from msgspec.structs import replace

from headwater.artifacts import commit_manifest, commit_plans
from headwater.names import SnapshotKey
from headwater.run.making import Made, MakingRequest, make_tables
from headwater.run.outcome import Listener, Progress, RunOutcome
from headwater.run.recording import manifest_of, planned_sources
from headwater.run.sessions import LazySession
from headwater.run.steps import (
    Run,
    RunRequest,
    bundling_of,
    open_run,
    plan_views,
    read_definitions,
    table_uris,
    unchanged_since,
)
from headwater.run.tasks import TaskContext
from headwater.runtime import engine_errors

if TYPE_CHECKING:
    from headwater.artifacts import Manifest
    from headwater.clock import Clock
    from headwater.errors import HeadwaterError
    from headwater.pipeline import Pipeline
    from headwater.run.bundling import Bundling
    from headwater.run.compile import Compiled


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
        run = open_run(request, clock, listen, engine)
        pipeline = read_definitions(run)
        sources = [run.pins.pinned(source) for source in pipeline.sources]
        unchanged = unchanged_since(run, pipeline, sources)
        if unchanged is not None:
            return _outcome(run, pipeline, unchanged, None, clock.monotonic() - start)
        request.warehouse.check_writable()
        bundling = bundling_of(run, pipeline)
        compiled = plan_views(run, pipeline, sources, bundling)
        request.warehouse.prepare()
        made = _make(run, pipeline, compiled, bundling)
        manifest = _record(run, pipeline, compiled, made)
        outcome = _outcome(run, pipeline, manifest, made.error, clock.monotonic() - start)
        return dataclasses.replace(outcome, warnings=_warnings(compiled))


def _warnings(compiled: Compiled) -> tuple[str, ...]:
    """What was found in views and let pass, one line each."""
    bundles = (compiled.bundles[name] for name in compiled.order if name in compiled.bundles)
    return tuple(
        f"{each.code} {bundle.file}:{bundle.line}: '{bundle.view}' {each.detail}"
        for bundle in bundles
        for each in bundle.findings
        if each.severity == "warn"
    )


def _make(run: Run, pipeline: Pipeline, compiled: Compiled, bundling: Bundling) -> Made:
    context = TaskContext(
        session=run.engine.get(),
        pipeline=pipeline.name,
        run_id=run.run_id,
        new_token=run.clock.new_token,
        retain=lambda name: run.request.config.upkeep_of(name).retain_hours,
        approximate={name: bundle.approximate for name, bundle in compiled.bundles.items()},
        hot={each.dataset_name: each.stats_columns for each in compiled.statistics},
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
        table_uris=table_uris(run, pipeline),
        full=run.request.full,
        listen=run.listen,
    )
    return make_tables(request)


def _record(run: Run, pipeline: Pipeline, compiled: Compiled, made: Made) -> Manifest:
    sources = [run.pins.pinned(source) for source in pipeline.sources]
    manifest = manifest_of(
        config=run.request.config,
        run_id=run.run_id,
        times=(run.started_at, run.clock.now().isoformat()),
        identity=run.identity,
        pipeline=pipeline,
        sources=sources,
        reads=compiled.reads,
        statistics=compiled.statistics,
        tables=made.tables,
        registrations=made.registrations,
        rows_checked=made.rows_checked,
        receipts=made.receipts,
        schemas=run.schemas,
        error=made.error,
    )
    bundles = {**compiled.bundles, **made.bundles}.values()
    commit_plans(run.request.warehouse.root, run.run_id, bundles, planned_sources(pipeline))
    commit_manifest(run.request.warehouse.root, manifest)
    return manifest


def _outcome(
    run: Run,
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
    uris = table_uris(run, pipeline)
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
