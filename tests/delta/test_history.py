from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.delta import history
from headwater.delta.head import read_commit
from headwater.delta.history import (
    commits_between,
    newest_until,
    read_history,
    schema_at,
    version_at,
    writes_rows,
)
from headwater.delta.log_files import list_log
from headwater.digest import digest_of_bytes
from headwater.errors import LogUnreadable, NotADeltaTable, TimestampOutOfRange
from headwater.runtime import ENGINE_EXCEPTIONS

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.delta.log_files import LogFiles
    from headwater.runtime import RunSession

BEGIN = 1_700_000_000_000


def commit_file(table: Path, version: int) -> Path:
    return table / "_delta_log" / f"{version:020}.json"


def write_commit(table: Path, version: int, at: int | None = None, **info: object) -> bytes:
    """A commit by hand; `at` is its file's time in milliseconds."""
    path = commit_file(table, version)
    path.parent.mkdir(parents=True, exist_ok=True)
    content = (json.dumps({"commitInfo": info}) + "\n").encode() if info else b'{"add":{}}\n'
    path.write_bytes(content)
    if at is not None:
        set_time(table, version, at)
    return content


def set_time(table: Path, version: int, at: int) -> None:
    os.utime(commit_file(table, version), ns=(at * 1_000_000, at * 1_000_000))


def add_checkpoint(table: Path, version: int) -> None:
    (table / "_delta_log" / f"{version:020}.checkpoint.parquet").write_bytes(b"PAR1")


def out_of_range(table: Path, at: int) -> str:
    with pytest.raises(TimestampOutOfRange) as caught:
        version_at(table.as_uri(), at)
    assert caught.value.path == str(table)
    return f"{caught.value.timestamp}: {caught.value.detail}"


def test_the_history_is_what_the_commits_say_newest_first(tmp_path: Path) -> None:
    write_commit(tmp_path, 0, at=BEGIN, timestamp=5, operation="CREATE TABLE", isBlindAppend=True)
    content = write_commit(
        tmp_path,
        1,
        at=BEGIN,
        timestamp=6,
        inCommitTimestamp=7,
        operation="WRITE",
        operationParameters={"mode": "Append", "by": ["b", "a"]},
        operationMetrics={"numOutputRows": "3", "numFiles": "1"},
        userMetadata="note",
        engineInfo="Spark",
        isBlindAppend=False,
        readVersion=0,
    )
    write_commit(tmp_path, 2, at=BEGIN + 9)
    bare, full, first = read_history(tmp_path.as_uri())
    # The newest commit has no time of its own, so the table does not keep them now: files tell.
    assert (full.version, full.timestamp_ms, full.digest) == (1, BEGIN + 1, digest_of_bytes(content))
    assert (full.operation, full.user_metadata, full.engine_info) == ("WRITE", "note", "Spark")
    assert full.parameters == (("by", '["b", "a"]'), ("mode", "Append"))
    assert full.metrics == (("numFiles", "1"), ("numOutputRows", "3"))
    assert (full.is_blind_append, full.read_version) == (False, 0)
    assert (first.version, first.timestamp_ms, first.is_blind_append, first.read_version) == (
        0,
        BEGIN,
        True,
        None,
    )
    assert (bare.version, bare.timestamp_ms, bare.operation, bare.parameters) == (2, BEGIN + 9, "", ())
    assert (bare.user_metadata, bare.engine_info, bare.is_blind_append) == (None, None, None)


def test_the_history_can_be_cut_short_and_may_begin_late(tmp_path: Path) -> None:
    for version in range(10, 14):
        write_commit(tmp_path, version, timestamp=version)
    uri = tmp_path.as_uri()
    assert [each.version for each in read_history(uri)] == [13, 12, 11, 10]
    assert [each.version for each in read_history(uri, 2)] == [13, 12]
    assert [len(read_history(uri, limit)) for limit in (-1, 0, 9)] == [0, 0, 4]


