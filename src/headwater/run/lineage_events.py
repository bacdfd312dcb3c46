"""OpenLineage's events of a run and of the tables that it makes, from values.

An event is an object of OpenLineage's own library. Not here: where the values come from, and sending.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar, cast
from urllib.parse import quote

from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
from openlineage.client.facet_v2 import (
    DatasetFacet,
    JobFacet,
    RunFacet,
    column_lineage_dataset,
    dataset_version_dataset,
    error_message_run,
    input_statistics_input_dataset,
    job_type_job,
    output_statistics_output_dataset,
    parent_run,
    processing_engine_run,
    schema_dataset,
    source_code_location_job,
    sql_job,
    storage_dataset,
)
from openlineage.client.uuid import generate_static_uuid

from headwater.names import same_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from headwater.plan import Dependence, ViewLineage

F = TypeVar("F")
# What decides about rows or about other values, in OpenLineage's words. A subquery is no role of its own:
# what comes through one has the role of its place besides.
_INDIRECT = {"filter": "FILTER", "join": "JOIN", "group": "GROUP_BY", "window": "WINDOW", "order": "SORT"}


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRun:
    """The run whose events they are."""

    namespace: str
    project: str
    run_id: str
    started_at: str
    spark: str
    headwater: str

    @property
    def producer(self) -> str:
        """Who makes the events, as a package's address."""
        return f"pkg:pypi/headwater@{self.headwater}"

    def uuid(self, table: str | None = None) -> str:
        """OpenLineage's id of the run, or of one table's part in it: the same whenever it is asked for."""
        data = self.run_id if table is None else f"{self.run_id}/{table}"
        return str(generate_static_uuid(datetime.fromisoformat(self.started_at), data.encode()))

    def job(self, table: str | None = None) -> str:
        """The name of the run's job, or of one table's."""
        return self.project if table is None else f"{self.project}.{table}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """What was read or written of a dataset, as far as it is known."""

    rows: int | None = None
    bytes: int | None = None
    files: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EventDataset:
    """A source or table: `name` is what views call it, `namespace` and `path` what the world does."""

    name: str
    namespace: str
    path: str
    version: str | None = None
    columns: tuple[tuple[str, str], ...] = ()
    is_delta: bool = False
    counted: Counted | None = None
    content: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EventJob:
    """What makes one table: where that is written, what is read, and what comes of it.

    `lineage` is the table's, by the names of `inputs`.
    """

    file: str
    line: int
    output: EventDataset
    sql: str | None = None
    inputs: tuple[EventDataset, ...] = ()
    lineage: ViewLineage | None = None


def build_run_event(run: EventRun, state: RunState, at: datetime, error: str | None = None) -> RunEvent:
    """An event of the whole run. It has no datasets: not every table depends on every source."""
    return RunEvent(
        eventTime=at.isoformat(),
        eventType=state,
        run=Run(runId=run.uuid(), facets=_run_facets(run, error)),
        job=Job(namespace=run.namespace, name=run.job(), facets={"jobType": _job_type(run, "PIPELINE")}),
        producer=run.producer,
    )


def build_table_event(
    run: EventRun, job: EventJob, state: RunState, at: datetime, error: str | None = None
) -> RunEvent:
    """An event of one table that a run makes."""
    table = job.output.name
    facets = {"parent": _parent(run), **_run_facets(run, error)}
    return RunEvent(
        eventTime=at.isoformat(),
        eventType=state,
        run=Run(runId=run.uuid(table), facets=facets),
        job=Job(namespace=run.namespace, name=run.job(table), facets=_job_facets(run, job)),
        inputs=[_input(run, each) for each in job.inputs],
        outputs=[_output(run, job)],
        producer=run.producer,
    )


# --- runs and jobs -------------------------------------------------------------------------------------


def _facet(run: EventRun, kind: Callable[..., F], /, **given: object) -> F:
    """A facet that says who made it."""
    return kind(**given, producer=run.producer)


def _run_facets(run: EventRun, error: str | None) -> dict[str, RunFacet]:
    own = _facet(run, RunFacet).with_additional_properties(project=run.project, run_id=run.run_id)
    facets: dict[str, RunFacet] = {
        "headwater_run": cast("RunFacet", own),
        "processing_engine": _facet(
            run,
            processing_engine_run.ProcessingEngineRunFacet,
            version=run.spark,
            name="spark",
            openlineageAdapterVersion=run.headwater,
        ),
    }
    if error is not None:
        kind = error_message_run.ErrorMessageRunFacet
        facets["errorMessage"] = _facet(run, kind, message=error, programmingLanguage="PYTHON")
    return facets


def _parent(run: EventRun) -> RunFacet:
    return _facet(
        run,
        parent_run.ParentRunFacet,
        run=parent_run.Run(runId=run.uuid()),
        job=parent_run.Job(namespace=run.namespace, name=run.job()),
        root=parent_run.Root(
            run=parent_run.RootRun(runId=run.uuid()),
            job=parent_run.RootJob(namespace=run.namespace, name=run.job()),
        ),
    )


def _job_type(run: EventRun, kind: str) -> JobFacet:
    facet = job_type_job.JobTypeJobFacet
    return _facet(run, facet, processingType="BATCH", integration="HEADWATER", jobType=kind)


def _job_facets(run: EventRun, job: EventJob) -> dict[str, JobFacet]:
    facets: dict[str, JobFacet] = {
        "jobType": _job_type(run, "TABLE"),
        "sourceCodeLocation": _facet(
            run,
            source_code_location_job.SourceCodeLocationJobFacet,
            type="file",
            url=f"file:{quote(job.file)}#L{job.line}",
            path=job.file,
        ),
    }
    if job.sql is not None:
        facets["sql"] = _facet(run, sql_job.SQLJobFacet, query=job.sql, dialect="spark")
    return facets


# --- datasets ------------------------------------------------------------------------------------------


def _input(run: EventRun, each: EventDataset) -> InputDataset:
    read = InputDataset(namespace=each.namespace, name=each.path, facets=_dataset_facets(run, each))
    if each.counted is not None:
        kind = input_statistics_input_dataset.InputStatisticsInputDatasetFacet
        read.inputFacets = {"inputStatistics": _statistics(run, kind, each.counted)}
    return read


def _output(run: EventRun, job: EventJob) -> OutputDataset:
    each, facets = job.output, _dataset_facets(run, job.output)
    if job.lineage is not None:
        facets["columnLineage"] = _column_lineage(run, job.lineage, job.inputs)
    written = OutputDataset(namespace=each.namespace, name=each.path, facets=facets)
    if each.counted is not None:
        kind = output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet
        written.outputFacets = {"outputStatistics": _statistics(run, kind, each.counted)}
    return written


def _statistics(run: EventRun, kind: Callable[..., F], counted: Counted) -> F:
    return _facet(run, kind, rowCount=counted.rows, size=counted.bytes, fileCount=counted.files)


def _dataset_facets(run: EventRun, each: EventDataset) -> dict[str, DatasetFacet]:
    facets: dict[str, DatasetFacet] = {}
    if each.columns:
        fields = [
            schema_dataset.SchemaDatasetFacetFields(name=name, type=kind) for name, kind in each.columns
        ]
        facets["schema"] = _facet(run, schema_dataset.SchemaDatasetFacet, fields=fields)
    if each.version is not None:
        kind = dataset_version_dataset.DatasetVersionDatasetFacet
        facets["version"] = _facet(run, kind, datasetVersion=each.version)
    if each.is_delta:
        kind = storage_dataset.StorageDatasetFacet
        facets["storage"] = _facet(run, kind, storageLayer="delta", fileFormat="parquet")
    if each.content is not None:
        own = _facet(run, DatasetFacet).with_additional_properties(digest=each.content)
        facets["headwater_content"] = cast("DatasetFacet", own)
    return facets


def _column_lineage(run: EventRun, lineage: ViewLineage, inputs: Iterable[EventDataset]) -> DatasetFacet:
    """What decides which rows there are stands once, for the whole dataset."""
    known = {same_name(each.name): each for each in inputs}
    return _facet(
        run,
        column_lineage_dataset.ColumnLineageDatasetFacet,
        fields={
            column.name: column_lineage_dataset.Fields(inputFields=_fields(column.dependences, known))
            for column in lineage.columns
            if column.dependences
        },
        dataset=_fields(lineage.rows, known),
    )


def _fields(
    dependences: Iterable[Dependence], known: Mapping[str, EventDataset]
) -> list[column_lineage_dataset.InputField]:
    """Each column once, with all that is done with it."""
    kinds: dict[tuple[str, str, str], set[str]] = {}
    for path, kind in dependences:
        dataset = known.get(same_name(path.dataset))
        if dataset is not None:
            kinds.setdefault((dataset.namespace, dataset.path, path.column), set()).add(kind)
    return [
        column_lineage_dataset.InputField(
            namespace=namespace,
            name=name,
            field=column,
            transformations=[_transformation(kind) for kind in _told(found)],
        )
        for (namespace, name, column), found in sorted(kinds.items())
    ]


def _told(kinds: set[str]) -> list[str]:
    return sorted(kinds - {"subquery"} or kinds)


def _transformation(kind: str) -> column_lineage_dataset.Transformation:
    if kind == "value":
        return column_lineage_dataset.Transformation(type="DIRECT")
    return column_lineage_dataset.Transformation(type="INDIRECT", subtype=_INDIRECT.get(kind))
