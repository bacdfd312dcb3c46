"""Nodes: those of syntax trees, those that are in no tree, repositories, and what is outside of them.

Not here: edges.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from headwater.cpg.evidence import LISTS
from headwater.cpg.graph.entries import IDS, node_at, repository, typed
from headwater.cpg.graph.linking import outside_nodes_of, type_nodes_of
from headwater.cpg.graph.repositories import repository_node

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# The columns that are kept as evidence has them.
_PLAIN = tuple(each for each in LISTS["nodes"] if each not in {"parent", "owner", "props"})
_ADDED = {"BINDING": "scopes", "CFG_ENTRY": "flow", "CFG_EXIT": "flow", "DIAGNOSTIC": "headwater"}


def nodes_of(file_nodes: DataFrame, resolution: DataFrame) -> DataFrame:
    """All nodes: those of files and repositories, of types, and of what is outside."""
    own = file_nodes.withColumn("is_external", F.lit(False))
    others = outside_nodes_of(resolution).unionByName(type_nodes_of(resolution))
    return own.unionByName(others, allowMissingColumns=True).select(
        repository(),
        typed("file_id", "FileId"),
        "path",
        *(typed(each, "NodeId") for each in ("node_id", "parent_id", "owner_def_id")),
        *_PLAIN,
        *("props", "origin", "is_external"),
    )


def file_nodes_of(evidence: DataFrame, repositories: DataFrame) -> DataFrame:
    """One row per node of every file, and one for each repository."""
    numbered = evidence.select(
        *("repo_id", "file_id", "path"),
        F.col("node_ids").alias(IDS),
        F.posexplode("nodes").alias("pos", "entry"),
    )
    found = numbered.select("*", "entry.*").select(
        *("repo_id", "file_id", "path", *_PLAIN),
        node_at("pos").alias("node_id"),
        node_at("parent").alias("parent_id"),
        node_at("owner").alias("owner_def_id"),
        F.map_from_entries("props").alias("props"),
    )
    own = repositories.select(
        "repo_id", repository_node().alias("node_id"), F.lit("REPO").alias("node_kind"), "name"
    )
    origin = F.lit("ast")
    for kind, said_by in _ADDED.items():
        origin = F.when(F.col("node_kind") == kind, said_by).otherwise(origin)
    return found.unionByName(own, allowMissingColumns=True).select(
        repository(),
        typed("file_id", "FileId"),
        "path",
        *(typed(each, "NodeId") for each in ("node_id", "parent_id", "owner_def_id")),
        *_PLAIN,
        "props",
        origin.alias("origin"),
    )
