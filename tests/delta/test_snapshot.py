from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from headwater.delta import LatestVersions, SnapshotInfo, describe_pin, pin_version, read_head, snapshot_info
from headwater.delta.snapshot import check_pin, open_log, open_snapshot
from headwater.digest import digest_of_bytes
from headwater.errors import LogUnreadable, NotADeltaTable, TimestampOutOfRange, VersionNotFound
from headwater.names import SnapshotKey
from headwater.origin import Origin
from headwater.runtime import (
    RunSession,
    RuntimeProfile,
    SessionRuntime,
    StorageProfile,
    cache_policy,
    open_runtime,
)

if TYPE_CHECKING:
    from pathlib import Path

_ORIGIN = Origin(path="views/a.py", line=3)


@dataclass(frozen=True)
class Table:
    """A table of three versions, and what Delta's own commands say about each of them."""

    path: Path
    history: dict[int, Any]
    details: dict[int, Any]

    @property
    def uri(self) -> str:
        return self.path.as_uri()


@pytest.fixture(scope="module")
def table(runtime: SessionRuntime, tmp_path_factory: pytest.TempPathFactory) -> Table:
    path = tmp_path_factory.mktemp("snapshots") / "a table ü"
    name = f"delta.`{path}`"
    details: dict[int, Any] = {}
    columns = "(id BIGINT NOT NULL, day STRING, Part INT) USING delta PARTITIONED BY (Part, day)"
    protocol = "'delta.minReaderVersion' = '1', 'delta.minWriterVersion' = '2'"
    first = f"{protocol}, 'own.word' = 'b=c', 'delta.enableDeletionVectors' = 'false'"
    later = "'delta.enableChangeDataFeed' = 'true', 'delta.enableDeletionVectors' = 'true'"
    steps = (
        f"CREATE TABLE {name} {columns} TBLPROPERTIES ({first})",
        f"ALTER TABLE {name} SET TBLPROPERTIES ({later})",
        f"INSERT INTO {name} VALUES (1, 'x', 2)",
    )
    with runtime.checkout() as session:
        for version, step in enumerate(steps):
            session.spark.sql(step)
            commit = path / "_delta_log" / f"{version:020}.json"
            at = 1_700_000_000_123 + version * 60_000
            os.utime(commit, ns=(at * 1_000_000, at * 1_000_000))
            session.jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
            details[version] = session.spark.sql(f"DESCRIBE DETAIL {name}").collect()[0]
        history = {row["version"]: row for row in session.spark.sql(f"DESCRIBE HISTORY {name}").collect()}
    return Table(path=path, history=history, details=details)


