"""Definitions with their edges, from either end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from headwater.cpg.graph import definitions_of, edges_by_dst_of, edges_by_src_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@pytest.fixture(scope="module")
def rows(meant: DataFrame) -> dict[str, Any]:
    """The definitions of the small repository by their dotted names."""
    return {row["name"]: row for row in definitions_of(meant).collect()}


def test_a_definition_has_its_properties(rows: dict[str, Any]) -> None:
    find = rows["library.books.Catalogue.find"]
    assert (find["kind"], find["path"], find["line"], find["end_line"]) == (
        "method",
        "library/books.py",
        33,
        37,
    )
    assert (find["dist"], find["version"], find["is_test"], find["is_external"]) == (
        "sample",
        "1",
        False,
        False,
    )
    assert find["raises"] == ["headwater python python . builtins/LookupError."]
    assert rows["library.store.default_path"]["own_effects"] == ["env"]
    assert rows["tests.test_loans.desk"]["is_test"]
    assert (rows["library.books.Book.title"]["kind"], rows["library.books.Book.title"]["line"]) == (
        "variable",
        14,
    )
    outside = rows["json.dump"]
    assert (outside["kind"], outside["path"], outside["is_external"]) == ("external", None, True)
    assert (outside["dist"], outside["effects"]) == ("python", [])


def test_an_edge_is_there_from_either_end(rows: dict[str, Any]) -> None:
    by_id = {row["node_id"]: row for row in rows.values()}

    def told(name: str) -> set[tuple[Any, ...]]:
        ends = ("source", "target") if name == "outgoing" else ("target", "source")
        return {
            (*sorted(zip(ends, (node_id, each["other_id"]), strict=True)), *tuple(each)[:1], *tuple(each)[2:])
            for node_id, row in by_id.items()
            for each in row[name]
        }

    assert told("outgoing")
    assert told("outgoing") == told("incoming")
    lend = rows["library.loans.Desk.lend"]
    calls = [each for each in lend["outgoing"] if each["edge_kind"] == "CALLS"]
    assert ("library.books.Catalogue.find", 19) in {
        (by_id[each["other_id"]]["name"], each["line"]) for each in calls
    }
    assert [list(row["outgoing"]) for row in rows.values()] == [
        sorted(row["outgoing"], key=lambda each: tuple((value is not None, value) for value in each))
        for row in rows.values()
    ]


def test_degrees_count_edges(meant: DataFrame, rows: dict[str, Any]) -> None:
    def told(edges: list[Any], whole: int) -> list[dict[str, Any]]:
        return [{**each.asDict(), "confidence": each["confidence"] / whole} for each in edges]

    definitions = definitions_of(meant).cache()
    for made, degree, name in (
        (edges_by_src_of(definitions), "out_degree", "outgoing"),
        (edges_by_dst_of(definitions), "in_degree", "incoming"),
    ):
        found = {row["node_id"]: (row[degree], told(row["edges"], 1)) for row in made.collect()}
        assert found == {
            row["node_id"]: (len(row[name]), told(row[name], 1000)) for row in rows.values() if row[name]
        }
    definitions.unpersist()