def test_the_time_of_a_commit_leads_back_to_it(tmp_path: Path) -> None:
    for version in range(3):
        write_commit(tmp_path, version, at=BEGIN + 7 * version, timestamp=1)
    for version in range(3, 6):
        write_commit(tmp_path, version, at=BEGIN, timestamp=1, inCommitTimestamp=BEGIN + 100 + version)
    uri = tmp_path.as_uri()
    for each in read_history(uri):
        assert version_at(uri, each.timestamp_ms) == each.version
    assert read_history(uri, 4) == read_history(uri)[:4]


def test_a_history_that_cannot_be_read_says_where(tmp_path: Path) -> None:
    uri = tmp_path.as_uri()
    with pytest.raises(NotADeltaTable):
        read_history(uri)
    for version in range(3):
        write_commit(tmp_path, version, timestamp=1)
    commit_file(tmp_path, 1).write_bytes(b'{"commitInfo":')
    assert len(read_history(uri, 1)) == 1
    with pytest.raises(LogUnreadable, match="version 1 is not a commit"):
        read_history(uri)
    add_checkpoint(tmp_path, 3)
    with pytest.raises(LogUnreadable, match="no commit file"):
        read_history(uri, 1)


def test_a_commit_that_cleanup_takes_meanwhile_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for version in range(2):
        write_commit(tmp_path, version, at=BEGIN, timestamp=1)
    files = list_log(tmp_path.as_uri())
    commit_file(tmp_path, 0).unlink()

    def listed_before(_uri: str) -> LogFiles:
        return files

    monkeypatch.setattr(history, "list_log", listed_before)
    assert [each.version for each in read_history(tmp_path.as_uri())] == [1]
    with pytest.raises(LogUnreadable, match="version 0: No such file"):
        version_at(tmp_path.as_uri(), BEGIN)


def test_a_time_outside_the_history_names_its_ends(tmp_path: Path) -> None:
    write_commit(tmp_path, 0, at=BEGIN)
    write_commit(tmp_path, 1, at=BEGIN + 1500)
    uri = tmp_path.as_uri()
    assert [version_at(uri, BEGIN + after) for after in (0, 1499, 1500)] == [0, 0, 1]
    assert out_of_range(tmp_path, BEGIN - 1) == (
        "2023-11-14T22:13:19.999Z: its first version is 0, of 2023-11-14T22:13:20.000Z"
    )
    assert out_of_range(tmp_path, BEGIN + 1501) == (
        "2023-11-14T22:13:21.501Z: its last version is 1, of 2023-11-14T22:13:21.500Z"
    )
    assert out_of_range(tmp_path, 10**18).startswith("1000000000000000000 ms after 1970: ")


def test_the_newest_until_a_time_may_be_the_last_for_ever(tmp_path: Path) -> None:
    for version in range(2, 5):
        write_commit(tmp_path, version, at=BEGIN + version)
    add_checkpoint(tmp_path, 3)
    found = [newest_until(tmp_path.as_uri(), BEGIN + after) for after in (2, 3, 4, 5, 10**18)]
    assert found == [None, 3, 4, 4, 4]


def test_commits_that_no_version_can_be_made_of_do_not_count(tmp_path: Path) -> None:
    for version in range(2, 6):
        write_commit(tmp_path, version, at=BEGIN + version)
    with pytest.raises(LogUnreadable, match="version 0 is missing"):
        version_at(tmp_path.as_uri(), BEGIN + 3)
    add_checkpoint(tmp_path, 4)
    assert version_at(tmp_path.as_uri(), BEGIN + 4) == 4
    assert "its first version is 4" in out_of_range(tmp_path, BEGIN + 3)


def test_in_commit_timestamps_count_from_where_they_begin(tmp_path: Path) -> None:
    write_commit(tmp_path, 0, at=BEGIN)
    write_commit(tmp_path, 1, at=BEGIN + 900)  # later than the commit that follows
    write_commit(tmp_path, 2, at=BEGIN, inCommitTimestamp=BEGIN + 500)
    write_commit(tmp_path, 3, at=BEGIN, inCommitTimestamp=BEGIN + 600)
    uri = tmp_path.as_uri()
    asked = {0: 0, 499: 0, 500: 2, 599: 2, 600: 3}
    assert {after: version_at(uri, BEGIN + after) for after in asked} == asked
    assert "its last version is 3" in out_of_range(tmp_path, BEGIN + 601)
    set_time(tmp_path, 1, BEGIN + 100)
    assert version_at(uri, BEGIN + 499) == 1  # the later files' times, of a copy perhaps, do not count
    set_time(tmp_path, 1, BEGIN + 900)
    write_commit(tmp_path, 4, at=BEGIN + 2000)  # and no longer, once the table keeps none
    asked = {0: 0, 899: 0, 900: 1, 901: 2, 902: 3, 1999: 3, 2000: 4}
    assert {after: version_at(uri, BEGIN + after) for after in asked} == asked


