from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from pyspark.errors import utils as error_origins
from pyspark.sql.connect.column import Column as ConnectColumn
from pyspark.sql.types import LongType

from headwater.functions.builtins import F, call_arrow, templating

if TYPE_CHECKING:
    from typing import Any

    from pyspark.sql import SparkSession


def one_more(numbers: pa.Array[Any]) -> pa.Array[Any]:
    return pa.array([None if each is None else each + 1 for each in numbers.to_pylist()], pa.int64())


def test_templates_are_made_of_connect_expressions_without_a_session() -> None:
    with templating():
        assert isinstance(F.upper(F.col("a")), ConnectColumn)
        assert isinstance(call_arrow(one_more, LongType(), F.col("a")), ConnectColumn)


def test_callers_get_columns_of_their_session(spark: SparkSession) -> None:
    with templating():
        pass
    column = call_arrow(one_more, LongType(), F.col("id"))
    assert not isinstance(column, ConnectColumn)
    assert [row[0] for row in spark.range(3).select(column).collect()] == [1, 2, 3]


def test_an_error_in_a_body_leaves_everything_as_it_was() -> None:
    before = error_origins._enable_debugging_cache
    with pytest.raises(KeyError), templating():
        raise KeyError
    assert error_origins._enable_debugging_cache == before
    with templating(), templating():
        assert error_origins._enable_debugging_cache is False
    assert error_origins._enable_debugging_cache == before


def test_a_function_that_spark_does_not_have_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError):
        _ = F.no_such_function  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType]
