from __future__ import annotations

import os
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from headwater.datasets import timestamp_of
from headwater.delta import (
    CdfWindow,
    ChangePin,
    FeatureGate,
    ReadOptions,
    open_changes,
    pin_changes,
    read_changes,
    register_changes,
)
from headwater.errors import (
    ChangesNotRecorded,
    DegradedRefused,
    LogUnreadable,
    NotADeltaTable,
    ReaderFeatureMissing,
    ScanNotResolved,
    VersionNotFound,
    WindowOutOfRange,
)
from headwater.origin import Origin
from headwater.runtime import open_runtime

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from pyspark.sql import DataFrame

    from headwater.runtime import RunSession, SessionRuntime

BEGIN = 1_700_000_000_000
STEP = 10_000
FEED = "delta.enableChangeDataFeed"


def commit_file(table: Path, version: int) -> Path:
    return table / "_delta_log" / f"{version:020}.json"


def make_log(table: Path, versions: range) -> str:
    """A log by hand whose commits are ten seconds apart."""
    for version in versions:
        path = commit_file(table, version)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'{{"commitInfo":{{"operation":"{version}"}}}}\n')
        at = (BEGIN + version * STEP) * 1_000_000
        os.utime(path, ns=(at, at))
    return table.as_uri()


def at(version: float) -> str:
    return timestamp_of(int(BEGIN + version * STEP))


def span(pinned: ChangePin) -> tuple[int, int]:
    return pinned.starting_version, pinned.pin.version


def write(rows: DataFrame, table: Path, mode: str = "append", **options: str) -> None:
    rows.coalesce(1).write.format("delta").mode(mode).options(**options).save(str(table))


def set_feed(session: RunSession, table: Path, *, on: bool) -> None:
    session.spark.sql(f"ALTER TABLE delta.`{table}` SET TBLPROPERTIES ({FEED} = {on})")


def forget(session: RunSession) -> None:
    session.jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()


def pinned(table: Path, start: int, end: int | None = None) -> ChangePin:
    return pin_changes("feed", table.as_uri(), CdfWindow(starting_version=start, ending_version=end))


def sorted_rows(rows: DataFrame) -> list[tuple[Any, ...]]:
    found: list[Any] = rows.collect()
    return sorted((tuple(row) for row in found), key=str)


@pytest.fixture(scope="module")
def feed(tmp_path_factory: pytest.TempPathFactory, runtime: SessionRuntime) -> Path:
    """Versions 0 to 4: rows, an update, a delete, a merge of all kinds, rows; nobody changes it."""
    table = tmp_path_factory.mktemp("feed") / "t"
    with runtime.checkout() as session:
        write(session.spark.range(4).selectExpr("id", "id * 10 AS v"), table, **{FEED: "true"})
        session.spark.sql(f"UPDATE delta.`{table}` SET v = 11 WHERE id = 1")
        session.spark.sql(f"DELETE FROM delta.`{table}` WHERE id = 2")
        session.spark.sql(
            f"MERGE INTO delta.`{table}` t USING (SELECT * FROM VALUES (0, 5), (3, 6), (9, 7) AS s(id, v)) s "
            "ON t.id = s.id WHEN MATCHED AND s.id = 3 THEN DELETE WHEN MATCHED THEN UPDATE SET v = s.v "
            "WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v)"
        )
        write(session.spark.range(5, 6).selectExpr("id", "id AS v"), table)
        forget(session)
    return table


@pytest.fixture
def own(feed: Path, tmp_path: Path) -> Path:
    """A copy of that table that a test may change."""
    return shutil.copytree(feed, tmp_path / "own")


@pytest.fixture
def degraded(runtime: SessionRuntime) -> Generator[RunSession]:
    """A session of a profile that allows snapshots to be compared."""
    allowed = replace(runtime.profile, allow_degraded=("snapshot_changes",))
    with open_runtime(allowed).checkout() as session:
        yield session


