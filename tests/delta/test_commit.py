from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from py4j.protocol import Py4JNetworkError
from pyspark.sql import DataFrameWriter

from headwater.delta import Append, CommitNote, Overwrite, commit_mutation, read_head, read_pinned
from headwater.errors import CommitConflict, EngineFailed
from headwater.origin import Origin

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.runtime import RunSession


def note(mutation_id: str) -> CommitNote:
    return CommitNote(pipeline="p", table="t", run_id="r", task_key="k", mutation_id=mutation_id)


def overwrite(table: Path, base: int, mutation_id: str) -> Overwrite:
    return Overwrite(uri=table.as_uri(), base_version=base, note=note(mutation_id))


def rows_at(session: RunSession, table: Path) -> list[int]:
    pin = read_head(table.as_uri()).pin("t")
    return sorted(row["id"] for row in read_pinned(session, pin).collect())


def test_a_commit_has_a_version_rows_and_a_note(session: RunSession, tmp_path: Path) -> None:
    table = tmp_path / "a b%é"
    receipt = commit_mutation(overwrite(table, -1, "one"), session.spark.range(3))
    assert (receipt.outcome, receipt.pin.version, receipt.rows) == ("committed", 0, 3)
    assert receipt.pin.uri == table.as_uri()
    assert read_head(table.as_uri()).digest == receipt.pin.digest
    appended = commit_mutation(
        Append(uri=table.as_uri(), base_version=0, note=note("two")), session.spark.range(2)
    )
    assert (appended.pin.version, appended.rows) == (1, 2)
    assert rows_at(session, table) == [0, 0, 1, 1, 2]


def test_the_same_mutation_lands_once(session: RunSession, tmp_path: Path) -> None:
    mutation = Append(uri=tmp_path.as_uri(), base_version=-1, note=note("one"))
    first = commit_mutation(mutation, session.spark.range(3))
    again = commit_mutation(mutation, session.spark.range(3))
    assert again.outcome == "already_committed"
    assert again.pin == first.pin
    assert rows_at(session, tmp_path) == [0, 1, 2]


def test_a_table_may_go_there_and_back_again(session: RunSession, tmp_path: Path) -> None:
    for base, count in ((-1, 2), (0, 5), (1, 2)):
        commit_mutation(overwrite(tmp_path, base, f"m{base}"), session.spark.range(count))
    assert read_head(tmp_path.as_uri()).version == 2
    assert rows_at(session, tmp_path) == [0, 1]


def test_the_schema_may_change(session: RunSession, tmp_path: Path) -> None:
    commit_mutation(overwrite(tmp_path, -1, "a"), session.spark.range(1))
    commit_mutation(overwrite(tmp_path, 0, "b"), session.spark.sql("SELECT 'x' AS id, 1.5 AS more"))
    pin = read_head(tmp_path.as_uri()).pin("t")
    assert read_pinned(session, pin).schema.names == ["id", "more"]


def test_a_lost_race_is_not_taken_for_a_commit(session: RunSession, tmp_path: Path) -> None:
    """Delta says nothing when it drops the second of two writers on one base; we do."""
    commit_mutation(overwrite(tmp_path, -1, "first"), session.spark.range(2))
    commit_mutation(overwrite(tmp_path, 0, "winner"), session.spark.range(3))
    with pytest.raises(CommitConflict) as caught:
        commit_mutation(overwrite(tmp_path, 0, "loser"), session.spark.range(9), Origin("v.py", 1))
    assert caught.value.origin == Origin("v.py", 1)
    assert rows_at(session, tmp_path) == [0, 1, 2]


def test_two_that_make_one_table_do_not_both_think_they_did(session: RunSession, tmp_path: Path) -> None:
    commit_mutation(overwrite(tmp_path, -1, "winner"), session.spark.range(3))
    with pytest.raises(CommitConflict):
        commit_mutation(overwrite(tmp_path, -1, "loser"), session.spark.range(9))
    assert rows_at(session, tmp_path) == [0, 1, 2]


def test_a_commit_that_landed_is_a_commit_even_if_the_bridge_broke(
    session: RunSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save = DataFrameWriter.save

    def save_and_break(writer: DataFrameWriter, path: str) -> None:
        save(writer, path)
        raise Py4JNetworkError("Answer from Java side is empty")

    monkeypatch.setattr(DataFrameWriter, "save", save_and_break)
    receipt = commit_mutation(overwrite(tmp_path, -1, "one"), session.spark.range(3))
    assert (receipt.outcome, receipt.pin.version, receipt.rows) == ("committed", 0, 3)


def test_a_write_leaves_no_setting_behind(session: RunSession, tmp_path: Path) -> None:
    commit_mutation(overwrite(tmp_path / "a", -1, "one"), session.spark.range(1))
    session.spark.range(4).write.format("delta").save(str(tmp_path / "b"))
    assert read_head((tmp_path / "b").as_uri()).user_metadata is None


def test_rows_that_cannot_be_computed_leave_no_table(session: RunSession, tmp_path: Path) -> None:
    table = tmp_path / "t"
    rows = session.spark.sql("SELECT 1 DIV x AS y FROM VALUES (1), (0) AS t(x)")
    with pytest.raises(EngineFailed) as caught:
        commit_mutation(overwrite(table, -1, "one"), rows, Origin("v.sql", 1))
    assert caught.value.condition == "DIVIDE_BY_ZERO"
    assert not list(table.glob("_delta_log/*.json"))
    commit_mutation(overwrite(table, -1, "two"), session.spark.range(1))
    with pytest.raises(EngineFailed):
        commit_mutation(overwrite(table, 0, "three"), rows)
    assert rows_at(session, table) == [0]
