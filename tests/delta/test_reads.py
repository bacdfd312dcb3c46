from __future__ import annotations

import os
import shutil
from collections import Counter
from dataclasses import replace
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

import pytest

from headwater.datasets import timestamp_of
from headwater.delta import (
    FeatureGate,
    LatestVersions,
    ReadOptions,
    list_files,
    open_pinned,
    pin_version,
    read_head,
    read_pinned,
)
from headwater.errors import (
    ChangesNotRecorded,
    NotADeltaTable,
    ScanNotResolved,
    VersionNotFound,
    WriterFeatureMissing,
)
from headwater.origin import Origin
from headwater.runtime import (
    CacheProfile,
    RunSession,
    RuntimeProfile,
    SessionRuntime,
    cache_policy,
    open_runtime,
)

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.names import TablePin

ORIGIN = Origin(path="views/a.py", line=5)


class FixedClock:
    """A clock that is set by hand."""

    seconds = 0.0

    def monotonic(self) -> float:
        return self.seconds

    def now(self):  # noqa: ANN201
        raise AssertionError

    def new_token(self) -> str:
        raise AssertionError


def write(session: RunSession, table: Path, count: int) -> None:
    session.spark.range(count).write.format("delta").mode("overwrite").save(str(table))


def test_a_pinned_read_is_of_its_version(session: RunSession, tmp_path: Path) -> None:
    write(session, tmp_path, 2)
    pin = read_head(tmp_path.as_uri()).pin("t")
    write(session, tmp_path, 5)
    assert read_pinned(session, pin).count() == 2
    assert read_pinned(session, read_head(tmp_path.as_uri()).pin("t")).count() == 5


def test_a_table_made_anew_is_another_table(session: RunSession, tmp_path: Path) -> None:
    table = tmp_path / "t"
    write(session, table, 2)
    pin = read_head(table.as_uri()).pin("t")
    shutil.rmtree(table)
    with pytest.raises(VersionNotFound):
        read_pinned(session, pin)
    write(session, table, 2)
    assert read_head(table.as_uri()).version == pin.version
    with pytest.raises(VersionNotFound) as caught:
        read_pinned(session, pin)
    assert caught.value.exit_code == 3


@pytest.mark.parametrize(
    ("profile", "seen"),
    [
        ("snapshot_pinned", [1, 1, 1, 1]),
        ("always_latest_ttl30s", [1, 1, 1, 2]),
        ("multi_tenant_strict", [1, 2, 2, 2]),
    ],
)
def test_when_a_commit_from_outside_is_seen(
    runtime: SessionRuntime, tmp_path: Path, profile: CacheProfile, seen: list[int]
) -> None:
    """While the session is open: never, within 30 seconds, at once."""
    opened = open_runtime(replace(RuntimeProfile(master="local[2]", driver_memory="2g"), cache=profile))
    clock = FixedClock()
    latest = LatestVersions(opened.identity.cache, clock)
    with runtime.checkout() as outside, opened.checkout() as session:
        write(outside, tmp_path, 1)

        def count() -> int:
            return read_pinned(session, latest.pin("t", tmp_path.as_uri())).count()

        found = [count()]
        write(outside, tmp_path, 2)
        for second in (0.0, 29.9, 30.0):
            clock.seconds = second
            found.append(count())
    assert found == seen


def test_a_strict_session_uses_no_log_that_others_cached(runtime: SessionRuntime, tmp_path: Path) -> None:
    base = RuntimeProfile(master="local[2]", driver_memory="2g")
    strict = open_runtime(replace(base, cache="multi_tenant_strict"))
    with runtime.checkout() as shared, strict.checkout() as alone:
        write(shared, tmp_path, 1)
        pin = read_head(tmp_path.as_uri()).pin("t")

        def cached_log(session: RunSession) -> int:
            read_pinned(session, pin).count()
            log = session.jvm.org.apache.spark.sql.delta.DeltaLog.forTable(session.jvm_session, str(tmp_path))
            return int(session.jvm.java.lang.System.identityHashCode(log))

        first, second = cached_log(shared), cached_log(shared)
        assert first == second
        third, fourth = cached_log(alone), cached_log(alone)
        assert len({first, third, fourth}) == 3


def test_a_version_just_made_is_remembered(tmp_path: Path, session: RunSession) -> None:
    latest = LatestVersions(cache_policy("snapshot_pinned"), FixedClock())
    write(session, tmp_path, 1)
    old = latest.pin("t", tmp_path.as_uri())
    write(session, tmp_path, 2)
    new = read_head(tmp_path.as_uri()).pin("t")
    assert latest.pin("t", tmp_path.as_uri()) == old
    latest.remember(new)
    assert latest.pin("t", tmp_path.as_uri()) == new


