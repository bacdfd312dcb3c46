"""Rows as Arrow batches: whole, in order, typed, and never all of them in memory."""

from __future__ import annotations

import datetime as dt
import socket
import time
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException

from headwater.errors import EngineFailed, NoSuchForm
from headwater.runtime import ArrowStream, as_arrow_can
from headwater.runtime.streaming import _too_large_is_told

if TYPE_CHECKING:
    from headwater.runtime import RunSession

ROWS = 10_000_000
MEGABYTE = 1024  # /proc counts in kilobytes


def stream(session: RunSession, sql: str, tag: str = "a-test") -> ArrowStream:
    return ArrowStream(session, as_arrow_can(session.spark.sql(sql)), tag)


def read(session: RunSession, sql: str) -> pa.Table:
    batches = stream(session, sql)
    return pa.Table.from_batches(list(batches), batches.schema)


def resident() -> int:
    """The megabytes that this process holds."""
    status = Path("/proc/self/status").read_text("ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) // MEGABYTE


def running_jobs(session: RunSession) -> int:
    return len(session.spark.sparkContext.statusTracker().getActiveJobsIds())


def test_rows_come_in_order_and_whole(session: RunSession) -> None:
    table = read(session, "SELECT id, CAST(id AS STRING) AS text FROM range(0, 25000, 1, 3)")
    assert table["id"].to_pylist() == list(range(25000))
    assert table["text"][24999].as_py() == "24999"


def test_an_order_across_partitions_is_kept(session: RunSession) -> None:
    table = read(session, "SELECT id FROM range(0, 1000, 1, 4) ORDER BY id DESC")
    assert table["id"].to_pylist() == list(range(999, -1, -1))


@pytest.mark.parametrize(
    "sql", ["SELECT 1 AS a, 'x' AS b WHERE false", "SELECT id AS a, 'x' AS b FROM range(0)"]
)
def test_no_rows_have_a_schema_all_the_same(session: RunSession, sql: str) -> None:
    table = read(session, sql)
    assert (table.num_rows, table.column_names) == (0, ["a", "b"])


def test_each_type_has_its_form_in_arrow(session: RunSession) -> None:
    table = read(
        session,
        "SELECT TIMESTAMP '2026-01-02 03:04:05' AS ts, TIMESTAMP_NTZ '2026-01-02 03:04:05' AS ntz, "
        "DATE '2026-01-02' AS d, TIME '03:04:05' AS tm, 1.50BD AS dec, X'00FF' AS bytes, NULL AS nothing, "
        "array(1, NULL) AS a, map('k', 1) AS m, named_struct('x', array(1)) AS s, INTERVAL 2 DAY AS dt, "
        "make_interval(1, 2) AS ci, INTERVAL '1-2' YEAR TO MONTH AS ym, parse_json('{\"a\": [1]}') AS v, "
        "1 AS twice, 2 AS twice",
    )
    kinds = [str(kind) for kind in table.schema.types]
    assert kinds[:7] == [
        "timestamp[us, tz=UTC]",
        "timestamp[us]",
        "date32[day]",
        "time64[ns]",
        "decimal128(3, 2)",
        "binary",
        "null",
    ]
    assert kinds[10:14] == ["duration[us]", "month_day_nano_interval", "string", "string"]
    values: list[Any] = [table.column(index)[0].as_py() for index in range(table.num_columns)]
    moment = dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC)
    assert values[0] == moment
    assert values[2:7] == [moment.date(), dt.time(3, 4, 5), Decimal("1.50"), b"\x00\xff", None]
    assert values[7:11] == [[1, None], [("k", 1)], {"x": [1]}, dt.timedelta(days=2)]
    assert values[12:] == ["INTERVAL '1-2' YEAR TO MONTH", '{"a":[1]}', 1, 2]


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("SELECT array(parse_json('1')) AS odd", "array<variant>"),
        ("SELECT struct(INTERVAL '1' YEAR AS y) AS odd", "struct<y:interval year>"),
        ("SELECT st_geomfromwkb(X'0101000000000000000000F03F0000000000000040') AS odd", "geometry"),
    ],
)
def test_a_type_without_a_form_is_refused(session: RunSession, sql: str, kind: str) -> None:
    with pytest.raises(NoSuchForm) as caught:
        stream(session, sql)
    assert caught.value.message.startswith(f"the column 'odd' is a {kind}")
    assert "to_json" in caught.value.next_step


