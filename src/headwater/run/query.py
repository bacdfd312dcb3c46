"""A query over what the last run left: names at their recorded pins, rows as a stream of Arrow batches.

Stored tables and Delta sources are read at the versions that the last run recorded, whatever happened since.
Views that are not stored, files and rows in memory come from the definitions as they are now, over those
pins; if a query needs none of them, no definition file is loaded. The ledger is read at its newest version.
Not here: whether a query only reads; `plan` says.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa

from headwater.artifacts import last_manifest
from headwater.clock import new_run_id
from headwater.delta import (
    ChangePin,
    register_changes,
    register_delta,
    storage_error,
)
from headwater.errors import (
    EngineFailed,
    NotBuilt,
    NothingToRead,
    ResultClosed,
    UnknownDataset,
)
from headwater.functions import FUNCTION_ROW_SCHEMA, function_rows
from headwater.names import TablePin, near_hint, same_name
from headwater.pipeline import SourceSpec, ViewSpec, build_pipeline, open_definitions
from headwater.plan import analyse_query, analysed_tree, inspect_query, names_in_analysed, order_of
from headwater.run.compile import check_enabled, register_source, rehydrate_view
from headwater.run.ledger import LedgerNames
from headwater.run.outcome import Progress
from headwater.run.pins import RecordedPins
from headwater.run.schemas import RecordedSchemas
from headwater.run.sessions import LazySession
from headwater.runtime import ArrowStream, as_arrow_can, engine_errors, identity_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping
    from types import TracebackType

    from pyspark.sql import DataFrame, SparkSession

    from headwater.artifacts import Manifest
    from headwater.clock import Clock
    from headwater.datasets import ReadOptions
    from headwater.delta import LatestVersions
    from headwater.names import SnapshotKey
    from headwater.pipeline import Pipeline, ProjectConfig
    from headwater.run.outcome import Listener
    from headwater.run.warehouse import Warehouse
    from headwater.runtime import RunSession, RuntimeProfile

# Names that belong to no run: each gives its rows in the session that reads it, and is asked only then.
SYSTEM_TABLES: Mapping[str, Callable[[RunSession], DataFrame]] = {
    "hw_functions": lambda session: session.spark.createDataFrame(list(function_rows()), FUNCTION_ROW_SCHEMA),
}

# A stream holds one part of the result at a time, so parts are kept small: those files are read in, those
# that ranges are cut into, and those that a sort or a group leaves, which Spark makes many of and then joins
# up to this size.
_PARTS = {
    "spark.sql.leafNodeDefaultParallelism": "16",
    "spark.sql.files.maxPartitionBytes": "16m",
    "spark.sql.adaptive.coalescePartitions.initialPartitionNum": "64",
    "spark.sql.adaptive.coalescePartitions.parallelismFirst": "false",
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": "16m",
}


@dataclass(frozen=True, kw_only=True)
class QueryRequest:
    """A query that is asked for; `limit` is the most rows that are wanted, `spark` the session to work in."""

    config: ProjectConfig
    profile: RuntimeProfile
    warehouse: Warehouse
    latest: LatestVersions
    sql: str
    limit: int | None = None
    spark: SparkSession | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultColumn:
    """A column of a result: its name, and its type as Spark writes it."""

    name: str
    type: str


class QueryResult:
    """The rows of a query, as Arrow batches that are computed as they are read.

    It can be iterated once, handed to whatever takes an Arrow stream (`pyarrow.table(result)`,
    `polars.from_arrow(result)`), or read whole with `read_all`. Closing it, leaving its `with` block or
    reading it to the end gives its session back. `snapshots` are the Delta tables that it reads, each at its
    version.
    """

    def __init__(
        self,
        columns: tuple[ResultColumn, ...],
        snapshots: tuple[SnapshotKey, ...],
        stream: ArrowStream,
        session: RunSession,
    ) -> None:
        self.columns = columns
        self.snapshots = snapshots
        self.schema: pa.Schema = stream.schema
        self._stream = stream
        self._session = session
        self._is_closed = False
        self._reader = pa.RecordBatchReader.from_batches(stream.schema, self._batches())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """The batches that have not been read yet.

        Raises:
            EngineFailed: the query failed on the way.
            ResultClosed: the result was closed before its end.
        """
        self._check_open()
        return iter(self._reader)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Arrow's C stream interface: hands the batches that have not been read yet to another library."""
        self._check_open()
        reader: Any = self._reader
        return reader.__arrow_c_stream__(requested_schema)

    def read_all(self) -> pa.Table:
        """All rows that have not been read yet, in memory at once; ResultClosed if it was read to its end."""
        self._check_open()
        return self._reader.read_all()

    def close(self) -> None:
        """Ends what is still being computed and gives the session back; safe to call twice."""
        self._is_closed = True
        self._stream.close()
        self._session.release()

    def _check_open(self) -> None:
        if self._is_closed:
            raise ResultClosed

    def _batches(self) -> Generator[pa.RecordBatch]:
        try:
            self._check_open()
            for batch in self._stream:
                yield batch
                self._check_open()
        except EngineFailed as error:
            raise storage_error(error) or error from error
        finally:
            self.close()


