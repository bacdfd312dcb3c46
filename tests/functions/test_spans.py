from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.errors import AnalysisException, SparkRuntimeException

from headwater import functions as H
from headwater.digest import stable_id

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

Bounds = tuple[int, int] | None
# Every span of a small text, and none at all: the laws are tried on all pairs of them.
SPANS: list[Bounds] = [None, *((start, end) for start, end in product(range(5), repeat=2) if start <= end)]
SPAN = "STRUCT<bstart: BIGINT, bend: BIGINT, unit: STRING>"


def units(span: tuple[int, int]) -> set[int]:
    return set(range(*span))


def overlaps(one: Bounds, two: Bounds) -> bool | None:
    return None if one is None or two is None else bool(units(one) & units(two))


def contains(outer: Bounds, inner: Bounds) -> bool | None:
    if outer is None or inner is None:
        return None
    return outer[0] <= inner[0] and inner[1] <= outer[1] and units(inner) <= units(outer)


def spanned(bounds: Bounds) -> tuple[int, int, str] | None:
    return None if bounds is None else (*bounds, "byte")


def test_the_algebra_is_that_of_sets_of_bytes(spark: SparkSession) -> None:
    pairs = list(product(SPANS, repeat=2))
    frame = spark.createDataFrame([(spanned(one), spanned(two)) for one, two in pairs], f"a {SPAN}, b {SPAN}")
    got = frame.select(
        H.span_overlaps("a", "b"), H.span_overlaps("b", "a"), H.span_contains("a", "b"), H.span_len("a")
    ).collect()
    answers: dict[tuple[Bounds, ...], list[Any]] = {
        pair: [row[place] for place in range(4)] for pair, row in zip(pairs, got, strict=True)
    }
    for (one, two), (crossing, crossed, holding, length) in answers.items():
        assert crossing == crossed == overlaps(one, two)
        assert holding == contains(one, two)
        assert length == (None if one is None else len(units(one)))
    holds = {pair for pair, (_, _, holding, _) in answers.items() if holding}
    there = [span for span in SPANS if span is not None]
    assert all((span, span) in holds for span in there)
    assert all(one == two for one, two in holds if (two, one) in holds)
    assert all((a, c) in holds for a, b in holds for other, c in holds if b == other)
    assert all(answers[a, b][0] for a, b in holds if b is not None and units(b))


@settings(max_examples=3)
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 2**62) | st.none(), st.integers(0, 2**62) | st.none()),
        min_size=5,
        max_size=40,
    )
)
def test_a_made_span_has_its_bounds_and_its_id(
    spark: SparkSession, rows: list[tuple[int | None, int | None]]
) -> None:
    rows = [(a, b) if a is None or b is None else (min(a, b), max(a, b)) for a, b in rows]
    frame = spark.createDataFrame(rows, "x BIGINT, y BIGINT").select(
        "x", "y", H.span_make("x", "y").alias("s")
    )
    asked = frame.selectExpr("s", "span_len(s)", "span_id('repo', 'a.py', s)")
    got: list[tuple[Any, ...]] = [tuple(row) for row in asked.collect()]
    for (start, end), (span, length, identity) in zip(rows, got, strict=True):
        if start is None or end is None:
            assert (span, length, identity) == (None, None, None)
        else:
            assert (tuple(span), length) == ((start, end, "byte"), end - start)
            assert identity == stable_id("span", "repo", "a.py", start, end)


def test_a_span_id_needs_a_repository_and_a_span(asked: Callable[..., tuple[Any, ...]]) -> None:
    assert tuple(
        asked(
            "span_id(NULL, 'a.py', span_make(1, 2))",
            "span_id('r', 'a.py', NULL)",
            "span_id('r', NULL, span_make(1, 2))",
        )
    ) == (None, None, stable_id("span", "r", None, 1, 2))


