from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.delta.log_files import (
    Checkpoint,
    check_loadable,
    check_readable,
    first_version_of,
    has_staged_commits,
    head_version_of,
    list_log,
)
from headwater.errors import DeltaError, LogUnreadable, NotADeltaTable, VersionNotFound
from headwater.runtime import ENGINE_EXCEPTIONS

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from headwater.runtime import RunSession, SessionRuntime


def make_log(table: Path, commits: Iterable[int], *others: str) -> str:
    """A log of names alone: commits by version, others by name."""
    log = table / "_delta_log"
    log.mkdir(parents=True, exist_ok=True)
    for name in (*(f"{version:020}.json" for version in commits), *others):
        (log / name).write_bytes(b'{"txn":{}}\n')
    return table.as_uri()


def classic(version: int) -> str:
    return f"{version:020}.checkpoint.parquet"


def part(version: int, number: int, of: int) -> str:
    return f"{version:020}.checkpoint.{number:010}.{of:010}.parquet"


def refusal(uri: str, version: int) -> str:
    with pytest.raises(LogUnreadable) as caught:
        check_readable(list_log(uri), version)
    return caught.value.detail


def test_a_log_is_told_by_its_names_and_sizes(tmp_path: Path) -> None:
    compacted = f"{1:020}.{3:020}.compacted.json"
    uri = make_log(
        tmp_path,
        [10, 9, 2],
        classic(2),
        f"{4:020}.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.json",
        f"{5:020}.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.parquet",
        part(9, 1, 3),
        part(9, 3, 3),
        compacted,
        f"{11:020}.json.tmp",
        f".{11:020}.json.crc",
        f"{11:020}.crc",
        f"{1:020}.checkpoint.{2:010}.{1:010}.parquet",
        "11.json",
        "_last_checkpoint",
        "_staged_commits.txt",
    )
    files = list_log(uri)
    assert (files.uri, files.commits) == (uri, ((2, 11), (9, 11), (10, 11)))
    assert [each.version for each in files.checkpoints] == [2, 4, 5, 9]
    assert [each.is_complete for each in files.checkpoints] == [True, True, True, False]
    assert [each.missing for each in files.checkpoints] == [(), (), (), (2,)]
    assert (files.compacted, files.has_staged_commits) == ((compacted,), False)


def test_of_several_checkpoints_of_a_version_the_best_counts(tmp_path: Path) -> None:
    poor = (part(1, 1, 4), part(2, 2, 3), part(3, 1, 2))
    files = list_log(
        make_log(
            tmp_path, [1, 2, 3], *poor, part(1, 1, 2), classic(2), *(part(3, each, 3) for each in (1, 2, 3))
        )
    )
    assert files.checkpoints == (
        Checkpoint(version=1, of=2, present=(1,)),
        Checkpoint(version=2, of=1, present=(1,)),
        Checkpoint(version=3, of=3, present=(1, 2, 3)),
    )


def test_a_part_count_that_nobody_writes_costs_nothing(tmp_path: Path) -> None:
    uri = make_log(tmp_path, [3], part(3, 1, 9_999_999_999))
    assert "lacks part 2 of 9999999999, and 9999999997 more" in refusal(uri, 3)


def test_no_table_is_told_from_a_broken_one(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "empty" / "_delta_log" / "_staged_commits").mkdir(parents=True)
    (tmp_path / "file").write_text("x")
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "_delta_log").write_text("x")
    make_log(tmp_path / "noise", [], f"{1:020}.{3:020}.compacted.json", "_last_checkpoint")
    for name in ("missing", "plain", "empty", "file", "odd", "noise"):
        with pytest.raises(NotADeltaTable):
            list_log((tmp_path / name).as_uri())
    (tmp_path / "loop").mkdir()
    (tmp_path / "loop" / "_delta_log").symlink_to("_delta_log")
    with pytest.raises(LogUnreadable, match="symbolic links"):
        list_log((tmp_path / "loop").as_uri())


def test_a_file_that_goes_while_the_log_is_listed_is_not_there(tmp_path: Path) -> None:
    uri = make_log(tmp_path, [1])
    (tmp_path / "_delta_log" / f"{0:020}.json").symlink_to("gone")
    assert list_log(uri).commits == ((1, 11),)


