from __future__ import annotations

import math
from collections import Counter
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.delta.content import (
    NO_ROWS,
    ContentDigest,
    ObservedContent,
    content_of_text,
    digest_rows,
    free_prefix,
    hash_rows,
    marked_approximate,
    row_hashes,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pyspark.sql import DataFrame

    from headwater.runtime import RunSession, SessionRuntime

SUMS = st.integers(0, 2**64 - 1)
DIGESTS = st.builds(ContentDigest, rows=st.integers(0, 2**40), first=SUMS, second=SUMS)

# Few values, and those that are easily taken for each other: so that equal ones and near ones both come up.
INTS = st.sampled_from([0, 1, -1, 2, 127, -128])
FLOATS = st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, math.inf, -math.inf, math.nan])
TEXTS = st.sampled_from(["", "a", "b", "ab", "A", "é", "e\u0301", "null", "0", "\u0000", "a\u0000", " a"])
DAYS = st.sampled_from([date(1970, 1, 1), date(1970, 1, 2), date(1, 1, 1), date(9999, 12, 31)])
TIMES = st.sampled_from(
    [
        datetime(1970, 1, 1, tzinfo=UTC),
        datetime(1970, 1, 1, 0, 0, 0, 1, tzinfo=UTC),
        datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC),
        datetime(2026, 7, 1, tzinfo=UTC),
    ]
)
MAPS = st.dictionaries(st.sampled_from(["a", "b", "c"]), st.none() | INTS, max_size=3)