def test_bounds_of_any_width_make_the_same_span(
    spark: SparkSession, asked: Callable[..., tuple[Any, ...]]
) -> None:
    calls = [f"span_make(CAST(1 AS {kind}), 2, 'char')" for kind in ("TINYINT", "SMALLINT", "INT", "BIGINT")]
    assert {tuple(each) for each in asked(*calls)} == {(1, 2, "char")}
    kinds = {spark.sql(f"SELECT {call}").dtypes[0][1] for call in (*calls, "span_make(NULL, NULL, NULL)")}
    assert kinds == {"struct<bstart:bigint,bend:bigint,unit:string>"}


def test_bounds_that_make_no_span_are_an_error(
    asked: Callable[..., tuple[Any, ...]], errors: Callable[..., list[str]]
) -> None:
    bounds = ("-1, 2", "3, 2", "1, 2, 'line'", "1, 2, ''", "-2, -1, 'char'", "1, 2, 'BYTE'")
    assert all("no span from" in each for each in errors(*[f"span_make({each})" for each in bounds]))
    with pytest.raises(SparkRuntimeException, match="no span from 3 to 2 in byte"):
        asked("span_make(3, 2)")


def test_bounds_of_another_type_are_an_error_and_not_cast(errors: Callable[..., list[str]]) -> None:
    bounds = ("1D, 2", "1, '2'", "1.0, 2", "CAST(NULL AS STRING), 1", "1, CAST(NULL AS DOUBLE)", "NULL, '2'")
    wrong = errors(*[f"span_make({each})" for each in bounds])
    assert all("the bounds of a span are whole numbers" in each for each in wrong)
    units = errors("span_make(1, 2, 5)", "span_make(1, 2, X'62797465')")
    assert all("span_make: unit is a STRING, not " in each for each in units)


def test_only_a_span_in_bytes_has_an_id(errors: Callable[..., list[str]]) -> None:
    wrong = errors("span_id('r', 'a.py', span_make(1, 2, 'char'))", "span_id('r', 'a.py', span_make(1, 2))")
    assert "span_id: a span with an id is in bytes, not in char" in wrong[0]
    assert wrong[1] == ""
    (without,) = errors(f"span_id('r', 'a.py', CAST(named_struct('a', 1, 'b', 2, 'c', NULL) AS {SPAN}))")
    assert "not in no unit" in without


@pytest.mark.parametrize("bounds", ["true, false", "array(1), 2", "DATE'2024-01-01', 2"])
def test_bounds_that_cannot_be_numbers_are_refused_before_anything_runs(
    spark: SparkSession, bounds: str
) -> None:
    with pytest.raises(AnalysisException):
        spark.sql(f"SELECT span_make({bounds})")


def test_spans_of_two_units_are_not_compared(
    asked: Callable[..., tuple[Any, ...]], errors: Callable[..., list[str]]
) -> None:
    functions = ("span_overlaps", "span_contains")
    wrong = errors(*[f"{each}(span_make(1, 2), span_make(1, 2, 'char'))" for each in functions])
    assert all("spans in byte and in char are not compared" in each for each in wrong)
    alike = [f"{each}(span_make(1, 2, 'utf16'), span_make(1, 2, 'utf16'))" for each in functions]
    assert asked(*alike) == (True, True)


def test_without_a_span_there_is_no_answer(
    spark: SparkSession, asked: Callable[..., tuple[Any, ...]]
) -> None:
    calls = (
        "span_len(NULL)",
        "span_overlaps(NULL, span_make(1, 2))",
        "span_overlaps(span_make(1, 2, 'char'), NULL)",
        "span_contains(NULL, NULL)",
        "span_make(NULL, 1)",
        "span_make(1, 2, NULL)",
    )
    assert set(asked(*calls)) == {None}
    assert spark.sql("SELECT span_len(NULL)").dtypes == [("span_len", "bigint")]


def test_what_is_no_span_is_refused(spark: SparkSession, errors: Callable[..., list[str]]) -> None:
    (error,) = errors("span_len(named_struct('bstart', 1D, 'bend', 2D, 'unit', 'byte'))")
    assert "span_len: span is a SPAN, not struct<bstart:double,bend:double,unit:string>" in error
    with pytest.raises(AnalysisException):
        spark.sql("SELECT span_len(named_struct('bstart', 1, 'bend', 2))")
