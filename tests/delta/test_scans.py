"""What a query would read is what it needs: the files that are left give the same rows as all of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.delta import TableScan, read_head, register_delta, scans, scans_of
from headwater.delta.files import open_rows_of
from headwater.delta.log_files import commit_path

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from pyspark.sql import DataFrame

    from headwater.names import TablePin
    from headwater.runtime import RunSession, SessionRuntime

PARTS = 5


@pytest.fixture(scope="module")
def shared(runtime: SessionRuntime) -> Generator[RunSession]:
    with runtime.checkout() as session:
        yield session


def write(session: RunSession, path: Path, name: str, select: str, rows: int = 50) -> TablePin:
    """A table in five files of neighbours; it is registered under its name."""
    made = session.spark.range(0, rows, 1, PARTS).selectExpr(*select.split("; "))
    made.write.format("delta").mode("overwrite").save(str(path))
    pin = read_head(path.as_uri()).pin(name)
    register_delta(session, pin)
    return pin


@pytest.fixture(scope="module")
def orders(shared: RunSession, tmp_path_factory: pytest.TempPathFactory) -> TablePin:
    """Ids from 0 to 49, ten to a file."""
    place = tmp_path_factory.mktemp("scans")
    return write(shared, place / "a %20 table ü", "orders", "id; id * 2 AS twice; 'w' || id AS word")


@pytest.fixture(scope="module")
def customers(shared: RunSession, tmp_path_factory: pytest.TempPathFactory) -> TablePin:
    return write(shared, tmp_path_factory.mktemp("customers") / "t", "customers", "id; id % 3 AS kind")


def scan_of(session: RunSession, sql: str, *pins: TablePin) -> tuple[TableScan, ...]:
    return scans_of(session, session.spark.sql(sql), pins)


KEPT = {
    "everything": ("SELECT * FROM orders", 5),
    "a range": ("SELECT word FROM orders WHERE id BETWEEN 12 AND 25", 2),
    "a range that is not there": ("SELECT word FROM orders WHERE id > 1000", 0),
    "what can never be": ("SELECT word FROM orders WHERE id < 3 AND 1 > 2", 0),
    "behind a projection": ("SELECT s FROM (SELECT id + 1 AS s, id AS k FROM orders) WHERE k < 10", 1),
    "a subquery of a condition": (
        "SELECT word FROM orders WHERE id < 3 AND twice < (SELECT max(twice) FROM orders WHERE id >= 45)",
        2,
    ),
    "a subquery in a subquery": (
        "SELECT 1 WHERE 1 < (SELECT max(id) FROM orders WHERE id < 3 AND twice < ({}))".format(
            "SELECT max(twice) FROM orders WHERE id >= 45"
        ),
        2,
    ),
    "what exists": ("SELECT 1 AS x WHERE EXISTS (SELECT 1 FROM orders WHERE id BETWEEN 31 AND 32)", 1),
    "itself": ("SELECT 1 AS x FROM orders a, orders b WHERE a.id < 10 AND b.id BETWEEN 5 AND 15", 2),
    "a union": ("SELECT id FROM orders WHERE id < 5 UNION ALL SELECT id FROM orders WHERE id > 44", 2),
    "one common table, used twice": (
        "WITH some AS (SELECT id FROM orders WHERE id < 15) SELECT a.id FROM some a JOIN some b USING (id)",
        2,
    ),
    "only counted": ("SELECT count(*) AS n FROM orders", 0),
}


@pytest.mark.parametrize("name", KEPT)
def test_every_place_that_reads_a_table_keeps_the_files_it_needs(
    name: str, shared: RunSession, orders: TablePin
) -> None:
    sql, kept = KEPT[name]
    (scan,) = scan_of(shared, sql, orders)
    assert (scan.files_total, scan.files_kept, scan.rows_kept) == (5, kept, 10 * kept)
    assert len(scan.files) == kept
    assert scan.bytes_kept <= scan.bytes_total
    assert (scan.bytes_kept == scan.bytes_total) == (kept == 5)


def test_each_table_has_a_scan_of_its_own_in_the_order_of_names(
    shared: RunSession, orders: TablePin, customers: TablePin
) -> None:
    sql = "SELECT kind FROM orders o JOIN customers c ON o.id = c.id WHERE o.id < 8 AND length(o.word) = 2"
    one, two = scan_of(shared, sql, orders, customers)
    assert (one.pin, two.pin) == (customers, orders)
    assert (one.files_kept, two.files_kept) == (1, 1)
    assert two.unused_filters == ("(length(o.word) = 2)",)
    assert "(o.id < 8L)" in two.used_filters
    (alone,) = scan_of(shared, "SELECT kind FROM customers", orders)
    assert (alone.files_total, alone.files_kept, alone.rows_kept, alone.files) == (5, 0, 0, ())


def test_two_versions_of_a_table_are_told_apart(shared: RunSession, tmp_path: Path) -> None:
    old = write(shared, tmp_path, "was", "id")
    new = write(shared, tmp_path, "now", "id", rows=30)
    scans = scan_of(shared, "SELECT w.id FROM was w JOIN now n ON w.id = n.id WHERE w.id < 12", old, new)
    assert [(each.pin.name, each.pin.version, each.files_kept) for each in scans] == [
        ("now", 1, 2),
        ("was", 0, 2),
    ]
    assert [each.rows_kept for each in scans] == [12, 20]


def test_rows_of_whole_tables_are_those_of_the_log_without_a_job(
    shared: RunSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The checksum file tells them, also with rows deleted; where it is not right, the log is asked."""
    pin = write(shared, tmp_path, "whole", "id")
    table = f"delta.`{tmp_path}`"
    shared.spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
    shared.spark.sql(f"DELETE FROM {table} WHERE id % 10 < 3")
    shared.spark.sql(f"INSERT INTO {table} VALUES (100), (101)")
    now = read_head(pin.uri).pin("now")
    register_delta(shared, now)
    with monkeypatch.context() as patch:
        patch.delattr(scans, "list_files")  # what would ask the log
        (before,) = scan_of(shared, "SELECT id FROM whole", pin)
        (after,) = scan_of(shared, "SELECT id FROM now", now)
    assert (before.rows_kept, after.rows_kept) == (50, 37)
    checksum = commit_path(now.uri, now.version).with_suffix(".crc")
    document = json.loads(checksum.read_bytes())
    for wrong in (
        {},
        {"allFiles": None},
        {"allFiles": document["allFiles"][1:]},
        {"allFiles": [{**each, "stats": None} for each in document["allFiles"]]},
        {"allFiles": [{**each, "size": each["size"] + 1} for each in document["allFiles"]]},
    ):
        checksum.write_text(json.dumps(wrong))
        (again,) = scan_of(shared, "SELECT id FROM now", now)
        assert again == after


