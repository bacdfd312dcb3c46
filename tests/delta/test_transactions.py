"""What Delta does without a word to a write that names a transaction, and what a caller hears of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from headwater.delta import (
    Append,
    CommitNote,
    Delete,
    Merge,
    MergeClause,
    Update,
    commit_mutation,
    read_head,
    read_history,
    read_pinned,
    same_keys,
)
from headwater.errors import CommitConflict

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pyspark.sql import DataFrame

    from headwater.delta import Mutation
    from headwater.runtime import RunSession

APPLICATION = "headwater/p/t"
NO_MATCH = (MergeClause(when="matched", action="delete"),)


def note(mutation_id: str) -> CommitNote:
    return CommitNote(pipeline="p", table="t", run_id="r", task_key="k", mutation_id=mutation_id)


def numbers(session: RunSession, *values: int) -> DataFrame:
    return session.spark.sql(f"SELECT * FROM VALUES {', '.join(f'({each}L)' for each in values)} AS t(id)")


def rows_at(session: RunSession, table: Path) -> list[int]:
    return sorted(row["id"] for row in read_pinned(session, read_head(table.as_uri()).pin("t")).collect())


def made(session: RunSession, table: Path, *values: int) -> Path:
    first = Append(uri=table.as_uri(), base_version=-1, note=note("made"))
    commit_mutation(session, first, numbers(session, *values))
    return table


def write_as(session: RunSession, table: Path, application: str, number: int) -> None:
    """An append of the row 99, by plain Spark, as a transaction of some application."""
    writer = numbers(session, 99).write.format("delta").mode("append")
    writer.option("txnAppId", application).option("txnVersion", str(number)).save(str(table))


def changes_of(table: Path) -> Sequence[Mutation]:
    """One of each kind that takes no rows through Spark's writer, and changes something."""
    given: dict[str, Any] = {"uri": table.as_uri(), "base_version": 0}
    return (
        Merge(**given, note=note("merge"), on=same_keys("id")),
        Update(**given, note=note("update"), assignments=(("id", "id + 10"),)),
        Delete(**given, note=note("delete"), where="id = 11"),
    )


def test_delta_itself_drops_a_number_that_was_used_before(session: RunSession, tmp_path: Path) -> None:
    """The ground of it all: no error, no commit."""
    write_as(session, tmp_path, "a", 1)
    write_as(session, tmp_path, "a", 1)
    write_as(session, tmp_path, "a", 0)
    assert len(read_history(tmp_path.as_uri())) == 1


@pytest.mark.parametrize("kind", ["merge", "update"])
def test_a_table_may_go_from_one_content_to_another_and_back(
    session: RunSession, tmp_path: Path, kind: str
) -> None:
    made(session, tmp_path, 1)
    uri = tmp_path.as_uri()
    for base, value in enumerate((2, 3, 2)):
        given: dict[str, Any] = {"uri": uri, "base_version": base, "note": note(f"m{base}")}
        rows = numbers(session, value)
        if kind == "merge":
            clauses = (MergeClause(when="matched", action="update"),)
            receipt = commit_mutation(session, Merge(**given, on="true", clauses=clauses), rows)
        else:
            receipt = commit_mutation(session, Update(**given, assignments=(("id", f"{value}L"),)))
        assert (receipt.outcome, receipt.version) == ("committed", base + 1)
        assert rows_at(session, tmp_path) == [value]


def test_a_later_write_on_the_same_base_is_not_dropped(session: RunSession, tmp_path: Path) -> None:
    """Were its number that of its base, Delta would say yes and write nothing."""
    made(session, tmp_path, 1)
    first = Append(uri=tmp_path.as_uri(), base_version=0, note=note("first"))
    assert commit_mutation(session, first, numbers(session, 2)).version == 1
    second = replace(first, note=note("second"))
    receipt = commit_mutation(session, second, numbers(session, 3))
    assert (receipt.outcome, receipt.version) == ("committed", 2)
    assert commit_mutation(session, first, numbers(session, 2)).outcome == "already_committed"
    assert rows_at(session, tmp_path) == [1, 2, 3]


def test_no_transaction_setting_stays_behind_to_swallow_the_next_write(
    session: RunSession, tmp_path: Path
) -> None:
    table = made(session, tmp_path / "t", 1, 2)
    for change in changes_of(table):
        rows = numbers(session, 1, 7) if isinstance(change, Merge) else None
        assert commit_mutation(session, change, rows).outcome == "committed"
    for number in range(2):
        numbers(session, number).write.format("delta").mode("append").save(str(tmp_path / "plain"))
    assert rows_at(session, tmp_path / "plain") == [0, 1]
    assert read_head((tmp_path / "plain").as_uri()).user_metadata is None
    other = made(session, tmp_path / "other", 5)
    assert rows_at(session, other) == [5]
    assert not [key for key in session.spark.conf.getAll if "txnAppId" in key or "txnVersion" in key]


def test_a_setting_that_somebody_else_left_behind_does_not_swallow_a_mutation(
    session: RunSession, tmp_path: Path
) -> None:
    table = made(session, tmp_path / "t", 1, 2)
    write_as(session, table, "left", 7)
    session.spark.conf.set("spark.databricks.delta.write.txnAppId", "left")
    session.spark.conf.set("spark.databricks.delta.write.txnVersion", "7")
    uri = table.as_uri()
    appended = commit_mutation(
        session, Append(uri=uri, base_version=1, note=note("append")), numbers(session, 3)
    )
    deleted = commit_mutation(session, Delete(uri=uri, base_version=2, note=note("delete"), where="id = 1"))
    assert (appended.outcome, appended.version) == ("committed", 2)
    assert (deleted.outcome, deleted.version) == ("committed", 3)
    assert rows_at(session, table) == [2, 3, 99]


@pytest.mark.parametrize("kind", ["merge", "update"])
def test_a_merge_or_update_that_matches_nothing_is_a_commit_and_lands_once(
    session: RunSession, tmp_path: Path, kind: str
) -> None:
    made(session, tmp_path, 1, 2)
    given: dict[str, Any] = {"uri": tmp_path.as_uri(), "base_version": 0, "note": note("m")}
    rows = numbers(session, 50) if kind == "merge" else None
    mutation: Mutation = Update(**given, where="id = 50", assignments=(("id", "0L"),))
    if kind == "merge":
        mutation = Merge(**given, on=same_keys("id"), clauses=NO_MATCH)
    for outcome in ("committed", "already_committed"):
        receipt = commit_mutation(session, mutation, rows)
        assert (receipt.outcome, receipt.version, receipt.rows) == (outcome, 1, 0)
    assert rows_at(session, tmp_path) == [1, 2]


@pytest.mark.parametrize("number", [1, 100])
def test_rows_are_never_dropped_because_somebody_used_our_numbers(
    session: RunSession, tmp_path: Path, number: int
) -> None:
    """A copied or forged transaction may be ahead of the table's versions; Delta then drops ours."""
    made(session, tmp_path, 1)
    write_as(session, tmp_path, APPLICATION, number)
    append = Append(uri=tmp_path.as_uri(), base_version=1, note=note("append"))
    try:
        outcome = commit_mutation(session, append, numbers(session, 3)).outcome
    except CommitConflict:
        outcome = "refused"
    assert (outcome, rows_at(session, tmp_path)) in [("committed", [1, 3, 99]), ("refused", [1, 99])]
