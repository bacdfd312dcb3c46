from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from headwater.delta import (
    Append,
    Delete,
    Merge,
    MergeClause,
    Mutation,
    Overwrite,
    ReplaceWhere,
    Update,
    same_keys,
    write_policy,
)
from headwater.errors import ConstraintInvalid, ConstraintViolated, MutationRefused

if TYPE_CHECKING:
    from tests.delta.conftest import Table

POLICY = write_policy(constraints={"positive": "id >= 0"}, not_null=["s"])
GOOD = "(1, 'a'), (2, 'b') AS t(id, s)"
BAD = "(3, 'c'), (-1, 'd'), (-2, 'e') AS t(id, s)"
CASES: list[tuple[type[Mutation], dict[str, Any], str | None]] = [
    (Append, {}, BAD),
    (Overwrite, {}, BAD),
    (ReplaceWhere, {"where": "id < 3"}, "(-1, 'd'), (-2, 'e') AS t(id, s)"),
    (Merge, {"on": same_keys("id")}, BAD),
    (Update, {"assignments": {"id": "id - 10"}}, None),
]


@pytest.mark.parametrize(("kind", "fields", "rows"), CASES, ids=lambda each: getattr(each, "kind", None))
def test_rows_that_a_policy_forbids_are_counted_and_nothing_is_committed(
    table: Table, kind: type[Mutation], fields: dict[str, Any], rows: str | None
) -> None:
    table.change(Append, table.values(GOOD), policy=POLICY)
    with pytest.raises(ConstraintViolated) as caught:
        table.change(kind, table.values(rows) if rows else None, policy=POLICY, **fields)
    error = caught.value
    assert (error.constraint, error.expression, error.count) == ("positive", "id >= 0", 2)
    assert all('"id":-' in each for each in error.sample)
    assert table.version == 0
    assert table.rows() == [(1, "a"), (2, "b")]


def test_a_receipt_tells_which_constraints_held_and_what_that_cost(table: Table) -> None:
    told = [table.change(Append, table.values(GOOD), policy=POLICY)]
    told.append(table.change(Update, assignments={"s": "'x'"}, where="id = 1", policy=POLICY))
    told.append(table.change(Delete, where="id = 1", policy=POLICY))
    found = [[(each.name, each.enforced_by, each.extra_passes) for each in one.constraints] for one in told]
    assert found == [
        [("not_null.s", "headwater", 0), ("positive", "headwater", 0)],
        [("not_null.s", "headwater", 1), ("positive", "headwater", 1)],
        [],  # a delete writes no row
    ]


def test_null_is_not_true_as_delta_has_it(table: Table) -> None:
    with pytest.raises(ConstraintViolated) as caught:
        table.change(Append, table.values("(NULL, 'a') AS t(id, s)"), policy=POLICY)
    assert caught.value.constraint == "positive"
    with pytest.raises(ConstraintViolated) as caught:
        table.change(Append, table.values("(1, NULL) AS t(id, s)"), policy=POLICY)
    assert caught.value.constraint == "not_null.s"
    assert table.version == -1


@pytest.mark.parametrize(("kind", "fields", "rows"), CASES, ids=lambda each: getattr(each, "kind", None))
def test_the_tables_own_constraints_are_told_in_the_same_way(
    table: Table, kind: type[Mutation], fields: dict[str, Any], rows: str | None
) -> None:
    table.sql("CREATE TABLE {t} (id INT NOT NULL, s STRING) USING delta")
    table.sql("ALTER TABLE {t} ADD CONSTRAINT positive CHECK (id >= 0)")
    receipt = table.change(Append, table.values(GOOD))
    assert {(each.name, each.enforced_by) for each in receipt.constraints} == {
        ("positive", "delta"),
        ("not_null.id", "delta"),
    }
    version = table.version
    with pytest.raises(ConstraintViolated) as caught:
        table.change(kind, table.values(rows) if rows else None, **fields)
    assert (caught.value.constraint, caught.value.count) == ("positive", 2)
    assert table.version == version


def test_a_missing_value_of_a_column_that_must_have_one_is_told(table: Table) -> None:
    table.sql("CREATE TABLE {t} (id INT NOT NULL, s STRING) USING delta")
    with pytest.raises(ConstraintViolated) as caught:
        table.change(Append, table.values("(NULL, 'a'), (1, 'b') AS t(id, s)"))
    assert (caught.value.constraint, caught.value.count) == ("not_null.id", 1)


