"""START HERE. A run, as a page of contents: open, pin, plan, order, execute and commit, record.

Not here: any of these steps; each is a function of its own area.
"""

from __future__ import annotations

import dataclasses
import platform
from contextlib import closing
from typing import TYPE_CHECKING

from msgspec.structs import replace

from headwater.artifacts import RunMark, commit_manifest, commit_plans
from headwater.delta import describe_pin
from headwater.names import SnapshotKey
from headwater.pipeline import SourceSpec
from headwater.run.caching import ViewCaches, sweep_staging
from headwater.run.drift import check_drift
from headwater.run.facts import Facts, capabilities_shown, last_commits
from headwater.run.fixpoint import rounds_of, sweep_rounds
from headwater.run.healing import record_stopped
from headwater.run.ledger import LEDGER, append_runs
from headwater.run.making import Made, MakingRequest, make_tables
from headwater.run.openlineage import open_events
from headwater.run.outcome import Listener, Progress, RunOutcome
from headwater.run.recording import manifest_of, planned_sources
from headwater.run.sessions import LazySession
from headwater.run.staging import Staging
from headwater.run.steps import (
    Run,
    RunRequest,
    asked_for,
    bundling_of,
    open_run,
    plan_or_reuse,
    read_definitions,
    refreshing_of,
    table_uris,
    unchanged_since,
)
from headwater.run.task_records import STOPPED, RunNotes
from headwater.run.tasks import TaskContext
from headwater.run.watching import RowChecks
from headwater.runtime import engine_errors

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.artifacts import Manifest, PlanBasis
    from headwater.clock import Clock
    from headwater.delta import SnapshotInfo
    from headwater.errors import HeadwaterError
    from headwater.pipeline import Pipeline
    from headwater.plan import PlanBundle
    from headwater.run.bundling import Bundling
    from headwater.run.compile import Compiled
    from headwater.run.events import RunEvents

# What a run has to say if nobody hears of it again.
_STOPPED: dict[str, str] = {"status": "failed", "error": STOPPED}


def execute(request: RunRequest, clock: Clock, listen: Listener) -> RunOutcome:
    """Brings every stored table of a project up to date.

    Raises:
        HeadwaterError: before anything was written. A failure after that is in the outcome, and recorded.
    """
    start = clock.monotonic()
    with (
        engine_errors(),
        LazySession(
            request.profile, lambda message: listen(Progress(message=message)), request.spark
        ) as engine,
    ):
        stopped = record_stopped(request.warehouse, request.profile.storage, listen)
        sweep_rounds(request.warehouse.staging_path, [each.run_id for each in stopped])
        run = open_run(request, clock, listen, engine)
        pipeline = read_definitions(run)
        sources = [run.pins.pinned(source) for source in pipeline.sources]
        unchanged = None if stopped else unchanged_since(run, pipeline, sources)
        if unchanged is not None:
            return _outcome(run, pipeline, unchanged, {}, clock.monotonic() - start)
        request.warehouse.check_writable()
        bundling = bundling_of(run, pipeline)
        compiled, basis = plan_or_reuse(run, pipeline, sources, bundling)
        only = asked_for(run, compiled)
        check_drift(compiled.bundles.values(), engine.get(), lambda name: _snapshot(run, pipeline, name))
        request.warehouse.prepare()
        nothing = Made()
        events = open_events(run, pipeline, compiled, stopped)
        left = replace(_manifest(run, pipeline, compiled, nothing), **_STOPPED)
        with RunMark(request.warehouse.root, left) as mark, events:
            _commit_plans(run, pipeline, compiled.bundles, basis)
            made = _make(run, pipeline, compiled, bundling, only, events)
            manifest = _record(run, pipeline, compiled, made, basis)
            sweep_staging(request.warehouse, pipeline, made.bundles)
            failed = append_runs(engine.get(), request.warehouse, (*stopped, manifest))
            mark.is_kept = failed is not None
            errors = made.errors or ({LEDGER: failed} if failed else {})
            events.ended(errors)
        outcome = _outcome(run, pipeline, manifest, errors, clock.monotonic() - start)
        return dataclasses.replace(outcome, warnings=(*_warnings(compiled), *events.warnings))


def _snapshot(run: Run, pipeline: Pipeline, name: str) -> SnapshotInfo | None:
    """A Delta source at its pin; None for anything else."""
    spec = pipeline.spec(name)
    if not isinstance(spec, SourceSpec) or spec.kind not in {"delta", "changes", "made"}:
        return None
    pin = run.pins.pinned(spec).pin
    return describe_pin(run.engine.get(), pin, spec.origin) if pin else None


def _warnings(compiled: Compiled) -> tuple[str, ...]:
    """What was found in views and let pass, one line each."""
    bundles = (compiled.bundles[name] for name in compiled.order if name in compiled.bundles)
    return tuple(
        f"{each.code} {bundle.file}:{bundle.line}: '{bundle.view}' {each.detail}"
        for bundle in bundles
        for each in bundle.findings
        if each.severity == "warn"
    )