# Which versions a window spans; without Spark.


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        (CdfWindow(starting_version=0), (0, 4)),
        (CdfWindow(starting_version=0, ending_version=0), (0, 0)),
        (CdfWindow(starting_version=4), (4, 4)),
        (CdfWindow(starting_version=1, ending_version=3), (1, 3)),
        (CdfWindow(starting_timestamp=at(-5)), (0, 4)),
        (CdfWindow(starting_timestamp=at(1)), (1, 4)),
        (CdfWindow(starting_timestamp=at(1.0001)), (2, 4)),
        (CdfWindow(starting_timestamp=at(0.9999), ending_timestamp=at(2.9999)), (1, 2)),
        (CdfWindow(starting_timestamp=at(1), ending_timestamp=at(3)), (1, 3)),
        (CdfWindow(starting_timestamp=at(4), ending_timestamp=at(4)), (4, 4)),
        (CdfWindow(starting_version=2, ending_timestamp=at(4)), (2, 4)),
        (CdfWindow(starting_timestamp=at(2), ending_version=2), (2, 2)),
    ],
)
def test_both_ends_of_a_window_are_in_it(
    tmp_path: Path, window: CdfWindow, expected: tuple[int, int]
) -> None:
    uri = make_log(tmp_path, range(5))
    assert span(pin_changes("feed", uri, window)) == expected


@pytest.mark.parametrize(
    ("window", "detail", "allowed"),
    [
        (CdfWindow(starting_version=5), "begins after version 4", (5, 4)),
        (CdfWindow(starting_version=3, ending_version=9), "ends after version 4", (3, 4)),
        (CdfWindow(starting_version=7, ending_version=9), "begins after version 4", (7, 4)),
        (CdfWindow(starting_timestamp=at(4.0001)), "begins after version 4", (5, 4)),
        (CdfWindow(starting_version=0, ending_timestamp=at(4.0001)), "ends after version 4", (0, 4)),
        (CdfWindow(starting_timestamp=at(1.1), ending_timestamp=at(1.9)), "no version in it", (2, 1)),
    ],
)
def test_a_window_behind_the_newest_version_is_refused_or_ends_there(
    tmp_path: Path, window: CdfWindow, detail: str, allowed: tuple[int, int]
) -> None:
    uri = make_log(tmp_path, range(5))
    with pytest.raises(WindowOutOfRange, match=detail):
        pin_changes("feed", uri, window)
    pin = pin_changes("feed", uri, replace(window, allow_out_of_range=True))
    assert span(pin) == allowed
    assert pin.is_empty == (allowed[0] > allowed[1])


@pytest.mark.parametrize(
    "window",
    [
        CdfWindow(starting_version=3, allow_out_of_range=True),
        CdfWindow(starting_version=0, ending_version=2, allow_out_of_range=True),
        CdfWindow(starting_timestamp=at(3.9999), allow_out_of_range=True),
        CdfWindow(starting_version=4, ending_timestamp=at(3), allow_out_of_range=True),
    ],
)
def test_nothing_allows_a_window_that_clean_up_has_cut(tmp_path: Path, window: CdfWindow) -> None:
    uri = make_log(tmp_path, range(3, 7))
    (tmp_path / "_delta_log" / f"{4:020}.checkpoint.parquet").write_bytes(b"PAR1")
    with pytest.raises(WindowOutOfRange, match="oldest"):
        pin_changes("feed", uri, window)
    assert span(pin_changes("feed", uri, CdfWindow(starting_version=4))) == (4, 6)
    assert span(pin_changes("feed", uri, CdfWindow(starting_timestamp=at(4)))) == (4, 6)


def test_the_newest_version_is_the_one_that_the_session_believes_in(tmp_path: Path) -> None:
    uri = make_log(tmp_path, range(5))
    assert span(pin_changes("feed", uri, CdfWindow(starting_version=1), newest=2)) == (1, 2)
    for window in (
        CdfWindow(starting_version=3),
        CdfWindow(starting_version=1, ending_version=3),
        CdfWindow(starting_version=1, ending_timestamp=at(3)),
        CdfWindow(starting_version=1, ending_timestamp=at(2.5)),
    ):
        with pytest.raises(WindowOutOfRange):
            pin_changes("feed", uri, window, newest=2)
    late = CdfWindow(starting_version=1, ending_timestamp=at(3), allow_out_of_range=True)
    assert span(pin_changes("feed", uri, late, newest=2)) == (1, 2)


