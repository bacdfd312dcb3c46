"""Nodes: those of syntax trees, those that are in no tree, and the repository. Not here: edges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from headwater.cpg.evidence import LISTS
from headwater.cpg.graph.entries import IDS, node_at, of_repository, typed
from headwater.digest import stable_id

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# The columns that are kept as evidence has them.
_PLAIN = tuple(each for each in LISTS["nodes"] if each not in {"parent", "owner", "props"})
_ADDED = {"BINDING": "scopes", "CFG_ENTRY": "flow", "CFG_EXIT": "flow", "DIAGNOSTIC": "headwater"}


def repository_node(repo_id: str) -> str:
    """The id of the repository's own node."""
    return stable_id("node", repo_id, "", "", 0, "REPO", "")


def nodes_of(spark: SparkSession, evidence: DataFrame, repo_id: str, name: str) -> DataFrame:
    """One row per node of every file, and one for the repository."""
    numbered = evidence.select(
        "file_id", "path", F.col("node_ids").alias(IDS), F.posexplode("nodes").alias("pos", "entry")
    )
    found = numbered.select("*", "entry.*").select(
        *("file_id", "path", *_PLAIN),
        node_at("pos").alias("node_id"),
        node_at("parent").alias("parent_id"),
        node_at("owner").alias("owner_def_id"),
        F.map_from_entries("props").alias("props"),
    )
    repository = spark.range(1).select(
        F.lit(repository_node(repo_id)).alias("node_id"),
        F.lit("REPO").alias("node_kind"),
        F.lit(name).alias("name"),
    )
    origin = F.lit("ast")
    for kind, said_by in _ADDED.items():
        origin = F.when(F.col("node_kind") == kind, said_by).otherwise(origin)
    return found.unionByName(repository, allowMissingColumns=True).select(
        of_repository(repo_id),
        typed("file_id", "FileId"),
        "path",
        *(typed(each, "NodeId") for each in ("node_id", "parent_id", "owner_def_id")),
        *_PLAIN,
        "props",
        origin.alias("origin"),
    )
