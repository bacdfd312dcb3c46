"""Nodes and edges out of rows: which there are, and in which order."""

from __future__ import annotations

import re
from pathlib import Path

from export_rows import ROWS, SCHEMA, table_of

from headwater.cpg.exports import DEFINITION_EDGES, definitions_query, graph_tables

LINKS = Path(__file__).parents[3] / "src" / "headwater" / "cpg" / "resolution" / "links.py"


def test_every_edge_joins_two_nodes_whatever_the_order_of_rows() -> None:
    tables = graph_tables(table_of(ROWS))
    assert tables.nodes.column("id").to_pylist() == sorted(row["id"] for row in ROWS)
    told = [(row["source"], row["kind"], row["target"], row["line"]) for row in tables.edges.to_pylist()]
    assert told == [
        ("shop", "CALLS", "shop.Basket.total", 8),
        ("shop", "CONTAINS", "shop.Basket", 1),
        ("shop", "CONTAINS", "shop.Cart", 1),
        ("shop.Basket", "CONTAINS", "shop.Basket.total", 1),
        ("shop.Basket", "INHERITS", "shop.Cart", 6),
        ("shop.Basket.total", "OVERRIDES", "shop.Cart.total", 7),
        ("shop.Cart", "CONTAINS", "shop.Cart.total", 1),
        ("shop.Cart.total", "CALLS", "builtins.len", 5),
    ]
    again = graph_tables(table_of(ROWS[::-1]))
    assert (again.nodes, again.edges) == (tables.nodes, tables.edges)


def test_what_is_outside_goes_with_its_edges() -> None:
    tables = graph_tables(table_of(ROWS), is_repository_only=True)
    assert "builtins.len" not in tables.nodes.column("id").to_pylist()
    assert "builtins.len" not in tables.edges.column("target").to_pylist()


def test_kinds_are_of_edges_of_definitions_or_of_both() -> None:
    calls = graph_tables(table_of(ROWS), ["CALLS"])
    assert (calls.nodes.num_rows, calls.edges.column("kind").unique().to_pylist()) == (6, ["CALLS"])
    classes = graph_tables(table_of(ROWS), ["class"])
    assert [(row["source"], row["target"]) for row in classes.edges.to_pylist()] == [
        ("shop.Basket", "shop.Cart")
    ]
    both = graph_tables(table_of(ROWS), ["method", "CONTAINS"])
    assert (both.nodes.num_rows, both.edges.num_rows) == (2, 0)


def test_a_graph_without_definitions_has_empty_tables() -> None:
    tables = graph_tables(table_of([]))
    assert (tables.nodes.num_rows, tables.edges.num_rows) == (0, 0)
    assert tables.edges.column_names == [
        *("source", "target", "kind", "line", "label", "resolution", "confidence")
    ]


def test_the_query_gives_the_columns_of_the_rows() -> None:
    query = definitions_query("shop")
    names = re.sub(r"nullif\([^)]*\), ''\)|coalesce\([^)]*\)|\w+ AS", "", query.split(" FROM ")[0])
    found = [each.split()[-1] for each in names.removeprefix("SELECT").split(",")]
    assert found == SCHEMA.names


def test_every_kind_of_edge_that_there_is_can_be_asked_for() -> None:
    assert set(re.findall(r'_Links\(\s*"([A-Z_]+)"', LINKS.read_text())) == set(DEFINITION_EDGES)
