"""Real tables, damaged in every way: each gives its typed error, with the path and a way out, or right rows.

That lines at the end of a commit were cut off is nothing that a read can notice: the log says less, and the
read gives what it says. `verify_pin` notices, by the checksum that Delta wrote for the version.
"""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from headwater.delta import (
    CommitNote,
    Overwrite,
    commit_mutation,
    list_files,
    open_pinned,
    pin_version,
    preview_scan,
    read_head,
    reading_errors,
    verify_pin,
)
from headwater.errors import (
    BeyondRetention,
    DataFileMissing,
    DataFileUnreadable,
    DeltaError,
    LogUnreadable,
    NotADeltaTable,
    ProtocolUnsupported,
    TimestampOutOfRange,
    VersionNotFound,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pyspark.sql import DataFrame

    from headwater.runtime import RunSession, SessionRuntime

ROWS = list(range(30))
FIRST, MIDDLE, LAST = (f"{version:020}.json" for version in range(3))
PARTS = "spark.databricks.delta.checkpoint.partSize"
BY_AGE = "spark.databricks.delta.vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration"
COMPACTED = "spark.databricks.delta.deltaLog.minorCompaction.useForReads"
SPECIAL = ("a b%20c:d schön 表", '100% "a#b?c"[1]{d}*+', "it's a\\b")


def make_table(session: RunSession, table: Path, options: Mapping[str, str] | None = None) -> None:
    """Three commits of ten rows in one file each."""
    for start in (0, 10, 20):
        rows = session.spark.range(start, start + 10).coalesce(1)
        rows.write.format("delta").mode("append").options(**(options or {})).save(str(table))


@pytest.fixture(scope="module")
def plain(runtime: SessionRuntime, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("plain") / "table"
    with runtime.checkout() as session:
        make_table(session, path)
    return path


@pytest.fixture(scope="module")
def deleted_from(runtime: SessionRuntime, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("vectors") / "table"
    with runtime.checkout() as session:
        make_table(session, path, {"delta.enableDeletionVectors": "true"})
        session.spark.sql(f"DELETE FROM delta.`{path}` WHERE id IN (3, 5)")
    return path


@pytest.fixture
def table(plain: Path, tmp_path: Path) -> Path:
    """A table of three commits that a test may damage."""
    return shutil.copytree(plain, tmp_path / "table")


def rows_of(frame: DataFrame) -> list[int]:
    with reading_errors():
        return sorted(row[0] for row in frame.collect())


def read(session: RunSession, table: Path) -> list[int]:
    forget(session)
    return rows_of(open_pinned(session, read_head(table.as_uri()).pin("t")).rows)


def listed(session: RunSession, table: Path) -> int:
    forget(session)
    return len(list_files(session, read_head(table.as_uri()).pin("t")))


def verified(session: RunSession, table: Path) -> tuple[str, ...]:
    forget(session)
    return verify_pin(session, read_head(table.as_uri()).pin("t")).problems


def forget(session: RunSession) -> None:
    """What was damaged by hand must be read from disk."""
    session.jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()


def change(path: Path, content: bytes) -> None:
    """Writes over a file, and takes away Hadoop's checksum, which would notice before Delta does."""
    path.write_bytes(content)
    (path.parent / f".{path.name}.crc").unlink(missing_ok=True)


def edit(table: Path, action: str, **values: object) -> None:
    """Changes an action of the first commit or, if it is an add, the middle one; no checksum tells of it."""
    log = table / "_delta_log"
    path = log / (MIDDLE if action == "add" else FIRST)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        if action in line:
            line[action] |= values
    change(path, "".join(json.dumps(line) + "\n" for line in lines).encode())
    for checksum in log.glob("*.crc"):
        checksum.unlink()


def checkpoint(session: RunSession, table: Path) -> None:
    log = session.jvm.org.apache.spark.sql.delta.DeltaLog.forTable(session.jvm_session, str(table))
    log.checkpoint()


def assert_told(error: DeltaError, table: Path, shows: str = "", exit_code: int = 1) -> None:
    assert str(table) in error.message
    assert shows in error.message
    assert error.next_step
    assert error.exit_code == exit_code


def assert_refused(session: RunSession, table: Path, kind: type[DeltaError], shows: str = "") -> None:
    """Rows, files and verification are refused alike."""
    for way in (read, listed, verified):
        with pytest.raises(kind) as caught:
            way(session, table)
        assert type(caught.value) is kind
        assert_told(caught.value, table, shows)


def data_file(table: Path) -> Path:
    return min(table.glob("*.parquet"))


# --- logs ----------------------------------------------------------------------------------------------


def test_a_folder_without_a_log_is_no_table(session: RunSession, table: Path) -> None:
    shutil.rmtree(table / "_delta_log")
    assert_refused(session, table, NotADeltaTable)


def test_an_empty_log_is_no_table(session: RunSession, table: Path) -> None:
    shutil.rmtree(table / "_delta_log")
    (table / "_delta_log").mkdir()
    assert_refused(session, table, NotADeltaTable)


def test_a_folder_that_is_not_there_is_no_table(session: RunSession, tmp_path: Path) -> None:
    assert_refused(session, tmp_path / "nothing", NotADeltaTable)


@pytest.mark.parametrize("name", [FIRST, MIDDLE, LAST])
def test_a_commit_that_is_cut_off_within_a_line_is_refused(
    session: RunSession, table: Path, name: str
) -> None:
    path = table / "_delta_log" / name
    change(path, path.read_bytes()[:-40])
    assert_refused(session, table, LogUnreadable, "version 2" if name == LAST else name)


@pytest.mark.parametrize("name", [MIDDLE, LAST])
def test_a_commit_that_is_cut_off_between_lines_is_found_by_its_checksum(
    session: RunSession, table: Path, name: str
) -> None:
    pin = read_head(table.as_uri()).pin("t")
    path = table / "_delta_log" / name
    lines = path.read_bytes().splitlines(keepends=True)
    assert b'"add"' in lines[-1]
    change(path, b"".join(lines[:-1]))
    assert len(read(session, table)) == 20  # the log says no more than that
    problems = verified(session, table)
    assert "the checksum of version 2 says 3 files, and its log gives 2" in problems
    if name == LAST:  # who pinned it before sees at once that it is another commit
        with pytest.raises(VersionNotFound):
            open_pinned(session, pin)


def test_an_empty_commit_is_refused(session: RunSession, table: Path) -> None:
    change(table / "_delta_log" / MIDDLE, b"")
    assert_refused(session, table, LogUnreadable, "version 1 is empty")


def test_a_gap_between_versions_is_refused(session: RunSession, table: Path) -> None:
    (table / "_delta_log" / MIDDLE).unlink()
    assert_refused(session, table, LogUnreadable, "version 1 is missing")


def test_a_commit_that_is_not_what_hadoop_wrote_is_refused(session: RunSession, table: Path) -> None:
    path = table / "_delta_log" / MIDDLE
    path.write_bytes(path.read_bytes().replace(b"WRITE", b"WR1TE"))
    assert_refused(session, table, LogUnreadable, MIDDLE)


def test_a_checkpoint_without_one_of_its_parts_is_passed_over_or_refused(
    session: RunSession, table: Path
) -> None:
    session.spark.conf.set(PARTS, "2")
    checkpoint(session, table)
    log = table / "_delta_log"
    parts = sorted(log.glob("*.checkpoint.*.parquet"))
    assert len(parts) == 2
    parts[0].unlink()
    assert read(session, table) == ROWS  # all commits are there
    assert verified(session, table) == ()
    (log / FIRST).unlink()
    assert_refused(session, table, LogUnreadable, "part 1 of 2")


@pytest.mark.parametrize("content", [None, b"garbage"], ids=["missing", "corrupt"])
def test_a_checkpoint_without_its_sidecar_is_refused(
    session: RunSession, tmp_path: Path, content: bytes | None
) -> None:
    table = tmp_path / "table"
    make_table(session, table, {"delta.checkpointPolicy": "v2"})
    checkpoint(session, table)
    (sidecar,) = (table / "_delta_log" / "_sidecars").glob("*.parquet")
    change(sidecar, content or b"")
    if content is None:
        sidecar.unlink()
    assert_refused(session, table, LogUnreadable, f"_sidecars/{sidecar.name}")


def test_a_corrupt_checkpoint_is_refused(session: RunSession, table: Path) -> None:
    checkpoint(session, table)
    (path,) = (table / "_delta_log").glob("*.checkpoint.parquet")
    change(path, path.read_bytes()[:200])
    assert_refused(session, table, LogUnreadable, path.name)


@pytest.mark.parametrize("content", [b"garbage", b'{"version":99,"size":1}'])
def test_a_corrupt_hint_at_the_last_checkpoint_changes_nothing(
    session: RunSession, table: Path, content: bytes
) -> None:
    checkpoint(session, table)
    change(table / "_delta_log" / "_last_checkpoint", content)
    assert read(session, table) == ROWS
    assert verified(session, table) == ()


def test_a_corrupt_checksum_of_a_version_changes_nothing(session: RunSession, table: Path) -> None:
    path = table / "_delta_log" / f"{2:020}.crc"
    change(path, path.read_bytes()[:50])
    assert read(session, table) == ROWS
    assert verified(session, table) == ()


def test_a_compacted_log_file_with_other_content_changes_nothing(session: RunSession, table: Path) -> None:
    log = table / "_delta_log"
    wrong = log / f"{0:020}.{2:020}.compacted.json"
    wrong.write_bytes((log / FIRST).read_bytes())
    assert read(session, table) == ROWS
    assert verified(session, table) == ()
    assert listed(session, table) == 3
    session.spark.conf.set(COMPACTED, "true")
    assert read(session, table) == ROWS[:10]  # what Delta does unless it is told not to


# --- protocols and actions -----------------------------------------------------------------------------

NEWER: dict[str, tuple[str, dict[str, Any]]] = {
    "a reader version": (
        "protocol",
        {"minReaderVersion": 99, "minWriterVersion": 7, "readerFeatures": [], "writerFeatures": []},
    ),
    "a reader feature": (
        "protocol",
        {
            "minReaderVersion": 3,
            "minWriterVersion": 7,
            "readerFeatures": ["levitation"],
            "writerFeatures": ["levitation"],
        },
    ),
}


@pytest.mark.parametrize("name", NEWER)
def test_a_table_that_is_newer_than_this_delta_is_refused(
    session: RunSession, table: Path, name: str
) -> None:
    action, values = NEWER[name]
    edit(table, action, **values)
    assert_refused(session, table, ProtocolUnsupported)


def test_a_column_mapping_that_this_delta_does_not_know_is_refused(session: RunSession, table: Path) -> None:
    edit(table, "metaData", configuration={"delta.columnMapping.mode": "levitation"})
    with pytest.raises(ProtocolUnsupported) as caught:
        read(session, table)
    assert_told(caught.value, table, "levitation")


WRONG: dict[str, tuple[str, dict[str, Any]]] = {
    "a version without its features": ("protocol", {"minReaderVersion": 99}),
    "a version that is a word": ("protocol", {"minReaderVersion": "new"}),
    "a schema that is no JSON": ("metaData", {"schemaString": "{nope"}),
    "a schema that ends early": ("metaData", {"schemaString": '{"type":'}),
    "a type that nobody knows": ("metaData", {"schemaString": '{"type":"hologram"}'}),
    "a partition column that is not there": ("metaData", {"partitionColumns": ["region"]}),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_commit_that_is_json_and_yet_none_is_refused(session: RunSession, table: Path, name: str) -> None:
    action, values = WRONG[name]
    edit(table, action, **values)
    assert_refused(session, table, LogUnreadable)


def test_a_file_size_that_is_a_word_is_refused(session: RunSession, table: Path) -> None:
    edit(table, "add", size="many")
    assert_refused(session, table, LogUnreadable, MIDDLE)


@pytest.mark.parametrize("way", [open_pinned, verify_pin])
def test_a_version_that_is_older_than_deleted_files_are_kept_is_refused(
    session: RunSession, table: Path, way: Callable[..., object]
) -> None:
    """Only where somebody asks for it: as Headwater sets Delta, files that are there can be read."""
    properties = "'delta.deletedFileRetentionDuration' = 'interval 0 hours'"
    session.spark.sql(f"ALTER TABLE delta.`{table}` SET TBLPROPERTIES ({properties})")
    pin = pin_version("t", table.as_uri(), version=0)
    assert rows_of(open_pinned(session, pin).rows) == ROWS[:10]
    session.spark.conf.set(BY_AGE, "true")
    with pytest.raises(BeyondRetention) as caught:
        way(session, pin)
    assert_told(caught.value, table, "version 0", exit_code=3)


def test_a_time_before_the_first_version_is_refused(table: Path) -> None:
    with pytest.raises(TimestampOutOfRange) as caught:
        pin_version("t", table.as_uri(), timestamp="2001-01-01T00:00:00Z")
    assert_told(caught.value, table, "2001-01-01")


# --- data files ----------------------------------------------------------------------------------------


def test_a_missing_data_file_is_named(session: RunSession, table: Path) -> None:
    path = data_file(table)
    path.unlink()
    with pytest.raises(DataFileMissing) as caught:
        read(session, table)
    assert caught.value.file == path.name
    assert_told(caught.value, table, path.name, exit_code=3)
    assert verified(session, table) == (f"{path.name}: no such file or directory",)


CORRUPT: dict[str, Callable[[bytes], bytes]] = {
    "all of it": lambda content: b"x" * len(content),
    "its end": lambda content: content[:100],
    "everything but its frame": lambda content: content[:10] + b"\xff" * 50 + content[60:],
    "its length": lambda _: b"",
}


@pytest.mark.parametrize("what", CORRUPT)
def test_a_corrupt_data_file_is_named(session: RunSession, table: Path, what: str) -> None:
    path = data_file(table)
    change(path, CORRUPT[what](path.read_bytes()))
    with pytest.raises(DataFileUnreadable) as caught:
        read(session, table)
    assert_told(caught.value, table, path.name)
    (problem,) = verified(session, table)
    assert path.name in problem


def test_a_data_file_with_other_types_is_named(session: RunSession, table: Path, tmp_path: Path) -> None:
    session.spark.sql("SELECT 'one' AS id").coalesce(1).write.parquet(str(tmp_path / "other"))
    path = data_file(table)
    change(path, data_file(tmp_path / "other").read_bytes())
    with pytest.raises(DataFileUnreadable) as caught:
        read(session, table)
    assert_told(caught.value, table, path.name)


def test_a_missing_deletion_vector_is_named_by_its_data_file(
    session: RunSession, deleted_from: Path, tmp_path: Path
) -> None:
    table = shutil.copytree(deleted_from, tmp_path / "table")
    assert read(session, table) == [each for each in ROWS if each not in {3, 5}]
    (vector,) = table.rglob("deletion_vector*.bin")
    vector.unlink()
    with pytest.raises(DataFileMissing) as caught:
        read(session, table)
    assert_told(caught.value, table, "the deletion vector of part-", exit_code=3)
    (problem,) = verified(session, table)
    assert "the deletion vector of part-" in problem


@pytest.mark.parametrize("keep", [0, 12, 39], ids=["empty", "cut off", "garbled"])
def test_a_corrupt_deletion_vector_is_named_by_its_data_file(
    session: RunSession, deleted_from: Path, tmp_path: Path, keep: int
) -> None:
    table = shutil.copytree(deleted_from, tmp_path / "table")
    (vector,) = table.rglob("deletion_vector*.bin")
    content = vector.read_bytes()
    filling = b"\xff" * (len(content) - keep) if keep > 12 else b""
    change(vector, content[:keep] + filling)
    with pytest.raises(DataFileUnreadable) as caught:
        read(session, table)
    assert_told(caught.value, table, "part-")
    (problem,) = verified(session, table)
    assert "part-" in problem


def test_a_table_that_is_deleted_before_its_log_is_loaded_is_no_table(
    session: RunSession, table: Path
) -> None:
    forget(session)
    frame = open_pinned(session, read_head(table.as_uri()).pin("t")).rows
    shutil.rmtree(table)
    with pytest.raises(NotADeltaTable) as caught:
        rows_of(frame)
    assert_told(caught.value, table)


def test_a_table_that_is_deleted_while_it_is_read_lacks_its_files(session: RunSession, table: Path) -> None:
    frame = open_pinned(session, read_head(table.as_uri()).pin("t")).rows
    assert rows_of(frame) == ROWS
    shutil.rmtree(table)
    with pytest.raises(DataFileMissing) as caught:
        rows_of(frame.where("id >= 0"))
    assert_told(caught.value, table, "part-", exit_code=3)


# --- names ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SPECIAL)
def test_a_table_may_have_any_name(session: RunSession, tmp_path: Path, name: str) -> None:
    table = tmp_path / name / "table"
    note = CommitNote(pipeline="p", table="t", run_id="r", task_key="k", mutation_id="m")
    mutation = Overwrite(uri=table.as_uri(), base_version=-1, note=note)
    commit_mutation(session, mutation, session.spark.range(10).coalesce(1))
    pin = read_head(table.as_uri()).pin("t")
    assert rows_of(open_pinned(session, pin).rows) == ROWS[:10]
    (file,) = list_files(session, pin)
    kept = preview_scan(session, pin, filters=("id > 3",))
    assert (kept.files_kept, kept.files_total, kept.kept) == (1, 1, (file,))
    assert preview_scan(session, pin, filters=("id > 90",)).files_kept == 0
    assert verify_pin(session, pin).is_whole
    data_file(table).unlink()
    with pytest.raises(DataFileMissing) as caught:
        rows_of(open_pinned(session, pin).rows)
    assert_told(caught.value, table, file.path, exit_code=3)


def test_a_partition_may_have_any_value(session: RunSession, tmp_path: Path) -> None:
    values = (*SPECIAL, "a/b", "a=b", ".", None)
    rows = session.spark.createDataFrame(list(enumerate(values)), "id INT, part STRING")
    rows.coalesce(1).write.format("delta").partitionBy("part").save(str(tmp_path))
    pin = read_head(tmp_path.as_uri()).pin("t")
    found = open_pinned(session, pin).rows
    assert {row["id"]: row["part"] for row in found.collect()} == dict(enumerate(values))
    assert {each.partition["part"] for each in list_files(session, pin)} == set(values)
    for at, value in enumerate(values):
        wanted = "NULL" if value is None else "r'" + value + "'" if "'" not in value else f'r"{value}"'
        preview = preview_scan(session, pin, filters=(f"part <=> {wanted}",))
        assert [each.partition["part"] for each in preview.kept] == [value]
        assert rows_of(found.where(f"part <=> {wanted}")) == [at]
    assert verify_pin(session, pin).is_whole
    victim = min(path for path in tmp_path.rglob("*.parquet") if "%" in path.parent.name)
    victim.unlink()
    with pytest.raises(DataFileMissing) as caught:
        rows_of(found.where("id >= 0"))
    assert caught.value.file == victim.relative_to(tmp_path).as_posix()
    assert_told(caught.value, tmp_path, victim.name, exit_code=3)