def open_query(request: QueryRequest, clock: Clock, listen: Listener) -> QueryResult:
    """The rows of a query, not computed yet further than its plan needs.

    Raises:
        NotReadOnly, SqlSyntax, NotResolved: the query is refused or wrong; nothing was read.
        NotBuilt, UnknownDataset, NothingToRead: a name does not lead to rows.
        VersionNotFound: what the last run recorded is not there any more.
    """
    with (
        engine_errors(),
        LazySession(
            request.profile, lambda message: listen(Progress(message=message)), request.spark
        ) as engine,
        ExitStack() as undo,
    ):
        query = inspect_query(engine.get(), request.sql)
        session = engine.get().fresh()
        undo.callback(session.release)
        for key, value in _PARTS.items():
            if key not in dict(request.profile.spark):
                session.spark.conf.set(key, value)
        names = _Names(request, engine, listen)
        registered = names.register(session, query.reads)
        frame = analyse_query(session, query, registered)
        columns = tuple(
            ResultColumn(name=each.name, type=each.dataType.simpleString()) for each in frame.schema.fields
        )
        shown = as_arrow_can(frame if request.limit is None else frame.limit(request.limit))
        stream = ArrowStream(session, shown, f"headwater-query-{new_run_id(clock)}")
        undo.pop_all()
        return QueryResult(columns, tuple(sorted(names.keys)), stream, session)