def test_a_sample_is_bounded(table: Table) -> None:
    rows = table.values("SELECT -id - 1 AS id, repeat('x', 5000) AS s FROM range(100)")
    with pytest.raises(ConstraintViolated) as caught:
        table.change(Append, rows, policy=POLICY)
    assert caught.value.count == 100
    assert len(caught.value.sample) == 5
    assert all(len(each) < 1100 for each in caught.value.sample)


def test_only_rows_that_are_written_count(table: Table) -> None:
    """A row that a join drops, or a clause does not take, may be anything."""
    one = table.values("(1, 'a'), (-5, 'b') AS t(id, s)").alias("one")
    other = table.values("(1) AS t(other)")
    table.change(Append, one.join(other, one["id"] == other["other"]).select("id", "s"), policy=POLICY)
    only_new = (MergeClause(when="not_matched", condition="s.id > 0", action="insert"),)
    table.change(
        Merge,
        table.values("(-9, 'x'), (7, 'y') AS t(id, s)"),
        on=same_keys("id"),
        clauses=only_new,
        policy=POLICY,
    )
    assert table.rows() == [(1, "a"), (7, "y")]


@pytest.mark.parametrize(
    "expression",
    [
        "id >",
        "nope > 0",
        "id + 1",
        "rand() < 0.5",
        "count(id) > 0",
        "id > (SELECT 1)",
        "current_date() > '2020-01-01'",
    ],
)
def test_what_is_no_condition_over_one_row_is_refused(table: Table, expression: str) -> None:
    with pytest.raises(ConstraintInvalid) as caught:
        table.change(Append, table.values(GOOD), policy=write_policy(constraints={"odd": expression}))
    assert caught.value.constraint == "odd"
    assert caught.value.exit_code == 2
    assert not table.path.exists()


@pytest.mark.parametrize("key", ["id", "`id`", "ID", "t.id", "t.`id`"])
def test_a_constraint_is_tested_however_the_column_is_written(table: Table, key: str) -> None:
    table.change(Append, table.values(GOOD), policy=POLICY)
    clause = MergeClause(when="matched", action="update", assignments=((key, "-1"),))
    with pytest.raises(ConstraintViolated):
        table.change(Merge, table.values(GOOD), on=same_keys("id"), clauses=(clause,), policy=POLICY)
    if not key.startswith("t."):
        with pytest.raises(ConstraintViolated):
            table.change(Update, assignments={key: "-1"}, policy=POLICY)
    assert table.version == 0


def test_a_constraint_is_tested_on_what_the_table_stores(table: Table) -> None:
    table.sql(
        "CREATE TABLE {t} (x INT, c CHAR(3), s STRUCT<y: INT>, g INT GENERATED ALWAYS AS (x + 1)) USING delta"
    )
    table.sql("INSERT INTO {t} (x, c, s) VALUES (5, 'a', named_struct('y', 1))")
    version = table.version
    cases: dict[str, dict[str, str]] = {
        "x <> 1": {"x": "1.5D"},
        "length(c) = 1": {"c": "'b'"},
        "g < 100": {"x": "500"},
    }
    for condition, assignments in cases.items():
        with pytest.raises(ConstraintViolated):
            table.change(Update, assignments=assignments, policy=write_policy(constraints={"c": condition}))
    with pytest.raises(MutationRefused, match="a part of a column"):
        table.change(Update, assignments={"s.y": "-1"}, policy=write_policy(constraints={"c": "s.y > 0"}))
    assert table.version == version
    table.change(Update, assignments={"x": "2.5D"}, policy=write_policy(constraints={"c": "x = 2 -- or so"}))
    assert table.rows("x", "g") == [(2, 3)]


def test_a_frames_alias_is_not_taken_for_a_column(table: Table) -> None:
    rows = table.values("(1, named_struct('b', -5)) AS a(b, a)")
    with pytest.raises(ConstraintViolated):
        table.change(Append, rows, policy=write_policy(constraints={"inside": "a.b > 0"}))


def test_a_tables_check_holds_when_its_schema_is_overwritten(table: Table) -> None:
    table.change(Append, table.values(GOOD))
    table.sql("ALTER TABLE {t} ADD CONSTRAINT positive CHECK (id >= 0)")
    with pytest.raises(ConstraintViolated):
        table.change(Overwrite, table.values("SELECT -1 AS id, 1 AS more"), schema_mode="overwrite")


def test_a_column_that_rows_lack_is_null_to_a_constraint(table: Table) -> None:
    table.change(Append, table.values(GOOD))
    with pytest.raises(ConstraintViolated):
        table.change(Append, table.values("SELECT 1 AS id"), policy=write_policy(not_null=["s"]))
