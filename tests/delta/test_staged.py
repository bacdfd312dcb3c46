from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from headwater.delta import Append, CommitNote, Overwrite, commit_mutation, find_staged, read_head

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from headwater.runtime import RunSession


def note(mutation_id: str, key: str = "k1") -> CommitNote:
    return CommitNote(pipeline="p", table="paid", run_id="r", task_key=key, mutation_id=mutation_id)


@pytest.fixture
def staged(session: RunSession, tmp_path: Path) -> Path:
    """A table of two files in a folder with an odd name."""
    folder = tmp_path / "a b%20"
    rows = session.spark.range(10).repartition(2)
    commit_mutation(session, Overwrite(uri=folder.as_uri(), base_version=-1, note=note("m1")), rows)
    return folder


def test_rows_of_this_task_that_are_all_there_are_found(staged: Path) -> None:
    assert find_staged(staged.as_uri(), "paid", "k1") == read_head(staged.as_uri())
    assert len(list(staged.glob("*.parquet"))) == 2


def test_another_tasks_rows_are_not(staged: Path, tmp_path: Path) -> None:
    assert find_staged(staged.as_uri(), "paid", "k2") is None
    assert find_staged(staged.as_uri(), "other", "k1") is None
    assert find_staged((tmp_path / "nothing").as_uri(), "paid", "k1") is None


def _remove_file(folder: Path) -> None:
    next(folder.glob("*.parquet")).unlink()


def _lengthen_file(folder: Path) -> None:
    with next(folder.glob("*.parquet")).open("ab") as file:
        file.write(b"x")


def _commit_more(folder: Path) -> None:
    (folder / "_delta_log" / f"{1:020}.json").write_text('{"commitInfo":{"operation":"WRITE"}}\n')


def _break_commit(folder: Path) -> None:
    (folder / "_delta_log" / f"{0:020}.json").write_text("{")


def _lose_commit(folder: Path) -> None:
    (folder / "_delta_log" / f"{0:020}.json").unlink()


def _write_nonsense(folder: Path) -> None:
    path = folder / "_delta_log" / f"{0:020}.json"
    info = next(line for line in path.read_text().splitlines() if "commitInfo" in line)
    path.write_text(f"{info}\n{json.dumps({'add': {'size': 1}})}\n")


@pytest.mark.parametrize(
    "damage", [_remove_file, _lengthen_file, _commit_more, _break_commit, _lose_commit, _write_nonsense]
)
def test_what_is_damaged_is_not_found(staged: Path, damage: Callable[[Path], None]) -> None:
    damage(staged)
    assert find_staged(staged.as_uri(), "paid", "k1") is None


def test_rows_written_again_are_those_of_the_newest_commit(session: RunSession, staged: Path) -> None:
    _remove_file(staged)
    again = Overwrite(
        uri=staged.as_uri(), base_version=0, note=note("m2", "k2"), exact=True, schema_mode="overwrite"
    )
    commit_mutation(session, again, session.spark.range(3).toDF("n"), None)
    assert find_staged(staged.as_uri(), "paid", "k1") is None
    found = find_staged(staged.as_uri(), "paid", "k2")
    assert found is not None
    assert found.version == 1


def test_no_rows_are_all_there(session: RunSession, tmp_path: Path) -> None:
    uri = (tmp_path / "empty").as_uri()
    commit_mutation(session, Overwrite(uri=uri, base_version=-1, note=note("m1")), session.spark.range(0))
    assert find_staged(uri, "paid", "k1") is not None


def test_an_appends_commit_is_not_the_whole_table(session: RunSession, staged: Path) -> None:
    """Its files are only those that it added."""
    uri = staged.as_uri()
    commit_mutation(session, Append(uri=uri, base_version=0, note=note("m3")), session.spark.range(2))
    assert find_staged(uri, "paid", "k1") is None
