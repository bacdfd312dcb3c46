"""Edges that it takes two files to see, and nodes of what is in no file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from graph_sample import LIBRARY

from headwater.cpg.graph import edges_of, file_nodes_of, kind_counts_of, nodes_of, repositories_of
from headwater.digest import stable_id

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@pytest.fixture(scope="module")
def own(spark: SparkSession, library: DataFrame) -> DataFrame:
    return file_nodes_of(library, repositories_of(spark, ["library"]))


@pytest.fixture(scope="module")
def edges(own: DataFrame, library: DataFrame, meant: DataFrame) -> list[Any]:
    return edges_of(own, library, meant).collect()


@pytest.fixture(scope="module")
def kinds(own: DataFrame, meant: DataFrame) -> dict[str, str]:
    return {row["node_id"]: row["node_kind"] for row in nodes_of(own, meant).collect()}


def pairs(edges: list[Any], kind: str, names: dict[str, str], *more: str) -> set[tuple[Any, ...]]:
    return {
        (names.get(row["src_node_id"]), names.get(row["dst_node_id"]), *(row[each] for each in more))
        for row in edges
        if row["edge_kind"] == kind
    }


def test_no_edge_ends_in_nothing_and_no_id_is_there_twice(edges: list[Any], kinds: dict[str, str]) -> None:
    for row in edges:
        assert {row["src_node_id"], row["dst_node_id"]} <= kinds.keys(), row
    assert len({row["edge_id"] for row in edges}) == len(edges)


def test_a_call_goes_from_its_def_to_what_it_may_reach(edges: list[Any], name_of: dict[str, str]) -> None:
    calls = pairs(edges, "CALLS", name_of, "label", "is_winner")
    desk = "library.loans.Desk"
    assert (f"{desk}.lend", "library.books.Catalogue.find", "call", True) in calls
    assert ("library.loans.open_desk", f"{desk}.__init__", "call", True) in calls
    assert ("library.members.Patron.limit", "library.members.Member.limit", "call", True) in calls
    assert ("library.cli.main", "library.cli.find", "call", False) in calls
    assert ("library.store.load", "json.loads", "call", True) in calls
    (row,) = [
        row
        for row in edges
        if row["edge_kind"] == "CALLS"
        and (name_of[row["src_node_id"]], name_of[row["dst_node_id"]])
        == (f"{desk}.lend", "library.books.Catalogue.find")
    ]
    assert row["ambiguity_group_id"] == stable_id("call", row["site_node_id"])
    assert (row["resolver"], row["rank"], row["origin"]) == ("value", 1, "resolver")


def test_what_is_called_returns_to_the_call_and_arguments_go_to_parameters(
    edges: list[Any], kinds: dict[str, str]
) -> None:
    returned = [row for row in edges if row["edge_kind"] == "RETURNS_TO"]
    assert len(returned) == len([row for row in edges if row["edge_kind"] == "CALLS"])
    assert all(row["dst_node_id"] == row["site_node_id"] for row in returned)
    passed = [row for row in edges if row["edge_kind"] == "ARG_PASSES"]
    assert {kinds[row["dst_node_id"]] for row in passed} == {"PARAMETER"}
    assert all(0 < row["confidence"] <= 1 for row in passed)


def test_modules_and_classes_are_linked(edges: list[Any], name_of: dict[str, str]) -> None:
    assert ("library", "library.books.Book", "Book") in pairs(edges, "REEXPORTS", name_of, "label")
    assert ("library.text", "library.text.shout", "shout") in pairs(edges, "EXPORTS", name_of, "label")
    assert ("library.members.Patron", "library.members.Member", 0) in pairs(
        edges, "INHERITS", name_of, "ordinal"
    )
    assert ("library.members.Patron", "library.members.Person", 2) in pairs(edges, "MRO", name_of, "ordinal")
    assert len(pairs(edges, "OVERRIDES", name_of)) == 4
    assert {target for _, target in pairs(edges, "IMPORTS", name_of)} >= {"library.books.Book", "json", "sys"}


def test_a_test_is_linked_to_what_it_calls(edges: list[Any], name_of: dict[str, str]) -> None:
    tested = pairs(edges, "TESTS", name_of)
    assert (
        "tests.test_books.test_a_title_is_found_whatever_its_letters",
        "library.books.Catalogue.find",
    ) in tested
    assert all(source.startswith("tests.") and not target.startswith("tests.") for source, target in tested)


def test_what_has_a_type_leads_to_it(edges: list[Any], kinds: dict[str, str]) -> None:
    typed = [row for row in edges if row["edge_kind"] == "HAS_TYPE"]
    assert typed
    assert {kinds[row["dst_node_id"]] for row in typed} == {"TYPE"}
    assert {row["label"] for row in typed} <= {"annotation", "stub", "docstring", "inferred", "default"}


def test_counts_are_those_of_the_edges_and_nodes(
    edges: list[Any], kinds: dict[str, str], library: DataFrame, meant: DataFrame
) -> None:
    counted: dict[tuple[str, str], int] = {}
    for row in kind_counts_of(library, meant).collect():
        key = (row["of"], row["kind"])
        counted[key] = counted.get(key, 0) + row["count"]
    there: dict[tuple[str, str], int] = {("node", "REPO"): 1}
    assert {row["repo_id"] for row in edges} == {LIBRARY}
    for kind in (row["edge_kind"] for row in edges):
        there["edge", kind] = there.get(("edge", kind), 0) + 1
    for kind in kinds.values():
        if kind != "REPO":
            there["node", kind] = there.get(("node", kind), 0) + 1
    assert counted | {("node", "REPO"): 1} == there
