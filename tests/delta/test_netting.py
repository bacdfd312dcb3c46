from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headwater.delta import (
    Append,
    CdfWindow,
    ChangePin,
    Delete,
    Merge,
    Overwrite,
    Update,
    affected_keys,
    changed_keys,
    compared_keys,
    marked_approximate,
    netted_changes,
    pin_changes,
    pin_version,
    same_keys,
    write_policy,
)
from headwater.delta.digests import changed_files
from headwater.errors import ChangesNotRecorded, ScanNotResolved

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from tests.delta.conftest import Table

FEED = write_policy(enable_features=["changeDataFeed"])
ROWS = st.lists(
    st.tuples(st.none() | st.integers(0, 3), st.none() | st.integers(0, 1)), min_size=1, max_size=6
)
STEPS = st.lists(st.tuples(st.sampled_from(["append", "overwrite", "update", "delete"]), ROWS), max_size=3)


def window(table: Table, first: int, last: int | None = None) -> ChangePin:
    span = CdfWindow(starting_version=first, ending_version=last, allow_out_of_range=True)
    return pin_changes("t", table.uri, span)


def rows_of(frame: DataFrame) -> Counter[tuple[Any, ...]]:
    found: list[Any] = frame.collect()
    return Counter(tuple(each) for each in found)


def keys_by_feed(table: Table, first: int, *columns: str) -> list[tuple[Any, ...]]:
    return sorted(rows_of(affected_keys(table.session, window(table, first), columns)).elements(), key=str)


def keys_by_rows(table: Table, old: int, *columns: str) -> list[tuple[Any, ...]]:
    pins = pin_version("t", table.uri, version=old), table.head.pin("t")
    return sorted(rows_of(compared_keys(table.session, *pins, columns)).elements(), key=str)


@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(before=ROWS, steps=STEPS, has_vectors=st.booleans())
def test_what_is_left_of_changes_is_the_difference_of_the_versions(
    table: Table, before: list[Any], steps: list[tuple[str, list[Any]]], *, has_vectors: bool
) -> None:
    """Whatever was done between them; and its keys are those of the rows that only one of them has."""
    table.path = table.path.with_name(f"t{next(table.numbers)}")
    spark = table.session.spark
    policy = write_policy(enable_features=["changeDataFeed", *(["deletionVectors"] * has_vectors)])
    table.change(Append, spark.createDataFrame(before, "k int, v int"), policy=policy)
    old, first = rows_of(table.sql("SELECT * FROM {t}")), table.version
    for step, rows in steps:
        frame = spark.createDataFrame(rows, "k int, v int")
        match step:
            case "append":
                table.change(Append, frame)
            case "overwrite":
                table.change(Overwrite, frame)
            case "update":
                table.change(Update, assignments={"v": "v + 1"}, where="k > 1")
            case _:
                table.change(Delete, where="v = 1")
    new = rows_of(table.sql("SELECT * FROM {t}"))
    went, came = old - new, new - old
    wanted = Counter({(*row, "delete"): count for row, count in went.items()})
    wanted += Counter({(*row, "insert"): count for row, count in came.items()})
    assert rows_of(netted_changes(table.session, window(table, first + 1))) == wanted
    keys = sorted({row[:1] for row in (*went, *came)}, key=str)
    assert keys_by_feed(table, first + 1, "k") == keys
    assert keys_by_rows(table, first, "k") == keys


def test_rows_that_were_written_anew_are_no_change(table: Table) -> None:
    rows = table.values("SELECT id, map('a', id) AS m, parse_json(string(id)) AS j FROM range(4)")
    table.change(Append, rows, policy=FEED)
    table.change(Overwrite, rows)
    assert rows_of(netted_changes(table.session, window(table, table.version))) == Counter()
    assert keys_by_feed(table, table.version, "id") == []
    assert keys_by_rows(table, table.version - 1, "id") == []
    table.change(Overwrite, rows.selectExpr("id", "map('a', id % 3) AS m", "j"))
    found: list[Any] = netted_changes(table.session, window(table, table.version)).collect()
    assert sorted((row["_change_type"], row["id"], row["m"]) for row in found) == [
        ("delete", 3, {"a": 3}),
        ("insert", 3, {"a": 0}),
    ]
    assert keys_by_feed(table, table.version, "ID") == keys_by_rows(table, table.version - 1, "ID") == [(3,)]


def test_keys_of_before_and_after_are_affected_and_each_is_there_once(table: Table) -> None:
    rows = table.values("(1, NULL, 'x'), (1, NULL, 'y'), (2, 'b', 'x') AS t(first, `_hwsign`, s)")
    first = table.change(Append, rows, policy=FEED).version
    source = table.values("(2, 'b', 'x') AS t(first, `_hwsign`, s)")
    table.change(Update, assignments={"`_hwsign`": "'c'"}, where="first = 2")
    table.change(Delete, where="first = 1")
    table.change(Merge, source.selectExpr("5 AS first", "`_hwsign`", "s"), on=same_keys("first"))
    expected = [(1, None), (2, "b"), (2, "c"), (5, "b")]
    assert keys_by_feed(table, first + 1, "first", "_hwsign") == expected
    assert keys_by_rows(table, first, "first", "_hwsign") == expected


