"""Control flow and data flow inside defs. Not here: flow from one def into another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from headwater.cpg.graph.entries import entries, node_at, repository, typed
from headwater.functions import stable_id_parts

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def cfg_nodes_of(evidence: DataFrame) -> DataFrame:
    """One row per point of a def: a moment in its course, at a node."""
    point = _point(*(F.col(each) for each in ("def_node", "node", "kind")))
    return entries(evidence, "points").select(
        repository(),
        point.alias("cfg_id"),
        typed("file_id", "FileId"),
        typed("def_node_id", "NodeId", node_at("def_node")),
        typed("node_id", "NodeId", node_at("node")),
        F.col("block").alias("block_id"),
        "ord",
        "kind",
        "is_dead",
    )


def cfg_edges_of(evidence: DataFrame) -> DataFrame:
    """One row per way from a point to the next."""
    return _with_points(evidence, "flow").select(
        repository(),
        typed("file_id", "FileId"),
        _point_at("src").alias("src_cfg_id"),
        _point_at("dst").alias("dst_cfg_id"),
        "kind",
    )


def dominators_of(evidence: DataFrame) -> DataFrame:
    """The nearest point before each on every way from the entry, and after it on every way to the end."""
    point = _point(*(F.col(each) for each in ("def_node", "node", "kind")))
    return _with_points(evidence, "points").select(
        repository(),
        typed("file_id", "FileId"),
        point.alias("cfg_id"),
        _point_at("idom").alias("idom_cfg_id"),
        _point_at("ipdom").alias("ipdom_cfg_id"),
    )


def control_deps_of(evidence: DataFrame) -> DataFrame:
    """Which point decides whether another is met, and by which kind of way."""
    return _with_points(evidence, "control").select(
        repository(),
        typed("file_id", "FileId"),
        _point_at("point").alias("cfg_id"),
        _point_at("on_point").alias("on_cfg_id"),
        "branch",
    )


def dfg_of(evidence: DataFrame) -> DataFrame:
    """Where values go: from where a name gets one to where it is read, along the control flow."""
    found = entries(evidence, "reaching", F.col("nodes").alias("_nodes")).select(
        *("repo_id", "file_id"),
        node_at("def_node").alias("src_node_id"),
        node_at("use_node").alias("dst_node_id"),
        node_at(F.get("_nodes", "use_node").getField("owner")).alias("def_node_id"),
        F.lit("reaching_def").alias("kind"),
    )
    return found.select(
        repository(),
        stable_id_parts("flow", "kind", "src_node_id", "dst_node_id").alias("flow_id"),
        typed("file_id", "FileId"),
        typed("def_node_id", "NodeId"),
        typed("src_node_id", "NodeId"),
        typed("dst_node_id", "NodeId"),
        "kind",
        F.lit(True).alias("preserves_value"),
        F.lit(1.0).alias("confidence"),
    )


def _with_points(evidence: DataFrame, name: str) -> DataFrame:
    return entries(evidence, name, F.col("points").alias("_points"))


def _point_at(number: str) -> Column:
    """The id of a point by its number; null if there is none."""
    point = F.get("_points", number)
    made = _point(*(point.getField(each) for each in ("def_node", "node", "kind")))
    return F.when(F.col(number).isNotNull(), made)


def _point(definition: Column, node: Column, kind: Column) -> Column:
    return stable_id_parts("cfg", node_at(definition), node_at(node), kind)