def test_no_table_is_a_typed_error(tmp_path: Path) -> None:
    with pytest.raises(NotADeltaTable):
        pin_changes("feed", tmp_path.as_uri(), CdfWindow(starting_version=0))


# Delta's own feed.


@pytest.mark.parametrize("window", [(0, 4), (0, 0), (1, 1), (2, 2), (3, 3), (1, 3), (4, 4)])
def test_rows_are_those_of_deltas_own_function(
    session: RunSession, feed: Path, window: tuple[int, int]
) -> None:
    read = open_changes(session, pinned(feed, *window))
    delta = session.spark.sql(f"SELECT * FROM table_changes_by_path('{feed}', {window[0]}, {window[1]})")
    assert sorted_rows(read.rows) == sorted_rows(delta)
    assert read.rows.schema.simpleString() == delta.schema.simpleString()
    assert (read.provider_kind, read.snapshot.version) == ("delta_native", window[1])


def test_each_kind_of_change_is_there(session: RunSession, feed: Path) -> None:
    rows = read_changes(session, pinned(feed, 1)).drop("_commit_timestamp")
    assert sorted_rows(rows) == sorted(
        [
            (1, 10, "update_preimage", 1),
            (1, 11, "update_postimage", 1),
            (2, 20, "delete", 2),
            (0, 0, "update_preimage", 3),
            (0, 5, "update_postimage", 3),
            (3, 30, "delete", 3),
            (9, 7, "insert", 3),
            (5, 5, "insert", 4),
        ],
        key=str,
    )


def test_times_mean_what_they_mean_to_delta(session: RunSession, own: Path) -> None:
    begin = commit_file(own, 0).stat().st_mtime_ns // 10**6 - 3_600_000
    for version in range(5):
        moment = (begin + version * STEP) * 10**6
        os.utime(commit_file(own, version), ns=(moment, moment))
    forget(session)
    for start, end in ((10_000, 30_000), (9_999, 29_999), (10_001, 39_999), (40_000, 40_000)):
        first, last = (timestamp_of(begin + each) for each in (start, end))
        window = CdfWindow(starting_timestamp=first, ending_timestamp=last)
        ours = read_changes(session, pin_changes("feed", own.as_uri(), window))
        reader = session.spark.read.option("readChangeFeed", "true").option("startingTimestamp", first)
        delta = reader.option("endingTimestamp", last).format("delta").load(str(own))
        assert sorted_rows(ours) == sorted_rows(delta), window


def test_an_open_end_stays_where_it_was_pinned(session: RunSession, own: Path) -> None:
    before = pinned(own, 1)
    rows = sorted_rows(read_changes(session, before))
    session.spark.sql(f"ALTER TABLE delta.`{own}` ADD COLUMN w INT")
    write(session.spark.range(7, 9).selectExpr("id", "id AS v", "1 AS w"), own)
    frame = read_changes(session, before)
    assert sorted_rows(frame) == rows
    assert "w" not in frame.columns
    assert span(pinned(own, 1)) == (1, 6)
    widened = read_changes(session, pinned(own, 4)).select("id", "w", "_commit_version")
    assert sorted_rows(widened) == [(5, None, 4), (7, 1, 6), (8, 1, 6)]
    shutil.rmtree(own)
    write(session.spark.range(1).selectExpr("id", "id AS v"), own, **{FEED: "true"})
    with pytest.raises(VersionNotFound):
        read_changes(session, before)


def test_a_schema_that_was_replaced_in_the_window_is_a_typed_error(session: RunSession, own: Path) -> None:
    before = pinned(own, 0)
    text = session.spark.range(2).selectExpr("CAST(id AS STRING) AS id")
    write(text, own, "overwrite", overwriteSchema="true")
    with pytest.raises(ChangesNotRecorded) as caught:
        read_changes(session, pinned(own, 0), origin=Origin("v.py", 3))
    assert caught.value.dataset == "feed"
    assert caught.value.origin == Origin("v.py", 3)
    assert read_changes(session, before).count() == 12


