"""The OpenLineage events of a run: when there is one, and what the run knows for it.

The run has a start and an end, and so has each table whose rows are made; its start is sent before any of
that begins. Not here: the form of events, and how they are sent.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from openlineage.client.event_v2 import RunState

from headwater.errors import HeadwaterError
from headwater.pipeline import SourceSpec, ViewSpec
from headwater.plan import lineage_through, type_text
from headwater.run.bundling import file_of
from headwater.run.lineage_events import (
    Counted,
    EventDataset,
    EventJob,
    EventRun,
    build_run_event,
    build_table_event,
)
from headwater.run.making import reached_by
from headwater.run.sending import EventSender, FileSink, HttpSink
from headwater.run.steps import table_uris
from headwater.run.task_records import STOPPED
from headwater.runtime import is_remote, local_path_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    from openlineage.client.event_v2 import RunEvent

    from headwater.artifacts import Manifest, TableRecord
    from headwater.delta import Receipt, Registration
    from headwater.pipeline import Pipeline
    from headwater.plan import ViewLineage
    from headwater.run.compile import Compiled
    from headwater.run.events import TaskFacts
    from headwater.run.sending import Sink
    from headwater.run.steps import Run

_DELTA = frozenset({"delta", "changes", "made"})
# What Delta calls the bytes and files that a commit wrote, by the kind of the commit.
_BYTES = ("numOutputBytes", "numTargetBytesAdded", "numAddedBytes")
_FILES = ("numFiles", "numTargetFilesAdded", "numAddedFiles")


class LineageEvents:
    """Tells of a run while it goes on, and of those before it that were stopped."""

    def __init__(
        self, run: Run, pipeline: Pipeline, compiled: Compiled, stopped: Sequence[Manifest] = ()
    ) -> None:
        self._known = _Known(run=run, pipeline=pipeline, compiled=compiled)
        self._stopped = [each for each in stopped if each.error == STOPPED]
        self._now = run.clock.now
        self._sender = EventSender(_sinks(run), run.request.openlineage.timeout_seconds, run.clock.monotonic)
        self._started: set[str] = set()
        self._problem: str | None = None
        self.warnings: tuple[str, ...] = ()

    def __enter__(self) -> Self:
        for left in self._stopped:
            self._tell_stopped(left)
        self._tell(lambda: build_run_event(self._known.event_run, RunState.START, self._now()), wait=True)
        return self

    def __exit__(self, *_raised: object) -> None:
        """Whatever was raised, the run that comes after this one tells of its end."""
        problems = [each for each in (self._problem, self._sender.close()) if each]
        self.warnings = (f"OpenLineage: {'; '.join(problems)}",) if problems else ()

    @contextmanager
    def watching(self, facts: TaskFacts, name: str) -> Generator[None]:
        """Tells of the end of what is done within it, if its start was told."""
        try:
            yield
        except HeadwaterError as error:
            if name in self._started:
                self._tell_table(facts, name, RunState.FAIL, str(error))
            raise
        if name in self._started:
            self._tell_table(facts, name, RunState.COMPLETE)

    def started(self, facts: TaskFacts, name: str) -> None:
        """Tells that a table is about to be made."""
        self._started.add(name)
        self._tell_table(facts, name, RunState.START)

    def ended(self, errors: Mapping[str, HeadwaterError]) -> None:
        """Tells how the run ended."""
        state = RunState.FAIL if errors else RunState.COMPLETE
        words = "; ".join(f"{name}: {error}" for name, error in errors.items()) or None
        self._tell(lambda: build_run_event(self._known.event_run, state, self._now(), words))

    def _tell_table(self, facts: TaskFacts, name: str, state: RunState, error: str | None = None) -> None:
        def build() -> RunEvent:
            job = self._known.job(facts, name, is_done=state is RunState.COMPLETE)
            return build_table_event(self._known.event_run, job, state, self._now(), error)

        self._tell(build, wait=state is RunState.START)

    def _tell_stopped(self, left: Manifest) -> None:
        """A run that was stopped ends now, and so do all its tables: which of them it began, nobody knows."""
        run = replace(
            self._known.event_run,
            project=left.project,
            run_id=left.run_id,
            started_at=left.started_at,
            spark=left.versions["spark"],
        )
        for table in left.tables:
            job = self._known.stopped_job(left, table)
            state, error = (RunState.COMPLETE, None) if table.pin else (RunState.ABORT, table.reason)
            self._tell(lambda: build_table_event(run, job, state, self._now(), error))  # noqa: B023  at once
        self._tell(lambda: build_run_event(run, RunState.ABORT, self._now(), left.error))

    def _tell(self, build: Callable[[], RunEvent], *, wait: bool = False) -> None:
        try:
            event = build()
        except Exception as error:  # noqa: BLE001  whatever it is, no build fails for an event
            self._problem = self._problem or f"an event could not be made: {type(error).__name__}: {error}"
            return
        self._sender.send(event, wait=wait)


def _sinks(run: Run) -> list[Sink]:
    wanted = run.request.openlineage
    sinks: list[Sink] = []
    if wanted.file is not None:
        sinks.append(FileSink(run.request.config.root / wanted.file))
    if wanted.url is not None:
        sinks.append(
            HttpSink(
                wanted.url,
                wanted.endpoint,
                timeout=wanted.timeout_seconds,
                key_name=wanted.api_key_env,
                key=wanted.api_key,
            )
        )
    return sinks


@dataclass(frozen=True, kw_only=True)
class _Known:
    """What a run knows of its tables, as events tell it."""

    run: Run
    pipeline: Pipeline
    compiled: Compiled

    @cached_property
    def event_run(self) -> EventRun:
        return EventRun(
            namespace=self.run.request.openlineage.namespace,
            project=self.run.request.config.name,
            run_id=self.run.run_id,
            started_at=self.run.started_at,
            spark=self.run.identity.versions.spark,
            headwater=version("headwater"),
        )

    @cached_property
    def uris(self) -> dict[str, str]:
        return table_uris(self.run, self.pipeline)

    def job(self, facts: TaskFacts, name: str, *, is_done: bool) -> EventJob:
        """What makes a table; once it is done, with what was read and written."""
        spec = self.pipeline.spec(name)
        if not isinstance(spec, ViewSpec):
            return self._source_job(facts, name, is_done=is_done)
        bundle = self.compiled.bundles[name]
        output = self._table(name, tuple((each.name, each.type) for each in bundle.columns))
        receipt = _receipt(facts, name)
        if is_done:
            output = _written(output, receipt, facts.registrations[name])
        return EventJob(
            file=bundle.file,
            line=bundle.line,
            sql=spec.plan.sql[0] if spec.language == "sql" else None,
            inputs=tuple(self._inputs(facts, name, is_done=is_done)),
            output=output,
            lineage=self._lineage(name),
        )

    def stopped_job(self, left: Manifest, table: TableRecord) -> EventJob:
        """A table of a run that was stopped, by the run's record."""
        view = next(each for each in left.views if each.name == table.name)
        warehouse, storage = self.run.request.warehouse, self.run.request.profile.storage
        uri = storage.canonical_uri(str(warehouse.table_path(table.name)))
        output = replace(
            self._dataset(table.name, uri),
            version=None if table.pin is None else str(table.pin.version),
            is_delta=True,
            content=table.digest,
        )
        return EventJob(file=view.file, line=view.line, output=output)

    def _source_job(self, facts: TaskFacts, name: str, *, is_done: bool) -> EventJob:
        """A source whose rows are made once is made by a job without inputs."""
        spec = self.pipeline.spec(name)
        if not isinstance(spec, SourceSpec):
            raise KeyError(name)
        output = replace(self._dataset(name, self.run.pins.uri_of(spec)), is_delta=True)
        if is_done:
            output = _written(output, _receipt(facts, name), facts.registrations[name])
        return EventJob(file=file_of(spec, self.run.request.config), line=spec.origin.line, output=output)

    def _inputs(self, facts: TaskFacts, name: str, *, is_done: bool) -> Generator[EventDataset]:
        scans = {each.pin.name: each for each in facts.scans.get(name, ())} if is_done else {}
        for each in reached_by(self.compiled, self.pipeline, name):
            spec = self.pipeline.spec(each)
            if isinstance(spec, SourceSpec):
                found = self._source(spec, facts.registrations.get(each))
            elif isinstance(spec, ViewSpec) and spec.stored:
                found = _seen(self._table(each), facts.registrations.get(each))
            else:
                continue
            scan = scans.get(each)
            if scan is not None:
                counted = Counted(rows=scan.rows_kept, bytes=scan.bytes_kept, files=scan.files_kept)
                found = replace(found, counted=counted)
            yield found

    def _source(self, spec: SourceSpec, seen: Registration | None) -> EventDataset:
        pinned = self.run.pins.pinned(spec)
        if spec.kind in _DELTA:
            return _seen(replace(self._dataset(spec.name, self.run.pins.uri_of(spec)), is_delta=True), seen)
        pin = pinned.pin
        found = self._dataset(spec.name, pin.uri if pin else f"memory:{spec.name}")
        found = replace(found, version=pin.digest if pin else None)
        if pinned.files is None:
            return found
        read = [each for each in pinned.files.files if each.skip_reason is None]
        return replace(found, counted=Counted(bytes=sum(each.size for each in read), files=len(read)))

    def _table(self, name: str, columns: tuple[tuple[str, str], ...] = ()) -> EventDataset:
        if not columns:
            columns = tuple((each.name, each.type) for each in self.compiled.bundles[name].columns)
        return replace(self._dataset(name, self.uris[name]), columns=columns, is_delta=True)

    def _dataset(self, name: str, uri: str) -> EventDataset:
        """A dataset under the name that OpenLineage gives a place; rows in memory are the project's own."""
        if uri.startswith("memory:"):
            run = self.event_run
            return EventDataset(name=name, namespace=run.namespace, path=run.job(name))
        if is_remote(uri):
            parts = urlsplit(uri)
            place = f"{parts.scheme}://{parts.netloc}"
            return EventDataset(name=name, namespace=place, path=parts.path.lstrip("/"))
        return EventDataset(name=name, namespace="file", path=str(local_path_of(uri)))

    def _lineage(self, name: str) -> ViewLineage:
        bundles = self.compiled.bundles
        inner = {each: bundle.lineage for each, bundle in bundles.items() if not bundle.stored}
        return lineage_through(bundles[name].lineage, inner)


