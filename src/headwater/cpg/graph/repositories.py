"""The repositories of a warehouse: each has evidence of its own, and all have one graph.

Not here: what is in them.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from headwater.cpg.graph.entries import repository
from headwater.digest import stable_id
from headwater.functions import stable_id_parts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Column, SparkSession


def repository_id(name: str) -> str:
    """The id of the repository of a name."""
    return stable_id("repo", name)


def repository_node() -> Column:
    """The id of the node that stands for a row's repository."""
    nothing = F.lit("")
    return stable_id_parts("node", "repo_id", nothing, nothing, F.lit(0), F.lit("REPO"), nothing)


def repositories_of(spark: SparkSession, names: Sequence[str]) -> DataFrame:
    """One row for each repository of these names."""
    rows = [
        F.struct(F.lit(repository_id(name)).alias("repo_id"), F.lit(name).alias("name")) for name in names
    ]
    return spark.range(1).select(F.inline(F.array(*rows)))


def evidence_of_all(spark: SparkSession, tables: dict[str, str]) -> DataFrame:
    """The evidence of all repositories: by a repository's name, the name of its table."""
    found = [
        spark.table(table).select(F.lit(repository_id(name)).alias("repo_id"), "*")
        for name, table in tables.items()
    ]
    return reduce(DataFrame.unionByName, found)


def repos_of(repositories: DataFrame, files: DataFrame) -> DataFrame:
    """One row per repository: how many files it has, how many of them were read, and their bytes."""
    was_read = F.col("parse_status").isin("ok", "recovered")
    counted = files.groupBy("repo_id").agg(
        F.count("*").alias("files"),
        F.count_if(was_read).alias("files_read"),
        F.sum("size_bytes").alias("size_bytes"),
    )
    return repositories.join(counted, "repo_id", "left").select(
        repository(),
        "name",
        *(F.coalesce(each, F.lit(0)).alias(each) for each in ("files", "files_read", "size_bytes")),
    )