def lists_of(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(st.none() | values, max_size=3)


TYPES: dict[str, st.SearchStrategy[Any]] = {
    "boolean": st.booleans(),
    "tinyint": INTS,
    "smallint": INTS,
    "int": INTS,
    "bigint": INTS | st.sampled_from([2**63 - 1, -(2**63), 2**32]),
    "float": FLOATS,
    "double": FLOATS,
    "decimal(9,2)": st.sampled_from([Decimal("0.00"), Decimal("1.50"), Decimal("-1.50"), Decimal("15.00")]),
    "decimal(38,10)": st.sampled_from([Decimal(0), Decimal(10) ** 20, -(Decimal(10) ** 20), Decimal(1)]),
    "string": TEXTS,
    "binary": TEXTS.map(str.encode),
    "date": DAYS,
    "timestamp": TIMES,
    "timestamp_ntz": TIMES.map(lambda each: each.replace(tzinfo=None)),
    "array<int>": lists_of(INTS),
    "array<double>": lists_of(FLOATS),
    "array<array<int>>": lists_of(lists_of(INTS)),
    "map<string,int>": MAPS,
    "map<string,array<int>>": st.dictionaries(st.sampled_from(["a", "b"]), lists_of(INTS), max_size=2),
    "struct<a:int,b:int>": st.tuples(st.none() | INTS, st.none() | INTS),
    "struct<a:struct<b:int>,c:string>": st.tuples(st.none() | st.tuples(st.none() | INTS), st.none() | TEXTS),
    "array<string>": lists_of(TEXTS),
    "array<struct<a:int,b:string>>": lists_of(st.tuples(st.none() | INTS, st.none() | TEXTS)),
}
SCHEMA = ", ".join(f"c{index} {kind}" for index, kind in enumerate(TYPES))
ROWS = st.lists(st.tuples(*(st.none() | values for values in TYPES.values())), min_size=30, max_size=60)


def key_of(value: Any) -> tuple[str, Any]:
    """A value such that two keys are equal exactly where the values are: not as Python compares floats."""
    if isinstance(value, float):
        return ("float", "nan" if math.isnan(value) else value.hex())
    if isinstance(value, dict):
        entries = cast("dict[str, Any]", value)
        return ("map", tuple(sorted((key, key_of(each)) for key, each in entries.items())))
    if isinstance(value, list | tuple):
        items = list(cast("list[Any]", value))
        return (type(items).__name__, tuple(key_of(each) for each in items))
    return (type(value).__name__, value)


@pytest.fixture(scope="module")
def lent(runtime: SessionRuntime) -> Any:
    with runtime.checkout() as session:
        yield session


def frame_of(session: RunSession, rows: Sequence[Any], schema: str = SCHEMA) -> DataFrame:
    return session.spark.createDataFrame(list(rows), schema)


@given(DIGESTS, DIGESTS, DIGESTS)
def test_digests_add_up(one: ContentDigest, two: ContentDigest, three: ContentDigest) -> None:
    assert one + two == two + one
    assert (one + two) + three == one + (two + three)
    assert one + two - two == one
    assert one + NO_ROWS == one
    assert content_of_text(one.text) == one


@pytest.mark.parametrize(
    ("columns", "prefix"),
    [
        ((), "_hw"),
        (("t", "s", "hw"), "_hw"),
        (("a", "_hwt"), "_hw_"),
        (("_HWdeletes",), "_hw_"),
        (("_hw_s", "b"), "_hw__"),
    ],
    ids=str,
)
def test_names_of_our_own_begin_as_no_column_does(columns: tuple[str, ...], prefix: str) -> None:
    assert free_prefix(columns) == prefix


@pytest.mark.parametrize("text", ["", "hw2:1:00", "hw1:1:" + "0" * 32, "hw2:-1:" + "0" * 32])
def test_another_text_is_no_digest(text: str) -> None:
    assert content_of_text(text) is None


@settings(max_examples=10)
@given(rows=ROWS)
def test_two_values_of_a_type_hash_alike_exactly_if_they_are_equal(lent: RunSession, rows: list[Any]) -> None:
    """For every type that Delta can store, with nulls, empty ones, -0.0, NaN, and order of keys."""
    frame = frame_of(lent, rows)
    inside: list[str] = []
    hashed: list[str] = []
    for name in frame.columns:
        found = row_hashes(frame.select(name).schema, f"_{name}")
        inside += found.inside
        hashed += [found.first, found.second]
    named = [f"{each} AS h{index}" for index, each in enumerate(hashed)]
    found = frame.selectExpr("*", *inside).selectExpr(*named).collect()
    for column, kind in enumerate(TYPES):
        by_key: dict[Any, set[Any]] = {}
        by_hash: dict[Any, set[Any]] = {}
        for row, hashes in zip(rows, found, strict=True):
            key, pair = key_of(row[column]), (hashes[2 * column], hashes[2 * column + 1])
            by_key.setdefault(key, set()).add(pair)
            by_hash.setdefault(pair, set()).add(key)
        assert all(len(each) == 1 for each in by_key.values()), kind
        assert all(len(each) == 1 for each in by_hash.values()), kind


@settings(max_examples=25)
@given(
    one=st.lists(st.tuples(st.none() | INTS, st.none() | TEXTS), max_size=4),
    two=st.lists(st.tuples(st.none() | INTS, st.none() | TEXTS), max_size=4),
)
def test_tables_have_one_digest_exactly_if_they_have_the_same_rows_as_often(
    lent: RunSession, one: list[Any], two: list[Any]
) -> None:
    first, second = (digest_rows(frame_of(lent, each, "n int, s string")) for each in (one, two))
    assert (first == second) == (Counter(one) == Counter(two))
    assert first.rows == len(one)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("SELECT 1 AS a, CAST(NULL AS INT) AS b", "SELECT CAST(NULL AS INT) AS a, 1 AS b"),
        ("SELECT array() AS a", "SELECT CAST(NULL AS array<void>) AS a"),
        ("SELECT array(array(1), array(2)) AS a", "SELECT array(array(1, 2)) AS a"),
        ("SELECT array(1, NULL) AS a", "SELECT array(NULL, 1) AS a"),
        ("SELECT 0.0D AS a", "SELECT -0.0D AS a"),
        ("SELECT 'a' AS a, 'bc' AS b", "SELECT 'ab' AS a, 'c' AS b"),
        ("SELECT 1 AS a", "SELECT 1L AS a"),
        ("SELECT 1 AS a", "SELECT 1 AS b"),
        ("SELECT 1 AS a FROM range(2)", "SELECT 1 AS a FROM range(4)"),
        ("SELECT named_struct('x', NULL) AS a", "SELECT CAST(NULL AS struct<x:void>) AS a"),
        ("SELECT map('a', 1) AS a", "SELECT map('a', NULL) AS a"),
        ("SELECT parse_json('{\"a\": 1}') AS a", 'SELECT parse_json(\'{"a": "1"}\') AS a'),
        ("SELECT parse_json('1.0') AS a", "SELECT CAST(1.0D AS variant) AS a"),
    ],
)
def test_what_a_plain_hash_takes_for_the_same_is_told_apart(session: RunSession, one: str, two: str) -> None:
    first, second = (digest_rows(session.spark.sql(each)) for each in (one, two))
    assert (first.first, first.second) != (second.first, second.second)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("SELECT id FROM range(100)", "SELECT 99 - id AS id FROM range(0, 100, 1, 7)"),
        ("SELECT 1 AS a, 'x' AS b", "SELECT 'x' AS b, 1 AS a"),
        ("SELECT map('a', 1, 'b', 2) AS a", "SELECT map('b', 2, 'a', 1) AS a"),
        ("SELECT double('NaN') AS a", "SELECT double('NaN') * -1 AS a"),
        ("SELECT 1 AS a", "SELECT 1 AS a, CAST(NULL AS STRING) AS added_later"),
        ('SELECT parse_json(\'{"a": 1, "b": 2}\') AS a', 'SELECT parse_json(\'{"b": 2, "a": 1}\') AS a'),
    ],
)
def test_order_layout_and_columns_of_nulls_do_not_matter(session: RunSession, one: str, two: str) -> None:
    assert digest_rows(session.spark.sql(one)) == digest_rows(session.spark.sql(two))


