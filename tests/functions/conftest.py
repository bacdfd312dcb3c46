"""One session per test file, and the shortest ways to ask it something."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest
from pyspark.errors import PySparkException

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from pyspark.sql import SparkSession

    from headwater.runtime import SessionRuntime


@pytest.fixture(scope="module")
def spark(runtime: SessionRuntime) -> Generator[SparkSession]:
    """A session with the catalogue in it; properties cannot have one per example."""
    with runtime.checkout() as lent:
        # What compiled plans give is what users see; the other tests' sessions interpret them.
        lent.spark.conf.set("spark.sql.codegen.factoryMode", "FALLBACK")
        lent.spark.conf.set("spark.sql.codegen.wholeStage", "true")
        yield lent.spark


@pytest.fixture(scope="module")
def asked(spark: SparkSession) -> Callable[..., tuple[Any, ...]]:
    """The one row of a SELECT of these expressions."""

    def ask(*expressions: str) -> tuple[Any, ...]:
        named = [f"{expression} AS c{place}" for place, expression in enumerate(expressions)]
        (row,) = spark.sql(f"SELECT {', '.join(named)}").collect()
        return cast("tuple[Any, ...]", tuple(row))

    return ask


@pytest.fixture(scope="module")
def errors(spark: SparkSession) -> Callable[..., list[str]]:
    """What each call over literals raises; empty if it gives an answer.

    They are computed here, as the optimizer leaves them: one query for all, and no job for each error.
    """

    def ask(*calls: str) -> list[str]:
        frame: Any = spark.sql(f"SELECT {', '.join(calls)} FROM range(1)")
        plan = frame._jdf.queryExecution().optimizedPlan()
        # Of a function for Python workers, what can be refused is an argument.
        made = plan.child().udfs() if plan.child().nodeName() == "ArrowEvalPython" else plan.expressions()
        parts = [made.apply(place).children() for place in range(len(calls))]
        return ["".join(error_of(each.apply(place)) for place in range(each.length())) for each in parts]

    return ask


def error_of(expression: Any) -> str:
    try:
        expression.eval(None)
    except PySparkException as error:
        return str(error)
    return ""
