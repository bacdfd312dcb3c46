"""Rows that go are counted while those that come are made, and once more if that is not what goes."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from headwater.delta import (
    Append,
    ReplaceKeys,
    describe_pin,
    few_keys,
    old_rows,
    read_pinned,
    replacing,
    write_policy,
)
from headwater.delta.old_rows import count_old_rows, counted_ahead

if TYPE_CHECKING:
    from tests.delta.conftest import Table


def start(table: Table, **policy: Any) -> None:
    rows = table.values("(1, 'a'), (2, 'b'), (2, 'c') AS t(k, s)")
    table.change(Append, rows, policy=write_policy(**policy) if policy else None)


def test_the_rows_of_keys_are_told_with_the_keys_that_have_some(table: Table) -> None:
    start(table)
    pin, few = table.head.pin("t"), few_keys(table.values("(2), (3), (NULL) AS t(k)"))
    assert few is not None
    found = count_old_rows(table.session, few, pin, describe_pin(table.session, pin))
    assert (found.content.rows, found.there.values) == (2, {(2,)})


@pytest.mark.parametrize(
    ("keys", "policy", "is_counted"),
    [
        ("(2) AS t(k)", {}, True),
        ("(2) AS t(k)", {"partition_by": ["k"]}, False),
        ("SELECT CAST(id AS INT) AS k FROM range(3)", {}, False),
    ],
    ids=["values", "folders", "not-at-hand"],
)
def test_only_keys_that_are_values_are_counted_ahead(
    table: Table, keys: str, policy: dict[str, Any], *, is_counted: bool
) -> None:
    start(table, **policy)
    rows, mutation = table.values("(2, 'B') AS t(k, s)"), table.meant(ReplaceKeys, keys=("k",))
    with counted_ahead(table.session, mutation, rows, table.values(keys)) as ahead:
        found = ahead()
    assert (found is not None and found.content.rows == 2) == is_counted


def test_they_are_counted_in_a_thread_of_their_own_and_not_again(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    start(table)
    threads: list[str] = []
    count = old_rows.count_old_rows

    def noted(*given: Any) -> Any:
        threads.append(threading.current_thread().name)
        return count(*given)

    for module in (old_rows, replacing):
        monkeypatch.setattr(module, "count_old_rows", noted)
    receipt = table.change(
        ReplaceKeys, table.values("(2, 'B') AS t(k, s)"), affected=table.values("(2) AS t(k)"), keys=("k",)
    )
    assert threads == ["counting old rows"]
    table.check(receipt)


def test_what_goes_wrong_ahead_is_no_failure(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    start(table)
    count = old_rows.count_old_rows

    def broken(*given: Any) -> Any:
        table.session.spark.sql("SELECT raise_error('no')").collect()
        return count(*given)

    monkeypatch.setattr(old_rows, "count_old_rows", broken)
    receipt = table.change(
        ReplaceKeys, table.values("(2, 'B') AS t(k, s)"), affected=table.values("(2) AS t(k)"), keys=("k",)
    )
    table.check(receipt)


@pytest.mark.parametrize("lists", [1, 3])
def test_rows_of_lists_are_counted_as_they_are_written(table: Table, lists: int) -> None:
    """However rows that go are read, one by one or in batches, their digest is that of the table's."""
    columns = ", ".join(f"array(struct(id AS a, string(id) AS b)) AS l{number}" for number in range(lists))
    rows = table.values(f"SELECT int(id % 3) AS k, {columns} FROM range(9)")
    table.change(Append, rows, policy=write_policy(enable_features=["deletionVectors"]))
    for key in (1, 2):
        new = table.values(f"SELECT {key} AS k, {columns} FROM range(2)")
        affected = table.values(f"SELECT {key} AS k")
        table.check(table.change(ReplaceKeys, new, affected=affected, keys=("k",)))
    assert read_pinned(table.session, table.head.pin("t")).count() == 7
