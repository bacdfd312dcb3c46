from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from headwater.delta import (
    CdfWindow,
    ReadOptions,
    ScanCounter,
    list_files,
    open_changes,
    open_pinned,
    pin_changes,
    pin_files,
    preview_scan,
    promised_rows,
    read_files,
    read_head,
    verify_pin,
)
from headwater.delta.columns import schema_of_ddl, sql_column
from headwater.pipeline.offline import open_offline
from headwater.runtime import ENGINE_EXCEPTIONS

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from headwater.runtime import RunSession


@contextmanager
def views_being_built() -> Generator[None]:
    """Another thread has switched pyspark to building plans offline, for as long as this is entered."""
    switched, done = threading.Event(), threading.Event()

    def build() -> None:
        with open_offline(None):
            switched.set()
            done.wait(200)

    thread = threading.Thread(target=build)
    thread.start()
    assert switched.wait(60)
    try:
        yield
    finally:
        done.set()
        thread.join()


def test_reading_goes_on_while_another_thread_builds_views(session: RunSession, tmp_path: Path) -> None:
    table, text = tmp_path / "t", tmp_path / "x.csv"
    rows = session.spark.range(4).selectExpr("id", "id % 2 AS k")
    rows.write.format("delta").option("delta.enableChangeDataFeed", "true").save(str(table))
    text.write_text("1\n2\n")
    pin = read_head(table.as_uri()).pin("t")
    with views_being_built():
        (file, *_) = list_files(session, pin)
        options = ReadOptions(
            columns=(("n", "id + 1"), ("f", "file")),
            defaults=(("extra", "1"),),
            schema="n INT, f STRING",
            file_column="file",
            files=(file.path,),
        )
        read = open_pinned(session, pin, options).rows
        counter = ScanCounter(session, pin, open_pinned(session, pin).rows)
        counter.rows.write.format("delta").save(str(tmp_path / "out"))
        feed = open_changes(session, pin_changes("t", table.as_uri(), CdfWindow(starting_version=0)))
        listed = read_files(
            session, pin_files("x", text.as_uri()), file_format="csv", schema="a INT", options=()
        )
        found = (
            read.count(),
            feed.rows.count(),
            listed.count(),
            counter.found(),
            promised_rows(session, pin),
        )
        assert preview_scan(session, pin, filters=("id > 2",)).rows_total == 4
        assert verify_pin(session, pin).is_whole
    assert found == (file.rows, 4, 2, 4, 4)


def test_an_expression_is_a_column_of_its_session(session: RunSession) -> None:
    assert session.spark.range(3).select(sql_column(session, "id * 2 AS x")).collect()[2]["x"] == 4


def test_a_schema_is_parsed_as_spark_does(session: RunSession) -> None:
    assert schema_of_ddl(session, "a INT, `b c` ARRAY<STRING>").names == ["a", "b c"]
    with pytest.raises(ENGINE_EXCEPTIONS):
        schema_of_ddl(session, "INT")
