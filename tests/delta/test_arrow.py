from __future__ import annotations

import resource
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pytest

from headwater.delta import Append, Merge, Overwrite, same_keys
from headwater.errors import RowsUnusable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.delta.conftest import Table


class Producer:
    """Somebody else's table: it knows Arrow's C stream and nothing more."""

    def __init__(self, reader: pa.RecordBatchReader) -> None:
        self._reader = reader

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        reader: Any = self._reader
        return reader.__arrow_c_stream__(requested_schema)


def test_whatever_gives_an_arrow_stream_can_be_written(table: Table) -> None:
    rows = pa.table({"id": [1, 2], "s": ["a", None]})
    receipt = table.change(Append, rows)
    assert receipt.rows == 2
    table.change(Append, Producer(rows.to_reader()))
    table.change(Merge, pa.record_batch({"id": [1, 9], "s": ["b", "z"]}), on=same_keys("id"))
    assert table.rows("id") == [(1,), (1,), (2,), (2,), (9,)]
    assert {row["s"] for row in table.sql("SELECT s FROM {t} WHERE id = 1").collect()} == {"b"}


def test_types_come_through_as_spark_has_them(table: Table) -> None:
    moment = pd.Timestamp("2026-01-02T03:04:05.123456000")
    columns: dict[str, Any] = {
        "number": pa.array([1], pa.int16()),
        "price": pa.array([1], pa.decimal128(9, 2)),
        "text": pa.array(["a"], pa.large_string()),
        "coded": pa.array(["x"]).dictionary_encode(),
        "raw": pa.array([b"\x00"], pa.binary()),
        "day": pa.array([19000], pa.date32()),
        "at": pa.array([moment.value], pa.timestamp("ns", "UTC")),
        "local": pa.array([moment.value // 1000], pa.timestamp("us")),
        "many": pa.array([[1, None]], pa.list_(pa.int64())),
        "both": pa.array([{"a": 1, "b": "x"}]),
        "by_name": pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int32())),
    }
    table.change(Overwrite, pa.table(columns))
    found = table.sql("SELECT * FROM {t}")
    assert [kind for _, kind in found.dtypes] == [
        "smallint",
        "decimal(9,2)",
        "string",
        "string",
        "binary",
        "date",
        "timestamp",
        "timestamp_ntz",
        "array<bigint>",
        "struct<a:bigint,b:string>",
        "map<string,int>",
    ]
    row = found.selectExpr("unix_micros(at) AS at", "string(local) AS local", "coded", "by_name").collect()[0]
    assert row["at"] == moment.value // 1000
    assert row["local"] == "2026-01-02 03:04:05.123456"
    assert (row["coded"], row["by_name"]) == ("x", {"k": 1})


@pytest.mark.parametrize(
    "rows",
    [
        [1, 2],
        {"id": [1]},
        pa.table({"id": pa.array([1], pa.uint64())}),
        pa.table({"at": pa.array([1_001], pa.timestamp("ns", "UTC"))}),
        pa.table([pa.array([1]), pa.array([2])], names=["id", "id"]),
        pa.table({"at": pa.array([1], pa.time64("us"))}),
        pa.table({"n": pa.array([1], pa.decimal256(50, 2))}),
        pa.table({"s": pa.array([{"a": 1, "A": 2}])}),
    ],
    ids=["list", "mapping", "unsigned", "finer than Spark's time", "twice", "time", "long decimal", "nested"],
)
def test_rows_that_spark_cannot_take_are_refused(table: Table, rows: Any) -> None:
    with pytest.raises(RowsUnusable):
        table.change(Append, rows)
    assert not table.path.exists()


def test_a_stream_that_breaks_leaves_no_table(table: Table) -> None:
    schema = pa.schema([("id", pa.int64())])

    def batches() -> Iterator[pa.RecordBatch]:
        yield pa.record_batch([pa.array([1])], schema=schema)
        raise OSError("the other side went away")

    with pytest.raises(RowsUnusable) as caught:
        table.change(Append, pa.RecordBatchReader.from_batches(schema, batches()))
    assert "went away" in caught.value.message
    assert not table.path.exists()


def test_a_stream_is_never_held_whole(table: Table) -> None:
    """Half a million rows of about 400 MB pass through; this process grows by a small part of that."""
    schema = pa.schema([("id", pa.int64()), ("text", pa.string())])
    text = pa.array(["x" * 800] * 5_000)

    def batches() -> Iterator[pa.RecordBatch]:
        for start in range(0, 500_000, 5_000):
            yield pa.record_batch([pa.array(range(start, start + 5_000), pa.int64()), text], schema=schema)

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    receipt = table.change(Append, pa.RecordBatchReader.from_batches(schema, batches()))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert receipt.rows == 500_000
    assert grown < 150_000  # KB
