from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pandas as pd  # noqa: TC002  PySpark reads the annotations
from pyspark.sql import functions as F

from headwater.pipeline import build_plan
from headwater.plan import rehydrate
from headwater.runtime import RuntimeProfile, StorageProfile
from headwater.runtime.settings import is_session_setting, settings_of, snapshot_of, with_results

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from headwater.runtime import RunSession


def test_what_affects_results_is_apart_from_what_does_not() -> None:
    results, speed = settings_of(
        RuntimeProfile(spark=(("spark.sql.legacy.x", "1"), ("spark.executor.cores", "2")))
    )
    assert results["spark.sql.session.timeZone"] == "UTC"
    assert results["spark.sql.ansi.enabled"] == "true"
    assert results["spark.sql.legacy.x"] == "1"
    assert speed["spark.executor.cores"] == "2"
    assert speed["spark.sql.shuffle.partitions"] == "2"
    assert not set(results) & set(speed)


def test_a_snapshot_has_no_secret_and_no_machine_path() -> None:
    storage = StorageProfile(options=(("fs.s3a.secret.key", "hunter2"), ("fs.s3a.endpoint", "e")))
    snapshot = snapshot_of(RuntimeProfile(storage=storage))
    text = repr(snapshot)
    assert "hunter2" not in text
    assert ("spark.hadoop.fs.s3a.endpoint", "e") in snapshot.results
    assert "/tmp" not in text  # noqa: S108


def test_only_sql_settings_can_differ_by_session() -> None:
    assert is_session_setting("spark.sql.ansi.enabled")
    assert is_session_setting("spark.databricks.delta.snapshotPartitions")
    assert not is_session_setting("spark.sql.extensions")
    assert not is_session_setting("spark.master")


def test_where_it_runs_makes_no_other_results() -> None:
    more = (
        ("spark.archives", "environment.tar.gz#environment"),
        ("spark.blockManager.port", "7079"),
        ("spark.cores.max", "4"),
        ("spark.deploy.maxExecutorRetries", "2"),
        ("spark.driver.host", "10.0.0.9"),
        ("spark.dynamicAllocation.enabled", "true"),
        ("spark.executor.memory", "4g"),
        ("spark.kubernetes.namespace", "shop"),
        ("spark.port.maxRetries", "3"),
        ("spark.pyspark.python", "./environment/bin/python"),
        ("spark.python.worker.memory", "1g"),
        ("spark.yarn.queue", "shop"),
    )
    there = settings_of(RuntimeProfile(master="spark://host:7077", spark=more))
    here = settings_of(RuntimeProfile())
    assert there[0] == here[0]
    assert there[1].items() >= dict(more).items()


def test_only_a_master_on_this_machine_is_bound_to_it() -> None:
    assert "spark.driver.host" in settings_of(RuntimeProfile(master="local[4]"))[1]
    assert "spark.driver.host" in settings_of(RuntimeProfile(master="spark://127.0.0.1:7077"))[1]
    assert "spark.driver.host" not in settings_of(RuntimeProfile(master="spark://host:7077"))[1]


def test_a_profile_can_have_the_results_of_another_and_its_own_speed() -> None:
    more = (
        ("spark.sql.legacy.x", "1"),
        ("spark.sql.caseSensitive", "true"),
        ("spark.sql.apiKey.secret", "s"),
    )
    then = RuntimeProfile(time_zone="Asia/Tokyo", ansi=False, shuffle_partitions=9, spark=more)
    recorded = dict(snapshot_of(then).results)
    own = (("spark.sql.legacy.y", "2"), ("spark.executor.cores", "2"), ("spark.files.x", "3"))
    found = with_results(RuntimeProfile(shuffle_partitions=5, spark=own), recorded)
    results, speed = settings_of(found)
    assert (speed["spark.sql.shuffle.partitions"], speed["spark.executor.cores"]) == ("5", "2")
    del recorded["spark.sql.apiKey.secret"]  # nobody knows what it was
    assert results == {**recorded, "spark.files.x": "3"}  # that one belongs to the application
    assert with_results(found, dict(snapshot_of(found).results)) == found


def test_functions_of_two_kinds_over_a_scan_come_to_their_end(session: RunSession, tmp_path: Path) -> None:
    """They would not, were they handed the columns of the scan as they are; only compiled plans do that."""
    session.spark.conf.set("spark.sql.codegen.wholeStage", "true")
    session.spark.range(3).write.parquet(str(tmp_path / "rows"))
    session.spark.read.parquet(str(tmp_path / "rows")).createOrReplaceTempView("rows")
    rows = rehydrate(session, build_plan(_of_two_kinds).executable, "two_kinds").collect()
    assert sorted((row["doubled"], row["tripled"]) for row in rows) == [(0, 0), (2, 3), (4, 6)]


def _of_two_kinds(spark: SparkSession) -> DataFrame:
    doubled: Any = F.udf(_doubled, "long", useArrow=False)
    tripled: Any = cast("Any", F.pandas_udf)(_tripled, "long")
    return spark.table("rows").select(doubled("id").alias("doubled"), tripled("id").alias("tripled"))


def _doubled(value: int) -> int:
    return value * 2


def _tripled(values: pd.Series) -> pd.Series:
    return values * 3
