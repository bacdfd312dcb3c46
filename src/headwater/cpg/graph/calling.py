"""Calls, what they may reach, and which parameter gets which argument.

A call is known by its node; one that is not written but implied there, such as that of a property or a
method of an operator, by how it is made besides. Not here: edges.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from headwater.cpg.graph.entries import entries, node_at, repository, typed
from headwater.cpg.graph.meanings import resolved, share
from headwater.functions import stable_id_parts

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def call_id(node: Column, dispatch: Column, slot: Column) -> Column:
    """The id of a call at a node; of one that is written, the node is enough."""
    written = stable_id_parts("call", node)
    return F.when(dispatch == "call", written).otherwise(stable_id_parts("call", node, dispatch, slot))


def with_calls(resolution: DataFrame, name: str) -> DataFrame:
    """The entries of a list that belong to calls, each with what is known of its call."""
    call = F.get("_calls", "call")
    return (
        resolved(resolution, name, F.col("calls").alias("_calls"))
        .withColumn("call_node_id", call["node_id"])
        .withColumn("caller_id", call["caller_id"])
        .withColumn("dispatch", call["dispatch"])
        .withColumn("slot", call["slot"])
        .withColumn("best", call["confidence"])
        .withColumn("resolution", call["resolution"])
        .withColumn("call_id", call_id(call["node_id"], call["dispatch"], call["slot"]))
        .drop("_calls")
    )


def calls_of(evidence: DataFrame, resolution: DataFrame) -> DataFrame:
    """One row per call: those that are written, as syntax has them, then those that are implied."""
    found = entries(evidence, "calls", F.col("nodes").alias("_nodes"))
    written = found.withColumn("node_id", node_at("node")).select(
        *("repo_id", "file_id", "node_id"),
        stable_id_parts("call", "node_id").alias("call_id"),
        node_at(F.get("_nodes", "node").getField("owner")).alias("caller_def_id"),
        node_at("callee").alias("callee_node_id"),
        "callee_text",
        node_at("receiver").alias("receiver_node_id"),
        *("dispatch", "arg_count", "has_star", "has_kwstar"),
        F.lit(False).alias("is_implied"),
    )
    implied = resolved(resolution, "calls").where("dispatch <> 'call'")
    unwritten = implied.select(
        *("repo_id", "file_id", "node_id"),
        call_id(F.col("node_id"), F.col("dispatch"), F.col("slot")).alias("call_id"),
        F.col("caller_id").alias("caller_def_id"),
        F.when(F.col("dispatch") != "callback", F.nullif("slot", F.lit(""))).alias("callee_text"),
        *("dispatch", F.lit(True).alias("is_implied")),
    )
    return written.unionByName(unwritten, allowMissingColumns=True).select(
        repository(),
        "call_id",
        *(typed(each, "FileId" if each == "file_id" else "NodeId") for each in ("file_id", "node_id")),
        *(typed(each, "NodeId") for each in ("caller_def_id", "callee_node_id")),
        "callee_text",
        typed("receiver_node_id", "NodeId"),
        *("dispatch", "arg_count", "has_star", "has_kwstar", "is_implied"),
    )


def call_targets_of(resolution: DataFrame) -> DataFrame:
    """One row per candidate of each call; a call without any has one row that says why."""
    known = with_calls(resolution, "targets").select(
        *("repo_id", "file_id", "call_id", F.col("symbol").alias("target_symbol")),
        *(F.col("def_id").alias("target_node_id"), F.col("name").alias("target_name")),
        *("resolver", "resolution", share("confidence"), "rank", (F.col("rank") == 1).alias("is_winner")),
        F.lit(None).cast("string").alias("reason"),
    )
    unknown = resolved(resolution, "calls").where("reason IS NOT NULL")
    nothing = F.lit(None).cast("string")
    unresolved = unknown.select(
        *("repo_id", "file_id"),
        call_id(F.col("node_id"), F.col("dispatch"), F.col("slot")).alias("call_id"),
        F.lit("unresolved").alias("target_symbol"),
        *(nothing.alias("target_node_id"), nothing.alias("target_name"), F.lit("none").alias("resolver")),
        *("resolution", F.lit(0.0).alias("confidence"), F.lit(1).alias("rank")),
        *(F.lit(True).alias("is_winner"), "reason"),
    )
    return known.unionByName(unresolved).select(
        repository(),
        "call_id",
        typed("file_id", "FileId"),
        "target_symbol",
        typed("target_node_id", "NodeId"),
        *("target_name", "resolver", "resolution", "confidence", "rank", "is_winner"),
        F.col("call_id").alias("ambiguity_group_id"),
        "reason",
    )


def call_args_of(evidence: DataFrame, resolution: DataFrame) -> DataFrame:
    """One row per argument, with the parameter that it goes to, and one per parameter that gets none."""
    written = entries(evidence, "call_args").select(
        *("repo_id", "file_id", stable_id_parts("call", node_at("call")).alias("call_id")),
        *("idx", node_at("node").alias("arg_node_id"), "keyword", "star"),
    )
    bound = with_calls(resolution, "arguments")
    known = bound.where("node_id IS NOT NULL").select(
        F.col("node_id").alias("bound_id"), "param_id", "status"
    )
    given = written.join(known, F.col("arg_node_id") == F.col("bound_id"), "left").drop("bound_id")
    missing = bound.where("node_id IS NULL").select(
        *("repo_id", "file_id", "call_id", "idx"),
        *(F.col("node_id").alias("arg_node_id"), "keyword", "star", "param_id", "status"),
    )
    return given.unionByName(missing).select(
        repository(),
        "call_id",
        typed("file_id", "FileId"),
        "idx",
        typed("arg_node_id", "NodeId"),
        "keyword",
        "star",
        typed("param_node_id", "NodeId", F.col("param_id")),
        F.coalesce("status", F.lit("unknown")).alias("binding_status"),
    )
