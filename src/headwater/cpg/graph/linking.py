"""Edges between files: calls, imports, classes and tests, and nodes of what is outside.

Each branch is about one kind, so that a query for another kind does not look into it. Not here: edges that
one file tells by itself.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from headwater.cpg.graph.calling import with_calls
from headwater.cpg.graph.meanings import resolved, share
from headwater.cpg.kinds import STEP_EDGES

if TYPE_CHECKING:
    from pyspark.sql import Column

_REEXPORTED = ("reexport", "star")


def outside_nodes_of(resolution: DataFrame) -> DataFrame:
    """A node for each thing outside that a repository speaks of, and for each distribution."""
    return resolved(resolution, "externals").select(
        *("repo_id", "node_id", F.col("kind").alias("node_kind"), "name"),
        F.coalesce("symbol", "dist").alias("qualname"),
        F.create_map(F.lit("dist"), F.col("dist"), F.lit("version"), F.col("version")).alias("props"),
        F.lit("resolver").alias("origin"),
        F.lit(True).alias("is_external"),
    )


def type_nodes_of(resolution: DataFrame) -> DataFrame:
    """A node for each type."""
    return resolved(resolution, "types").select(
        *("repo_id", "node_id", F.lit("TYPE").alias("node_kind"), F.col("repr").alias("name")),
        F.col("origin_symbol").alias("qualname"),
        F.create_map(F.lit("form"), F.col("form")).alias("props"),
        *(F.lit("resolver").alias("origin"), F.lit(False).alias("is_external")),
    )


def linked_edges_of(resolution: DataFrame) -> DataFrame:
    """All edges that it takes more than one file to see, without their ids."""
    found = [
        *_of_calls(resolution),
        _plain(resolution, "imports", "IMPORTS", "node_id", "def_id", _by_import()),
        _of_exports(resolution, "EXPORTS", ~F.col("via").isin(*_REEXPORTED)),
        _of_exports(resolution, "REEXPORTS", F.col("via").isin(*_REEXPORTED)),
        _plain(resolution, "bases", "INHERITS", "class_id", "def_id", ordinal="base_idx"),
        _plain(resolution, "orders", "MRO", "class_id", "def_id", ordinal="pos"),
        _plain(resolution, "overrides", "OVERRIDES", "node_id", "overridden_id"),
        _of_types(resolution),
        *(_of_flows(resolution, kind, edge_kind) for kind, edge_kind in STEP_EDGES.items()),
        _plain(resolution, "stubs", "STUB_OF", "node_id", "source_id"),
        _plain(resolution, "tests", "TESTS", "node_id", "tested_id"),
        _plain(resolution, "externals", "CONTAINS", "dist_id", "node_id"),
    ]
    union = reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), found)
    return union.withColumn("origin", F.lit("resolver"))


def _of_calls(resolution: DataFrame) -> tuple[DataFrame, DataFrame, DataFrame]:
    targets = with_calls(resolution, "targets").where("def_id IS NOT NULL")
    how = (
        *("resolver", "resolution", share("confidence"), "rank", (F.col("rank") == 1).alias("is_winner")),
        F.col("call_id").alias("ambiguity_group_id"),
    )
    site = F.col("call_node_id").alias("site_node_id")
    calls = targets.select(
        *("repo_id", "file_id", F.lit("CALLS").alias("edge_kind")),
        *(F.col("caller_id").alias("src_node_id"), F.col("def_id").alias("dst_node_id")),
        *(site, F.col("dispatch").alias("label"), "ordinal", *how),
    )
    returns = targets.select(
        *("repo_id", "file_id", F.lit("RETURNS_TO").alias("edge_kind")),
        *(F.col("def_id").alias("src_node_id"), F.col("call_node_id").alias("dst_node_id")),
        *(site, F.concat_ws(" ", "dispatch", F.nullif("slot", F.lit(""))).alias("label"), *how),
    )
    passes = with_calls(resolution, "arguments").where("node_id IS NOT NULL AND param_id IS NOT NULL")
    passed = passes.select(
        *("repo_id", "file_id", F.lit("ARG_PASSES").alias("edge_kind")),
        *(F.col("node_id").alias("src_node_id"), F.col("param_id").alias("dst_node_id")),
        *(site, F.col("keyword").alias("label"), "resolution", F.lit(1).alias("rank")),
        (F.coalesce("best", F.lit(0)) / F.lit(1000)).alias("confidence"),
        F.col("call_id").alias("ambiguity_group_id"),
    )
    return calls, returns, passed


def _of_exports(resolution: DataFrame, kind: str, condition: Column) -> DataFrame:
    exports = resolved(resolution, "exports", F.col("definitions").alias("_defs"))
    return exports.where(condition & F.col("def_id").isNotNull()).select(
        *("repo_id", "file_id", F.lit(kind).alias("edge_kind")),
        F.get("_defs", F.lit(0))["node_id"].alias("src_node_id"),
        *(F.col("def_id").alias("dst_node_id"), F.col("name").alias("label"), *_exact()),
    )


def _of_flows(resolution: DataFrame, kind: str, edge_kind: str) -> DataFrame:
    return (
        resolved(resolution, "flows")
        .where(F.col("kind") == kind)
        .select(
            *("repo_id", "file_id", F.lit(edge_kind).alias("edge_kind")),
            *(F.col("src_id").alias("src_node_id"), F.col("dst_id").alias("dst_node_id")),
            *(F.col("access_path").alias("label"), "ordinal", F.lit("value").alias("resolver")),
            *(F.lit("likely").alias("resolution"), share("confidence")),
        )
    )


def _of_types(resolution: DataFrame) -> DataFrame:
    return resolved(resolution, "type_facts").select(
        *("repo_id", "file_id", F.lit("HAS_TYPE").alias("edge_kind")),
        *(F.col("node_id").alias("src_node_id"), F.col("type_id").alias("dst_node_id")),
        *(F.col("source").alias("label"), F.lit("type").alias("resolver"), share("confidence"), "is_winner"),
        F.lit("likely").alias("resolution"),
    )


def _by_import() -> tuple[Column, ...]:
    """How sure an import is: one of several meanings is one that was chosen."""
    sure = F.when(F.col("resolution") == "ambiguous", 0.5).otherwise(1.0)
    return F.col("resolution"), sure.alias("confidence"), F.lit(1).alias("rank")


def _plain(
    resolution: DataFrame,
    name: str,
    kind: str,
    source: str,
    target: str,
    how: tuple[Column, ...] | None = None,
    ordinal: str | None = None,
) -> DataFrame:
    found = resolved(resolution, name).where(F.col(source).isNotNull() & F.col(target).isNotNull())
    return found.select(
        *("repo_id", "file_id", F.lit(kind).alias("edge_kind")),
        *(F.col(source).alias("src_node_id"), F.col(target).alias("dst_node_id")),
        (F.col(ordinal) if ordinal else F.lit(None).cast("int")).alias("ordinal"),
        *(how or _exact()),
    )


def _exact() -> tuple[Column, ...]:
    return F.lit("exact").alias("resolution"), F.lit(1.0).alias("confidence"), F.lit(1).alias("rank")