def _make(
    run: Run,
    pipeline: Pipeline,
    compiled: Compiled,
    bundling: Bundling,
    only: frozenset[str] | None,
    events: RunEvents,
) -> Made:
    caches = _caches(run, pipeline, compiled, only)
    context = TaskContext(
        session=run.engine.get(),
        notes=caches.notes,
        checks=caches.checks,
        caches=caches,
        retain=lambda name: run.request.config.upkeep_of(name).retain_hours,
        approximate={name: bundle.approximate for name, bundle in compiled.bundles.items()},
        hot={each.dataset_name: each.stats_columns for each in compiled.statistics},
        registrations={each.table.name: each for each in compiled.registrations},
        slow_seconds=run.request.profile.slow_task_seconds,
        monotonic=run.clock.monotonic,
        rounds_place=rounds_of(run.request.warehouse.staging_path, run.run_id),
        tell=lambda words: run.listen(Progress(message=words)),
        events=events,
    )
    request = MakingRequest(
        context=context,
        pipeline=pipeline,
        compiled=compiled,
        bundling=bundling,
        refreshing=refreshing_of(run, pipeline, context.checks.pin_of),
        pins=run.pins,
        last=run.last,
        results_digest=run.identity.results_digest,
        table_uris=table_uris(run, pipeline),
        full=run.request.full,
        only=only,
        workers=run.request.profile.workers,
        clock=run.clock,
        listen=run.listen,
    )
    with closing(caches):
        return make_tables(request)


def _caches(run: Run, pipeline: Pipeline, compiled: Compiled, only: frozenset[str] | None) -> ViewCaches:
    stored = frozenset(view.name for view in pipeline.views if view.stored)
    return ViewCaches(
        session=run.engine.get(),
        notes=RunNotes(pipeline=pipeline.name, run_id=run.run_id, new_token=run.clock.new_token),
        checks=RowChecks(),
        staging=Staging(run.request.warehouse),
        policies={view.name: view.cache for view in pipeline.views if not view.stored},
        needs={name: compiled.needs(name) for name in compiled.order},
        tables=stored if only is None else stored & only,
    )


def _record(run: Run, pipeline: Pipeline, compiled: Compiled, made: Made, basis: PlanBasis) -> Manifest:
    manifest = _manifest(run, pipeline, compiled, made)
    _commit_plans(run, pipeline, {**compiled.bundles, **made.bundles}, basis, made.derived)
    commit_manifest(run.request.warehouse.root, manifest)
    return manifest


def _commit_plans(
    run: Run,
    pipeline: Pipeline,
    bundles: Mapping[str, PlanBundle],
    basis: PlanBasis,
    derived: Mapping[str, PlanBundle] | None = None,
) -> None:
    every = [*bundles.values(), *(derived or {}).values()]
    commit_plans(run.request.warehouse.root, run.run_id, every, planned_sources(pipeline), basis)


def _manifest(run: Run, pipeline: Pipeline, compiled: Compiled, made: Made) -> Manifest:
    facts = Facts(
        capabilities=capabilities_shown(
            plans=len(made.bundles), receipts=made.receipts, registrations=made.registrations
        ),
        history=last_commits(_datasets(run, pipeline)),
        host=platform.node(),
    )
    return manifest_of(
        config=run.request.config,
        run_id=run.run_id,
        times=(run.started_at, run.clock.now().isoformat()),
        identity=run.identity,
        pipeline=pipeline,
        sources=[run.pins.pinned(source) for source in pipeline.sources],
        compiled=compiled,
        made=made,
        schemas=run.schemas,
        only=run.request.only,
        resumes=run.resumes.run_id if run.resumes else None,
        facts=facts,
    )


def _datasets(run: Run, pipeline: Pipeline) -> dict[str, str]:
    """Every Delta table that a run touches, by name."""
    sources = (run.pins.pinned(source) for source in pipeline.sources)
    pins = [each.pin for each in sources if each.spec.kind in {"delta", "changes", "made"} and each.pin]
    return {**{pin.name: pin.uri for pin in pins}, **table_uris(run, pipeline)}


def _outcome(
    run: Run,
    pipeline: Pipeline,
    manifest: Manifest,
    errors: Mapping[str, HeadwaterError],
    seconds: float,
) -> RunOutcome:
    """What comes back; the manifest of an earlier run means that nothing has changed since."""
    tables, status = manifest.tables, manifest.status
    if errors:
        status = "failed"
    if manifest.run_id != run.run_id:
        words = "nothing changed since the last run"
        passing = {"refresh": None, "rounds": ()}
        tables = tuple(replace(table, action="skipped", reason=words, **passing) for table in tables)
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
        error=next(iter(errors.values()), None),
        errors=errors,
    )