class _Names:
    """What names mean after the last run."""

    def __init__(self, request: QueryRequest, engine: LazySession, listen: Listener) -> None:
        self._request = request
        self._engine = engine
        self._listen = listen
        self._ledger = LedgerNames(request.warehouse, request.profile.storage, request.config.root)
        self.keys: set[SnapshotKey] = set()

    @cached_property
    def _last(self) -> Manifest | None:
        """The last run; the ledger can be read where its manifest cannot."""
        return last_manifest(self._request.warehouse.root)

    @cached_property
    def _pins(self) -> RecordedPins:
        return RecordedPins(
            root=self._request.config.root,
            warehouse=self._request.warehouse,
            storage=self._request.profile.storage,
            latest=self._request.latest,
            last=self._last,
        )

    @cached_property
    def _pinned(self) -> dict[str, tuple[TablePin, ReadOptions, int | None]]:
        return {same_name(each[0].name): each for each in self._pins.recorded()}

    def register(self, session: RunSession, reads: tuple[str, ...]) -> tuple[str, ...]:
        """Makes the names, and what they need, readable in `session`; gives all that are registered there."""
        system = {same_name(name): make for name, make in SYSTEM_TABLES.items()}
        own: list[str] = []
        for name in reads:
            if same_name(name) in system:
                system[same_name(name)](session).createOrReplaceTempView(name)
            elif name in self._ledger:
                self.keys.update(self._ledger.register(session, name))
            else:
                self._check_known(name)
                own.append(name)
        for name in (each for each in own if same_name(each) in self._pinned):
            self._register_pin(session, name)
        defined = [name for name in own if same_name(name) not in self._pinned]
        return (*reads, *self._register_defined(session, defined))

    def _register_pin(self, session: RunSession, name: str) -> None:
        pin, options, start = self._pinned[same_name(name)]
        if start is None:
            register_delta(session, pin, options)
        else:
            register_changes(session, ChangePin(pin=pin, starting_version=start), options)
        self.keys.add(pin.key)

    def _check_known(self, name: str) -> None:
        if self._last is None:
            raise NotBuilt(name=name, path=str(self._request.config.root))
        self._check_made(name)
        known = sorted({*_recorded_names(self._last), *SYSTEM_TABLES, *self._ledger.names})
        if same_name(name) not in {same_name(each) for each in known}:
            hint = near_hint(same_name(name), known)
            raise UnknownDataset(name=name, known=tuple(known), hint=hint)

    def _register_defined(self, session: RunSession, names: list[str]) -> list[str]:
        """Registers what stands in the definitions only, each after all that it reads."""
        if not names:
            return []
        pipeline, schemas = self._definitions()
        reads: dict[str, tuple[str, ...]] = {}
        waiting = list(names)
        while waiting:
            name = _spelt(pipeline, waiting.pop())
            if name not in reads and self._is_known(pipeline, name):  # `order_of` tells of those that are not
                reads[name] = self._reads(pipeline, schemas, name)
                waiting += reads[name]
        origins = {each.name: each.origin for each in (*pipeline.views, *pipeline.sources)}
        order = order_of(reads, origins)
        for name in order:
            self._register_one(session, pipeline, schemas, name)
        return list(order)

    def _reads(self, pipeline: Pipeline, schemas: RecordedSchemas, name: str) -> tuple[str, ...]:
        spec = pipeline.spec(name)
        if same_name(name) in self._pinned or isinstance(spec, SourceSpec):
            return ()
        if spec is None:
            reason = "the last run knew it, and its definition is gone"
            raise NothingToRead(name=name, reason=reason, path=str(self._request.config.root))
        self._check_made(spec.name)
        if spec.fixpoint is not None:
            root = str(self._request.config.root)
            raise NothingToRead(name=spec.name, reason="it was not made yet", path=root, origin=spec.origin)
        return schemas.reads_of(spec)

    def _is_known(self, pipeline: Pipeline, name: str) -> bool:
        recorded = _recorded_names(self._last) if self._last else set[str]()
        return pipeline.spec(name) is not None or same_name(name) in {same_name(each) for each in recorded}

    def _check_made(self, name: str) -> None:
        for table in self._last.tables if self._last else ():
            if same_name(table.name) == same_name(name) and table.pin is None:
                root = str(self._request.config.root)
                raise NothingToRead(name=table.name, reason=table.reason, path=root)

    def _register_one(
        self, session: RunSession, pipeline: Pipeline, schemas: RecordedSchemas, name: str
    ) -> None:
        spec = pipeline.spec(name)
        if same_name(name) in self._pinned:
            self._register_pin(session, name)
        elif isinstance(spec, SourceSpec):
            register_source(session, self._pins.pinned(spec))
        elif isinstance(spec, ViewSpec):
            check_enabled(spec, schemas.functions_of(spec), session.runtime.identity.functions)
            self._tell_if_changed(spec)
            frame = rehydrate_view(session, spec)
            names_in_analysed(analysed_tree(frame), spec.name, spec.origin)
            with engine_errors(spec.origin):
                frame.createOrReplaceTempView(spec.name)

    def _tell_if_changed(self, view: ViewSpec) -> None:
        before = {each.name: each.digest for each in self._last.views} if self._last else {}
        if before.get(view.name) != view.digest:
            words = f"'{view.name}' is not as the last run knew it; its definition as it is now is used"
            self._listen(Progress(message=words))

    def _definitions(self) -> tuple[Pipeline, RecordedSchemas]:
        self._listen(Progress(message="reading definitions"))
        identity = identity_of(self._request.profile, self._request.spark)
        schemas = RecordedSchemas(
            last=self._last, results_digest=identity.results_digest, pins=self._pins, engine=self._engine
        )
        settings = dict(identity.settings.results)
        with open_definitions(self._request.config, settings=settings) as loaded:
            return build_pipeline(loaded, schemas, settings=settings), schemas


def _recorded_names(last: Manifest) -> set[str]:
    return {each.name for each in (*last.views, *last.sources, *last.tables)}


def _spelt(pipeline: Pipeline, name: str) -> str:
    """The name as it is defined; Spark does not mind how it is written."""
    spec = pipeline.spec(name)
    return spec.name if spec else name
