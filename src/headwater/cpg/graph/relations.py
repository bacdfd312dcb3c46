"""How well calls, references, imports and bases could be resolved: all candidates, and what they add up to.

Not here: the candidates' own tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from headwater.cpg.graph.entries import repository, typed
from headwater.cpg.graph.meanings import resolved, share

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def relation_candidates_of(resolution: DataFrame, calls: DataFrame, call_targets: DataFrame) -> DataFrame:
    """One row per site and what it may mean: of calls, references, imports and bases."""
    sites = calls.select("call_id", F.col("node_id").alias("site_node_id"))
    of_calls = call_targets.join(sites, "call_id").select(
        *("repo_id", "file_id", F.lit("call").alias("relation"), "site_node_id"),
        *(
            F.col("target_symbol").alias("candidate_symbol"),
            F.col("target_node_id").alias("candidate_node_id"),
        ),
        *("resolver", "resolution", "confidence", "rank", "is_winner", "ambiguity_group_id", "reason"),
    )
    others = (
        _others(resolution, "references", "ref", "node_id", F.col("resolver"), share("confidence")),
        _others(resolution, "imports", "import", "node_id", F.lit("import"), _sure()),
        _others(resolution, "bases", "inherit", "class_id", F.lit("value"), _sure(), "unresolved"),
    )
    found = of_calls
    for each in others:
        found = found.unionByName(each, allowMissingColumns=True)
    return found.select(
        repository(),
        typed("file_id", "FileId"),
        "relation",
        typed("site_node_id", "NodeId"),
        "candidate_symbol",
        typed("candidate_node_id", "NodeId"),
        *("resolver", "resolution", F.col("confidence").alias("score"), "confidence"),
        *("rank", "is_winner", "ambiguity_group_id", "reason"),
    )


def relation_quality_of(relation_candidates: DataFrame) -> DataFrame:
    """Of each relation and resolver, how many sites were resolved, and how."""
    winners = relation_candidates.where("is_winner")
    counts = {
        "resolved": F.col("resolution").isin("exact", "likely"),
        "ambiguous": F.col("resolution").isin("ambiguous", "dynamic"),
        "unresolved": F.col("resolution") == "unresolved",
        "external": F.col("resolution") == "external",
    }
    counted = winners.groupBy("repo_id", "relation", "resolver").agg(
        F.count("*").alias("sites"), *(F.count_if(each).alias(name) for name, each in counts.items())
    )
    share_resolved = (F.col("resolved") + F.col("external")) / F.col("sites")
    return counted.select(repository(), "*", share_resolved.alias("share_resolved")).drop(counted["repo_id"])


def relation_ambiguity_of(relation_candidates: DataFrame) -> DataFrame:
    """The sites that have more than one candidate, and how close the second is."""
    several = relation_candidates.where("ambiguity_group_id IS NOT NULL").groupBy(
        "repo_id", "ambiguity_group_id", "relation", "site_node_id"
    )
    return several.agg(
        F.count("*").alias("n_candidates"),
        F.max(F.when(F.col("rank") == 1, F.col("confidence"))).alias("top_confidence"),
        F.max(F.when(F.col("rank") == 2, F.col("confidence"))).alias("second_confidence"),  # noqa: PLR2004
    ).where("n_candidates > 1")


def _others(
    resolution: DataFrame,
    name: str,
    relation: str,
    site: str,
    resolver: Column,
    confidence: Column,
    missing: str | None = None,
) -> DataFrame:
    found = resolved(resolution, name)
    if missing is not None:
        found = found.withColumn("resolution", F.when(F.col("symbol").isNull(), missing).otherwise("exact"))
    return found.select(
        *("repo_id", "file_id", F.lit(relation).alias("relation"), F.col(site).alias("site_node_id")),
        F.coalesce("symbol", F.lit("unresolved")).alias("candidate_symbol"),
        *(F.col("def_id").alias("candidate_node_id"), resolver.alias("resolver"), "resolution"),
        *(confidence.alias("confidence"), F.lit(1).alias("rank"), F.lit(True).alias("is_winner")),
    )


def _sure() -> Column:
    return (
        F.when(F.col("resolution") == "unresolved", 0.0)
        .when(F.col("resolution") == "ambiguous", 0.5)
        .otherwise(1.0)
    )