def test_ten_million_rows_take_no_more_memory_than_a_few(session: RunSession) -> None:
    list(stream(session, "SELECT id FROM range(10)"))
    before, most, rows = resident(), 0, 0
    size = 0
    for batch in stream(session, f"SELECT id, repeat('x', 110) AS text FROM range(0, {ROWS}, 1, 80)"):
        rows += batch.num_rows
        size += batch.nbytes
        most = max(most, resident())
    assert rows == ROWS
    assert size > 1_100_000_000, "more than the JVM's whole heap of 1 GB"
    assert most - before < 100
    assert session.spark.range(3).count() == 3, "the JVM is still there"


def test_only_the_partition_that_is_read_is_computed(session: RunSession) -> None:
    """The second partition would fail, and nobody comes to it."""
    batches = stream(session, "SELECT 1 div (1000 - id) AS x FROM range(0, 2000, 1, 2)")
    assert next(iter(batches)).num_rows == 1000
    batches.close()


def test_a_failure_on_the_way_is_a_typed_error(session: RunSession) -> None:
    batches = iter(stream(session, "SELECT 1 div (1500 - id) AS x FROM range(0, 2000, 1, 2)"))
    assert next(batches).num_rows == 1000
    with pytest.raises(EngineFailed) as caught:
        next(batches)
    assert caught.value.condition == "DIVIDE_BY_ZERO"
    with pytest.raises(EngineFailed):
        stream(session, "SELECT x FROM (SELECT 1 div (id - 5) AS x FROM range(10)) ORDER BY x")


def test_closing_early_ends_the_work(session: RunSession) -> None:
    endless = "SELECT id FROM range(0, 1000000000000, 1, 2) WHERE hash(id) = 1 AND hash(id + 1) = 2"
    batches = stream(session, f"SELECT 1L AS id UNION ALL {endless}", "to-be-ended")
    assert next(iter(batches)).num_rows == 1
    batches._file.write(b"\0\0\0\1")  # ask for the next partition, and do not wait
    batches._file.flush()
    deadline = time.monotonic() + 30
    while not running_jobs(session) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert running_jobs(session) == 1
    batches.close()
    batches.close()
    while running_jobs(session) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert running_jobs(session) == 0
    assert list(batches) == []


def test_the_thread_is_left_as_it_was(session: RunSession) -> None:
    context = session.spark.sparkContext
    read(session, "SELECT 1 AS a")
    assert context.getLocalProperty("spark.sql.session.timeZone") is None
    assert list(context.getJobTags()) == []


def test_tasks_see_the_settings_of_the_session(session: RunSession) -> None:
    """This setting is looked at in the task, by the parser that it makes; in a bare job it is the default."""
    day = "from_csv(concat('2026-1-', 1 + id), 'd DATE', map('dateFormat', 'yyyy-MM-dd')).d"
    sql = f"SELECT {day} AS d FROM range(1)"
    assert read(session, sql)["d"].to_pylist() == [None]
    session.spark.conf.set("spark.sql.legacy.timeParserPolicy", "LEGACY")
    assert read(session, sql)["d"].to_pylist() == [dt.date(2026, 1, 1)]


def test_a_part_that_is_too_large_says_how_to_cut_it() -> None:
    words = "Total size of serialized results of 1 tasks is bigger than spark.driver.maxResultSize (1024 MiB)"
    with pytest.raises(EngineFailed) as caught, _too_large_is_told():
        raise PySparkException(words)
    assert "shuffle_partitions" in caught.value.next_step


def test_a_connection_that_is_lost_is_a_typed_error(session: RunSession) -> None:
    batches = stream(session, "SELECT id FROM range(0, 10, 1, 2)")
    batches._socket.shutdown(socket.SHUT_RD)
    with pytest.raises(EngineFailed) as caught:
        list(batches)
    assert caught.value.condition == "ENGINE_GONE"
