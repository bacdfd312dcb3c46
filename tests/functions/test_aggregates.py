from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.errors import AnalysisException

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
    with pytest.raises(AnalysisException):
        spark.sql("SELECT count_if_det(5)")
