from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import SparkRuntimeException
from pyspark.sql import functions as F

from headwater import functions as H

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

POLICY = [
    ("update_preimage", 0, False, False),
    ("delete", 1, False, True),
    ("insert", 2, True, False),
    ("update_postimage", 3, True, False),
    (None, None, None, None),
]


def test_there_is_one_policy(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(each[0],) for each in POLICY], "c STRING")
    asked = ("cdf_change_rank(c)", "cdf_is_upsert(c)", "cdf_is_delete(c)")
    assert [tuple(row) for row in frame.selectExpr("c", *asked).collect()] == POLICY
    kinds = [kind for _, kind in frame.selectExpr(*asked).dtypes]
    assert kinds == ["int", "boolean", "boolean"]


def test_an_unknown_change_is_an_error_and_a_bare_null_is_none(
    asked: Callable[..., tuple[Any, ...]], errors: Callable[..., list[str]]
) -> None:
    functions = ("cdf_change_rank", "cdf_is_upsert", "cdf_is_delete")
    words = ("update", "INSERT", "", " insert")
    wrong = [f"{function}('{word}')" for function in functions for word in words]
    assert all("no change of a change feed is called" in error for error in errors(*wrong))
    with pytest.raises(SparkRuntimeException, match="no change of a change feed is called"):
        asked(wrong[0])
    assert asked(*[f"{function}(NULL)" for function in functions]) == (None, None, None)


def test_a_collation_does_not_let_other_words_in(errors: Callable[..., list[str]]) -> None:
    (error,) = errors("cdf_is_upsert('INSERT' COLLATE UTF8_LCASE)")
    assert "cdf_is_upsert: change_type is a STRING, not string collate UTF8_LCASE" in error


def test_a_real_change_feed_gives_back_the_table(spark: SparkSession, tmp_path: Path) -> None:
    table = f"delta.`{tmp_path / 'table'}`"
    spark.sql(
        f"CREATE TABLE {table} (k INT, v STRING) USING delta "
        "TBLPROPERTIES (delta.enableChangeDataFeed = true)"
    )
    spark.sql(f"INSERT INTO {table} VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    spark.sql(f"UPDATE {table} SET v = 'B' WHERE k = 2")
    spark.sql(f"DELETE FROM {table} WHERE k = 3")
    spark.sql(f"INSERT INTO {table} VALUES (3, 'again')")
    feed = (spark.read.option("readChangeFeed", "true").option("startingVersion", 0).format("delta")).load(
        str(tmp_path / "table")
    )
    kinds = {row[0] for row in feed.select("_change_type").distinct().collect()}
    assert kinds == {kind for kind, *_ in POLICY if kind is not None}
    latest = feed.groupBy("k").agg(
        H.arg_max_det("v", "_commit_version", H.cdf_change_rank("_change_type")).alias("v"),
        H.arg_max_det("_change_type", "_commit_version", H.cdf_change_rank("_change_type")).alias("kind"),
    )
    left = latest.where(H.cdf_is_upsert("kind")).select("k", "v")
    assert sorted((row[0], row[1]) for row in left.collect()) == [(1, "a"), (2, "B"), (3, "again")]
    before = (
        feed.where(F.col("_commit_version") <= 3)
        .groupBy("k")
        .agg(
            H.arg_max_det("_change_type", "_commit_version", H.cdf_change_rank("_change_type")).alias("kind")
        )
    )
    assert [row["k"] for row in before.where("cdf_is_delete(kind)").collect()] == [3]
