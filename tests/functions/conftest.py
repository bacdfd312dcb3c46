"""One session per test file, and the shortest ways to ask it something."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from pyspark.sql import SparkSession

    from headwater.runtime import SessionRuntime


@pytest.fixture(scope="module")
def spark(runtime: SessionRuntime) -> Generator[SparkSession]:
    """A session with the catalogue in it; properties cannot have one per example."""
    with runtime.checkout() as lent:
        yield lent.spark


@pytest.fixture(scope="module")
def asked(spark: SparkSession) -> Callable[..., tuple[Any, ...]]:
    """The one row of a SELECT of these expressions."""

    def ask(*expressions: str) -> tuple[Any, ...]:
        named = [f"{expression} AS c{place}" for place, expression in enumerate(expressions)]
        (row,) = spark.sql(f"SELECT {', '.join(named)}").collect()
        return cast("tuple[Any, ...]", tuple(row))

    return ask
