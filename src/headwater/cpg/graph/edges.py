"""All edges: of the tree, of containment, and those that evidence lists. Not here: finding them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from headwater.cpg.graph.entries import entries, node_at, repository, typed
from headwater.cpg.graph.repositories import repository_node
from headwater.cpg.kinds import CONTAINED_KINDS, EDGE_FAMILIES
from headwater.functions import edge_id

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_PLACE = ("repo_id", "file_id", "bstart", "bend")


def edges_of(nodes: DataFrame, evidence: DataFrame) -> DataFrame:
    """One row per edge."""
    found = _of_trees(nodes).unionByName(_of_content(nodes)).unionByName(_listed(evidence))
    return found.select(
        repository(),
        edge_id("edge_kind", "src_node_id", "dst_node_id", "label", "ordinal").alias("edge_id"),
        "edge_kind",
        typed("src_node_id", "NodeId"),
        typed("dst_node_id", "NodeId"),
        typed("file_id", "FileId"),
        *("label", "ordinal", "bstart", "bend"),
        F.lit("ast").alias("origin"),
        "resolver",
        F.lit("exact").alias("resolution"),
        F.lit(1.0).alias("confidence"),
        F.lit(1).alias("rank"),
        F.lit(True).alias("is_winner"),
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
    )