def test_an_empty_window_has_columns_and_no_rows(session: RunSession, feed: Path) -> None:
    window = CdfWindow(starting_version=5, allow_out_of_range=True)
    rows = read_changes(session, pin_changes("feed", feed.as_uri(), window))
    assert rows.columns == ["id", "v", "_change_type", "_commit_version", "_commit_timestamp"]
    assert rows.collect() == []


def test_commits_below_a_checkpoint_count_for_the_window_too(session: RunSession, own: Path) -> None:
    """Delta passes over an empty commit file: its changes would be missing without a word."""
    session.jvm.org.apache.spark.sql.delta.DeltaLog.forTable(session.jvm_session, str(own)).checkpoint()
    content = commit_file(own, 2).read_bytes()
    commit_file(own, 2).write_bytes(b"")
    forget(session)
    with pytest.raises(LogUnreadable, match="version 2 is empty"):
        read_changes(session, pinned(own, 1))
    commit_file(own, 2).write_bytes(content)
    later = pinned(own, 1)
    commit_file(own, 2).unlink()
    with pytest.raises(VersionNotFound) as caught:
        read_changes(session, later, origin=Origin("v.py", 3))
    assert (caught.value.version, caught.value.origin) == (2, Origin("v.py", 3))


def test_the_feed_must_be_on_in_all_of_the_window(session: RunSession, tmp_path: Path) -> None:
    """Off in 0, on in 1 and 2, off in 3 and 4, on from 5; version 6 only repeats that it is."""
    table, rows = tmp_path / "t", session.spark.range(1)
    write(rows, table)
    set_feed(session, table, on=True)
    write(rows, table)
    set_feed(session, table, on=False)
    write(rows, table)
    set_feed(session, table, on=True)
    session.spark.sql(f"ALTER TABLE delta.`{table}` SET TBLPROPERTIES (note = 'x')")
    write(rows, table)
    for start, end, count in ((1, 1, 0), (1, 2, 1), (2, 2, 1), (5, 7, 1), (6, 7, 1)):
        assert read_changes(session, pinned(table, start, end)).count() == count
    for start, end, version in ((0, 0, 0), (0, 2, 0), (1, 3, 3), (2, 7, 3), (4, 7, 4)):
        with pytest.raises(DegradedRefused, match=f"version {version} did not keep one") as caught:
            read_changes(session, pinned(table, start, end))
        assert caught.value.provider_kind == "snapshot_changes"
        assert "begin with a version after that" in caught.value.next_step
    with pytest.raises(ChangesNotRecorded, match="version 3 did not keep one, and it is required"):
        read_changes(session, pinned(table, 2), ReadOptions(require_change_feed=True))
    assert read_changes(session, pinned(table, 5), ReadOptions(require_change_feed=True)).count() == 1


def test_a_gate_and_columns_hold_for_a_feed(session: RunSession, feed: Path) -> None:
    closed = ReadOptions(gate=FeatureGate(required_reader_features=("deletionVectors",)))
    with pytest.raises(ReaderFeatureMissing):
        read_changes(session, pinned(feed, 0), closed)
    options = ReadOptions(columns=(("key", "id"), ("kind", "upper(_change_type)"), ("at", "_commit_version")))
    read = open_changes(session, pinned(feed, 2, 2), options)
    assert sorted_rows(read.rows) == [(2, "DELETE", 2)]
    assert [each.name for each in read.columns] == ["key", "kind", "at"]
    with pytest.raises(ScanNotResolved):
        read_changes(session, pinned(feed, 2), ReadOptions(columns=(("x", "no_such_column"),)))


