"""The steps that a run and its plan have in common: open, read the definitions, pin, plan.

Nothing here writes. Not here: what follows; see `engine` and `planning`.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.artifacts import Manifest, last_manifest
from headwater.clock import Clock, new_run_id
from headwater.errors import HeadwaterError, ManifestUnreadable, NotPlanned, UnknownSetting
from headwater.names import near_hint, same_name
from headwater.pipeline import (
    EVERY_TABLE,
    OpenLineageSettings,
    Pipeline,
    ProjectConfig,
    SourceSpec,
    build_pipeline,
    open_definitions,
    sources_ahead,
)
from headwater.plan import RULES
from headwater.run.bundling import Bundling
from headwater.run.changes import first_change
from headwater.run.compile import Compiled, check_enabled, compile_views
from headwater.run.outcome import Listener, Progress
from headwater.run.pins import PinnedSource, SourcePins, are_small
from headwater.run.refreshing import Refreshing
from headwater.run.reusing import basis_of, reused_plans
from headwater.run.schemas import RecordedSchemas
from headwater.runtime import RuntimeIdentity, identity_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyspark.sql import SparkSession

    from headwater.artifacts import PlanBasis
    from headwater.delta import LatestVersions
    from headwater.names import TablePin
    from headwater.pipeline import LoadedProject
    from headwater.run.sessions import LazySession
    from headwater.run.warehouse import Warehouse
    from headwater.runtime import RuntimeProfile


@dataclass(frozen=True, kw_only=True)
class RunRequest:
    """A build that is asked for.

    Attributes:
        full: Make every table anew.
        resume: Go on where the last run did not end well, with the versions of sources that it had.
        only: The views that are asked for, with all that they read; every view if empty.
        spark: Somebody's session to work in, if there is one.
        openlineage: Where events go.
        alone: Whether this process ends with the build.
    """

    config: ProjectConfig
    profile: RuntimeProfile
    warehouse: Warehouse
    latest: LatestVersions
    full: bool = False
    resume: bool = False
    only: tuple[str, ...] = ()
    spark: SparkSession | None = None
    openlineage: OpenLineageSettings = field(default_factory=OpenLineageSettings)
    alone: bool = False


@dataclass(frozen=True, kw_only=True)
class Run:
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
    resumes: Manifest | None = None


def open_run(request: RunRequest, clock: Clock, listen: Listener, engine: LazySession) -> Run:
    """What is there before anything is looked at: the last run, the identity, the pins to come."""
    last = _last_run(request, listen)
    resumes = last if request.resume and last is not None and last.status == "failed" else None
    if request.resume and resumes is None:
        why = "there was no run yet" if last is None else "the last run ended well"
        listen(Progress(message=f"there is nothing to resume: {why}"))
    identity = identity_of(request.profile, request.spark)
    pins = SourcePins(
        root=request.config.root,
        warehouse=request.warehouse,
        storage=request.profile.storage,
        latest=request.latest,
        last=last,
        held=resumes.sources if resumes else (),
    )
    return Run(
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
        resumes=resumes,
    )


def _last_run(request: RunRequest, listen: Listener) -> Manifest | None:
    try:
        return last_manifest(request.warehouse.root)
    except ManifestUnreadable as error:
        listen(Progress(message=f"going on without the last run's record: {error}"))
        return None


def read_definitions(run: Run) -> Pipeline:
    """The project's definitions as values.

    Raises:
        UnknownSetting: headwater.toml says something of a rule, or of a name, that there is not.
        NotPlanned: a view is asked for that there is not.
    """
    run.listen(Progress(message="reading definitions"))
    settings = dict(run.identity.settings.results)
    with open_definitions(run.request.config, settings=settings) as loaded:
        if run.request.alone:
            run.engine.expect(lambda: _is_little(run, loaded))
        pipeline = build_pipeline(loaded, run.schemas, settings=settings)
    _check_said(run.request.config, pipeline)
    views = tuple(view.name for view in pipeline.views)
    for name in run.request.only:
        if same_name(name) not in {same_name(each) for each in views}:
            raise NotPlanned(what="view", name=name, known=views, hint=near_hint(name, views))
    return pipeline


def _is_little(run: Run, loaded: LoadedProject) -> bool:
    """Whether what a run reads is known to be small; a source that is not there is no matter of this."""
    with suppress(HeadwaterError):
        sources = sources_ahead(loaded)
        return sources is not None and are_small(map(run.pins.pinned, sources))
    return False


def unchanged_since(run: Run, pipeline: Pipeline, sources: list[PinnedSource]) -> Manifest | None:
    """The last run, if its tables are what this one would make; found out without Spark."""
    if run.request.full:
        return None
    change = first_change(
        last=run.last,
        pipeline=pipeline,
        identity=run.identity,
        sources=sources,
        table_uris=table_uris(run, pipeline),
        allowed=run.request.profile.allow_degraded,
        rules=run.request.config.rules_digest,
    )
    if change is None and run.engine.is_open:
        change = "a view asks for a schema that no run has recorded"
    if change is not None:
        run.listen(Progress(message=change))
        return None
    return run.last


def plan_views(run: Run, pipeline: Pipeline, sources: list[PinnedSource], bundling: Bundling) -> Compiled:
    """Every view planned, before anything is run."""
    session = run.engine.get()
    run.listen(Progress(message=f"planning {len(pipeline.views)} views"))
    return compile_views(session, pipeline.views, sources, _checked_reads(run, pipeline), bundling)


def plan_or_reuse(
    run: Run, pipeline: Pipeline, sources: list[PinnedSource], bundling: Bundling
) -> tuple[Compiled, PlanBasis]:
    """Every view planned, or as the last run has planned it; and what the plans are made of.

    Planned views are registered by their names; those that are taken over are not.
    """
    session = run.engine.get()
    reads = _checked_reads(run, pipeline)
    if not run.request.full:
        warehouse = run.request.warehouse.root
        known = reused_plans(session, pipeline, sources, bundling, reads, run.last, warehouse)
        if known is not None:
            return known
    compiled = plan_views(run, pipeline, sources, bundling)
    return compiled, basis_of(session, pipeline, bundling, reads)


def _checked_reads(run: Run, pipeline: Pipeline) -> dict[str, tuple[str, ...]]:
    """The names that each view reads, once all functions that it calls were seen to be there."""
    for spec in (*pipeline.sources, *pipeline.views):
        check_enabled(spec, run.schemas.functions_of(spec), run.identity.functions)
    return {view.name: run.schemas.reads_of(view) for view in pipeline.views}


def bundling_of(run: Run, pipeline: Pipeline) -> Bundling:
    """What the bundles of this run have in common."""

    def source_of(name: str) -> PinnedSource | None:
        spec = pipeline.spec(name)
        return run.pins.pinned(spec) if isinstance(spec, SourceSpec) else None

    return Bundling(
        config=run.request.config,
        identity=run.identity,
        functions_of=run.schemas.functions_of,
        source_of=source_of,
    )


def refreshing_of(run: Run, pipeline: Pipeline, pin_of: Callable[[str], TablePin | None]) -> Refreshing:
    """What decides how tables of this run are refreshed; `pin_of` tells at which version a name is read."""
    return Refreshing(
        session=run.engine.get(),
        warehouse=run.request.warehouse.root,
        pipeline=pipeline,
        source_of=run.pins.pinned,
        pin_of=pin_of,
        uri_of=table_uris(run, pipeline).get,
    )


def asked_for(run: Run, compiled: Compiled) -> frozenset[str] | None:
    """The views that a run was asked for, with all that they read; None if that is every one."""
    spelt = {same_name(name): name for name in compiled.reads}
    found: set[str] = set()
    waiting = [spelt[same_name(name)] for name in run.request.only]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += compiled.needs(name)
    return frozenset(found) if run.request.only else None


def table_uris(run: Run, pipeline: Pipeline) -> dict[str, str]:
    """Where each stored table lives."""
    storage, warehouse = run.request.profile.storage, run.request.warehouse
    stored = [view.name for view in pipeline.views if view.stored]
    return {name: storage.canonical_uri(str(warehouse.table_path(name))) for name in stored}


def _check_said(config: ProjectConfig, pipeline: Pipeline) -> None:
    """What is said of a rule or a name that is not there would be ignored in silence."""
    rules = [rule.name for rule in RULES]
    views = [view.name for view in pipeline.views]
    datasets = [*views, *(source.name for source in pipeline.sources)]
    for view, said in config.determinism.items():
        section = "determinism" if view == EVERY_TABLE else f"determinism.{view}"
        if view != EVERY_TABLE:
            _check_name(config, "determinism", view, views)
        for rule in said:
            if rule not in rules:
                hint = near_hint(rule, rules) or f"The rules are {', '.join(rules)}. "
                origin = config.source.origin_of(rule, section)
                raise UnknownSetting(key=rule, where=f"[{section}]", hint=hint, origin=origin)
    for name in config.keys:
        _check_name(config, "keys", name, datasets)


def _check_name(config: ProjectConfig, section: str, name: str, known: Sequence[str]) -> None:
    if same_name(name) not in {same_name(each) for each in known}:
        hint = near_hint(name, known) or "It names nothing of this project. "
        origin = config.origin_of(section, name)
        raise UnknownSetting(key=name, where=f"[{section}]", hint=hint, origin=origin)
