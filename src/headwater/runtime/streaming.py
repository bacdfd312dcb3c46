"""A frame's rows as Arrow batches that come when they are asked for, one partition of the result at a time.

The JVM computes a partition when the reader asks for the next one, and holds no more than that one; Python
holds one batch. So memory is bounded by the largest partition, not by the result.
Not here: which frame, and how rows are shown.
"""

from __future__ import annotations

import re
import struct
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa
from pyspark.util import _create_local_socket  # pyright: ignore[reportUnknownVariableType]

from headwater.errors import NoSuchForm
from headwater.runtime.failures import ENGINE_EXCEPTIONS, engine_error, failure_of

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from pyspark.sql import DataFrame

    from headwater.runtime.session import RunSession

_INT = struct.Struct(">i")
_NEXT, _FAILED, _END_OF_PARTITION = 1, -1, -1
_BATCH_ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch"
_TIME_ZONE = "spark.sql.session.timeZone"
_TOO_LARGE = (
    "One part of the result is too large to hand over; cut it smaller (--set shuffle_partitions=200), "
    "or ask for fewer columns or rows."
)
# Types that Arrow, or its Python side, has no form for; by how Spark spells them.
_VARIANT = re.compile(r"\bvariant\b")
_MONTHS = re.compile(r"\binterval (year|month)\b")
_PLACES = re.compile(r"\b(geometry|geography)\b")


def as_arrow_can(frame: DataFrame) -> DataFrame:
    """The frame with columns that Arrow has a form for.

    A VARIANT becomes its JSON text, an interval of years and months the text that SQL would write.

    Raises:
        NoSuchForm: such a value is inside a list, map or struct, or is of a kind without any form.
    """
    fields = frame.schema.fields
    kinds = [field.dataType.simpleString() for field in fields]
    if not any(each.search(kind) for kind in kinds for each in (_VARIANT, _MONTHS, _PLACES)):
        return frame
    numbered = frame.toDF(*(f"c{index}" for index in range(len(fields))))  # names may be there twice
    forms = [
        _form(field.name, kind, f"c{index}")
        for index, (field, kind) in enumerate(zip(fields, kinds, strict=True))
    ]
    return numbered.selectExpr(*forms).toDF(*(field.name for field in fields))


def _form(name: str, kind: str, column: str) -> str:
    if kind == "variant":
        return f"to_json({column}) AS {column}"
    if _MONTHS.fullmatch(kind) or re.fullmatch(r"interval year to month", kind):
        return f"CAST({column} AS STRING) AS {column}"
    if _VARIANT.search(kind) or _MONTHS.search(kind) or _PLACES.search(kind):
        remedy = (
            "Cast it, or take it apart, in the query: to_json(...), CAST(... AS STRING), st_asbinary(...)."
        )
        raise NoSuchForm(column=name, complaint=f"is a {kind}, which Arrow has no form for", remedy=remedy)
    return column


class ArrowStream:
    """The batches of one frame, in its order. Reading drives the work; closing early ends it."""

    def __init__(self, session: RunSession, frame: DataFrame, tag: str) -> None:
        """Plans the frame and, where its plan has stages, computes all but the last.

        Args:
            session: the session of the frame.
            frame: columns that Arrow has a form for; see `as_arrow_can`.
            tag: a name for this stream's jobs that no other stream has.
        """
        self._context = session.spark.sparkContext
        self._tag = tag
        self._is_over = False
        conf = session.spark.conf
        rows, zone = int(conf.get(_BATCH_ROWS) or "10000"), conf.get(_TIME_ZONE) or "UTC"
        with _too_large_is_told(), _as_in_a_query(session, tag):
            java: Any = frame._jdf
            form = session.jvm.org.apache.spark.sql.util.ArrowUtils.toArrowSchema(
                java.schema(), zone, False, False
            )
            self.schema: pa.Schema = pa.ipc.read_schema(pa.py_buffer(bytes(form.serializeAsMessage())))
            batches = java.toArrowBatchRdd(rows, zone, False, False)
            port, secret, server = session.jvm.org.apache.spark.api.python.PythonRDD.toLocalIteratorAndServe(
                batches, False
            )
            self._server: Any = server
            self._file, self._socket = _create_local_socket(cast("Any", (port, secret)))

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Each batch once; an engine's failure on the way is raised as EngineFailed, and ends the stream."""
        with _too_large_is_told():
            try:
                while not self._is_over and self._has_partition():
                    yield from self._partition()
            except GeneratorExit:
                raise  # somebody reads on later, or closes
            except BaseException:
                self.close()
                raise
            self.close()

    def close(self) -> None:
        """Stops the work that is under way and forgets the rest; safe to call twice."""
        if self._is_over:
            return
        self._is_over = True
        with suppress(*ENGINE_EXCEPTIONS):
            self._context.cancelJobsWithTag(self._tag)
        with suppress(OSError):
            self._file.close()
        self._socket.close()

    def _has_partition(self) -> bool:
        """Asks for the next partition and waits until it is computed."""
        self._file.write(_INT.pack(_NEXT))
        self._file.flush()
        answer = self._read_int()
        if answer == _FAILED:
            self._server.getResult()  # raises what went wrong
        return answer == _NEXT

    def _partition(self) -> Iterator[pa.RecordBatch]:
        while not self._is_over and (length := self._read_int()) != _END_OF_PARTITION:
            yield pa.ipc.read_record_batch(pa.py_buffer(self._read(length)), self.schema)

    def _read_int(self) -> int:
        return int(_INT.unpack(self._read(_INT.size))[0])

    def _read(self, length: int) -> bytes:
        content = self._file.read(length)
        if len(content) != length:
            raise ConnectionResetError
        return content


@contextmanager
def _as_in_a_query(session: RunSession, tag: str) -> Generator[None]:
    """Jobs that are started within it are named, and see the session's settings.

    Spark hands a session's settings to its tasks through properties of the thread that starts the job, but
    only inside its own actions; here the rows are asked for from outside. The thread that serves them
    inherits these properties.
    """
    context = session.spark.sparkContext
    java: Any = context._jsc
    settings = {
        key: value for key, value in session.spark.conf.getAll.items() if key.startswith("spark.sql.")
    }
    before = {key: context.getLocalProperty(key) for key in settings}
    context.addJobTag(tag)
    try:
        for key, value in settings.items():
            context.setLocalProperty(key, value)
        yield
    finally:
        with suppress(*ENGINE_EXCEPTIONS):
            context.removeJobTag(tag)
            for key, value in before.items():
                java.setLocalProperty(key, value)  # None takes it away


@contextmanager
def _too_large_is_told() -> Generator[None]:
    try:
        yield
    except ENGINE_EXCEPTIONS as error:
        is_too_large = "maxResultSize" in failure_of(error).detail
        raise engine_error(error, remedy=_TOO_LARGE if is_too_large else None) from error