def test_a_window_without_versions_has_no_keys(table: Table) -> None:
    """Nor need the table keep a feed for it."""
    table.change(Append, table.values("(1, 'a') AS t(k, s)"))
    empty = affected_keys(table.session, window(table, 1), ["s"])
    assert (empty.columns, empty.collect()) == (["s"], [])
    pin = table.head.pin("t")
    assert compared_keys(table.session, pin, pin, ["k"]).collect() == []


def test_a_column_that_is_approximate_counts_for_who_reads_it(table: Table) -> None:
    rows = table.values("SELECT id, double(id) AS d FROM range(3)")
    table.change(Append, marked_approximate(table.session, rows, ["d"]), policy=FEED)
    table.change(Update, assignments={"d": "9.0"}, where="id = 1")
    assert keys_by_feed(table, table.version, "id") == keys_by_rows(table, table.version - 1, "id") == [(1,)]


def test_where_no_feed_is_kept_two_versions_are_compared(table: Table) -> None:
    """By the files that they do not share: the others may even be gone."""
    table.change(Append, table.session.spark.range(3).coalesce(1))
    shared = list(table.path.glob("*.parquet"))
    table.change(Append, table.session.spark.range(7, 9).coalesce(1))
    with pytest.raises(ChangesNotRecorded):
        affected_keys(table.session, window(table, 1), ["id"])
    with pytest.raises(ChangesNotRecorded):
        netted_changes(table.session, window(table, 1))
    for each in shared:
        each.unlink()
    assert keys_by_rows(table, 0, "id") == [(7,), (8,)]


def test_versions_of_other_columns_are_compared_as_far_as_they_can_be(table: Table) -> None:
    rows = table.values("SELECT id, id AS a, id % 2 AS b FROM range(3)")
    table.change(Append, rows, policy=write_policy(column_mapping_mode="name"))
    old = table.version
    table.change(Append, table.values("SELECT 9L AS id, 1L AS a, 1L AS b, 'x' AS more"), schema_mode="merge")
    assert keys_by_rows(table, old, "id") == [(9,)]
    table.sql("ALTER TABLE {t} RENAME COLUMN a TO c")
    assert keys_by_rows(table, old, "id") == [(0,), (1,), (2,), (9,)]  # all rows have another column now
    with pytest.raises(ScanNotResolved, match="has no such column"):
        keys_by_rows(table, old, "c")
    table.change(Overwrite, rows.selectExpr("id", "string(b) AS b"), schema_mode="overwrite")
    with pytest.raises(ChangesNotRecorded, match="its column b was bigint"):
        keys_by_rows(table, old, "id")


def test_columns_that_are_not_there_or_cannot_be_compared_are_no_keys(table: Table) -> None:
    table.change(Append, table.values("SELECT 1 AS k, map('a', 1) AS m"), policy=FEED)
    for name in ("m", "none"):
        with pytest.raises(ScanNotResolved, match=f"the key {name}"):
            affected_keys(table.session, window(table, 0), [name])
        with pytest.raises(ScanNotResolved, match=f"the key {name}"):
            keys_by_rows(table, 0, name)


def test_files_that_a_commit_states_again_are_not_new(table: Table) -> None:
    """Row tracking that is switched on later notes more about every file; the files are as before."""
    table.change(Append, table.values("(1, 1), (2, 2) AS t(k, v)"))
    old = table.head.pin("t")
    table.sql("ALTER TABLE {t} SET TBLPROPERTIES ('delta.enableRowTracking' = 'true')")
    table.change(Overwrite, table.values("(1, 1) AS t(k, v)"))
    assert changed_files(table.uri, old.version, table.version) is None
    assert keys_by_rows(table, old.version, "k") == [(2,)]


def test_either_of_the_two_tells_what_changed(table: Table) -> None:
    table.change(Append, table.values("(1, 1), (2, 2) AS t(k, v)"))
    first = table.head.pin("t")
    table.change(Append, table.values("(3, 3) AS t(k, v)"))
    table.change(Append, table.values("(4, 4) AS t(k, v)"), policy=FEED)
    second = table.head.pin("t")
    table.change(Append, table.values("(5, 5) AS t(k, v)"))
    for old, keys, is_fed in ((first, [(3,), (4,), (5,)], False), (second, [(5,)], True)):
        rows, found = changed_keys(table.session, old, table.head.pin("t"), ("k",))
        assert (sorted(rows_of(rows).elements()), found) == (keys, is_fed)
