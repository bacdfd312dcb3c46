"""A run that is over, as its manifest, and its sources as they were declared.

Not here: writing either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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
from headwater.runtime import redacted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headwater.artifacts import TableRecord
    from headwater.delta import Receipt, Registration
    from headwater.errors import HeadwaterError
    from headwater.pipeline import Pipeline, ProjectConfig, ViewSpec
    from headwater.plan import PlanBundle, StatisticsDecision
    from headwater.run.facts import Facts
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
    reads: Mapping[str, tuple[str, ...]],
    bundles: Mapping[str, PlanBundle],
    statistics: tuple[StatisticsDecision, ...],
    tables: Sequence[TableRecord],
    registrations: Mapping[str, Registration],
    rows_checked: Mapping[str, int],
    receipts: Sequence[Receipt],
    schemas: RecordedSchemas,
    errors: Mapping[str, HeadwaterError],
    only: tuple[str, ...] = (),
    resumes: str | None = None,
    facts: Facts,
) -> Manifest:
    """Everything the run knows, sorted, with paths below the project's folder and secrets left out."""
    versions = identity.versions
    return Manifest(
        run_id=run_id,
        project=config.name,
        status="failed" if errors else "done",
        started_at=times[0],
        finished_at=times[1],
        runtime_digest=identity.digest,
        results_digest=identity.results_digest,
        settings_results=dict(identity.settings.results),
        settings_speed=dict(identity.settings.speed),
        storage=dict(identity.storage),
        cache=identity.cache.name,
        rules=config.rules_digest,
        function_digest=identity.functions.digest,
        families=identity.functions.families,
        versions={"spark": versions.spark, "delta": versions.delta, "scala": versions.scala},
        sources=tuple(record for source in sources if (record := _source(source)) is not None),
        views=tuple(
            _view(
                view,
                config,
                reads[view.name],
                schemas.functions_of(view),
                every_run=bundles[view.name].every_run,
            )
            for view in pipeline.views
        ),
        tables=tuple(sorted(tables, key=lambda table: table.name)),
        registrations=tuple(
            registration_record(registrations[name], rows_checked.get(name)) for name in sorted(registrations)
        ),
        mutations=tuple(sorted(map(mutation_record, receipts), key=lambda each: (each.table, each.version))),
        violations=_violations(errors),
        statistics=statistics,
        schemas=schemas.schema_records,
        sql=schemas.sql_records,
        only=only,
        resumes=resumes,
        capabilities=facts.capabilities,
        operators=tuple(
            OperatorsRecord(table=name, operators=facts.operators[name]) for name in sorted(facts.operators)
        ),
        history=facts.history,
        host=facts.host,
        error="; ".join(str(each) for each in errors.values()) or None,
    )


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
    view: ViewSpec,
    config: ProjectConfig,
    reads: tuple[str, ...],
    functions: tuple[str, ...],
    *,
    every_run: bool,
) -> ViewRecord:
    return ViewRecord(
        name=view.name,
        file=file_of(view, config),
        line=view.origin.line,
        language=view.language,
        stored=view.stored,
        digest=view.digest,
        reads=reads,
        functions=functions,
        tags=tags_of(functions),
        policy=view.policy.lasting(),
        every_run=every_run,
    )
