"""Nodes of trees, nodes that are in none, and the repository's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from graph_sample import REPO, SHOP, evidence_rows, names_of_ids

from headwater.cpg.graph import file_nodes_of, nodes_of, repositories_of
from headwater.digest import stable_id

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@pytest.fixture(scope="module")
def nodes(spark: SparkSession, evidence: DataFrame) -> dict[str, Any]:
    """The rows by the words for their ids."""
    rows = file_nodes_of(evidence, repositories_of(spark, ["sample"])).collect()
    found = {names_of_ids()[row["node_id"]]: row for row in rows}
    assert len(found) == len(rows)
    return found


def test_every_node_of_every_file_is_there_and_one_for_the_repository(nodes: dict[str, Any]) -> None:
    expected = [node_id for row in evidence_rows() for node_id in row.get("node_ids", ())]
    assert sorted(row["node_id"] for row in nodes.values()) == sorted(
        [*expected, stable_id("node", REPO, "", "", 0, "REPO", "")]
    )
    assert {row["repo_id"] for row in nodes.values()} == {REPO}


def test_the_repository_is_known_by_its_name_and_is_in_no_file(nodes: dict[str, Any]) -> None:
    row = nodes["repository"]
    assert row["node_id"] == stable_id("node", REPO, "", "", 0, "REPO", "")
    assert (row["node_kind"], row["name"], row["file_id"], row["parent_id"]) == ("REPO", "sample", None, None)


def test_a_node_of_a_tree_has_its_place_in_text_and_tree(nodes: dict[str, Any]) -> None:
    row, names = nodes["*names 6"], names_of_ids()
    assert (names[row["file_id"]], row["path"]) == ("app/shop.py", "app/shop.py")
    assert names[row["parent_id"]] == "basket.add(*names, count=b) 6"
    assert names[row["owner_def_id"]] == "function buy"
    assert (row["node_kind"], row["ast_kind"], row["field"], row["idx"]) == (
        "EXPRESSION",
        "Starred",
        "args",
        0,
    )
    assert SHOP[row["bstart"] : row["bend"]] == b"*names"
    assert (row["line"], row["col"], row["end_line"], row["end_col"]) == (6, 19, 6, 25)


def test_names_and_properties_are_those_of_evidence(nodes: dict[str, Any]) -> None:
    row = nodes["limit 3"]
    assert (row["name"], row["props"]) == ("limit", {"ctx": "Store"})
    assert SHOP[row["name_bstart"] : row["name_bend"]] == b"limit"
    assert (nodes["class Basket"]["qualname"], nodes["class Basket"]["props"]) == ("Basket", None)


def test_what_is_in_no_tree_has_an_owner_and_no_parent(nodes: dict[str, Any]) -> None:
    row = nodes["binding names of buy"]
    assert (row["parent_id"], names_of_ids()[row["owner_def_id"]]) == (None, "function buy")
    assert (row["name"], row["ast_kind"], row["props"]) == ("names", None, {"kind": "param"})
    assert SHOP[row["bstart"] : row["bend"]] == b"names"
    assert row["line"] == 4


def test_nodes_say_who_found_them(nodes: dict[str, Any]) -> None:
    origins = {(row["node_kind"], row["origin"]) for row in nodes.values()}
    not_of_syntax = {each for each in origins if each[1] != "ast"}
    assert not_of_syntax == {
        ("BINDING", "scopes"),
        ("CFG_ENTRY", "flow"),
        ("CFG_EXIT", "flow"),
        ("DIAGNOSTIC", "headwater"),
    }
    assert {("CALL", "ast"), ("COMMENT", "ast"), ("REPO", "ast"), ("ERROR", "ast")} < origins


def test_what_is_outside_and_types_are_nodes_beside_those_of_files(
    spark: SparkSession, evidence: DataFrame, resolution: DataFrame
) -> None:
    own = file_nodes_of(evidence, repositories_of(spark, ["sample"]))
    every = nodes_of(own, resolution)
    assert every.where("NOT is_external AND node_kind <> 'TYPE'").count() == own.count()
    outside = every.where("is_external").select("node_kind", "name", "file_id", "props").collect()
    assert [tuple(row) for row in sorted(outside)] == [
        ("DISTRIBUTION", "python", None, {"dist": "python", "version": "."}),
        ("EXTERNAL_SYMBOL", "builtins.print", None, {"dist": "python", "version": "."}),
    ]
