"""The sample of these tests in Spark, once for each file of tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from graph_sample import LIBRARY, REPO, evidence_frame, library_frame, resolution_frame

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


@pytest.fixture(scope="module")
def resolution(spark: SparkSession, evidence: DataFrame) -> DataFrame:
    return resolution_frame(spark, evidence, REPO)


@pytest.fixture(scope="module")
def library(spark: SparkSession) -> DataFrame:
    """The evidence of the small repository."""
    return library_frame(spark)


@pytest.fixture(scope="module")
def meant(spark: SparkSession, library: DataFrame) -> DataFrame:
    """What its files mean together."""
    return resolution_frame(spark, library, LIBRARY)


@pytest.fixture(scope="module")
def name_of(meant: DataFrame) -> dict[str, str]:
    """The dotted name of each definition of the small repository, and of what is outside, by its id."""
    own = meant.selectExpr("inline(definitions)").select("node_id", "name")
    rows = own.union(meant.selectExpr("inline(externals)").select("node_id", "name")).collect()
    return {row["node_id"]: row["name"] for row in rows}