def test_in_commit_timestamps_may_be_all_there_is(tmp_path: Path) -> None:
    for version in range(2):
        write_commit(tmp_path, version, at=BEGIN, inCommitTimestamp=BEGIN + 10 * version)
    assert version_at(tmp_path.as_uri(), BEGIN + 9) == 0
    assert "its first version is 0" in out_of_range(tmp_path, BEGIN - 1)


# --- against Delta ---------------------------------------------------------------------------------------


def asked_of_delta(session: RunSession, table: Path, at: int) -> int | None:
    """The version that Delta answers, or None if it refuses."""
    log = session.jvm.org.apache.spark.sql.delta.DeltaLog.forTable(session.jvm_session, str(table))
    moment, nothing = session.jvm.java.sql.Timestamp(at), session.jvm.scala.Option.empty()
    try:
        return int(log.history().getActiveCommitAtTime(moment, nothing, False, True, False).version())
    except ENGINE_EXCEPTIONS:
        return None


def answered(table: Path, at: int) -> int | None:
    try:
        return version_at(table.as_uri(), at)
    except TimestampOutOfRange:
        return None


def append(session: RunSession, table: Path, times: int) -> None:
    for _ in range(times):
        session.spark.range(1).write.format("delta").mode("append").save(str(table))


def clear(session: RunSession) -> None:
    session.jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()


def test_the_version_at_a_time_is_deltas_whatever_the_files_times(
    session: RunSession, tmp_path: Path
) -> None:
    append(session, tmp_path, 4)

    @settings(max_examples=15)
    @given(st.lists(st.integers(0, 6), min_size=4, max_size=4))
    def holds(times: list[int]) -> None:
        for version, after in enumerate(times):
            set_time(tmp_path, version, BEGIN + after)
        clear(session)
        for after in range(-1, 12):
            assert answered(tmp_path, BEGIN + after) == asked_of_delta(session, tmp_path, BEGIN + after)

    holds()


def test_the_version_at_a_time_is_deltas_after_cleanup(session: RunSession, tmp_path: Path) -> None:
    append(session, tmp_path, 4)
    clear(session)
    session.jvm.org.apache.spark.sql.delta.DeltaLog.forTable(session.jvm_session, str(tmp_path)).checkpoint()
    append(session, tmp_path, 2)
    for version in range(6):
        set_time(tmp_path, version, BEGIN + 10 * version)
    for version in range(3):
        commit_file(tmp_path, version).unlink()
        clear(session)
        found = [answered(tmp_path, BEGIN + after) for after in range(-5, 60, 5)]
        assert found == [asked_of_delta(session, tmp_path, BEGIN + after) for after in range(-5, 60, 5)]
        assert set(found) == {None, 3, 4, 5}


def test_the_version_at_a_time_is_deltas_with_in_commit_timestamps(
    session: RunSession, tmp_path: Path
) -> None:
    keep = f"ALTER TABLE delta.`{tmp_path}` SET TBLPROPERTIES (delta.enableInCommitTimestamps = "
    append(session, tmp_path, 2)
    for stage, statement in enumerate((f"{keep}true)", f"{keep}false)", f"{keep}true)")):
        session.spark.sql(statement)
        append(session, tmp_path, 2)
        head = 1 + 3 * (stage + 1)
        times = [read_commit(tmp_path.as_uri(), version).timestamp_ms for version in range(head + 1)]
        for version, time in enumerate(times):
            set_time(tmp_path, version, time + 100_000 * (version % 2))
        clear(session)
        moments = sorted({time + step for time in times for step in (-1, 0, 1, 100_000, 100_001)})
        found = {at: answered(tmp_path, at) for at in moments}
        assert found == {at: asked_of_delta(session, tmp_path, at) for at in moments}
        assert len(set(found.values())) > 3


