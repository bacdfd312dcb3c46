from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.errors import AnalysisException
from pyspark.sql.types import (
    ArrayType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
)

from headwater import functions as H

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

MARKED = StructType(
    [
        StructField("a", IntegerType(), nullable=False, metadata={"unit": "m"}),
        StructField("b", StringType(), nullable=True, metadata={"headwater.semantic_type": "NodeId"}),
        StructField("c", ArrayType(LongType(), containsNull=False), nullable=False),
    ]
)
NOTHING_MISSING = StructType(
    [
        StructField("m", MapType(StringType(), MARKED, valueContainsNull=False), nullable=False),
        StructField("l", ArrayType(MARKED, containsNull=False), nullable=False),
        StructField("s", MARKED, nullable=False),
    ]
)
ANYTHING_MISSING = StructType(
    [
        StructField("m", MapType(StringType(), MARKED, valueContainsNull=True), nullable=True),
        StructField("l", ArrayType(MARKED, containsNull=True), nullable=True),
        StructField("s", MARKED, nullable=True),
    ]
)


@pytest.mark.parametrize("schema", [NOTHING_MISSING, ANYTHING_MISSING], ids=["none", "any"])
def test_types_inside_keep_their_fields_their_metadata_and_what_may_be_missing(
    spark: SparkSession, schema: StructType
) -> None:
    frame = spark.createDataFrame([], schema)
    made = frame.select(
        H.map_normalize("m").alias("m"), H.list_unique_sorted("l").alias("l"), H.list_compact("l").alias("k")
    ).schema
    assert made["m"].dataType == schema["m"].dataType
    assert made["l"].dataType == schema["l"].dataType
    assert made["k"].dataType == ArrayType(MARKED, containsNull=False)
    assert [field.nullable for field in made] == [
        schema["m"].nullable,
        schema["l"].nullable,
        schema["l"].nullable,
    ]
    picked = frame.select(H.struct_pick("s", "c", "b").alias("s")).schema["s"]
    assert isinstance(picked.dataType, StructType)
    assert [(field.name, field.dataType, field.metadata) for field in picked.dataType] == [
        (name, MARKED[name].dataType, MARKED[name].metadata) for name in ("c", "b")
    ]
    # Spark takes a field of a struct that may be missing for one that may be missing itself.
    assert [field.nullable for field in picked.dataType] == [schema["s"].nullable, True]
    assert picked.nullable == schema["s"].nullable


@settings(max_examples=3)
@given(
    rows=st.lists(
        st.tuples(
            st.none() | st.lists(st.none() | st.integers(-20, 20), max_size=6),
            st.none() | st.lists(st.none() | st.text(max_size=3), max_size=5),
            st.none() | st.dictionaries(st.integers(-9, 99), st.none() | st.text(max_size=2), max_size=5),
        ),
        min_size=10,
        max_size=50,
    )
)
def test_lists_and_maps_are_put_in_order(
    spark: SparkSession,
    rows: list[tuple[list[int | None] | None, list[str | None] | None, dict[int, str | None] | None]],
) -> None:
    frame = spark.createDataFrame(rows, "n ARRAY<INT>, t ARRAY<STRING>, m MAP<INT, STRING>")
    got = frame.selectExpr(
        "list_unique_sorted(n)",
        "list_compact(n)",
        "list_unique_sorted(t)",
        "map_entries(map_normalize(m))",
        "map_normalize(m)",
        "map_get_default(m, 3, 'none')",
    ).collect()
    for (numbers, texts, mapping), row in zip(rows, got, strict=True):
        assert row[0] == unique_sorted(numbers)
        assert row[1] == (None if numbers is None else [each for each in numbers if each is not None])
        assert row[2] == unique_sorted(texts)
        assert row[3] == (None if mapping is None else [(key, mapping[key]) for key in sorted(mapping)])
        assert row[4] == mapping
        found = (mapping or {}).get(3)
        assert row[5] == ("none" if found is None else found)


def unique_sorted(values: list[int | None] | list[str | None] | None) -> list[object] | None:
    if values is None:
        return None
    there = sorted({each for each in values if each is not None})  # pyright: ignore[reportArgumentType]
    return [*there, *([None] if None in values else [])]


def test_functions_take_what_they_are_given(spark: SparkSession) -> None:
    calls = {
        "list_unique_sorted(array(10, 9))": "array<int>",
        "list_unique_sorted(array(10L, 9))": "array<bigint>",
        "list_unique_sorted(array(array(2), array(1)))": "array<array<int>>",
        "list_compact(array(named_struct('a', 1)))": "array<struct<a:int>>",
        "map_normalize(map(DATE'2024-01-01', 1.5D))": "map<date,double>",
        "map_get_default(map('a', array(1)), 'b', array())": "array<int>",
        "struct_pick(named_struct('a', 1, 'b', map(1, 'x')), 'b')": "struct<b:map<int,string>>",
    }
    assert (
        dict(zip(calls, (kind for _, kind in spark.sql(f"SELECT {', '.join(calls)}").dtypes), strict=True))
        == calls
    )


