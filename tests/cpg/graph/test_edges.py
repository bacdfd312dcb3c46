"""Edges of the tree, of containment and of evidence's own list, each with its ends by id."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from graph_sample import REPO, SHOP, evidence_rows, names_of_ids

from headwater.cpg.graph import edges_of, file_nodes_of, repositories_of
from headwater.digest import stable_id

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

EDGE = ("edge_kind", "src_node_id", "dst_node_id", "label", "ordinal")


@pytest.fixture(scope="module")
def edges(spark: SparkSession, evidence: DataFrame, resolution: DataFrame) -> list[Row]:
    """Those that one file tells by itself."""
    nodes = file_nodes_of(evidence, repositories_of(spark, ["sample"]))
    return edges_of(nodes, evidence, resolution).where("origin = 'ast'").collect()


def of_kind(edges: list[Row], kind: str, file: str = "") -> list[tuple[Any, ...]]:
    """From what to what, with the label and the ordinal."""
    names = names_of_ids()
    return sorted(
        (
            (names[row["src_node_id"]], names[row["dst_node_id"]], row["label"], row["ordinal"])
            for row in edges
            if row["edge_kind"] == kind and names[row["file_id"]].startswith(file)
        ),
        key=str,
    )


def test_the_tree_is_told_from_above_to_below(edges: list[Row]) -> None:
    assert of_kind(edges, "AST", "app/wrong.pyi") == [
        ("file wrong.pyi", "module app.wrong", "module", None),
        ("module app.wrong", "print(y); 2", "body", 1),
        ("module app.wrong", "x = (: 1", "body", 0),
        ("print(y) 2", "print 2", "func", None),
        ("print(y) 2", "y 2", "args", 0),
        ("print(y); 2", "print(y) 2", "value", None),
    ]


def test_the_repository_contains_files_and_these_their_defs(edges: list[Row]) -> None:
    assert of_kind(edges, "CONTAINS") == [
        ("file shop.py", "module app.shop", None, None),
        ("file wrong.pyi", "module app.wrong", None, None),
        ("module app.shop", "class Basket", None, None),
        ("module app.shop", "function buy", None, None),
        ("repository", "file null.py", None, None),
        ("repository", "file shop.py", None, None),
        ("repository", "file wrong.pyi", None, None),
    ]


def test_edges_that_evidence_lists_are_there_with_label_and_ordinal(edges: list[Row]) -> None:
    call = "basket.add(*names, count=b) 6"
    assert of_kind(edges, "ARGUMENT", "app/shop.py") == [
        (call, "*names 6", "*", 0),
        (call, "count=b 6", "count", 1),
    ]
    assert of_kind(edges, "DOCUMENTS") == [("# all 6", "basket.add(*names, count=b); 6", "comment", None)]
    assert of_kind(edges, "HAS_DIAGNOSTIC", "null.py") == [
        ("file null.py", "diagnostic null-bytes", None, None)
    ]
    listed = sum(len(row.get("edges", ())) for row in evidence_rows())
    others = {"AST", "CONTAINS", "STORES", "LOADS"}
    assert len([row for row in edges if row["edge_kind"] not in others]) == listed
    assert of_kind(edges, "LOADS") == [
        ("b 2", "b.Base 2", ".Base", None),
        ("basket 6", "basket.add 6", ".add", None),
    ]


def test_ids_are_made_of_kind_ends_label_and_ordinal_and_no_two_are_the_same(edges: list[Row]) -> None:
    made = [stable_id("edge", *(row[each] for each in EDGE)) for row in edges]
    assert [row["edge_id"] for row in edges] == made
    assert len(set(made)) == len(made)


def test_edges_say_who_found_them_and_that_they_are_certain(edges: list[Row]) -> None:
    resolvers = {row["edge_kind"]: row["resolver"] for row in edges}
    assert {kind for kind, by in resolvers.items() if by == "scopes"} == {
        *("BINDS", "REFERS_TO", "READS", "WRITES")
    }
    assert {kind for kind, by in resolvers.items() if by == "flow"} == {
        *("CFG_NEXT", "CFG_TRUE", "CFG_FALSE", "CFG_EXC", "DOMINATES", "POST_DOMINATES", "CONTROL_DEP"),
        *("REACHING_DEF", "LOADS"),
    }
    assert {kind for kind, by in resolvers.items() if by == "syntax"} == {
        *("AST", "CONTAINS", "ARGUMENT", "RECEIVER", "DOCUMENTS", "HAS_DIAGNOSTIC")
    }
    said = {
        tuple(row[each] for each in ("repo_id", "origin", "resolution", "confidence", "rank", "is_winner"))
        for row in edges
    }
    assert said == {(REPO, "ast", "exact", 1.0, 1, True)}


def test_an_edge_of_the_tree_has_the_place_of_what_is_below(edges: list[Row]) -> None:
    names = names_of_ids()
    (row,) = [
        row for row in edges if row["edge_kind"] == "AST" and names[row["dst_node_id"]] == "return basket 7"
    ]
    assert SHOP[row["bstart"] : row["bend"]] == b"return basket"
    (other,) = [row for row in edges if row["edge_kind"] == "DOCUMENTS"]
    assert (other["bstart"], other["bend"]) == (None, None)
