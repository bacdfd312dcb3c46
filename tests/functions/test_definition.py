from __future__ import annotations

import inspect
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import pytest
from pyspark.sql import functions as F

from headwater import functions as H
from headwater.functions import Example, FunctionDefinition, FunctionSnapshot
from headwater.functions.builtins import F as B
from headwater.functions.definition import MOST_ARGUMENTS, ColumnOrName, Value, all_given, define, given

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import Column, SparkSession


def work(values: list[int]) -> list[int]:
    """What a worker runs."""
    return [value + 1 for value in values]


def other_work(values: list[int]) -> list[int]:
    return [value + 2 for value in values]


@define(
    "twice(number BIGINT [, times INT]) -> BIGINT",
    tags=("number", "test"),
    examples=(("SELECT twice(1)", "2"),),
)
def twice(number: ColumnOrName, times: Value = 2) -> Column:
    """A number, so many times."""
    return given(number) * given(times)


def thrice(number: ColumnOrName, times: Value = 3) -> Column:
    return given(number) * given(times)


def plus(number: ColumnOrName, times: Value = 2) -> Column:
    return given(number) + given(times)


def only(number: ColumnOrName, *more: ColumnOrName) -> Column:
    return B.greatest(given(number), B.lit(1), *all_given(more))


TOLD: dict[str, dict[str, Any]] = {
    "signature": {"signature": "twice(n BIGINT) -> BIGINT"},
    "doc": {"doc": "Something else."},
    "example": {"examples": (Example(sql="SELECT twice(2)", result="4"),)},
    "result of an example": {"examples": (Example(sql="SELECT twice(1)", result="3"),)},
    "no example": {"examples": ()},
    "tags": {"tags": ("number",)},
    "order of tags": {"tags": ("test", "number")},
    "alias": {"alias": "double"},
}
MEANT: dict[str, dict[str, Any]] = {
    "name": {"name": "double"},
    "version": {"version": 2},
    "body": {"body": plus},
    "default": {"body": thrice},
    "number of arguments": {"body": only},
    "semantic type": {"semantic_type": "Number"},
    "worker": {"worker": work},
}


def changed(definition: FunctionDefinition[...], **fields: object) -> FunctionDefinition[...]:
    return cast("Any", replace)(definition, **fields)


@pytest.mark.parametrize("field", TOLD)
def test_what_is_said_is_part_of_the_digest_and_not_of_the_behaviour(field: str) -> None:
    other = changed(twice, **TOLD[field])
    assert other.digest != twice.digest
    assert other.behaviour == twice.behaviour
    one, two = (FunctionSnapshot(definitions=(each,)) for each in (twice, other))
    assert one.digest != two.digest
    assert one.results_digest == two.results_digest


@pytest.mark.parametrize("field", MEANT)
def test_what_changes_a_result_is_part_of_both(field: str) -> None:
    other = changed(twice, **MEANT[field])
    assert (other.digest != twice.digest, other.behaviour != twice.behaviour) == (True, True)
    one, two = (FunctionSnapshot(definitions=(each,)) for each in (twice, other))
    assert (one.digest != two.digest, one.results_digest != two.results_digest) == (True, True)


def test_every_field_of_a_definition_is_tried_above() -> None:
    tried = {name for fields in (*TOLD.values(), *MEANT.values()) for name in fields}
    assert tried == set(inspect.signature(FunctionDefinition).parameters)


def test_another_workers_code_is_another_behaviour() -> None:
    one, two = changed(twice, worker=work), changed(twice, worker=other_work)
    assert one.behaviour != two.behaviour


def test_nothing_changes_nothing() -> None:
    again = changed(twice)
    assert (again.digest, again.behaviour) == (twice.digest, twice.behaviour)


def test_a_function_looks_like_one() -> None:
    assert inspect.unwrap(cast("Any", H.node_id)).__name__ == "node_id"
    assert H.node_id.__doc__ is not None
    assert list(inspect.signature(cast("Any", H.span_make)).parameters) == ["bstart", "bend", "unit"]
    assert "SPAN is short for" in (H.span_make.__doc__ or "")


def test_the_number_of_arguments_in_sql_follows_the_body() -> None:
    assert twice.arities == (1, 2)
    assert H.qname_normalize.arities == (1, 2, 3)
    assert H.node_id.arities == tuple(range(1, MOST_ARGUMENTS + 1))
    assert H.arg_max_det.arities == tuple(range(2, MOST_ARGUMENTS + 1))
    assert H.any_value_det.arities == tuple(range(1, MOST_ARGUMENTS + 1))


def test_a_wrong_call_in_python_is_a_type_error() -> None:
    calls: list[Callable[[], object]] = [
        lambda: cast("Any", H.span_make)("a"),
        lambda: cast("Any", H.span_len)("a", "b"),
        lambda: cast("Any", H.span_make)("a", "b", units="byte"),
    ]
    for call in calls:
        with pytest.raises(TypeError):
            call()


def test_names_are_columns_and_plain_values_are_themselves(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(3, "char")], "a INT, u STRING")
    got = frame.select(
        H.span_make("a", F.col("a") + 1, "char"),
        H.span_make("a", F.lit(9), F.col("u")),
        H.stable_id_parts("u", "u"),
        twice("a"),
        twice("a", 5),
    ).collect()[0]
    assert [tuple(got[0]), tuple(got[1]), got[2][:2], got[3], got[4]] == [
        (3, 4, "char"),
        (3, 9, "char"),
        "u:",
        6,
        15,
    ]


def test_python_has_no_limit_of_parts(spark: SparkSession) -> None:
    parts = [F.lit(number) for number in range(3 * MOST_ARGUMENTS)]
    assert spark.range(1).select(H.node_id(*parts)).collect()[0][0].startswith("node:")
