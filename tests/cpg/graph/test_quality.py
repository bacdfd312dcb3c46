"""What could be read of files; and the graph as it is has nothing wrong, while what is wrong is found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from graph_sample import REPO, SHOP, names_of_ids, told

from headwater.cpg.graph import (
    edges_of,
    edges_quality_of,
    file_coverage_of,
    file_nodes_of,
    files_of,
    nodes_of,
    nodes_quality_of,
    repositories_of,
)
from headwater.digest import stable_id

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame, SparkSession

ID = {name: each for each, name in names_of_ids().items()}


@pytest.fixture(scope="module")
def nodes(spark: SparkSession, evidence: DataFrame, resolution: DataFrame) -> DataFrame:
    own = file_nodes_of(evidence, repositories_of(spark, ["sample"]))
    return kept(spark, nodes_of(own, resolution))


@pytest.fixture(scope="module")
def edges(spark: SparkSession, evidence: DataFrame, resolution: DataFrame) -> DataFrame:
    own = file_nodes_of(evidence, repositories_of(spark, ["sample"]))
    return kept(spark, edges_of(own, evidence, resolution))


def kept(spark: SparkSession, frame: DataFrame) -> DataFrame:
    """The same rows, worked out once."""
    return spark.createDataFrame(frame.collect(), frame.schema)


def with_rows(frame: DataFrame, *wrong: Mapping[str, Any]) -> DataFrame:
    """The frame and copies of its rows in which other values stand; `like` tells which row."""
    rows = frame.collect()
    by_id = {row["node_id" if "node_id" in frame.columns else "edge_id"]: row.asDict() for row in rows}
    more = [by_id[each["like"]] | {key: each[key] for key in each if key != "like"} for each in wrong]
    made = frame.sparkSession.createDataFrame([tuple(row.values()) for row in more], frame.schema)
    return frame.union(made)


def issues(frame: DataFrame) -> list[tuple[str, str, str]]:
    rows = frame.collect()
    assert {row["repo_id"] for row in rows} <= {REPO}
    return sorted((row["entity_id"], row["issue"], row["detail"]) for row in rows)


def test_a_file_says_how_much_it_gave(evidence: DataFrame, resolution: DataFrame) -> None:
    counts = ("nodes", "defs", "refs", "refs_resolved", "calls", "calls_resolved", "diagnostics")
    assert told(file_coverage_of(evidence, resolution), "path", "file_id", "parse_status", *counts) == [
        ("app/shop.py", "app/shop.py", "ok", 42, 2, 6, 6, 1, 0, 0),
        ("app/wrong.pyi", "app/wrong.pyi", "recovered", 14, 0, 2, 1, 1, 1, 2),
        ("null.py", "null.py", "failed", 2, 0, 0, 0, 0, 0, 1),
    ]


def test_the_graph_as_it_is_has_nothing_wrong(
    evidence: DataFrame, nodes: DataFrame, edges: DataFrame
) -> None:
    found = nodes_quality_of(nodes, files_of(evidence)).union(edges_quality_of(edges, nodes))
    assert issues(found) == []


def test_nodes_that_are_wrong_are_found(evidence: DataFrame, nodes: DataFrame) -> None:
    comment, name = ID["# all 6"], ID["limit 3"]  # one is in no tree, the other below an assignment
    broken = with_rows(
        nodes,
        {"like": ID["3 3"]},
        {"like": name, "node_id": "node:x-a", "node_kind": "NOTHING"},
        {"like": comment, "node_id": "node:x-b", "bend": len(SHOP) + 1},
        {"like": comment, "node_id": "node:x-c", "bstart": 142},
        {"like": comment, "node_id": "node:x-d", "bstart": -1},
        {"like": name, "node_id": "node:x-e", "bend": 60},
        {"like": name, "node_id": "node:x-f", "bstart": 49},
        {
            "like": name,
            "node_id": "node:x-g",
            "bstart": 0,
            "field": "decorator_list",
        },  # stands before its def
        {"like": comment, "node_id": "node:x-h", "bend": len(SHOP)},
    )
    assert issues(nodes_quality_of(broken, files_of(evidence))) == [
        (ID["3 3"], "duplicate_id", "2"),
        ("node:x-a", "unknown_kind", "NOTHING"),
        ("node:x-b", "span_outside_file", "app/shop.py"),
        ("node:x-c", "span_reversed", "app/shop.py"),
        ("node:x-d", "span_reversed", "app/shop.py"),
        ("node:x-e", "span_outside_parent", "app/shop.py"),
        ("node:x-f", "span_outside_parent", "app/shop.py"),
    ]


def test_edges_that_are_wrong_are_found(nodes: DataFrame, edges: DataFrame) -> None:
    edge = stable_id("edge", "AST", ID["limit = 3 3"], ID["3 3"], "value", None)
    broken = with_rows(
        edges,
        {"like": edge},
        {"like": edge, "edge_id": "edge:x-a", "edge_kind": "NOTHING"},
        {"like": edge, "edge_id": "edge:x-b", "src_node_id": "node:nowhere"},
        {"like": edge, "edge_id": "edge:x-c", "dst_node_id": "node:nowhere"},
        {"like": edge, "edge_id": "edge:x-d"},
    )
    assert issues(edges_quality_of(broken, nodes)) == [
        (edge, "duplicate_id", "2"),
        ("edge:x-a", "unknown_kind", "NOTHING"),
        ("edge:x-b", "dangling", "node:nowhere"),
        ("edge:x-c", "dangling", "node:nowhere"),
    ]
