"""All edges: of the tree, of containment, those that evidence lists, and those between files.

Not here: finding them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from headwater.cpg.graph.entries import entries, node_at, repository, typed
from headwater.cpg.graph.linking import linked_edges_of
from headwater.cpg.graph.repositories import repository_node
from headwater.cpg.kinds import CONTAINED_KINDS, EDGE_FAMILIES, STEP_EDGES
from headwater.functions import edge_id

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_PLACE = ("repo_id", "file_id", "bstart", "bend")


def edges_of(nodes: DataFrame, evidence: DataFrame, resolution: DataFrame) -> DataFrame:
    """One row per edge."""
    own = _of_trees(nodes).unionByName(_of_content(nodes)).unionByName(_listed(evidence))
    for kind, edge_kind in STEP_EDGES.items():
        own = own.unionByName(_of_steps(evidence, kind, edge_kind), allowMissingColumns=True)
    found = own.unionByName(linked_edges_of(resolution), allowMissingColumns=True)
    return found.select(
        repository(),
        edge_id("edge_kind", "src_node_id", "dst_node_id", "label", "ordinal").alias("edge_id"),
        "edge_kind",
        typed("src_node_id", "NodeId"),
        typed("dst_node_id", "NodeId"),
        typed("site_node_id", "NodeId"),
        typed("file_id", "FileId"),
        *("label", "ordinal", "bstart", "bend", "origin"),
        F.coalesce("resolver", F.lit("resolve")).alias("resolver"),
        F.coalesce("resolution", F.lit("exact")).alias("resolution"),
        F.coalesce("confidence", F.lit(1.0)).alias("confidence"),
        F.coalesce("rank", F.lit(1)).alias("rank"),
        F.coalesce("is_winner", F.lit(True)).alias("is_winner"),
        "ambiguity_group_id",
    )


def _of_trees(nodes: DataFrame) -> DataFrame:
    """From every node above to every node below."""
    return nodes.where("parent_id IS NOT NULL").select(
        F.lit("AST").alias("edge_kind"),
        F.col("parent_id").alias("src_node_id"),
        F.col("node_id").alias("dst_node_id"),
        F.col("field").alias("label"),
        F.col("idx").alias("ordinal"),
        *_PLACE,
        F.lit("syntax").alias("resolver"),
        F.lit("ast").alias("origin"),
    )


def _of_content(nodes: DataFrame) -> DataFrame:
    """From the repository to files, to modules, to what is defined in them."""
    kind = F.col("node_kind")
    container = (
        F.when(kind == "FILE", repository_node())
        .when(kind == "MODULE", F.col("parent_id"))
        .otherwise(F.col("owner_def_id"))
    )
    return nodes.where(kind.isin(*CONTAINED_KINDS)).select(
        F.lit("CONTAINS").alias("edge_kind"),
        container.alias("src_node_id"),
        F.col("node_id").alias("dst_node_id"),
        F.lit(None).cast("string").alias("label"),
        F.lit(None).cast("int").alias("ordinal"),
        *_PLACE,
        F.lit("syntax").alias("resolver"),
        F.lit("ast").alias("origin"),
    )


def _listed(evidence: DataFrame) -> DataFrame:
    """The edges that evidence lists, with ids in place of numbers."""
    kind = F.col("edge_kind")
    by_flow = (*EDGE_FAMILIES["control flow"], *EDGE_FAMILIES["data flow"])
    resolver = F.when(kind.isin(*EDGE_FAMILIES["names"]), "scopes").when(kind.isin(*by_flow), "flow")
    return entries(evidence, "edges").select(
        "edge_kind",
        node_at("src").alias("src_node_id"),
        node_at("dst").alias("dst_node_id"),
        *("label", "ordinal", "repo_id", "file_id"),
        F.lit(None).cast("bigint").alias("bstart"),
        F.lit(None).cast("bigint").alias("bend"),
        resolver.otherwise("syntax").alias("resolver"),
        F.lit("ast").alias("origin"),
    )


def _of_steps(evidence: DataFrame, kind: str, edge_kind: str) -> DataFrame:
    """From what is stored to where it is, and from what has something to where that is read."""
    return (
        entries(evidence, "steps")
        .where(F.col("kind") == kind)
        .select(
            F.lit(edge_kind).alias("edge_kind"),
            node_at("source").alias("src_node_id"),
            node_at("target").alias("dst_node_id"),
            *(F.col("access_path").alias("label"), F.lit(None).cast("int").alias("ordinal")),
            *("repo_id", "file_id", F.lit("flow").alias("resolver"), F.lit("ast").alias("origin")),
        )
    )