def iso(moment: datetime) -> str:
    return moment.replace(tzinfo=UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@pytest.mark.parametrize("version", [0, 1, 2])
def test_a_snapshot_is_what_delta_says_of_it(session: RunSession, table: Table, version: int) -> None:
    found = snapshot_info(session, table.uri, version=version)
    detail = table.details[version]
    assert found.table_uri == table.uri
    assert found.version == version
    assert found.timestamp == iso(table.history[version]["timestamp"])
    assert (found.min_reader_version, found.min_writer_version) == (
        detail["minReaderVersion"],
        detail["minWriterVersion"],
    )
    assert found.table_properties == detail["properties"]
    assert found.partition_columns == tuple(detail["partitionColumns"]) == ("Part", "day")
    assert {*found.writer_features, *found.implied_writer_features} == set(detail["tableFeatures"])
    fields = [
        (each["name"], each["type"], each["nullable"]) for each in json.loads(found.schema_json)["fields"]
    ]
    assert fields == [("id", "long", False), ("day", "string", True), ("Part", "integer", True)]
    commit = table.path / "_delta_log" / f"{version:020}.json"
    assert found.digest == digest_of_bytes(commit.read_bytes())


def test_features_that_are_listed_are_apart_from_those_that_are_implied(
    session: RunSession, table: Table
) -> None:
    old, new = (snapshot_info(session, table.uri, version=version) for version in (0, 2))
    assert (old.reader_features, old.writer_features) == ((), ())
    assert (old.implied_reader_features, old.implied_writer_features) == ((), ("appendOnly", "invariants"))
    assert new.reader_features == ("deletionVectors",)
    assert {"deletionVectors", "changeDataFeed", "appendOnly"} <= set(new.writer_features)
    assert (new.implied_reader_features, new.implied_writer_features) == ((), ())
    assert (old.keeps_changes, new.keeps_changes) == (False, True)


@pytest.mark.parametrize(
    ("timestamp", "version"),
    [
        ("2023-11-14T22:13:20.123Z", 0),
        ("2023-11-14T22:13:20.123", 0),
        ("2023-11-14T23:14:20.122+01:00", 0),
        ("2023-11-14T23:14:20.123+01:00", 1),
        ("2023-11-14T22:15:20.123+00:00", 2),
    ],
)
def test_a_time_names_the_version_that_was_the_newest(
    session: RunSession, table: Table, timestamp: str, version: int
) -> None:
    assert snapshot_info(session, table.uri, timestamp=timestamp) == snapshot_info(
        session, table.uri, version=version
    )


@pytest.mark.parametrize("timestamp", ["2023-11-14T22:13:20.122Z", "2023-11-14T22:15:20.124Z"])
def test_a_time_outside_the_history_is_refused(session: RunSession, table: Table, timestamp: str) -> None:
    with pytest.raises(TimestampOutOfRange):
        snapshot_info(session, table.uri, timestamp=timestamp)


def test_without_a_version_it_is_the_newest(session: RunSession, table: Table) -> None:
    assert snapshot_info(session, table.uri) == snapshot_info(session, table.uri, version=2)


def test_a_pin_is_a_version_and_the_digest_of_its_commit(table: Table) -> None:
    pin = pin_version("orders", table.uri, version=1)
    content = (table.path / "_delta_log" / f"{1:020}.json").read_bytes()
    assert (pin.name, pin.uri, pin.version, pin.digest) == ("orders", table.uri, 1, digest_of_bytes(content))
    assert pin_version("orders", table.uri, timestamp="2023-11-14T22:14:20.123Z") == pin
    assert pin_version("t", table.uri) == read_head(table.uri).pin("t")
    with pytest.raises(VersionNotFound):
        pin_version("orders", table.uri, version=3)


def test_a_table_has_one_key_however_its_path_is_written(
    session: RunSession, table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "link").symlink_to(table.path)
    (tmp_path / "folder").symlink_to(table.path.parent)
    monkeypatch.chdir(table.path.parent)
    storage = StorageProfile()
    spelt = (
        str(table.path),
        f"{table.path}/",
        str(tmp_path / "link"),
        str(tmp_path / "folder" / table.path.name),
        table.path.name,
        f"./{table.path.name}/../{table.path.name}",
        table.uri,
        f"{table.uri}/",
    )
    found = {snapshot_info(session, storage.canonical_uri(each)).key for each in spelt}
    assert found == {SnapshotKey(canonical_uri=table.path.resolve().as_uri(), version=2)}


def make(session: RunSession, path: Path, column: str, count: int = 1) -> None:
    rows = session.spark.range(count).withColumnRenamed("id", column)
    rows.coalesce(1).write.format("delta").mode("append").save(str(path))


def columns_of(info: SnapshotInfo) -> list[str]:
    return [each["name"] for each in json.loads(info.schema_json)["fields"]]


def test_what_delta_cached_of_a_table_before_is_not_taken_for_the_new_one(
    session: RunSession, tmp_path: Path
) -> None:
    """Somebody else puts another table at the path; Delta has version 0 of that path in memory."""
    path = tmp_path / "t"
    make(session, path, "before")
    old = read_head(path.as_uri()).pin("t")
    assert columns_of(describe_pin(session, old)) == ["before"]
    make(session, tmp_path / "other", "after", 2)
    shutil.rmtree(path)
    (tmp_path / "other").rename(path)
    new = read_head(path.as_uri()).pin("t")
    assert new.version == old.version
    assert columns_of(describe_pin(session, new)) == ["after"]
    with pytest.raises(VersionNotFound) as caught:
        describe_pin(session, old, _ORIGIN)
    assert (caught.value.exit_code, caught.value.origin) == (3, _ORIGIN)


def test_a_pin_whose_version_was_cleaned_up_is_gone(session: RunSession, tmp_path: Path) -> None:
    for _ in range(3):
        make(session, tmp_path, "a")
    pins = [pin_version("t", tmp_path.as_uri(), version=version) for version in range(3)]
    open_log(session, tmp_path.as_uri()).checkpoint()
    for version in range(2):
        (tmp_path / "_delta_log" / f"{version:020}.json").unlink()
    for pin in pins[:2]:
        with pytest.raises(VersionNotFound) as caught:
            describe_pin(session, pin)
        assert caught.value.exit_code == 3
    assert describe_pin(session, pins[2]).version == 2


def test_a_pin_over_a_damaged_log_says_so_with_its_origin(session: RunSession, tmp_path: Path) -> None:
    for _ in range(3):
        make(session, tmp_path, "a")
    pin = read_head(tmp_path.as_uri()).pin("t")
    (tmp_path / "_delta_log" / f"{1:020}.json").unlink()
    with pytest.raises(LogUnreadable) as caught:
        check_pin(pin, _ORIGIN)
    assert caught.value.origin == _ORIGIN


def test_a_folder_without_a_log_is_no_table(session: RunSession, tmp_path: Path) -> None:
    with pytest.raises(NotADeltaTable):
        snapshot_info(session, tmp_path.as_uri())


def test_a_strict_session_describes_from_a_log_of_its_own(runtime: SessionRuntime, tmp_path: Path) -> None:
    base = RuntimeProfile(master="local[2]", driver_memory="2g")
    strict = open_runtime(replace(base, cache="multi_tenant_strict"))
    with runtime.checkout() as shared, strict.checkout() as alone:
        make(shared, tmp_path, "a")
        pin = LatestVersions(cache_policy("snapshot_pinned"), FixedClock()).pin("t", tmp_path.as_uri())

        def log_of(session: RunSession) -> int:
            log = open_snapshot(session, pin).deltaLog()
            return int(session.jvm.java.lang.System.identityHashCode(log))

        assert log_of(shared) == log_of(shared)
        assert len({log_of(shared), log_of(alone), log_of(alone)}) == 3


class FixedClock:
    """A clock that stands still."""

    def monotonic(self) -> float:
        return 0.0

    def now(self) -> datetime:
        raise AssertionError

    def new_token(self) -> str:
        raise AssertionError
