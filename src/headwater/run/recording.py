"""A run that is over, as its manifest, and its sources as they were declared.

Not here: writing either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.artifacts import (
    FileRecord,
    Manifest,
    OperatorsRecord,
    PinRecord,
    PlannedSource,
    SourceRecord,
    ViewRecord,
    ViolationRecord,
    mutation_record,
    registration_record,
    violation_record,
)
from headwater.errors import ConstraintViolated
from headwater.functions import tags_of
from headwater.run.bundling import file_of
from headwater.run.caching import cache_records
from headwater.runtime import redacted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headwater.errors import HeadwaterError
    from headwater.pipeline import Pipeline, ProjectConfig, ViewSpec
    from headwater.run.compile import Compiled
    from headwater.run.facts import Facts
    from headwater.run.making import Made
    from headwater.run.pins import PinnedSource
    from headwater.run.schemas import RecordedSchemas
    from headwater.runtime import RuntimeIdentity


def manifest_of(  # noqa: PLR0913  a manifest is everything a run knows
    *,
    config: ProjectConfig,
    run_id: str,
    times: tuple[str, str],
    identity: RuntimeIdentity,
    pipeline: Pipeline,
    sources: Sequence[PinnedSource],
    compiled: Compiled,
    made: Made,
    schemas: RecordedSchemas,
    only: tuple[str, ...] = (),
    resumes: str | None = None,
    facts: Facts,
) -> Manifest:
    """Everything the run knows, sorted, with paths below the project's folder and secrets left out."""
    return Manifest(
        run_id=run_id,
        project=config.name,
        status="failed" if made.errors else "done",
        started_at=times[0],
        finished_at=times[1],
        **_runtime(identity),
        rules=config.rules_digest,
        sources=tuple(record for source in sources if (record := _source(source)) is not None),
        views=tuple(_view(view, config, compiled, schemas.functions_of(view)) for view in pipeline.views),
        tables=tuple(sorted(made.tables, key=lambda table: table.name)),
        registrations=tuple(
            registration_record(made.registrations[name], made.rows_checked.get(name))
            for name in sorted(made.registrations)
        ),
        mutations=tuple(
            sorted(map(mutation_record, made.receipts), key=lambda each: (each.table, each.version))
        ),
        violations=_violations(made.errors),
        statistics=compiled.statistics,
        caches=cache_records(pipeline, {**compiled.bundles, **made.bundles}, made.caches),
        schemas=schemas.schema_records,
        sql=schemas.sql_records,
        only=only,
        resumes=resumes,
        capabilities=facts.capabilities,
        operators=tuple(
            OperatorsRecord(table=name, operators=made.operators[name]) for name in sorted(made.operators)
        ),
        history=facts.history,
        host=facts.host,
        error="; ".join(str(each) for each in made.errors.values()) or None,
    )


def _runtime(identity: RuntimeIdentity) -> dict[str, Any]:
    """What a run worked with."""
    versions = identity.versions
    return {
        "runtime_digest": identity.digest,
        "results_digest": identity.results_digest,
        "settings_results": dict(identity.settings.results),
        "settings_speed": dict(identity.settings.speed),
        "storage": dict(identity.storage),
        "cache": identity.cache.name,
        "function_digest": identity.functions.digest,
        "families": identity.functions.families,
        "versions": {"spark": versions.spark, "delta": versions.delta, "scala": versions.scala},
    }


def planned_sources(pipeline: Pipeline) -> tuple[PlannedSource, ...]:
    """Every source as it was declared, so that it can be read again when its definition is gone."""
    return tuple(
        PlannedSource(
            name=each.name,
            kind=each.kind,
            path=each.path,
            file_format=each.file_format,
            schema=each.schema,
            options=dict(redacted(each.options)),
            plan=each.plan.executable if each.plan else None,
        )
        for each in pipeline.sources
    )


def _violations(errors: Mapping[str, HeadwaterError]) -> tuple[ViolationRecord, ...]:
    """The rows that were not allowed, by the table that they were meant for."""
    return tuple(
        violation_record(name, error)
        for name, error in sorted(errors.items())
        if isinstance(error, ConstraintViolated)
    )


def _source(source: PinnedSource) -> SourceRecord | None:
    if source.pin is None:
        return None
    files = source.files.files if source.files else ()
    return SourceRecord(
        name=source.spec.name,
        kind=source.spec.kind,
        digest=source.spec.digest,
        pin=PinRecord(version=source.pin.version, digest=source.pin.digest),
        path=source.spec.path,
        options=source.spec.read.identity(),
        starting_version=source.changes.starting_version if source.changes else None,
        rows=_rows_of(source),
        content=source.content,
        files=tuple(
            FileRecord(
                path=each.path,
                size=each.size,
                changed_ns=each.changed_ns,
                sha256=each.sha256,
                skip_reason=each.skip_reason,
            )
            for each in files
        ),
    )


def _rows_of(source: PinnedSource) -> PinRecord | None:
    """The commit that made a source's rows, if it is not the pin's own."""
    rows = source.rows
    if rows is None or rows == source.pin:
        return None
    return PinRecord(version=rows.version, digest=rows.digest)


def _view(
    view: ViewSpec, config: ProjectConfig, compiled: Compiled, functions: tuple[str, ...]
) -> ViewRecord:
    return ViewRecord(
        name=view.name,
        file=file_of(view, config),
        line=view.origin.line,
        language=view.language,
        stored=view.stored,
        digest=view.digest,
        reads=compiled.reads[view.name],
        functions=functions,
        tags=tags_of(functions),
        policy=view.policy.lasting(),
        every_run=compiled.bundles[view.name].every_run,
    )
