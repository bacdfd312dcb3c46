from __future__ import annotations

from itertools import permutations
from math import copysign, isnan
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.errors import AnalysisException, SparkRuntimeException

from headwater import functions as H

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession

# group, key, further key, value: few of each, so that there are ties and missing ones in every example.
Item = tuple[str, int | None, int | None, str | None]
KEYS = st.none() | st.integers(0, 3)
ITEMS = st.lists(
    st.tuples(st.sampled_from("pqr"), KEYS, KEYS, st.none() | st.sampled_from(["", "a", "b", "é"])),
    min_size=1,
    max_size=30,
)


def rank(value: str | int | None) -> tuple[bool, str | int]:
    """Missing sorts first, as in Spark."""
    return (value is not None, 0 if value is None else value)


def by_key(item: Item) -> tuple[tuple[bool, str | int], ...]:
    return rank(item[1]), rank(item[2]), rank(item[3])


def expected(items: list[Item]) -> tuple[object, ...]:
    keyed = sorted((item for item in items if item[1] is not None), key=by_key)
    valued = [item for item in items if item[3] is not None]
    texts = sorted({item[3] for item in items if item[3] is not None})
    first = min(valued, key=lambda item: (rank(item[2]), rank(item[3])), default=None)
    return (
        keyed[-1][3] if keyed else None,
        keyed[0][3] if keyed else None,
        texts[0] if texts else None,
        first[3] if first else None,
        texts,
        sum(1 for item in items if item[1] is not None and item[1] > 1),
    )


def aggregated(frame: DataFrame) -> dict[str, tuple[object, ...]]:
    grouped = frame.groupBy("g").agg(
        H.arg_max_det("v", "k", "l"),
        H.arg_min_det("v", "k", "l"),
        H.any_value_det("v"),
        H.any_value_det("v", "l"),
        H.collect_set_sorted("v"),
        H.count_if_det(frame["k"] > 1),
    )
    return {row[0]: tuple(row)[1:] for row in grouped.collect()}


@settings(max_examples=3)
@given(items=ITEMS, data=st.data())
def test_neither_order_nor_partitions_change_a_result(
    spark: SparkSession, items: list[Item], data: st.DataObject
) -> None:
    groups = {item[0]: [each for each in items if each[0] == item[0]] for item in items}
    wanted = {group: expected(members) for group, members in groups.items()}
    for partitions in (1, data.draw(st.integers(2, 6)), 7):
        shuffled = data.draw(st.permutations(items))
        frame = spark.createDataFrame(shuffled, "g STRING, k INT, l INT, v STRING")
        assert aggregated(frame.repartition(partitions)) == wanted


# Values of which some compare equal and are not the same.
Loose = tuple[int, float | None, str | None]
LOOSE = st.lists(
    st.tuples(
        st.integers(0, 1),
        st.none() | st.sampled_from([0.0, -0.0, 1.5, float("nan"), float("-inf")]),
        st.none() | st.sampled_from(["", "a", "A", "B", "b"]),
    ),
    min_size=1,
    max_size=20,
)


def number_rank(number: float | None) -> tuple[bool, bool, float, bool]:
    """Missing first, NaN last; minus zero is as large as zero and is written before it."""
    if number is None or isnan(number):
        return (number is not None, number is not None, 0.0, False)
    return (True, False, number, copysign(1, number) > 0)


def text_rank(text: str | None) -> tuple[bool, str, str]:
    return (text is not None, (text or "").lower(), text or "")


def expected_of_loose(items: list[Loose]) -> tuple[object, ...]:
    there = sorted((item[1] for item in items if item[1] is not None), key=number_rank)
    texts = [item[2] for item in items]
    top = [item[1] for item in items if item[0] == max(each[0] for each in items)]
    # A tie of keys is one also where the keys are not the same: then values settle it.
    first = min((each.lower() for each in texts if each is not None), default=None)
    low = [item[1] for item in items if item[2] is not None and item[2].lower() == first]
    return (
        max(top, key=number_rank),
        max(texts, key=text_rank),
        there[0] if there else None,
        min((each for each in texts if each is not None), key=text_rank, default=None),
        min(low, key=number_rank, default=None),
        [*dict.fromkeys(each + 0.0 for each in there if not isnan(each)), *filter(isnan, there[-1:])],
    )


