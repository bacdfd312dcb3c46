"""Repositories as rows, and the evidence of several as one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graph_sample import REPO, evidence_frame

from headwater.cpg.graph import all_of, evidence_in, files_of, repos_of, repositories_of, repository_id
from headwater.cpg.graph.repositories import repository_node
from headwater.digest import stable_id

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def test_a_repository_is_known_by_its_name(spark: SparkSession) -> None:
    rows = repositories_of(spark, ["one", "two"]).select("*", repository_node().alias("node")).collect()
    assert [tuple(row) for row in rows] == [
        (repository_id(name), name, stable_id("node", stable_id("repo", name), "", "", 0, "REPO", ""))
        for name in ("one", "two")
    ]


def test_evidence_of_all_says_whose_each_row_is(spark: SparkSession) -> None:
    plain = evidence_frame(spark).drop("repo_id")
    plain.where("path = 'null.py'").createOrReplaceTempView("evidence_b")
    plain.where("path <> 'null.py'").createOrReplaceTempView("evidence_a")
    found = all_of([evidence_in(spark, f"evidence_{name}", name, ()) for name in ("a", "b")])
    counted = {row["repo_id"]: row["count"] for row in found.groupBy("repo_id").count().collect()}
    assert counted == {repository_id("a"): 4, repository_id("b"): 1}


def test_a_table_of_several_repositories_says_whose_each_row_is_and_where_it_is_there(
    spark: SparkSession,
) -> None:
    paths = [("app/a.py",), ("app/b/c.py",), ("app/bb.py",)]
    spark.createDataFrame(paths, "path STRING").createOrReplaceTempView("evidence_both")
    found = evidence_in(spark, "evidence_both", "both", ("app", "app/b")).collect()
    assert [tuple(row) for row in found] == [
        (repository_id("app"), "a.py"),
        (repository_id("app/b"), "c.py"),
        (repository_id("app"), "bb.py"),
    ]


def test_a_repository_tells_how_much_of_it_was_read(spark: SparkSession, evidence: DataFrame) -> None:
    found = repos_of(repositories_of(spark, ["sample", "empty"]), files_of(evidence)).collect()
    rows = {row["name"]: (row["repo_id"], row["files"], row["files_read"]) for row in found}
    assert rows == {"sample": (REPO, 5, 2), "empty": (repository_id("empty"), 0, 0)}