def test_digests_that_were_kept_stay_true(session: RunSession) -> None:
    """Changing how rows are hashed makes every recorded digest wrong: then the name hw2 has to change too."""
    rows = session.spark.sql(
        "SELECT id, CAST(id AS STRING) AS s, id / 2 AS d, array(id, NULL) AS a, map('k', id) AS m "
        "FROM range(3)"
    )
    assert digest_rows(rows).text == "hw2:3:f263f84d22599bfef25e32a902d6a4e6"


def test_a_digest_comes_out_of_the_job_that_writes_the_rows(session: RunSession, tmp_path: Path) -> None:
    rows = session.spark.sql("SELECT id, id % 3 AS _hw1, NULL AS _hw_2 FROM range(1000)")
    observed = ObservedContent(session, rows)
    assert observed.found() is None
    observed.rows.write.parquet(str(tmp_path / "rows"))
    assert observed.found() == digest_rows(rows)
    assert observed.rows.columns == rows.columns


def test_no_rows_have_a_digest(session: RunSession, tmp_path: Path) -> None:
    observed = ObservedContent(session, session.spark.range(0))
    observed.rows.write.parquet(str(tmp_path / "rows"))
    assert observed.found() == NO_ROWS == digest_rows(session.spark.range(0))


def test_a_column_that_is_only_close_is_no_part_of_the_digest(session: RunSession, tmp_path: Path) -> None:
    def digest(share: float, count: int = 1) -> ContentDigest:
        rows = session.spark.sql(f"SELECT {count} AS n, {share!r}D AS share")
        place = str(tmp_path / f"{share}-{count}")
        marked_approximate(session, rows, ["share"]).write.format("delta").mode("overwrite").save(place)
        return digest_rows(session.spark.read.format("delta").load(place))

    assert digest(0.1) == digest(0.2)
    assert digest(0.1, 2) != digest(0.1)
    plain = session.spark.sql("SELECT 1 AS n, 0.1D AS share")
    marked = marked_approximate(session, plain, ["share"])
    assert digest_rows(marked) != digest_rows(plain)
    assert digest_rows(marked_approximate(session, marked, [])) == digest_rows(plain)


def test_rows_are_hashed_one_by_one_with_what_else_is_asked(session: RunSession) -> None:
    rows = session.spark.sql("SELECT id % 2 AS a, map('x', id % 2) AS m FROM range(4)")
    found = hash_rows(rows, "a + 1 AS more").collect()
    assert list(found[0].asDict()) == ["first", "second", "more"]
    assert len({(each["first"], each["second"], each["more"]) for each in found}) == 2
    near = marked_approximate(session, rows, ["a", "m"])
    assert len({each["first"] for each in hash_rows(near).collect()}) == 1
