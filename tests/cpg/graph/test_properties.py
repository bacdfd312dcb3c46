"""Every value of nodes and edges as a row, and no row for what is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graph_sample import REPO

from headwater.cpg.graph import edge_props_of, node_props_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NODES = (
    "repo_id STRING, node_id STRING, node_kind STRING, ast_kind STRING, name STRING, qualname STRING, "
    "path STRING, origin STRING, bstart BIGINT, bend BIGINT, line INT, col INT, end_line INT, end_col INT, "
    "props MAP<STRING, STRING>"
)
EDGES = (
    "repo_id STRING, edge_id STRING, edge_kind STRING, label STRING, origin STRING, resolver STRING, "
    "resolution STRING, ordinal INT, rank INT, confidence DOUBLE, is_winner BOOLEAN"
)
TOLD = ("entity_id", "prop_key", "value_type", "value_string", "value_int", "value_float", "value_bool")


def test_a_node_has_a_row_for_each_column_and_property(spark: SparkSession) -> None:
    name = (REPO, "node:1", "NAME", "Name", "x", None, "a.py", "ast", 4, 5, 1, 4, 1, 5, {"ctx": "Load"})
    repository = (REPO, "node:2", "REPO", *[None] * 12)
    found = node_props_of(spark.createDataFrame([name, repository], NODES)).collect()
    assert {(row["repo_id"], row["entity_kind"]) for row in found} == {(REPO, "node")}
    assert sorted(tuple(row[each] for each in TOLD) for row in found) == [
        ("node:1", "ast_kind", "string", "Name", None, None, None),
        ("node:1", "bend", "int", None, 5, None, None),
        ("node:1", "bstart", "int", None, 4, None, None),
        ("node:1", "col", "int", None, 4, None, None),
        ("node:1", "ctx", "string", "Load", None, None, None),
        ("node:1", "end_col", "int", None, 5, None, None),
        ("node:1", "end_line", "int", None, 1, None, None),
        ("node:1", "line", "int", None, 1, None, None),
        ("node:1", "name", "string", "x", None, None, None),
        ("node:1", "node_kind", "string", "NAME", None, None, None),
        ("node:1", "origin", "string", "ast", None, None, None),
        ("node:1", "path", "string", "a.py", None, None, None),
        ("node:2", "node_kind", "string", "REPO", None, None, None),
    ]


def test_an_edge_has_a_row_for_each_column(spark: SparkSession) -> None:
    edge = (REPO, "edge:1", "ARGUMENT", None, "ast", "syntax", "exact", 0, 1, 0.5, False)
    found = edge_props_of(spark.createDataFrame([edge], EDGES)).collect()
    assert {(row["repo_id"], row["entity_kind"]) for row in found} == {(REPO, "edge")}
    assert sorted(tuple(row[each] for each in TOLD)[1:] for row in found) == [
        ("confidence", "float", None, None, 0.5, None),
        ("edge_kind", "string", "ARGUMENT", None, None, None),
        ("is_winner", "bool", None, None, None, False),
        ("ordinal", "int", None, 0, None, None),
        ("origin", "string", "ast", None, None, None),
        ("rank", "int", None, 1, None, None),
        ("resolution", "string", "exact", None, None, None),
        ("resolver", "string", "syntax", None, None, None),
    ]
