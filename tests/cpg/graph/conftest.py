"""The sample of these tests in Spark, once for each file of tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from graph_sample import evidence_frame

if TYPE_CHECKING:
    from collections.abc import Generator

    from pyspark.sql import DataFrame, SparkSession

    from headwater.runtime import SessionRuntime


@pytest.fixture(scope="module")
def spark(runtime: SessionRuntime) -> Generator[SparkSession]:
    with runtime.checkout() as lent:
        yield lent.spark


@pytest.fixture(scope="module")
def evidence(spark: SparkSession) -> DataFrame:
    return evidence_frame(spark)
