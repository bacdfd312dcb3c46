from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headwater.delta import UPSERT, Append, Delete, Merge, MergeClause, Update, read_pinned, same_keys
from headwater.delta.candidates import candidate_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from tests.delta.conftest import Table

KEYS = st.none() | st.integers(0, 4)
ROWS = st.lists(st.tuples(KEYS, st.integers(0, 3)), unique_by=lambda row: row[0], min_size=1, max_size=5)
MATCHED = st.sampled_from(
    [
        MergeClause(when="matched", action="update"),
        MergeClause(when="matched", action="delete", condition="t.v > 1"),
        MergeClause(
            when="matched", action="update", condition="s.v <> t.v", assignments=(("v", "t.v + s.v"),)
        ),
    ]
)
OTHERS = st.sampled_from(
    [
        MergeClause(when="not_matched", action="insert", condition="s.v > 0"),
        MergeClause(when="not_matched", action="insert", assignments=(("k", "s.k"), ("v", "100"))),
        MergeClause(when="not_matched_by_source", action="update", assignments=(("v", "-1 - t.v"),)),
        MergeClause(when="not_matched_by_source", action="delete"),
    ]
)
CLAUSES = st.one_of(
    st.just(UPSERT), st.lists(st.one_of(MATCHED, OTHERS), min_size=1, max_size=3, unique=True).map(tuple)
)


def rows_of(frame: DataFrame) -> list[tuple[Any, ...]]:
    found: list[Any] = frame.collect()
    return [tuple(each) for each in found]


def is_allowed(clauses: tuple[MergeClause, ...]) -> bool:
    """Delta takes a clause without a condition only as the last of its kind."""
    for kind in ("matched", "not_matched", "not_matched_by_source"):
        conditions = [each.condition for each in clauses if each.when == kind]
        if None in conditions[:-1]:
            return False
    return True


@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(before=ROWS, source=ROWS, clauses=CLAUSES.filter(is_allowed))
def test_a_merge_is_foreseen_row_by_row(
    table: Table,
    before: list[tuple[int, int]],
    source: list[tuple[int, int]],
    clauses: tuple[MergeClause, ...],
) -> None:
    """What no clause touches, and what the merge was foreseen to write, is all that is there afterwards."""
    table.path = table.path.with_name(f"t{next(table.numbers)}")
    spark = table.session.spark
    table.change(Append, spark.createDataFrame(before, "k int, v int"))
    rows = spark.createDataFrame(source, "k int, v int")
    mutation = table.meant(Merge, on=same_keys("k"), clauses=clauses)
    foreseen = candidate_rows(table.session, mutation, rows, table.head.pin("t"), rows.schema)
    assert foreseen is not None
    expected = sorted(rows_of(foreseen), key=str)
    receipt = table.change(Merge, rows, on=same_keys("k"), clauses=clauses)
    kept = _untouched(before, source, clauses)
    after = sorted(rows_of(read_pinned(table.session, receipt.pin)), key=str)
    assert after == sorted([*kept, *expected], key=str)
    assert receipt.rows == len(expected)


def _untouched(
    before: list[tuple[int, int]], source: list[tuple[int, int]], clauses: tuple[MergeClause, ...]
) -> list[tuple[int, int]]:
    """The rows that no clause touches, by a plain reading of the clauses."""
    new = dict(source)

    def fires(clause: MergeClause, row: tuple[int, int]) -> bool:
        is_matched = row[0] in new
        if clause.when == "not_matched" or is_matched != (clause.when == "matched"):
            return False
        return {None: True, "t.v > 1": row[1] > 1, "s.v <> t.v": new.get(row[0]) != row[1]}[clause.condition]

    return [row for row in before if not any(fires(each, row) for each in clauses)]


def test_an_updates_rows_are_those_after_it(table: Table) -> None:
    table.change(Append, table.values("(1, 'a'), (2, 'b') AS t(id, s)"))
    schema = table.values("(1, 'a') AS t(id, s)").schema
    mutation = table.meant(Update, assignments={"`S`": "concat(s, id)"}, where="id > 1")
    foreseen = candidate_rows(table.session, mutation, None, table.head.pin("t"), schema)
    assert foreseen is not None
    assert [tuple(row) for row in foreseen.collect()] == [(2, "b2")]


def test_a_delete_writes_no_row_and_an_append_those_it_was_given(table: Table) -> None:
    rows = table.session.spark.range(3)
    assert candidate_rows(table.session, table.meant(Append), rows, None, rows.schema) is rows
    table.change(Append, rows)
    assert candidate_rows(table.session, table.meant(Delete), None, table.head.pin("t"), rows.schema) is None


@pytest.mark.parametrize("name", ["t", "s", "_hw_there"])
def test_columns_may_have_the_names_that_are_used_here(table: Table, name: str) -> None:
    rows = table.values(f"SELECT id, id AS `{name}` FROM range(2)")
    table.change(Append, rows)
    mutation = table.meant(Merge, on=same_keys("id"))
    foreseen = candidate_rows(table.session, mutation, rows, table.head.pin("t"), rows.schema)
    assert foreseen is not None
    assert sorted(rows_of(foreseen)) == [(0, 0), (1, 1)]