def _receipt(facts: TaskFacts, name: str) -> Receipt | None:
    """The commit that made a table's rows; None if none was needed."""
    return next((each for each in reversed(facts.receipts) if each.pin.name == name), None)


def _seen(dataset: EventDataset, seen: Registration | None) -> EventDataset:
    """A Delta table with its columns and version, as it is read."""
    if seen is None:
        return dataset
    dataset = replace(dataset, version=str(seen.table.version))
    if seen.snapshot is None:
        return dataset
    fields: list[dict[str, Any]] = json.loads(seen.snapshot.schema_json)["fields"]
    return replace(dataset, columns=tuple((each["name"], type_text(each["type"])) for each in fields))


def _written(dataset: EventDataset, receipt: Receipt | None, seen: Registration) -> EventDataset:
    """A table after its task: without a receipt there was nothing to write."""
    dataset = _seen(dataset, seen)
    if receipt is None:
        return replace(dataset, counted=Counted(rows=0, bytes=0, files=0))
    metrics = dict(receipt.metrics)
    return replace(
        dataset,
        version=str(receipt.version),
        counted=Counted(rows=receipt.rows, bytes=_first(metrics, _BYTES), files=_first(metrics, _FILES)),
        content=receipt.content.text if receipt.content else None,
    )


def _first(metrics: Mapping[str, str], names: Sequence[str]) -> int | None:
    return next((int(metrics[name]) for name in names if name in metrics), None)
