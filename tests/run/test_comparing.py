"""Rows of two tables, told apart: counts, samples, keys, and values that are only nearly equal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headwater.delta import marked_approximate, pin_version
from headwater.errors import DataFileMissing
from headwater.run.comparing import RowDifference, SampleRow, compare_rows, count_far

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from headwater.names import TablePin
    from headwater.runtime import RunSession

    Write = Callable[..., TablePin]

NO_DIFFERENCE = RowDifference(only_before=0, only_after=0, removed=0, added=0, changed=None)


@pytest.fixture
def write(session: RunSession, tmp_path: Path) -> Write:
    """Writes the rows of a query as a table; `near` are columns that are marked as approximate."""

    def to(name: str, sql: str, *near: str) -> TablePin:
        rows = marked_approximate(session, session.spark.sql(sql), near)
        rows.coalesce(1).write.format("delta").save(str(tmp_path / name))
        return pin_version(name, (tmp_path / name).as_uri())

    return to


def test_rows_count_as_often_as_they_are_there(session: RunSession, write: Write) -> None:
    """Maps in another order are the same row, and nulls, lists and structs are compared too."""
    more = "array(1, NULL) AS b, named_struct('c', 1.5D) AS s"
    one = write("one", f"SELECT id % 2 AS a, map('x', 1, 'y', 2) AS m, {more} FROM range(4)")
    same = write("same", f"SELECT id % 2 AS a, map('y', 2, 'x', 1) AS m, {more} FROM range(4)")
    less = write("less", f"SELECT id % 2 AS a, map('x', 1, 'y', 2) AS m, {more} FROM range(3)")
    assert compare_rows(session, one, same) == NO_DIFFERENCE
    row = {"a": 1, "m": {"x": 1, "y": 2}, "b": [1, None], "s": {"c": 1.5}}
    assert compare_rows(session, one, less) == RowDifference(
        only_before=1,
        only_after=0,
        removed=1,
        added=0,
        changed=None,
        samples=(SampleRow(kind="removed", before=row),),
    )
    assert compare_rows(session, less, one).only_after == 1


def test_rows_of_one_key_are_one_that_changed(session: RunSession, write: Write) -> None:
    one = write("one", "SELECT id, id * 2 AS v, CAST(NULL AS INT) AS n FROM range(10)")
    two = write("two", "SELECT id, if(id = 3, 0, id * 2) AS v, CAST(NULL AS INT) AS n FROM range(1, 11)")
    found = compare_rows(session, one, two, ["ID"])
    assert (found.only_before, found.only_after, found.changed) == (2, 2, 1)
    assert (found.removed, found.added, found.columns) == (1, 1, (("v", 1),))
    assert found.samples == (
        SampleRow(kind="changed", before={"id": 3, "v": 6, "n": None}, after={"id": 3, "v": 0, "n": None}),
        SampleRow(kind="removed", before={"id": 0, "v": 0, "n": None}),
        SampleRow(kind="added", after={"id": 10, "v": 20, "n": None}),
    )
    assert compare_rows(session, one, two, ["nowhere"]).changed is None


def test_samples_are_few(session: RunSession, write: Write) -> None:
    found = compare_rows(
        session,
        write("one", "SELECT id FROM range(20)"),
        write("two", "SELECT -1L - id AS id FROM range(30)"),
    )
    assert (found.only_before, found.only_after) == (20, 30)
    assert [each.kind for each in found.samples] == ["removed"] * 5 + ["added"] * 5


def test_approximate_columns_are_compared_with_a_tolerance(session: RunSession, write: Write) -> None:
    """Rows that are alike in what is exact are put side by side by size, however many there are."""
    values = "SELECT id % 2 AS k, CASE id WHEN 5 THEN NULL WHEN 4 THEN double('NaN') ELSE id + {} END AS v"
    one = write("one", f"{values.format('0.1D')} FROM range(6)", "v")
    near = write("near", f"{values.format('0.1D + id * 1e-13D')} FROM range(6)", "v")
    far = write("far", f"{values.format('if(id = 3, 0.1000001D, 0.1D)')} FROM range(6)", "v")
    assert compare_rows(session, one, far) == NO_DIFFERENCE
    assert count_far(session, one, near) == 0
    assert count_far(session, one, far) == 1
    assert count_far(session, write("exact", "SELECT 1 AS k"), write("too", "SELECT 2 AS k")) == 0


def test_the_session_keeps_its_names(session: RunSession, write: Write) -> None:
    session.spark.range(1).createOrReplaceTempView("mine")
    compare_rows(session, write("one", "SELECT 1 AS a"), write("two", "SELECT 2 AS a"))
    assert [row["tableName"] for row in session.spark.sql("SHOW TABLES").collect()] == ["mine"]


def test_a_file_that_is_gone_is_a_typed_error(session: RunSession, write: Write, tmp_path: Path) -> None:
    one, two = write("one", "SELECT 1 AS a"), write("two", "SELECT 2 AS a")
    for file in (tmp_path / "two").glob("*.parquet"):
        file.unlink()
    with pytest.raises(DataFileMissing):
        compare_rows(session, one, two)
