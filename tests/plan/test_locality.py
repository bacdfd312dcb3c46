from __future__ import annotations

import pytest

from headwater.plan.locality import Locality, Stopped
from headwater.plan.tree import Attribute, Node, PlanTree, Struct


def relation(name: str, *columns: int) -> Node:
    return Node("View", "plan", {}, columns, columns=tuple(f"c{each}" for each in columns), name=name)


def column(number: int) -> Node:
    return Node("AttributeReference", "expression", {}, id=number, name=f"c{number}")


def equal(left: int, right: int) -> Node:
    return Node("EqualTo", "expression", {"left": column(left), "right": column(right)})


def both(left: Node, right: Node) -> Node:
    return Node("And", "expression", {"left": left, "right": right})


def joined(kind: str, left: Node, right: Node, condition: Node, *output: int) -> Node:
    fields = {"left": left, "right": right, "condition": condition, "joinType": Struct(kind, {})}
    return Node("Join", "plan", fields, output)


def locality(root: Node, *changed: str) -> Locality:
    numbers = range(1, 10)
    attributes = {n: Attribute(n, f"c{n}", "integer", nullable=True, metadata={}) for n in numbers}
    return Locality(PlanTree(root, attributes), {each: each for each in changed})


def test_every_way_to_trace_a_column_is_found() -> None:
    condition = both(equal(1, 3), equal(1, 4))
    root = joined("Inner", relation("l", 1, 2), relation("r", 3, 4), condition, 1, 2, 3, 4)
    assert locality(root, "l", "r").through(root, 1) == (
        frozenset({("l", "c1"), ("r", "c3")}),
        frozenset({("l", "c1"), ("r", "c4")}),
    )


def test_a_dataset_is_read_by_one_column_if_there_is_one_that_fits_everywhere() -> None:
    # c1 = c3 and c1 = c4, where c3 and c4 are another reading of what c2 and c1 are.
    left = relation("t", 1, 2)
    right = Node("View", "plan", {}, (3, 4), columns=("c2", "c1"), name="t")
    root = joined("LeftOuter", left, right, both(equal(1, 3), equal(1, 4)), 1, 2, 3, 4)
    assert locality(root, "t").through(root, 1) == (frozenset({("t", "c1")}),)


def test_an_operator_that_nobody_has_looked_at_stops() -> None:
    root = Node("some.new.Operator", "plan", {"child": relation("t", 1)}, (1,))
    with pytest.raises(Stopped) as stopped:
        locality(root, "t").through(root, 1)
    assert (stopped.value.code, stopped.value.operator) == ("unknown-operator", "Operator")
    assert locality(root, "other").through(root, 1) == (frozenset(),)


def test_a_join_of_an_unknown_kind_stops() -> None:
    root = joined("Sideways", relation("l", 1), relation("r", 2), equal(1, 2), 1, 2)
    with pytest.raises(Stopped) as stopped:
        locality(root, "l").through(root, 1)
    assert stopped.value.code == "unknown-operator"


def test_a_column_that_stands_in_two_places_with_different_values_stops() -> None:
    root = Node("SubqueryAlias", "plan", {"child": relation("t", 1, 2)}, (3, 3))
    with pytest.raises(Stopped) as stopped:
        locality(root, "t").through(root, 3)
    assert stopped.value.code == "unknown-operator"


def test_a_nearest_row_may_be_of_any_key() -> None:
    root = Node("AsOfJoin", "plan", {"left": relation("l", 1), "right": relation("r", 2)}, (1, 2))
    assert locality(root, "l").through(root, 1) == (frozenset({("l", "c1")}),)
    for changed, number in (("r", 1), ("l", 2)):
        with pytest.raises(Stopped) as stopped:
            locality(root, changed).through(root, number)
        assert stopped.value.code == "join-not-on-key"