def test_the_version_at_a_time_is_deltas_with_in_commit_timestamps_from_the_start(
    session: RunSession, tmp_path: Path
) -> None:
    session.spark.sql(
        f"CREATE TABLE delta.`{tmp_path}` (id BIGINT) USING delta "
        "TBLPROPERTIES (delta.enableInCommitTimestamps = true)"
    )
    append(session, tmp_path, 3)
    times = [read_commit(tmp_path.as_uri(), version).timestamp_ms for version in range(4)]
    for version in range(4):
        set_time(tmp_path, version, BEGIN)  # as after a copy
    clear(session)
    for version, time in enumerate(times):
        assert version_at(tmp_path.as_uri(), time) == version
        for at in (time - 1, time, time + 1):
            assert answered(tmp_path, at) == asked_of_delta(session, tmp_path, at)


def test_the_history_is_deltas(session: RunSession, tmp_path: Path) -> None:
    append(session, tmp_path, 2)
    session.spark.sql(f"DELETE FROM delta.`{tmp_path}` WHERE id = 0")
    described = session.spark.sql(f"DESCRIBE HISTORY delta.`{tmp_path}`").collect()
    found = read_history(tmp_path.as_uri())
    assert [each.version for each in found] == [2, 1, 0]
    for ours, deltas in zip(found, described, strict=True):
        assert (ours.version, ours.operation) == (deltas["version"], deltas["operation"])
        assert dict(ours.parameters) == deltas["operationParameters"]
        assert dict(ours.metrics) == deltas["operationMetrics"]
        assert (ours.is_blind_append, ours.read_version) == (deltas["isBlindAppend"], deltas["readVersion"])
        assert ours.engine_info == deltas["engineInfo"]


def write_actions(table: Path, version: int, *actions: dict[str, object]) -> None:
    path = commit_file(table, version)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(each) + "\n" for each in actions))


def test_some_commits_are_told_newest_first(tmp_path: Path) -> None:
    for version in range(5):
        write_commit(tmp_path, version, at=BEGIN + version, operation=f"W{version}")
    found = commits_between(tmp_path.as_uri(), 1, 3)
    assert [(each.version, each.operation) for each in found] == [(3, "W3"), (2, "W2"), (1, "W1")]
    commit_file(tmp_path, 2).unlink()
    assert [each.version for each in commits_between(tmp_path.as_uri(), 1, 9)] == [4, 3, 1]
    assert commits_between(tmp_path.as_uri(), 7, 9) == ()
    with pytest.raises(NotADeltaTable):
        commits_between((tmp_path / "nowhere").as_uri(), 0, 1)


def test_a_schema_is_the_newest_that_a_commit_has_said(tmp_path: Path) -> None:
    write_actions(tmp_path, 0, {"metaData": {"schemaString": "one"}}, {"add": {"dataChange": True}})
    write_actions(tmp_path, 1, {"add": {"dataChange": True}})
    write_actions(tmp_path, 2, {"commitInfo": {}}, {"metaData": {"schemaString": "two"}})
    uri = tmp_path.as_uri()
    assert [schema_at(uri, version) for version in range(3)] == ["one", "one", "two"]
    commit_file(tmp_path, 0).unlink()
    assert schema_at(uri, 1) is None


def test_a_commit_touches_rows_unless_it_says_that_it_does_not(tmp_path: Path) -> None:
    write_actions(tmp_path, 0, {"add": {"dataChange": True}})
    write_actions(tmp_path, 1, {"remove": {"dataChange": False}}, {"add": {"dataChange": False}})
    write_actions(tmp_path, 2, {"metaData": {"schemaString": "two"}})
    write_actions(tmp_path, 3, {"remove": {}})
    assert [writes_rows(tmp_path.as_uri(), version) for version in range(5)] == [
        True,
        False,
        False,
        True,
        True,
    ]