def test_commits_that_a_catalog_stages_are_not_passed_over(tmp_path: Path) -> None:
    uri = make_log(tmp_path / "a", [0])
    staged = tmp_path / "a" / "_delta_log" / "_staged_commits"
    staged.mkdir()
    assert not has_staged_commits(uri)
    check_readable(list_log(uri), 0)
    (staged / f"{1:020}.80a083e8.json").write_text("{}")
    assert "managed by a catalog" in refusal(uri, 0)
    (tmp_path / "a" / "_delta_log" / f"{0:020}.json").unlink()
    with pytest.raises(LogUnreadable, match="managed by a catalog"):  # and not: there is no table
        head_version_of(list_log(uri))
    shutil.rmtree(staged)
    staged.symlink_to("_staged_commits")
    with pytest.raises(LogUnreadable, match="symbolic links"):
        has_staged_commits(uri)


def test_a_version_that_is_not_there_is_not_a_broken_log(tmp_path: Path) -> None:
    uri = make_log(tmp_path, [4, 5, 6], classic(5))
    files = list_log(uri)
    for version in (-1, 0, 3, 4, 7):
        with pytest.raises(VersionNotFound) as caught:
            check_readable(files, version)
        assert (caught.value.version, caught.value.path) == (version, str(tmp_path))
    check_readable(files, 5)
    check_readable(files, 6)
    assert (head_version_of(files), first_version_of(files)) == (6, 5)


def test_a_checkpoint_without_the_commit_of_its_version_is_no_version(tmp_path: Path) -> None:
    files = list_log(make_log(tmp_path / "a", [4, 5], classic(3)))
    with pytest.raises(VersionNotFound):
        check_readable(files, 3)
    check_readable(files, 4)
    assert first_version_of(files) == 4
    assert "version 3 is missing" in refusal(make_log(tmp_path / "b", [1, 2, 4], classic(3)), 3)


def test_the_first_version_is_commit_0_or_the_oldest_checkpoint(tmp_path: Path) -> None:
    assert first_version_of(list_log(make_log(tmp_path / "a", [0, 1], classic(1)))) == 0
    assert first_version_of(list_log(make_log(tmp_path / "b", [2, 3, 4], classic(3), classic(4)))) == 3
    with pytest.raises(LogUnreadable, match="version 0 is missing"):
        first_version_of(list_log(make_log(tmp_path / "c", [1, 2])))


def test_a_gap_is_named(tmp_path: Path) -> None:
    uri = make_log(tmp_path, [0, 1, 3, 4])
    for version in (4, 3, 1):  # Delta loads the newest version first
        detail = refusal(uri, version)
        assert detail == "the commit file of version 2 is missing"
    make_log(tmp_path, [], classic(3))
    check_readable(list_log(uri), 4)
    check_readable(list_log(uri), 1)
    assert refusal(uri, 2) == "the commit file of version 2 is missing"


def test_a_commit_file_without_content_is_named(tmp_path: Path) -> None:
    uri = make_log(tmp_path, range(6), classic(3))
    log = tmp_path / "_delta_log"
    (log / f"{2:020}.json").write_bytes(b"\n \n")
    assert refusal(uri, 2) == "the commit file of version 2 is empty"
    check_readable(list_log(uri), 1)
    check_readable(list_log(uri), 3)  # the checkpoint stands for it
    (log / f"{4:020}.json").write_bytes(b"")
    assert refusal(uri, 5) == "the commit file of version 4 is empty"
    (log / f"{3:020}.json").write_bytes(b"")
    assert refusal(uri, 3) == "the commit file of version 3 is empty"  # no pin could tell it from another
    check_loadable(list_log(uri))


def test_a_part_that_is_missing_matters_only_if_it_is_needed(tmp_path: Path) -> None:
    uri = make_log(tmp_path, range(6), part(4, 2, 3), part(4, 3, 3))
    check_readable(list_log(uri), 5)
    log = tmp_path / "_delta_log"
    (log / f"{1:020}.json").unlink()
    assert refusal(uri, 5) == "the checkpoint of version 4 lacks part 1 of 3"
    (log / f"{0:020}.json").unlink()
    assert refusal(uri, 4) == "the checkpoint of version 4 lacks part 1 of 3"
    (log / part(4, 1, 3)).write_bytes(b"")
    assert refusal(uri, 4) == "the checkpoint of version 4 lacks part 1 of 3"
    (log / part(4, 1, 3)).write_bytes(b"PAR1")
    check_readable(list_log(uri), 5)
    shutil.rmtree(log)
    make_log(tmp_path, [4, 5], classic(4))
    (log / classic(4)).write_bytes(b"")
    assert refusal(uri, 5) == "the checkpoint of version 4 is an empty file"


def test_the_newest_version_may_not_be_a_checkpoint_alone(tmp_path: Path) -> None:
    uri = make_log(tmp_path, [0, 1], part(2, 1, 2))
    for version in (0, 1, 2):
        assert refusal(uri, version) == "it has a checkpoint of version 2 but no commit file for it"


# --- against Delta ---------------------------------------------------------------------------------------


