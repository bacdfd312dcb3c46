"""Call graphs out of rows: who is in them, and which candidates count."""

from __future__ import annotations

import re
from typing import Any

import pytest

from headwater.cpg.callgraphs import callgraph_query, callgraphs_of
from headwater.cpg.graph import repository_id
from headwater.cpg.resolve import EXPORT_THRESHOLD


def row(caller: str, callee: str | None = None, repo: str = "shop", **other: Any) -> dict[str, Any]:
    """A row of the query; those of defs without calls have nothing but the def."""
    how = {"dispatch": "call", "resolver": "value", "confidence": 950, "rank": 1}
    return {
        "repo_id": repository_id(repo),
        "caller": caller,
        "callee": callee,
        **(dict.fromkeys(how) if callee is None else how),
        **other,
    }


def graph_of(*rows: dict[str, Any], threshold: float = EXPORT_THRESHOLD) -> dict[str, list[str]]:
    return callgraphs_of(rows, ["shop"], threshold)["shop"]


def test_the_query_asks_the_one_table_of_the_name() -> None:
    query = callgraph_query("shop")
    assert set(re.findall(r"FROM (\w+)", query)) == {"resolution_shop"}
    (told,) = re.findall(r"SELECT (.+)\s+FROM \(SELECT repo_id", query)
    columns = [each.split(" AS ")[-1].split(".")[-1].strip() for each in told.split(",")]
    assert columns == list(row("f"))


def test_names_are_sorted_and_there_once() -> None:
    found = graph_of(row("m.g", "b"), row("m.g", "a"), row("m.f", "c"), row("m.g", "b"))
    assert list(found.items()) == [("m.f", ["c"]), ("m.g", ["a", "b"])]


def test_a_def_that_calls_nothing_is_in_its_graph() -> None:
    assert graph_of(row("m")) == {"m": []}


def test_a_candidate_without_a_name_runs_no_code() -> None:
    assert graph_of(row("m", None, dispatch="call", resolver="class", confidence=950, rank=1)) == {"m": []}


def test_each_repository_has_its_own() -> None:
    rows = [row("m.f", "a"), row("m.f", "b", repo="other"), row("m.f", "c", repo="not asked for")]
    assert callgraphs_of(rows, ["other", "shop", "empty"], 0.5) == {
        "other": {"m.f": ["b"]},
        "shop": {"m.f": ["a"]},
        "empty": {},
    }


@pytest.mark.parametrize(
    ("how", "is_there"),
    [
        ({"confidence": 500, "rank": 2}, True),
        ({"confidence": 499, "rank": 2}, False),
        ({"confidence": 100, "rank": 1}, True),
        ({"confidence": 100, "rank": 1, "resolver": "external"}, True),
        ({"confidence": 499, "rank": 1, "resolver": "name"}, False),
        ({"confidence": 500, "rank": 1, "resolver": "name"}, True),
        ({"resolver": "builtin"}, True),
        ({"resolver": "builtin", "dispatch": "decorator"}, False),
        ({"resolver": "value", "dispatch": "decorator"}, True),
        ({"resolver": "external", "dispatch": "decorator"}, True),
        ({"dispatch": "property"}, True),
    ],
)
def test_a_candidate_counts_if_it_is_sure_enough_or_the_best(how: dict[str, Any], is_there: bool) -> None:
    assert graph_of(row("m", "callee", **how), threshold=0.5) == {"m": ["callee"] if is_there else []}