@settings(max_examples=3)
@given(items=LOOSE, data=st.data())
def test_values_that_compare_equal_are_settled_too(
    spark: SparkSession, items: list[Loose], data: st.DataObject
) -> None:
    wanted = repr(expected_of_loose(items))
    structs: set[str] = set()
    for partitions in (1, 3):
        shuffled = data.draw(st.permutations(items))
        frame = spark.createDataFrame(shuffled, "k INT, d DOUBLE, c STRING COLLATE UTF8_LCASE")
        row = frame.repartition(partitions).selectExpr(
            "arg_max_det(d, k)",
            "arg_max_det(c, 1)",
            "any_value_det(d)",
            "any_value_det(c)",
            "arg_min_det(d, c)",
            "collect_set_sorted(d)",
            "arg_max_det(named_struct('d', array(d), 'c', c), k)",
            "collect_set_sorted(array(d))",
        )
        answers: list[object] = list(row.collect()[0])
        assert repr(tuple(answers[:6])) == wanted
        structs.add(repr(answers[6:]))
    assert len(structs) == 1


def test_zeros_and_letters_do_not_depend_on_the_order_of_rows(spark: SparkSession) -> None:
    answers = {
        repr(
            spark.sql(
                "SELECT any_value_det(d), arg_max_det(d, 1), any_value_det(c COLLATE UTF8_LCASE), "
                "arg_max_det(c COLLATE UTF8_LCASE, 1), arg_min_det(array(d), c COLLATE UTF8_LCASE), "
                f"collect_set_sorted(named_struct('d', d)) FROM VALUES {', '.join(order)} AS t(d, c)"
            ).collect()
        )
        for order in permutations(("(-0.0D, 'a')", "(0.0D, 'A')"))
    }
    assert len(answers) == 1


def test_texts_with_a_collation_make_no_set(spark: SparkSession) -> None:
    for value in ("'a' COLLATE UTF8_LCASE", "array('a' COLLATE UTF8_LCASE)"):
        with pytest.raises(AnalysisException, match="COLLATED STRING"):
            spark.sql(f"SELECT collect_set_sorted({value})")


def test_values_may_be_numbers_and_structs_and_keep_their_type(spark: SparkSession) -> None:
    frame = spark.sql(
        "SELECT arg_max_det(n, k), arg_min_det(s, k), any_value_det(s), collect_set_sorted(s), "
        "arg_max_det(k, s) "
        "FROM VALUES (1, named_struct('a', 2, 'b', 'x'), 5), (2, named_struct('a', 1, 'b', 'y'), 5), "
        "(2, named_struct('a', 1, 'b', 'y'), 4) AS t(n, s, k)"
    )
    assert [kind for _, kind in frame.dtypes] == [
        "int",
        "struct<a:int,b:string>",
        "struct<a:int,b:string>",
        "array<struct<a:int,b:string>>",
        "int",
    ]
    assert tuple(frame.collect()[0]) == (2, (1, "y"), (1, "y"), [(1, "y"), (2, "x")], 5)


def test_of_no_rows_there_is_nothing_to_choose(spark: SparkSession) -> None:
    frame = spark.sql(
        "SELECT arg_max_det(id, id), arg_min_det(id, id), any_value_det(id), collect_set_sorted(id), "
        "count_if_det(id > 0) FROM range(0)"
    )
    assert tuple(frame.collect()[0]) == (None, None, None, [], 0)


def test_a_missing_condition_is_not_met(asked: Callable[..., tuple[Any, ...]]) -> None:
    assert tuple(
        asked("count_if_det(NULL)", "count_if_det(CAST(NULL AS BOOLEAN))", "count_if_det(true)")
    ) == (0, 0, 1)


def test_second_names_in_python_are_the_same_functions() -> None:
    assert (H.arg_max, H.arg_min) == (H.arg_max_det, H.arg_min_det)
    assert (H.collect_set, H.count_if) == (H.collect_set_sorted, H.count_if_det)


@pytest.mark.parametrize("call", ["arg_max_det(id, id)", "count_if_det(id > 0)", "collect_set_sorted(id)"])
@pytest.mark.parametrize("over", ["OVER ()", "OVER (PARTITION BY id ORDER BY id)", "FILTER (WHERE id > 0)"])
def test_windows_and_filters_are_refused_and_not_ignored(spark: SparkSession, call: str, over: str) -> None:
    with pytest.raises(AnalysisException):
        spark.sql(f"SELECT {call} {over} FROM range(3)").collect()


def test_a_condition_is_true_or_false(spark: SparkSession) -> None:
    with pytest.raises(SparkRuntimeException, match="count_if_det: condition is a BOOLEAN, not string"):
        spark.sql("SELECT count_if_det('yes')").collect()
    with pytest.raises(AnalysisException):
        spark.sql("SELECT count_if_det(5)")