def test_two_names_may_stand_for_one_table(tmp_path: Path, session: RunSession) -> None:
    write(session, tmp_path, 1)
    latest = LatestVersions(cache_policy("snapshot_pinned"), FixedClock())
    assert [latest.pin(name, tmp_path.as_uri()).name for name in ("a", "b")] == ["a", "b"]


def test_a_missing_table_is_a_typed_error(tmp_path: Path) -> None:
    with pytest.raises(NotADeltaTable):
        LatestVersions(cache_policy("snapshot_pinned"), FixedClock()).pin("t", (tmp_path / "x").as_uri())


def test_a_version_or_a_time_that_is_asked_for_is_pinned(tmp_path: Path, session: RunSession) -> None:
    for count in (1, 2, 3):
        write(session, tmp_path, count)
    commits = [tmp_path / "_delta_log" / f"{version:020}.json" for version in range(3)]
    hour_ago = commits[0].stat().st_mtime_ns // 1_000_000 - 3_600_000
    for version, commit in enumerate(commits):
        at = (hour_ago + version * 1000) * 1_000_000
        os.utime(commit, ns=(at, at))
    latest, uri = LatestVersions(cache_policy("snapshot_pinned"), FixedClock()), tmp_path.as_uri()
    by_version = latest.pin("t", uri, ReadOptions(version=0))
    by_time = latest.pin("t", uri, ReadOptions(timestamp=timestamp_of(hour_ago + 1500)))
    assert [read_pinned(session, pin).count() for pin in (by_version, by_time)] == [1, 2]
    assert latest.pin("t", uri, ReadOptions()).version == 2
    with pytest.raises(VersionNotFound):
        latest.pin("t", uri, ReadOptions(version=3))


def test_the_rows_of_a_table_that_took_anothers_place_are_its_own(
    session: RunSession, tmp_path: Path
) -> None:
    write(session, tmp_path / "t", 2)
    assert read_pinned(session, read_head((tmp_path / "t").as_uri()).pin("t")).count() == 2
    write(session, tmp_path / "u", 5)
    shutil.rmtree(tmp_path / "t")
    (tmp_path / "u").rename(tmp_path / "t")
    assert read_pinned(session, read_head((tmp_path / "t").as_uri()).pin("t")).count() == 5


# --- conditions ----------------------------------------------------------------------------------------


def made(session: RunSession, path: Path, columns: str, properties: str = "", *steps: str) -> TablePin:
    """A table by SQL; `T` in a step stands for it."""
    listed = f"TBLPROPERTIES ({properties})" if properties else ""
    for step in (f"CREATE TABLE T ({columns}) USING delta {listed}", *steps):
        session.spark.sql(step.replace(" T ", f" delta.`{path}` "))
    return read_head(path.as_uri()).pin("t")


def test_a_gate_is_checked_at_each_read(session: RunSession, tmp_path: Path) -> None:
    pin = made(session, tmp_path, "id INT")
    open_pinned(session, pin, ReadOptions(gate=FeatureGate(required_writer_features=("appendOnly",))))
    gate = FeatureGate(required_writer_features=("rowTracking",))
    with pytest.raises(WriterFeatureMissing) as caught:
        open_pinned(session, pin, ReadOptions(gate=gate), ORIGIN)
    assert caught.value.origin == ORIGIN


def test_a_change_feed_that_is_required_must_be_kept_at_the_version(
    session: RunSession, tmp_path: Path
) -> None:
    enable = "ALTER TABLE T SET TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')"
    pin = made(session, tmp_path, "id INT", "", enable, "INSERT INTO T VALUES (1)")
    asked = ReadOptions(require_change_feed=True)
    assert open_pinned(session, pin, asked).rows.count() == 1
    with pytest.raises(ChangesNotRecorded) as caught:
        open_pinned(session, pin_version("t", pin.uri, version=0), asked, ORIGIN)
    assert (caught.value.dataset, caught.value.origin) == ("t", ORIGIN)


# --- the file of a row ---------------------------------------------------------------------------------


def check_files(session: RunSession, pin: TablePin) -> None:
    """Each row has the file that holds it, as the log writes it, and a file as many as the log promises."""
    rows = read_pinned(session, pin, ReadOptions(file_column="in file")).collect()
    files = list_files(session, pin)
    assert Counter(str(row["in file"]) for row in rows) == {
        each.path: each.rows for each in files if each.rows
    }
    partitions = {each.path: each.partition for each in files}
    for row in rows:
        assert partitions[row["in file"]].get("p") == row["p"]