def test_a_feed_has_a_name_in_sql_and_in_the_dataframe_api(session: RunSession, feed: Path) -> None:
    done = register_changes(session, pinned(feed, 1, 3))
    assert (done.provider_kind, done.is_degraded) == ("delta_native", False)
    assert done.options["window"] == {"starting_version": 1, "ending_version": 3}
    sql = "SELECT _change_type, count(*) FROM Feed WHERE id < 3 GROUP BY 1"
    expected = [("delete", 1), ("update_postimage", 2), ("update_preimage", 2)]
    assert sorted_rows(session.spark.sql(sql)) == expected
    assert session.spark.table("feed").where("_commit_version = 3").count() == 4


# Two snapshots compared, where a profile allows it.


def test_snapshots_are_compared_row_by_row_with_duplicates_counted(
    degraded: RunSession, tmp_path: Path
) -> None:
    table = tmp_path / "t"
    kinds = ("CAST(id % 2 AS INT) AS `a.b`", "'x' AS `c``d`")
    mapping = {"delta.columnMapping.mode": "name"}
    write(degraded.spark.range(4).selectExpr(*kinds), table, **mapping)
    write(degraded.spark.range(1).selectExpr(*kinds), table)
    write(degraded.spark.range(1, 2).selectExpr(*kinds), table, "overwrite")
    done = register_changes(degraded, pinned(table, 1))
    assert (done.provider_kind, done.is_degraded) == ("snapshot_changes", True)
    rows = degraded.spark.table("feed").drop("_commit_timestamp")
    assert sorted_rows(rows) == [(0, "x", "delete", 2)] * 2 + [(1, "x", "delete", 2)]
    assert sorted_rows(read_changes(degraded, pinned(table, 0)).drop("_commit_timestamp")) == [
        (1, "x", "insert", 2)
    ]
    assert sorted_rows(read_changes(degraded, pinned(table, 1, 1)).drop("_commit_timestamp")) == [
        (0, "x", "insert", 1)
    ]
    time = read_changes(degraded, pinned(table, 2)).select("_commit_timestamp").distinct().collect()
    stamp = commit_file(table, 2).stat().st_mtime_ns // 10**6
    assert [int(row[0].timestamp() * 1000) for row in time] == [stamp]
    nothing = CdfWindow(starting_version=9, allow_out_of_range=True)
    assert read_changes(degraded, pin_changes("feed", table.as_uri(), nothing)).collect() == []


def test_a_new_column_is_null_before_and_a_new_type_is_a_typed_error(
    degraded: RunSession, tmp_path: Path
) -> None:
    table = tmp_path / "t"
    write(degraded.spark.range(2), table)
    write(degraded.spark.range(2, 3).selectExpr("id", "7 AS w"), table, mergeSchema="true")
    rows = read_changes(degraded, pinned(table, 1)).select("id", "w", "_change_type")
    assert sorted_rows(rows) == [(2, 7, "insert")]
    write(degraded.spark.range(1).selectExpr("'x' AS id"), table, "overwrite", overwriteSchema="true")
    with pytest.raises(ChangesNotRecorded, match="its column id was bigint in version 1"):
        read_changes(degraded, pinned(table, 2))
    own_names = degraded.spark.range(1).selectExpr("id AS _Commit_Version")
    write(own_names, table, "overwrite", overwriteSchema="true")
    with pytest.raises(ChangesNotRecorded, match="a column _Commit_Version of its own"):
        read_changes(degraded, pinned(table, 3))


def test_a_snapshot_that_clean_up_took_cannot_be_compared(degraded: RunSession, tmp_path: Path) -> None:
    table = tmp_path / "t"
    for _ in range(3):
        write(degraded.spark.range(2), table)
    write(degraded.spark.range(2), table)
    log = degraded.jvm.org.apache.spark.sql.delta.DeltaLog.forTable(degraded.jvm_session, str(table))
    log.checkpoint()
    for version in range(3):
        commit_file(table, version).unlink()
    forget(degraded)
    with pytest.raises(VersionNotFound) as caught:
        read_changes(degraded, pinned(table, 3), origin=Origin("v.py", 3))
    assert caught.value.version == 2


def test_a_table_with_a_feed_is_never_compared(degraded: RunSession, feed: Path) -> None:
    assert open_changes(degraded, pinned(feed, 1)).provider_kind == "delta_native"
