"""Rows from anything that gives an Arrow stream, batch by batch: on disk for as long as a write needs them.

A stream can be read once, and a write may be tried several times; so it is laid down as Parquet first, and
never held whole in memory. Not here: the write.
"""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

from headwater.errors import RowsUnusable
from headwater.runtime import ENGINE_EXCEPTIONS, local_path_of

if TYPE_CHECKING:
    from collections.abc import Generator

    from headwater.origin import Origin
    from headwater.runtime import RunSession

_PIECE_ROWS = 1_000_000


@contextmanager
def opened_rows(
    session: RunSession, rows: Any, uri: str, origin: Origin | None = None
) -> Generator[DataFrame | None]:
    """Within it, the rows as a DataFrame, whether they came as one or as an Arrow stream.

    Raises:
        RowsUnusable: they are neither, or have a column that Spark has no type for.
    """
    if rows is None or isinstance(rows, DataFrame):
        yield rows
        return
    if not hasattr(rows, "__arrow_c_stream__"):
        detail = f"{type(rows).__name__} gives no Arrow stream"
        raise RowsUnusable(path=str(local_path_of(uri)), detail=detail, origin=origin)
    with tempfile.TemporaryDirectory(prefix="headwater-rows-") as folder:
        try:
            schema = _laid_down(pa.RecordBatchReader.from_stream(rows), Path(folder))
            types = session.jvm.org.apache.spark.sql.types.DataType
            reader: Any = session.spark.read
            reader._jreader.schema(types.fromJson(schema.json()))
            frame = reader.parquet(folder)
        except (pa.ArrowException, *ENGINE_EXCEPTIONS, OSError, ValueError, TypeError) as error:
            raise RowsUnusable(path=str(local_path_of(uri)), detail=_words(error), origin=origin) from error
        yield frame


def _laid_down(reader: pa.RecordBatchReader, folder: Path) -> Any:
    """Writes a stream as files of a bounded number of rows; returns the schema that Spark has for them."""
    names = [name.casefold() for name in reader.schema.names]
    if len(set(names)) < len(names):
        raise pa.ArrowInvalid(f"two columns have one name: {', '.join(reader.schema.names)}")
    schema = from_arrow_schema(_plain(reader.schema), prefer_timestamp_ntz=True)
    wanted = to_arrow_schema(schema, error_on_duplicated_field_names_in_struct=True, timezone="UTC")
    waiting, number = 0, 0
    writer: pq.ParquetWriter | None = None
    try:
        for batch in reader:
            if writer is None:
                writer = pq.ParquetWriter(folder / f"{number:06}.parquet", wanted, compression="lz4")
            writer.write_table(pa.Table.from_batches([batch]).cast(wanted))
            waiting += batch.num_rows
            if waiting >= _PIECE_ROWS:
                writer.close()
                writer, waiting, number = None, 0, number + 1
    finally:
        if writer is not None:
            writer.close()
    return schema


def _plain(schema: pa.Schema) -> pa.Schema:
    """The schema with the values of dictionaries, and with times that Spark can hold."""
    fields: list[Any] = [schema.field(index) for index in range(len(schema.names))]
    return pa.schema([each.with_type(_plain_type(each.type)) for each in fields])


def _plain_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        return _plain_type(kind.value_type)
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", kind.tz)
    if pa.types.is_string_view(kind) or pa.types.is_large_string(kind):
        return pa.string()
    if pa.types.is_binary_view(kind) or pa.types.is_large_binary(kind):
        return pa.binary()
    return kind


def _words(error: Exception) -> str:
    return " ".join(str(error).split())[:300]
