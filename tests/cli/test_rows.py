"""Rows as people and programs see them, from results that need no Spark."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa
import pytest

from headwater.cli.rows import show_rows, write_arrow, write_csv, write_json_rows
from headwater.errors import EngineFailed, HeadwaterError, NoSuchForm
from headwater.run import QueryResult, ResultColumn

if TYPE_CHECKING:
    from collections.abc import Iterator

MOMENT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
COLUMNS: dict[str, tuple[pa.DataType, Any, object, str]] = {
    # column: its type, a value, the value in JSON, the value in CSV
    "i": (pa.int64(), 7, 7, "7"),
    "f": (pa.float64(), 1.5, 1.5, "1.5"),
    "nan": (pa.float64(), float("nan"), "NaN", "nan"),
    "inf": (pa.float64(), float("-inf"), "-Infinity", "-inf"),
    "b": (pa.bool_(), True, True, "true"),
    "s": (pa.string(), 'a"b,c\nd', 'a"b,c\nd', 'a"b,c\nd'),
    "dec": (pa.decimal128(10, 2), Decimal("1.50"), "1.50", "1.50"),
    "d": (pa.date32(), date(2026, 1, 2), "2026-01-02", "2026-01-02"),
    "ts": (pa.timestamp("us", "UTC"), MOMENT, "2026-01-02T03:04:05.000000Z", "2026-01-02 03:04:05.000000Z"),
    "t": (pa.time64("us"), time(3, 4, 5), "03:04:05.000000", "03:04:05.000000"),
    "dur": (pa.duration("us"), timedelta(days=2), "P2D", "P2D"),
    "iv": (
        pa.month_day_nano_interval(),
        cast("Any", pa.MonthDayNano)([1, 2, 3_000_000_000]),
        "1 months 2 days 3 seconds",
        "1 months 2 days 3 seconds",
    ),
    "bin": (pa.binary(), b"\x00\xff", "AP8=", "AP8="),
    "nil": (pa.null(), None, None, ""),
    "l": (pa.list_(pa.date32()), [date(2026, 1, 2), None], ["2026-01-02", None], '["2026-01-02",null]'),
    "st": (pa.struct([("x", pa.float64())]), {"x": float("inf")}, {"x": "Infinity"}, '{"x":"Infinity"}'),
    "si": (pa.struct([("x", pa.int64())]), {"x": 1}, {"x": 1}, '{"x":1}'),
    "m": (pa.map_(pa.string(), pa.float64()), [("k", 1.5)], {"k": 1.5}, '{"k":1.5}'),
    "mi": (
        pa.map_(pa.int32(), pa.timestamp("us", "UTC")),
        [(1, MOMENT)],
        [{"key": 1, "value": "2026-01-02T03:04:05.000000Z"}],
        '[{"key":1,"value":"2026-01-02T03:04:05.000000Z"}]',
    ),
    "lm": (pa.list_(pa.float64()), [float("nan"), None], ["NaN", None], '["NaN",null]'),
}


@dataclass
class Result:
    """What the writers use of a result."""

    batches: list[pa.RecordBatch]
    failure: HeadwaterError | None = None
    schema: pa.Schema = field(init=False)

    def __post_init__(self) -> None:
        self.schema = self.batches[0].schema

    @property
    def columns(self) -> tuple[ResultColumn, ...]:
        return tuple(ResultColumn(name=name, type="any") for name in self.schema.names)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        yield from self.batches
        if self.failure:
            raise self.failure


def result(*batches: pa.RecordBatch, failure: HeadwaterError | None = None) -> QueryResult:
    return cast("QueryResult", Result(list(batches), failure))


def every_type() -> pa.RecordBatch:
    arrays = [pa.array([value, None], kind) for kind, value, _, _ in COLUMNS.values()]
    return pa.RecordBatch.from_arrays(arrays, names=list(COLUMNS))


def numbers(*values: int) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array(values, pa.int64())], names=["n"])


def test_json_has_a_form_for_every_type(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert write_json_rows(result(every_type())) is None
    document = json.loads(capsysbinary.readouterr().out)
    assert list(document) == ["schema_version", "columns", "rows"]
    assert document["rows"] == [
        {name: shown for name, (_, _, shown, _) in COLUMNS.items()},
        dict.fromkeys(COLUMNS),
    ]
    assert document["columns"][0] == {"name": "i", "type": "any"}


def test_csv_has_a_form_for_every_type(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    write_csv(result(every_type()))
    header, first, second = csv.reader(io.StringIO(capsysbinary.readouterr().out.decode(), newline=""))
    assert header == list(COLUMNS)
    assert first == [shown for _, _, _, shown in COLUMNS.values()]
    assert second == [""] * len(COLUMNS)


def test_arrow_is_written_as_it_came(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    write_arrow(result(numbers(1, 2), numbers(3)))
    assert pa.ipc.open_stream(capsysbinary.readouterr().out).read_all().to_pydict() == {"n": [1, 2, 3]}


def test_no_rows_are_a_whole_document_too(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    write_json_rows(result(numbers()))
    assert json.loads(capsysbinary.readouterr().out)["rows"] == []


def test_a_date_that_python_does_not_know_is_shown(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    far = pa.RecordBatch.from_arrays([pa.array([3_700_000], pa.date32())], names=["d"])
    write_json_rows(result(far))
    assert json.loads(capsysbinary.readouterr().out)["rows"] == [{"d": "12100-04-04"}]


def test_a_failure_after_the_first_rows_ends_a_whole_document(
    capsysbinary: pytest.CaptureFixture[bytes],
) -> None:
    failure = EngineFailed(detail="it broke")
    assert write_json_rows(result(numbers(1, 2), failure=failure)) is failure
    document = json.loads(capsysbinary.readouterr().out)
    assert [row["n"] for row in document["rows"]] == [1, 2]
    assert (document["status"], document["error"]["code"]) == ("failed", "HW-ENGINE-001")


@pytest.mark.parametrize("kind", [pa.int64(), pa.struct([("n", pa.int64()), ("n", pa.int64())])])
def test_a_name_that_is_there_twice_is_refused_in_json(
    capsysbinary: pytest.CaptureFixture[bytes], kind: pa.DataType
) -> None:
    names = ["n", "n"] if kind == pa.int64() else ["a", "b"]
    empty = pa.array([None], kind)
    twice = pa.RecordBatch.from_arrays([empty, empty], names=names)
    with pytest.raises(NoSuchForm, match="twice"):
        write_json_rows(result(twice))
    assert capsysbinary.readouterr().out == b""


def test_a_table_is_cut_and_says_so(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    show_rows(result(numbers(1, 2), numbers(3)), 2, quiet=False, no_color=True)
    assert capsysbinary.readouterr().out.decode().split("\n")[:4] == [
        "n",
        "1",
        "2",
        "2 rows; there are more: --limit N shows N, --format csv all",
    ]


def test_a_table_that_fits_is_counted_and_quiet_leaves_that_out(
    capsysbinary: pytest.CaptureFixture[bytes],
) -> None:
    show_rows(result(numbers(1)), 2, quiet=False, no_color=True)
    show_rows(result(numbers(5, 6)), 2, quiet=True, no_color=True)
    assert capsysbinary.readouterr().out.decode() == "n\n1\n1 row\nn\n5\n6\n"


def test_a_table_in_a_file_is_as_wide_as_its_rows_and_cannot_touch_the_terminal(
    capsysbinary: pytest.CaptureFixture[bytes],
) -> None:
    words = "x" * 300 + "\x1b[31m\nred"
    batch = pa.RecordBatch.from_arrays(
        [pa.array([words, None]), pa.array([[1], [2]])], names=["[b]w[/b]", "l"]
    )
    show_rows(result(batch), 5, quiet=True, no_color=True)
    header, first, second, _ = capsysbinary.readouterr().out.decode().split("\n")
    assert header.startswith("[b]w[/b]")
    assert first == "x" * 300 + r"\x1b[31m\nred  [1]"
    assert second.split() == ["NULL", "[2]"]
