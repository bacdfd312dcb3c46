"""What could be read of each file, and rows of the graph that are not as they should be: there are none.

Not here: keeping such rows out; evidence that has one is refused when it is committed.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from headwater.cpg.graph.entries import repository
from headwater.cpg.kinds import EDGE_KINDS, NODE_KINDS

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_UNKNOWN = ("unbound", "star-import")


def file_coverage_of(evidence: DataFrame, resolution: DataFrame) -> DataFrame:
    """How much each file that was read gave.

    A name is resolved if a scope of its file, or Python, has it; a call, if it reaches something.
    """
    reached = resolution.select(
        F.col("file_id").alias("resolved_id"),
        F.size(F.filter("calls", _is_reached)).alias("calls_resolved"),
    )
    uses = F.filter("sites", lambda each: each["role"] == "use")
    known = F.filter(
        uses,
        lambda each: ~F.coalesce(F.get("bindings", each["binding"])["reason"], F.lit("")).isin(*_UNKNOWN),
    )
    defs = F.filter("nodes", lambda each: each["node_kind"].isin("CLASS", "FUNCTION", "METHOD", "LAMBDA"))
    counts = {
        "nodes": F.col("nodes"),
        "defs": defs,
        "refs": uses,
        "refs_resolved": known,
        "calls": F.col("calls"),
        "diagnostics": F.col("diagnostics"),
    }
    read = evidence.where("file_id IS NOT NULL").select(
        "repo_id",
        "file_id",
        "path",
        "parse_status",
        *[F.size(each).alias(name) for name, each in counts.items()],
    )
    return read.join(reached, F.col("file_id") == F.col("resolved_id"), "left").select(
        repository(),
        *("file_id", "path", "parse_status", "nodes", "defs", "refs", "refs_resolved", "calls"),
        F.coalesce("calls_resolved", F.lit(0)).alias("calls_resolved"),
        "diagnostics",
    )


def _is_reached(call: Column) -> Column:
    """Whether a call is written and has a candidate."""
    return (call["dispatch"] == "call") & call["reason"].isNull()


def kind_counts_of(evidence: DataFrame, resolution: DataFrame) -> DataFrame:
    """How many nodes and edges of each kind each file has; what is between files counts where it begins."""
    both = [each.select("repo_id", "file_id", "path", F.inline("counts")) for each in (evidence, resolution)]
    counted = both[0].unionByName(both[1]).groupBy("repo_id", "file_id", "path", "of", "kind")
    return counted.agg(F.sum("count").alias("count")).select(
        repository(), *("file_id", "path", "of", "kind", "count")
    )


def nodes_quality_of(nodes: DataFrame, files: DataFrame) -> DataFrame:
    """Nodes that are wrong: an id twice, a kind that is none, a span outside of its file or its parent."""
    above = nodes.select(
        F.col("node_id").alias("above_id"),
        F.col("bstart").alias("above_start"),
        F.col("bend").alias("above_end"),
    )
    sizes = files.select("file_id", "text_bytes")
    outside = (F.col("bstart") < F.col("above_start")) | (F.col("bend") > F.col("above_end"))
    inside = nodes.join(above, F.col("parent_id") == F.col("above_id"))
    return _issues(
        _twice(nodes, "node_id"),
        _issue(nodes.where(~F.col("node_kind").isin(*NODE_KINDS)), "node_id", "unknown_kind", "node_kind"),
        _issue(
            nodes.join(sizes, "file_id").where("bend > text_bytes"), "node_id", "span_outside_file", "path"
        ),
        _issue(nodes.where("bstart > bend OR bstart < 0"), "node_id", "span_reversed", "path"),
        _issue(
            # A decorator stands before the def that it belongs to.
            inside.where(outside & (F.coalesce("field", F.lit("")) != "decorator_list")),
            "node_id",
            "span_outside_parent",
            "path",
        ),
    )


def edges_quality_of(edges: DataFrame, nodes: DataFrame) -> DataFrame:
    """Edges that are wrong: an id twice, a kind that is none, an end that is no node."""
    known = nodes.select(F.col("node_id").alias("known_id"))
    # Both ends at once: to look at all edges again takes longer than to look at each twice.
    both = edges.select(
        "repo_id", "edge_id", F.explode(F.array("src_node_id", "dst_node_id")).alias("end_id")
    )
    missing = both.join(known, F.col("end_id") == F.col("known_id"), "left_anti")
    is_unknown = ~F.col("edge_kind").isin(*EDGE_KINDS)
    return _issues(
        _twice(edges, "edge_id"),
        _issue(edges.where(is_unknown), "edge_id", "unknown_kind", "edge_kind"),
        _issue(missing, "edge_id", "dangling", "end_id"),
    )


def _twice(rows: DataFrame, entity: str) -> DataFrame:
    counted = rows.groupBy("repo_id", entity).agg(F.count("*").alias("times")).where("times > 1")
    return _issue(counted, entity, "duplicate_id", F.col("times").cast("string"))


def _issue(rows: DataFrame, entity: str, issue: str, detail: str | Column) -> DataFrame:
    said = F.col(detail) if isinstance(detail, str) else detail
    return rows.select(
        "repo_id", F.col(entity).alias("entity_id"), F.lit(issue).alias("issue"), said.alias("detail")
    )


def _issues(*found: DataFrame) -> DataFrame:
    return reduce(lambda one, other: one.unionByName(other), found)