def test_the_file_of_a_row_is_the_logs_path(session: RunSession, tmp_path: Path) -> None:
    odd = ("'x y'", "'100%'", "'a:b'", "'\u00e9 \u65e5'", "NULL", "'a/b'", "'%41'", "'a:b'")
    values = ", ".join(f"({number}, {value})" for number, value in enumerate(odd))
    for mode, folder in (("none", "plain"), ("name", "odd %41 \u00fc # folder")):
        properties = f"'delta.columnMapping.mode' = '{mode}', 'delta.enableDeletionVectors' = 'true'"
        path = tmp_path / folder
        session.spark.sql(
            f"CREATE TABLE delta.`{path}` (id INT, p STRING) USING delta "
            f"PARTITIONED BY (p) TBLPROPERTIES ({properties})"
        )
        session.spark.sql(f"INSERT INTO delta.`{path}` VALUES {values}")
        session.spark.sql(f"DELETE FROM delta.`{path}` WHERE id = 2")
        check_files(session, read_head(path.as_uri()).pin("t"))
        clone = tmp_path / f"{folder} clone"
        session.spark.sql(f"CREATE TABLE delta.`{clone}` SHALLOW CLONE delta.`{path}`")
        session.spark.sql(f"INSERT INTO delta.`{clone}` VALUES (8, 'own')")
        pin = read_head(clone.as_uri()).pin("t")
        assert {each.path.startswith("file:") for each in list_files(session, pin)} == {True, False}
        check_files(session, pin)


def test_a_file_column_is_no_column_of_the_table(session: RunSession, tmp_path: Path) -> None:
    pin = made(session, tmp_path, "id INT, _metadata STRING", "", "INSERT INTO T VALUES (1, 'own')")
    with pytest.raises(ScanNotResolved) as caught:
        read_pinned(session, pin, ReadOptions(file_column="ID"), ORIGIN)
    assert caught.value.origin == ORIGIN
    row = read_pinned(session, pin, ReadOptions(file_column="file")).collect()[0]
    assert tuple(row) == (1, "own", list_files(session, pin)[0].path)


# --- pushdown ------------------------------------------------------------------------------------------


def rows_scanned(rows: Any) -> tuple[int, int]:
    """How many rows the scan gave, and how many came out."""
    plan = rows._jdf.queryExecution().executedPlan()
    count = int(plan.execute().count())
    while not plan.children().isEmpty():
        plan = plan.children().apply(0)
    return int(plan.metrics().apply("numOutputRows").value()), count


def test_without_pushdown_a_scan_skips_no_rows_and_finds_the_same(
    session: RunSession, tmp_path: Path
) -> None:
    rows = session.spark.range(200_000).coalesce(1)
    rows.write.format("delta").option("parquet.block.size", 100_000).save(str(tmp_path))
    pin = read_head(tmp_path.as_uri()).pin("t")
    session.spark.conf.set("spark.sql.adaptive.enabled", "false")
    before = session.spark.conf.get("spark.sql.parquet.filterPushdown")

    def scanned(**options: Any) -> tuple[int, int]:
        return rows_scanned(read_pinned(session, pin, ReadOptions(**options)).where("id < 10"))

    only = (list_files(session, pin)[0].path,)
    for files in (None, only):
        skipping, found = scanned(files=files)
        assert (skipping < 200_000, found) == (True, 10)
        assert scanned(files=files, pushdown=False) == (200_000, 10)
    assert session.spark.conf.get("spark.sql.parquet.filterPushdown") == before == "true"
    assert scanned()[0] < 200_000


# --- kinds of tables -----------------------------------------------------------------------------------


def rows_at(session: RunSession, pin: TablePin, version: int) -> list[tuple[Any, ...]]:
    rows = read_pinned(session, pin_version("t", pin.uri, version=version)).collect()
    return sorted(tuple(row.asDict().values()) for row in rows)


