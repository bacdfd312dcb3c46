from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.errors import SemanticMismatch
from headwater.origin import Origin
from headwater.plan.agreement import NULL, Agreement, Meaning, SemanticCheck

NODE = Meaning("NodeId", "nodes.id", "key")
SOURCE = Meaning("NodeId", "edges.source", None)
EDGE = Meaning("EdgeId", "edges.id", None)
PROMISE = Meaning("NodeId", "v.x", "key")


def agreement() -> Agreement:
    return Agreement("v", Origin("v.sql", 1))


@given(st.lists(st.sampled_from([NODE, SOURCE, EDGE, NULL, None])))
def test_one_of_several_means_what_all_of_them_mean(given_ones: list[Meaning | None]) -> None:
    types = {each.type for each in given_ones if each is not None} - {""}
    if len(types) > 1:
        with pytest.raises(SemanticMismatch):
            agreement().one_of(given_ones)
        return
    found = agreement().one_of(given_ones)
    if None in given_ones:
        assert found is None
    else:
        assert found is not None
        assert {found.type} - {""} == types


def test_what_has_no_type_goes_with_everything() -> None:
    checks = agreement()
    for one, two in ((NODE, None), (None, EDGE), (NULL, EDGE), (None, None)):
        checks.compared(one, two)
    assert not checks.checks


def test_what_is_equal_is_recorded() -> None:
    checks = agreement()
    checks.compared(NODE, SOURCE)
    checks.compared(NODE, SOURCE)
    checks.written(SOURCE, PROMISE)
    checks.written(NULL, PROMISE)
    assert list(checks.checks) == [
        SemanticCheck(
            rule="compared",
            column_name="nodes.id",
            semantic_type="NodeId",
            metadata_key="key",
            other_column="edges.source",
        ),
        SemanticCheck(rule="written", column_name="edges.source", semantic_type="NodeId", other_column="v.x"),
        SemanticCheck(rule="written", column_name="v.x", semantic_type="NodeId", metadata_key="key"),
    ]


def test_what_differs_is_refused_with_both_places() -> None:
    with pytest.raises(SemanticMismatch) as caught:
        agreement().written(EDGE, PROMISE)
    assert str(caught.value) == "HW-PLAN-010 v.sql:1: 'v' writes edges.id (EdgeId) into v.x (NodeId)"
