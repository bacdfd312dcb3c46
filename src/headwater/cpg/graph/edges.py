"""All edges: of the tree, of containment, and those that evidence lists. Not here: finding them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from headwater.cpg.graph.entries import entries, node_at, of_repository, typed
from headwater.cpg.graph.nodes import repository_node
from headwater.functions import edge_id

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_DEFINITIONS = ("MODULE", "CLASS", "FUNCTION", "METHOD")
_PLACE = ("file_id", "bstart", "bend")
_BY_SCOPES = ("BINDS", "REFERS_TO", "READS", "WRITES", "DELETES", "CAPTURES")
_BY_FLOW = (
    *("CFG_NEXT", "CFG_TRUE", "CFG_FALSE", "CFG_EXC", "DOMINATES", "POST_DOMINATES", "CONTROL_DEP"),
    "REACHING_DEF",
)


def edges_of(nodes: DataFrame, evidence: DataFrame, repo_id: str) -> DataFrame:
    """One row per edge."""
    found = _of_trees(nodes).unionByName(_of_content(nodes, repo_id)).unionByName(_listed(evidence))
    return found.select(
        of_repository(repo_id),
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


def _of_content(nodes: DataFrame, repo_id: str) -> DataFrame:
    """From the repository to files, to modules, to what is defined in them."""
    kind = F.col("node_kind")
    container = (
        F.when(kind == "FILE", F.lit(repository_node(repo_id)))
        .when(kind == "MODULE", F.col("parent_id"))
        .otherwise(F.col("owner_def_id"))
    )
    return nodes.where(kind.isin("FILE", *_DEFINITIONS)).select(
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
    resolver = F.when(kind.isin(*_BY_SCOPES), "scopes").when(kind.isin(*_BY_FLOW), "flow").otherwise("syntax")
    return entries(evidence, "edges").select(
        "edge_kind",
        node_at("src").alias("src_node_id"),
        node_at("dst").alias("dst_node_id"),
        *("label", "ordinal", "file_id"),
        F.lit(None).cast("bigint").alias("bstart"),
        F.lit(None).cast("bigint").alias("bend"),
        resolver.alias("resolver"),
    )
