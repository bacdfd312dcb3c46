"""A few keys are named in conditions: by these files are left out, and no other row is let through."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from headwater.delta import Append, FewKeys, few_keys, read_pinned, scans_of

if TYPE_CHECKING:
    from tests.delta.conftest import Table


def fill(table: Table) -> None:
    for key in ("1", "2", "3", "NULL"):
        table.change(Append, table.values(f"SELECT CAST({key} AS INT) AS k, 'it''s \\\\' AS v"))


@pytest.mark.parametrize(
    ("keys", "read", "rows"),
    [
        ("SELECT 2 AS k", 1, 1),
        ("SELECT * FROM VALUES (1), (3) AS t(k)", 2, 2),
        ("SELECT CAST(NULL AS INT) AS k", 1, 1),
        ("SELECT * FROM VALUES (2), (NULL), (2) AS t(k)", 2, 2),
        ("SELECT 2 AS k, 'it''s \\\\' AS v", 1, 1),
        ("SELECT * FROM VALUES (2, 'x'), (3, 'it''s \\\\') AS t(k, v)", 1, 1),
        ("SELECT 1 AS k WHERE false", 0, 0),
    ],
    ids=["one", "two", "null", "one-and-null", "two-columns", "crossed", "none"],
)
def test_files_that_have_none_of_a_few_keys_are_not_read(
    table: Table, keys: str, read: int, rows: int
) -> None:
    fill(table)
    pin, few = table.head.pin("t"), few_keys(table.values(keys))
    assert few is not None
    near = read_pinned(table.session, pin).where(few.condition())
    (scan,) = scans_of(table.session, near, [pin])
    assert (scan.files_kept, scan.files_total, near.count()) == (read, 4, rows)


def test_texts_are_written_as_sql_has_them(table: Table) -> None:
    fill(table)
    few = few_keys(table.values("SELECT 'it''s \\\\' AS other"))
    assert few is not None
    near = read_pinned(table.session, table.head.pin("t"))
    assert near.where(few.condition(["v"])).count() == 4


@pytest.mark.parametrize(
    "keys",
    [
        "SELECT CAST(id + 1 AS INT) AS k FROM range(101)",
        "SELECT DATE '2026-01-01' AS k",
        "SELECT 1 AS k, 1.5D AS v",
        "SELECT collate('a', 'UTF8_LCASE') AS k",
    ],
    ids=["many", "of-another-kind", "partly", "collated"],
)
def test_keys_that_are_many_or_of_another_kind_are_not_values(table: Table, keys: str) -> None:
    assert few_keys(table.values(keys)) is None


@pytest.mark.parametrize("kind", ["tinyint", "smallint", "int", "bigint", "string"])
def test_values_become_rows_of_the_schema_that_they_came_from(table: Table, kind: str) -> None:
    keys = table.values(
        f"SELECT CAST(k AS {kind}) AS k, v FROM VALUES (7, 'a'), (NULL, 'b'), (7, 'a') AS t(k, v)"
    )
    few = few_keys(keys)
    assert few is not None
    made = few.frame(table.session, keys.schema)
    assert [(each.name, each.dataType) for each in made.schema.fields] == [
        (each.name, each.dataType) for each in keys.schema.fields
    ]
    found: list[Any] = made.collect()
    assert {tuple(each) for each in found} == {(None, "b"), (7 if kind != "string" else "7", "a")}
    assert len(found) == 2


def test_keys_of_the_same_columns_can_be_others() -> None:
    few = FewKeys(columns=("a", "b"), values=frozenset({(1, "x")}))
    assert few.only([(2, None), [2, None]]) == FewKeys(columns=("a", "b"), values=frozenset({(2, None)}))
