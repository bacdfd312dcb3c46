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


def evidence_in(spark: SparkSession, table: str, name: str, roots: Sequence[str]) -> DataFrame:
    """A table of evidence with the repository of each row, and paths as seen from there.

    Args:
        spark: where the table is
        table: its name
        name: that of the repository
        roots: the folders of several repositories, if the table is of more than one; each has its own name
    """
    rows = spark.table(table)
    if not roots:
        return rows.select(F.lit(repository_id(name)).alias("repo_id"), "*")
    around = F.filter(
        F.array(*map(F.lit, roots)), lambda root: F.startswith("path", F.concat(root, F.lit("/")))
    )
    longest = F.array_max(F.transform(around, lambda root: F.struct(F.length(root), root.alias("root"))))[
        "root"
    ]
    return rows.select(
        stable_id_parts("repo", longest).alias("repo_id"),
        F.substr("path", F.length(longest) + 2).alias("path"),
        *(F.col(each) for each in rows.columns if each != "path"),
    )


def all_of(frames: Sequence[DataFrame]) -> DataFrame:
    """The rows of several tables of one kind."""
    return reduce(DataFrame.unionByName, frames)


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