def test_keys_of_any_type_with_an_order_are_put_in_it(asked: Callable[..., tuple[Any, ...]]) -> None:
    row = asked(
        "map_keys(map_normalize(map(10, 'a', 9, 'b')))",
        "map_keys(map_normalize(map('é', 1, 'z', 2, '', 3)))",
        "map_keys(map_normalize(map(array(2), 1, array(1, 5), 2)))",
        "map_keys(map_normalize(map(named_struct('x', 2), 1, named_struct('x', 1), 2)))",
        "map_keys(map_normalize(map(double('NaN'), 1, 1D, 2)))[0]",
    )
    assert [row[0], row[1], row[2], [each["x"] for each in row[3]], row[4]] == [
        [9, 10],
        ["", "z", "é"],
        [[1, 5], [2]],
        [1, 2],
        1.0,
    ]


def test_the_default_stands_for_a_missing_key_value_and_map(asked: Callable[..., tuple[Any, ...]]) -> None:
    row = asked(
        "map_get_default(map('a', 1), 'a', 0)",
        "map_get_default(map('a', 1), 'b', 0)",
        "map_get_default(map('a', CAST(NULL AS INT)), 'a', 0)",
        "map_get_default(CAST(NULL AS MAP<STRING, INT>), 'a', 0)",
        "map_get_default(map('a', 1), NULL, 0)",
        "map_get_default(map('a', 1), 'b', NULL)",
    )
    assert tuple(row) == (1, 0, 0, 0, 0, None)


def test_a_picked_struct_is_missing_exactly_where_the_struct_is(spark: SparkSession) -> None:
    rows = [((1, None),), (None,), ((None, "x"),)]
    frame = spark.createDataFrame(rows, "s STRUCT<a: INT, b: STRING>")
    got = frame.selectExpr("struct_pick(s, 'b', 'a')", "struct_pick(s, 'b') IS NULL").collect()
    assert [(row[0] and tuple(row[0]), row[1]) for row in got] == [
        ((None, 1), False),
        (None, True),
        (("x", None), False),
    ]


@pytest.mark.parametrize(
    "call",
    [
        "struct_pick(named_struct('a', 1), 'b')",
        "struct_pick(named_struct('a', 1), NULL)",
        "struct_pick(NULL, 'a')",
        "map_get_default(NULL, 'a', 0)",
        "map_get_default(array(5, 6), 1, 0)",
        "list_unique_sorted(array(map(1, 1)))",
        "list_compact(1)",
        "map_normalize(1)",
    ],
)
def test_what_has_no_such_type_is_refused_before_anything_runs(spark: SparkSession, call: str) -> None:
    with pytest.raises(AnalysisException):
        spark.sql(f"SELECT {call}")


def test_keys_and_defaults_of_other_types_are_errors_and_not_cast(errors: Callable[..., list[str]]) -> None:
    defaults = (
        "map('a', 1), 'b', '5'",
        "map('a', 1L), 'a', '5'",
        "map('a', 1), 'a', 5L",
        "map('a', 1), 'a', 5D",
    )
    wrong = errors(*[f"map_get_default({each})" for each in defaults])
    assert all("map_get_default: default has the type of the map's values, not " in each for each in wrong)
    keys = ("map(1, 1), 1D, 0", "map(TIMESTAMP'2024-01-01 00:00:00', 1), DATE'2024-01-01', 0")
    wrong = errors(*[f"map_get_default({each})" for each in keys])
    assert all("map_get_default: key has the type of the map's keys, not " in each for each in wrong)
    right = (
        "map(1L, 1), 1, 0",
        "map(1, 1L), 1L, 0",
        "map('a', 1D), 'b', 0",
        "map('a', map(1, 1)), 'b', map()",
    )
    assert errors(*[f"map_get_default({each})" for each in right]) == [""] * len(right)


def test_a_missing_list_or_map_stays_missing(asked: Callable[..., tuple[Any, ...]]) -> None:
    calls = ("map_normalize(NULL)", "list_compact(NULL)", "list_unique_sorted(NULL)")
    typed = ("map_normalize(CAST(NULL AS MAP<INT, INT>))", "list_compact(CAST(NULL AS ARRAY<INT>))")
    assert set(asked(*calls, *typed)) == {None}