@pytest.mark.parametrize("mode", ["name", "id"])
def test_renamed_and_dropped_columns_read_right_at_each_version(
    session: RunSession, tmp_path: Path, mode: str
) -> None:
    pin = made(
        session,
        tmp_path,
        "a INT, b STRING, c INT",
        f"'delta.columnMapping.mode' = '{mode}', 'delta.enableRowTracking' = 'true'",
        "INSERT INTO T SELECT /*+ COALESCE(1) */ * FROM VALUES (1, 'x', 10), (2, 'y', 20)",
        "ALTER TABLE T RENAME COLUMN b TO `b new`",
        "ALTER TABLE T DROP COLUMN c",
        "ALTER TABLE T ADD COLUMN c STRING",
        "DELETE FROM T WHERE a = 1",
        "INSERT INTO T VALUES (3, 'z', 'new')",
    )
    assert rows_at(session, pin, 1) == [(1, "x", 10), (2, "y", 20)]
    assert read_pinned(session, pin_version("t", pin.uri, version=2)).columns == ["a", "b new", "c"]
    assert rows_at(session, pin, 3) == [(1, "x"), (2, "y")]
    assert rows_at(session, pin, 4) == [(1, "x", None), (2, "y", None)]
    assert rows_at(session, pin, 6) == [(2, "y", None), (3, "z", "new")]
    before, after = (
        {
            row["a"]: row["row"]
            for row in read_pinned(session, each).selectExpr("a", "_metadata.row_id AS row").collect()
        }
        for each in (pin_version("t", pin.uri, version=1), pin)
    )
    assert before == {1: 0, 2: 1}
    assert after[2] == 1
    assert after[3] not in {0, 1}


def test_values_that_delta_makes_are_read_as_they_were_written(session: RunSession, tmp_path: Path) -> None:
    pin = made(
        session,
        tmp_path,
        "id BIGINT GENERATED ALWAYS AS IDENTITY (START WITH 5 INCREMENT BY 2), day DATE,"
        " year INT GENERATED ALWAYS AS (YEAR(day)), word STRING DEFAULT 'none'",
        "'delta.feature.allowColumnDefaults' = 'supported'",
        "INSERT INTO T (day, word) VALUES (DATE'2024-02-03', DEFAULT)",
        "INSERT INTO T (day, word) VALUES (DATE'2025-02-03', 'said')",
    )
    assert rows_at(session, pin, 1) == [(5, date(2024, 2, 3), 2024, "none")]
    assert [row[2:] for row in rows_at(session, pin, 2)] == [(2024, "none"), (2025, "said")]


def test_types_of_their_own_kind_are_read_as_they_were_written(session: RunSession, tmp_path: Path) -> None:
    pin = made(
        session,
        tmp_path,
        "at TIMESTAMP_NTZ, fixed CHAR(4), short VARCHAR(4), v VARIANT",
        "",
        "INSERT INTO T SELECT TIMESTAMP_NTZ'2024-02-03 04:05:06.789', 'ab', 'cd',"
        " parse_json('{\"k\": [1, 2]}')",
    )
    row = read_pinned(session, pin).selectExpr("at", "fixed", "short", "v:k[1]::int AS k").collect()[0]
    assert tuple(row) == (datetime(2024, 2, 3, 4, 5, 6, 789000), "ab  ", "cd", 2)  # noqa: DTZ001  it has no zone


def test_a_struct_that_grew_reads_right_at_each_version(session: RunSession, tmp_path: Path) -> None:
    pin = made(
        session,
        tmp_path,
        "id INT, s STRUCT<a: INT, deep: STRUCT<x: INT>>",
        "",
        "INSERT INTO T VALUES (1, struct(1, struct(2)))",
        "ALTER TABLE T ADD COLUMNS (s.deep.y STRING)",
        "INSERT INTO T VALUES (2, struct(3, struct(4, 'new')))",
    )
    assert rows_at(session, pin, 1) == [(1, (1, (2,)))]
    assert rows_at(session, pin, 3) == [(1, (1, (2, None))), (2, (3, (4, "new")))]


def test_a_type_that_was_widened_reads_right_at_each_version(session: RunSession, tmp_path: Path) -> None:
    pin = made(
        session,
        tmp_path,
        "id SMALLINT, day DATE",
        "'delta.enableTypeWidening' = 'true', 'delta.feature.timestampNtz' = 'supported'",
        "INSERT INTO T VALUES (1, DATE'2024-02-03')",
        "ALTER TABLE T ALTER COLUMN id TYPE BIGINT",
        "ALTER TABLE T ALTER COLUMN day TYPE TIMESTAMP_NTZ",
        "INSERT INTO T VALUES (5000000000, TIMESTAMP_NTZ'2024-02-03 04:05:06')",
    )
    assert rows_at(session, pin, 1) == [(1, date(2024, 2, 3))]
    midnight = datetime(2024, 2, 3)  # noqa: DTZ001  it has no zone
    assert rows_at(session, pin, 4) == [
        (1, midnight),
        (5_000_000_000, midnight.replace(hour=4, minute=5, second=6)),
    ]
