"""How well things could be resolved: candidates of all relations, and what they add up to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headwater.cpg.graph import (
    call_targets_of,
    calls_of,
    relation_ambiguity_of,
    relation_candidates_of,
    relation_quality_of,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@pytest.fixture(scope="module")
def candidates(library: DataFrame, meant: DataFrame) -> DataFrame:
    return relation_candidates_of(meant, calls_of(library, meant), call_targets_of(meant))


def test_every_relation_has_its_candidates(candidates: DataFrame, meant: DataFrame) -> None:
    counted = {row["relation"]: row["count"] for row in candidates.groupBy("relation").count().collect()}
    assert counted["call"] == call_targets_of(meant).count()
    for relation, name in (("ref", "references"), ("import", "imports"), ("inherit", "bases")):
        assert counted[relation] == meant.selectExpr(f"inline({name})").count() > 0
    assert candidates.where("confidence < 0 OR confidence > 1 OR site_node_id IS NULL").count() == 0


def test_quality_adds_up_to_all_sites(candidates: DataFrame) -> None:
    rows = relation_quality_of(candidates).collect()
    sites = {
        row["relation"]: row["count"]
        for row in candidates.where("is_winner").groupBy("relation").count().collect()
    }
    for relation, count in sites.items():
        assert sum(row["sites"] for row in rows if row["relation"] == relation) == count
    for row in rows:
        assert row["sites"] == row["resolved"] + row["ambiguous"] + row["unresolved"] + row["external"]
        assert row["share_resolved"] == (row["resolved"] + row["external"]) / row["sites"]


def test_a_site_with_several_candidates_is_ambiguous(candidates: DataFrame) -> None:
    rows = relation_ambiguity_of(candidates).collect()
    assert sorted(row["n_candidates"] for row in rows) == [2, 2, 2, 3]
    assert all(row["top_confidence"] >= row["second_confidence"] > 0 for row in rows)
