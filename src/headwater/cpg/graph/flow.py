"""Control flow inside of defs, data flow inside and across, and what comes of it for each def.

Not here: edges.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from headwater.cpg.graph.calling import call_id
from headwater.cpg.graph.entries import entries, node_at, repository, typed
from headwater.cpg.graph.meanings import resolved, share
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


def dfg_of(evidence: DataFrame, resolution: DataFrame) -> DataFrame:
    """Where values go: from definitions to uses, from step to step, and through calls and what is stored."""
    owner = F.col("nodes").alias("_nodes")
    reaching = entries(evidence, "reaching", owner).select(
        *("repo_id", "file_id"),
        *(node_at("def_node").alias("src_node_id"), node_at("use_node").alias("dst_node_id")),
        node_at(F.get("_nodes", "use_node").getField("owner")).alias("def_node_id"),
        F.lit("reaching_def").alias("kind"),
        F.lit(True).alias("preserves_value"),
    )
    steps = entries(evidence, "steps", owner).select(
        *("repo_id", "file_id"),
        *(node_at("source").alias("src_node_id"), node_at("target").alias("dst_node_id")),
        node_at(F.get("_nodes", "target").getField("owner")).alias("def_node_id"),
        *("kind", "access_path", "preserves_value"),
    )
    call = F.get("_calls", "call")
    across = resolved(resolution, "flows", F.col("calls").alias("_calls")).select(
        *("repo_id", "file_id"),
        *(F.col("src_id").alias("src_node_id"), F.col("dst_id").alias("dst_node_id")),
        *("kind", "access_path", "preserves_value", share("confidence")),
        F.when(F.col("call").isNotNull(), call_id(call["node_id"], call["dispatch"], call["slot"])).alias(
            "call_id"
        ),
    )
    found = reaching.unionByName(steps, allowMissingColumns=True).unionByName(
        across, allowMissingColumns=True
    )
    parts = ("kind", "src_node_id", "dst_node_id", "access_path", "call_id")
    return found.select(
        repository(),
        stable_id_parts("flow", *parts).alias("flow_id"),
        typed("file_id", "FileId"),
        typed("def_node_id", "NodeId"),
        typed("src_node_id", "NodeId"),
        typed("dst_node_id", "NodeId"),
        *("kind", "access_path", "preserves_value", "call_id"),
        F.coalesce("confidence", F.lit(1.0)).alias("confidence"),
    )


def summaries_of(resolution: DataFrame) -> DataFrame:
    """Where the parameters of each function go: into what it returns, another parameter, a global, itself."""
    return resolved(resolution, "summaries").select(
        repository(),
        typed("file_id", "FileId"),
        typed("def_node_id", "NodeId", F.col("def_id")),
        *("param_idx", "access_path", "to", "to_path", "preserves_value"),
    )


def def_effects_of(resolution: DataFrame) -> DataFrame:
    """What each def does to the world, itself and through what it calls, and which exceptions leave it."""
    return resolved(resolution, "effects").select(
        repository(),
        typed("file_id", "FileId"),
        typed("def_node_id", "NodeId", F.col("def_id")),
        *("own_effects", "effects", "raises"),
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