def read_version(session: RunSession, table: Path, version: int) -> list[int] | None:
    """The rows that Delta finds, or None if it refuses."""
    session.jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
    try:
        rows = session.spark.read.format("delta").option("versionAsOf", version).load(str(table)).collect()
    except ENGINE_EXCEPTIONS:
        return None
    return sorted(int(row["id"]) for row in rows)


def is_readable(table: Path, version: int) -> bool:
    try:
        check_readable(list_log(table.as_uri()), version)
    except DeltaError:
        return False
    return True


@pytest.fixture(scope="module")
def made(runtime: SessionRuntime, tmp_path_factory: pytest.TempPathFactory) -> Path:
    with runtime.checkout() as session:
        return make_table(session, tmp_path_factory.mktemp("made") / "t")


def make_table(session: RunSession, table: Path) -> Path:
    """Version n has the rows 0 to n; 2 has a checkpoint in one file, 4 one in parts."""
    delta_log = session.jvm.org.apache.spark.sql.delta.DeltaLog
    for version in range(6):
        rows = session.spark.range(version, version + 1, 1, 1)
        rows.write.format("delta").mode("append").save(str(table))
        if version in {2, 4}:
            size = {2: "100", 4: "3"}[version]
            session.spark.conf.set("spark.databricks.delta.checkpoint.partSize", size)
            delta_log.clearCache()
            delta_log.forTable(session.jvm_session, str(table)).checkpoint()
    session.spark.conf.unset("spark.databricks.delta.checkpoint.partSize")
    for crc in sorted((table / "_delta_log").glob("*.crc")):  # Delta's shortcuts around the log
        crc.unlink()
    return table


def test_what_is_refused_is_what_delta_cannot_load(session: RunSession, made: Path, tmp_path: Path) -> None:
    table = shutil.copytree(made, tmp_path / "t")
    log = table / "_delta_log"
    parts = sorted(path.name for path in log.glob(f"{4:020}.checkpoint.*"))
    assert len(parts) > 1
    assert list_log(table.as_uri()).checkpoints[-1].is_complete
    commits = [f"{version:020}.json" for version in range(6)]
    cases: list[tuple[tuple[str, ...], int]] = [
        ((), 5),
        ((), 0),
        ((), 6),
        ((commits[1],), 5),
        ((commits[1],), 1),
        ((commits[0], commits[1]), 1),
        ((*commits[:4],), 4),
        ((*commits[:4], commits[5]), 4),
        ((parts[0],), 5),
        ((parts[0], classic(2)), 5),
        ((parts[0], classic(2), commits[1]), 5),
        ((parts[0], classic(2), *commits[:4]), 5),
        (tuple(commits[4:]), 4),
        (tuple(commits), 5),
        ((*commits[:4], classic(2), commits[4]), 5),
    ]
    for gone, version in cases:
        copy = tmp_path / "copy"
        shutil.copytree(table, copy)
        for name in gone:
            (copy / "_delta_log" / name).unlink()
        rows = read_version(session, copy, version)
        assert is_readable(copy, version) == (rows is not None), (gone, version, rows)
        assert rows in (None, list(range(version + 1)))
        shutil.rmtree(copy)


def test_an_empty_commit_is_what_delta_reads_without_a_word(
    session: RunSession, made: Path, tmp_path: Path
) -> None:
    table = shutil.copytree(made, tmp_path / "t")
    (table / "_delta_log" / f"{1:020}.json").write_bytes(b"")
    assert read_version(session, table, 1) != [0, 1]
    assert not is_readable(table, 1)
    for version in (0, 2, 5):
        assert is_readable(table, version)
        assert read_version(session, table, version) == list(range(version + 1))


def test_whatever_is_taken_away_what_is_accepted_is_whole(
    session: RunSession, made: Path, tmp_path: Path
) -> None:
    table = shutil.copytree(made, tmp_path / "t")
    names = sorted(path.name for path in (table / "_delta_log").glob("0*"))

    @settings(max_examples=20)
    @given(st.sets(st.sampled_from(names), max_size=6), st.integers(0, 6))
    def holds(gone: set[str], version: int) -> None:
        copy = tmp_path / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(table, copy)
        for name in sorted(gone):
            (copy / "_delta_log" / name).unlink()
        rows = read_version(session, copy, version)
        if is_readable(copy, version):
            assert rows == list(range(version + 1))
        elif rows is not None:  # stricter in one way: a version whose own commit is gone has no identity
            files = list_log(copy.as_uri())
            own_is_gone = version not in dict(files.commits)
            assert own_is_gone or files.checkpoints[-1].version not in dict(files.commits)

    holds()