def test_rows_that_nobody_counted_are_not_told(shared: RunSession, tmp_path: Path) -> None:
    setting = "spark.databricks.delta.stats.collect"
    shared.spark.conf.set(setting, "false")
    try:
        pin = write(shared, tmp_path, "blind", "id")
    finally:
        shared.spark.conf.unset(setting)
    (scan,) = scan_of(shared, "SELECT id FROM blind WHERE id < 3", pin)
    assert (scan.files_kept, scan.rows_kept) == (5, None)


# --- any table and any range ---------------------------------------------------------------------------

NUMBERS = st.one_of(st.none(), st.integers(-9, 9))
ROWS = st.lists(st.tuples(NUMBERS, st.sampled_from(["a", "ab", "b", "ü", None])), min_size=1, max_size=12)
CONDITIONS = (
    "x >= {low} AND x < {high}",
    "x < {low} OR x > {high}",
    "NOT (x >= {low})",
    "x IS NULL OR x = {high}",
    "w >= 'ab' AND x <= {high}",
    "x + 1 > {low} AND w IS NOT NULL",
    "x <=> {low}",
)


def texts(rows: DataFrame) -> list[str]:
    return sorted(json.dumps(row.asDict(), sort_keys=True) for row in rows.collect())


@settings(max_examples=4)
@given(ROWS, st.sampled_from(CONDITIONS), st.integers(-10, 10), st.integers(-10, 10))
def test_the_files_that_are_left_give_the_same_rows(
    shared: RunSession,
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[int | None, str | None]],
    condition: str,
    low: int,
    high: int,
) -> None:
    path = tmp_path_factory.mktemp("any")
    frame = shared.spark.createDataFrame(rows, "x INT, w STRING").repartitionByRange(3, "x")
    frame.write.format("delta").save(str(path))
    pin = read_head(path.as_uri()).pin("any_rows")
    register_delta(shared, pin)
    where = condition.format(low=low, high=high)
    everything = shared.spark.table("any_rows").where(where)
    (scan,) = scans_of(shared, everything, [pin])
    assert texts(open_rows_of(shared, pin, scan.files).where(where)) == texts(everything)
