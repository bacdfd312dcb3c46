"""Tables that are whole, and tables that are wrong in every way that was thought of."""

from __future__ import annotations

import base64
import json
import shutil
import struct
from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import pytest

from headwater.delta import (
    RowPromise,
    ScanCounter,
    Verification,
    missing_files,
    pin_version,
    promised_rows,
    read_head,
    read_pinned,
    verify_pin,
)
from headwater.delta import verifying as verifying_module
from headwater.delta.content import digest_rows
from headwater.errors import NotADeltaTable, RowsDiffer, VersionNotFound
from headwater.origin import Origin

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame

    from headwater.names import TablePin
    from headwater.runtime import RunSession, SessionRuntime

VECTORS = {"delta.enableDeletionVectors": "true"}
B85 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
Z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"


def commit_file(table: Path, version: int) -> Path:
    return table / "_delta_log" / f"{version:020}.json"


def pin(table: Path, version: int | None = None) -> TablePin:
    return pin_version("t", table.as_uri(), version=version)


def write(rows: DataFrame, table: Path, mode: str = "append", **options: str) -> None:
    rows.coalesce(1).write.format("delta").mode(mode).options(**options).save(str(table))


def forget(session: RunSession) -> None:
    session.jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()


def delete_row_100(session: RunSession, table: Path) -> None:
    """A commit whose deletion vector takes out row 100 of the table's only file, which has no such row."""
    version = read_head(table.as_uri()).version
    actions: list[dict[str, Any]] = [
        json.loads(line) for line in commit_file(table, version).read_text().splitlines()
    ]
    add = next(action["add"] for action in actions if "add" in action)
    raw = struct.pack("<IQIIIHHIH", 1681511377, 1, 0, 12346, 1, 0, 0, 16, 100) + b"\0\0"
    text = base64.b85encode(raw).decode().translate(str.maketrans(B85, Z85))
    vector = {"storageType": "i", "pathOrInlineDv": text, "sizeInBytes": len(raw), "cardinality": 1}
    gone = {"path": add["path"], "dataChange": True, "deletionTimestamp": add["modificationTime"]}
    lines = [
        {"commitInfo": {"operation": "DELETE", "timestamp": add["modificationTime"]}},
        {"remove": gone},
        {"add": {**add, "deletionVector": vector}},
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    commit_file(table, version + 1).write_text(text)
    forget(session)


@pytest.fixture(scope="module")
def wrong(tmp_path_factory: pytest.TempPathFactory, runtime: SessionRuntime) -> Path:
    """Version 0 has ten rows; version 1 says that it has nine, and has ten."""
    table = tmp_path_factory.mktemp("wrong") / "t"
    with runtime.checkout() as session:
        write(session.spark.range(10).selectExpr("id", "id * 10 AS v"), table, **VECTORS)
        delete_row_100(session, table)
    return table


def test_a_deletion_vector_that_names_no_row_is_found(session: RunSession, wrong: Path) -> None:
    assert read_pinned(session, pin(wrong)).count() == 9
    assert len(read_pinned(session, pin(wrong)).collect()) == 10
    found = verify_pin(session, pin(wrong))
    file = next(wrong.glob("*.parquet"))
    assert not found.is_whole
    assert found == Verification(
        snapshot=pin(wrong).key,
        digest=pin(wrong).digest,
        promise=RowPromise(
            files=1, bytes=file.stat().st_size, rows=9, deleted_rows=1, files_without_statistics=0
        ),
        rows_scanned=10,
        problems=(
            "the log promises 9 rows and a scan gives 10",
            f"{file.name}: 9 promised, 10 found",
        ),
        content=digest_rows(read_pinned(session, pin(wrong))),
    )
    assert promised_rows(session, pin(wrong)) == 9
    before = verify_pin(session, pin(wrong, 0))
    assert (before.is_whole, before.rows_scanned) == (True, 10)


def test_a_table_with_right_deletion_vectors_is_whole_until_they_are_gone(
    session: RunSession, tmp_path: Path
) -> None:
    write(session.spark.range(10), tmp_path, **VECTORS)
    session.spark.sql(f"DELETE FROM delta.`{tmp_path}` WHERE id = 3")
    found = verify_pin(session, pin(tmp_path))
    assert (found.problems, found.rows_scanned, found.promise.deleted_rows) == ((), 9, 1)
    for path in (*tmp_path.glob("*.bin"), *tmp_path.glob(".*.bin.crc")):
        path.unlink()
    assert not verify_pin(session, pin(tmp_path)).is_whole


def test_partitions_odd_names_and_shallow_clones_are_whole(session: RunSession, tmp_path: Path) -> None:
    """The log writes paths encoded, and a clone whole ones: each file is still found."""
    table, clone = tmp_path / "a b%20c", tmp_path / "clone"
    rows = session.spark.range(8).selectExpr("id AS _metadata", "concat('x /%:', id % 2) AS k").coalesce(1)
    rows.write.format("delta").partitionBy("k").save(str(table))
    session.spark.sql(f"CREATE TABLE delta.`{clone}` SHALLOW CLONE delta.`{table}`")
    for each in (table, clone):
        found = verify_pin(session, pin(each))
        assert (found.problems, found.rows_scanned, found.promise.files) == ((), 8, 2), each
        assert (
            verifying_module._differing_files(
                session, pin(each), verifying_module.list_files(session, pin(each))
            )
            == []
        )


def test_files_of_one_name_in_two_folders_are_told_apart(session: RunSession, tmp_path: Path) -> None:
    """Both are named f.parquet; one of them has fewer rows than its log says."""
    table = tmp_path / "t"
    rows = session.spark.range(8).selectExpr("id", "id % 2 AS k").coalesce(1)
    rows.write.format("delta").partitionBy("k").save(str(table))
    commit = commit_file(table, 0)
    lines = commit.read_text()
    for file in sorted(table.glob("k=*/*.parquet")):
        file.rename(file.with_name("f.parquet"))
        lines = lines.replace(file.name, "f.parquet")
    assert lines.count("f.parquet") == 2
    at = lines.rindex('\\"numRecords\\":4')
    commit.write_text(lines[:at] + lines[at:].replace('\\"numRecords\\":4', '\\"numRecords\\":5'))
    for each in table.rglob(".*.crc"):
        each.unlink()
    forget(session)
    found = verify_pin(session, pin(table))
    assert found.problems[0] == "the log promises 9 rows and a scan gives 8"
    assert len(found.problems) == 2
    assert found.problems[1].endswith("/f.parquet: 5 promised, 4 found")


def test_an_empty_table_is_whole(session: RunSession, tmp_path: Path) -> None:
    session.spark.sql(f"CREATE TABLE delta.`{tmp_path / 't'}` (id INT) USING delta")
    found = verify_pin(session, pin(tmp_path / "t"))
    assert (found.problems, found.rows_scanned, found.promise.rows) == ((), 0, 0)
    assert promised_rows(session, pin(tmp_path / "t")) == 0


def test_without_statistics_nothing_is_promised(session: RunSession, tmp_path: Path) -> None:
    none, few = tmp_path / "none", tmp_path / "few"
    session.spark.conf.set("spark.databricks.delta.stats.collect", "false")
    write(session.spark.range(5), none)
    session.spark.conf.set("spark.databricks.delta.stats.collect", "true")
    write(session.spark.range(4), none)
    found = verify_pin(session, pin(none))
    assert (found.problems, found.rows_scanned) == ((), 9)
    assert (found.promise.rows, found.promise.files_without_statistics) == (None, 1)
    assert promised_rows(session, pin(none)) is None
    write(session.spark.range(5), few, **{"delta.dataSkippingNumIndexedCols": "0"})
    assert verify_pin(session, pin(few)).promise.rows == 5


def test_missing_files_are_listed_as_the_log_writes_them(session: RunSession, tmp_path: Path) -> None:
    rows = session.spark.range(3).selectExpr("id", "concat('a b', id) AS part")
    rows.write.format("delta").partitionBy("part").save(str(tmp_path / "t"))
    assert missing_files(session, pin(tmp_path / "t")) == ()
    (gone,) = (tmp_path / "t" / "part=a b1").glob("*.parquet")
    gone.unlink()
    assert missing_files(session, pin(tmp_path / "t")) == (f"part=a%20b1/{gone.name}",)


def test_files_that_are_missing_or_of_another_size_are_named(session: RunSession, tmp_path: Path) -> None:
    session.spark.range(24).repartition(12).write.format("delta").save(str(tmp_path))
    files = sorted(tmp_path.glob("*.parquet"))
    files[0].unlink()
    files[1].write_bytes(b"x" * 7)
    size = files[2].stat().st_size
    found = verify_pin(session, pin(tmp_path))
    assert found.rows_scanned is None
    assert found.problems[0] == f"{files[0].name}: no such file or directory"
    assert found.problems[1].startswith(f"{files[1].name}: ")
    assert found.problems[1].endswith(" bytes promised, 7 found")
    for each in files[2:]:
        each.unlink()
    problems = verify_pin(session, pin(tmp_path)).problems
    assert (len(problems), problems[-1]) == (11, "and 2 more files")
    assert size > 7


@pytest.mark.parametrize("with_side_file", [True, False])
def test_bytes_that_changed_in_place_are_found(
    session: RunSession, tmp_path: Path, *, with_side_file: bool
) -> None:
    write(session.spark.range(5000).selectExpr("id", "sha(CAST(id AS STRING)) AS h"), tmp_path)
    file = next(tmp_path.glob("*.parquet"))
    content = bytearray(file.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 400] = bytes(each ^ 0xFF for each in content[middle : middle + 400])
    file.write_bytes(bytes(content))
    if not with_side_file:
        (tmp_path / f".{file.name}.crc").unlink()
    found = verify_pin(session, pin(tmp_path))
    assert found.rows_scanned is None
    assert [file.name in problem for problem in found.problems] == [True]


def test_a_log_that_lost_a_line_does_not_agree_with_its_checksum(session: RunSession, tmp_path: Path) -> None:
    for count in range(1, 5):
        write(session.spark.range(count), tmp_path)
    commit = commit_file(tmp_path, 2)
    lines = commit.read_text().splitlines(keepends=True)
    commit.write_text("".join(line for line in lines if '"add"' not in line))
    (commit.parent / f".{commit.name}.crc").unlink()
    forget(session)
    found = verify_pin(session, pin(tmp_path))
    assert found.problems[0] == "the checksum of version 3 says 4 files, and its log gives 3"
    assert "bytes, and its log gives" in found.problems[1]
    assert verify_pin(session, pin(tmp_path, 1)).is_whole
    (commit.parent / f"{3:020}.crc").write_text("no checksum")
    (commit.parent / f".{3:020}.crc.crc").unlink()
    forget(session)
    assert verify_pin(session, pin(tmp_path)).is_whole


def test_a_log_that_is_not_the_pinned_one_is_an_error_not_a_finding(
    session: RunSession, tmp_path: Path
) -> None:
    write(session.spark.range(1), tmp_path / "t")
    known = pin(tmp_path / "t")
    shutil.rmtree(tmp_path / "t")
    with pytest.raises(VersionNotFound):
        verify_pin(session, known)
    write(session.spark.range(1), tmp_path / "t")
    with pytest.raises(VersionNotFound):
        verify_pin(session, known)
    with pytest.raises(NotADeltaTable):
        verify_pin(session, pin(tmp_path / "none"))


def test_the_log_is_loaded_from_disk(session: RunSession, tmp_path: Path) -> None:
    """What Delta remembers of a table is not what is verified."""
    write(session.spark.range(3), tmp_path)
    assert verify_pin(session, pin(tmp_path)).is_whole
    next(tmp_path.glob("*.parquet")).unlink()
    assert not verify_pin(session, pin(tmp_path)).is_whole


def counted(session: RunSession, table: Path) -> ScanCounter:
    return ScanCounter(session, pin(table), read_pinned(session, pin(table)))


def test_a_counter_knows_what_a_job_read(session: RunSession, wrong: Path, tmp_path: Path) -> None:
    counter = counted(session, wrong)
    assert counter.found() is None
    counter.check(9)
    write(counter.rows.groupBy().count(), tmp_path / "out")
    assert counter.found() == 10
    counter.check(10)
    counter.check(None)
    with pytest.raises(RowsDiffer, match="promises 9 rows and a scan gives 10") as caught:
        counter.check(9, Origin("v.py", 3))
    assert (caught.value.version, caught.value.exit_code) == (1, 1)
    assert caught.value.origin == Origin("v.py", 3)


def test_a_wrong_count_of_a_whole_table_is_no_alarm(
    session: RunSession, wrong: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A task that is tried twice counts twice; a scan of our own has the last word."""
    whole = ScanCounter(session, pin(wrong, 0), read_pinned(session, pin(wrong, 0)))
    monkeypatch.setattr(ScanCounter, "found", Mock(return_value=20))
    whole.check(10)
    with pytest.raises(RowsDiffer):
        counted(session, wrong).check(9)


def test_rows_that_were_counted_twice_are_not_all_read_again(
    session: RunSession, wrong: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files that follow an order are sampled first, by the same job."""
    counter = ScanCounter(session, pin(wrong, 0), read_pinned(session, pin(wrong, 0)))
    ordered = counter.rows.repartitionByRange(2, "id")
    write(ordered, tmp_path / "out")
    assert counter.found() == 20
    monkeypatch.setattr(verifying_module, "verify_pin", Mock(side_effect=AssertionError))
    assert counter.check(10)


def test_rows_are_promised_by_one_sum(
    session: RunSession, wrong: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_list(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(verifying_module, "list_files", no_list)
    assert promised_rows(session, pin(wrong)) == 9
