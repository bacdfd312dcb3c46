from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.plan.dependence import (
    KINDS,
    NOTHING,
    ColumnPath,
    Dependence,
    Dependences,
    Value,
    all_as,
    column_value,
    either,
    element_type,
    field_names,
    in_role,
    is_map,
    made_of,
    minimal_paths,
    opaque,
    realigned,
    without_covered,
)

if TYPE_CHECKING:
    from headwater.plan.tree import SparkType

HOME: SparkType = {
    "type": "struct",
    "fields": [{"name": "city", "type": "string"}, {"name": "zip", "type": "integer"}],
}
HOMES: SparkType = {"type": "array", "elementType": HOME, "containsNull": True}
NOTES: SparkType = {"type": "map", "keyType": "string", "valueType": HOME, "valueContainsNull": True}


def struct(**fields: SparkType) -> SparkType:
    return {"type": "struct", "fields": [{"name": name, "type": kind} for name, kind in fields.items()]}


def words(dependences: Dependences) -> list[str]:
    return sorted(f"{'' if path.whole else '?'}{path.dataset}.{path.column}" for path, _ in dependences)


def of(*paths: str, whole: bool = True) -> set[Dependence]:
    return {Dependence(ColumnPath("t", tuple(path.split(".")), whole), "value") for path in paths}


def test_a_path_is_written_with_points_and_a_name_with_a_point_in_quotes() -> None:
    assert ColumnPath("t", ("a", "b.c", "element")).column == "a.`b.c`.element"


def test_a_part_of_a_copy_is_a_path_deeper() -> None:
    value = column_value("t", "a").part("b").part("element")
    assert words(value.all()) == ["t.a.b.element"]


def test_a_part_of_what_was_put_together_is_what_it_was_made_of() -> None:
    value = made_of([("x", column_value("t", "a")), ("y", column_value("t", "b"))])
    assert words(value.part("x").all()) == ["t.a"]
    assert words(value.all()) == ["t.a", "t.b"]
    assert words(value.shape()) == []


def test_two_parts_of_one_name_stand_for_each_other() -> None:
    value = made_of([("x", column_value("t", "a")), ("x", column_value("t", "b"))])
    assert words(value.part("x").all()) == ["t.a", "t.b"]


def test_what_a_whole_depends_on_matters_to_its_parts() -> None:
    value = column_value("t", "a").also(column_value("t", "b").all())
    assert words(value.part("x").all()) == ["t.a.x", "t.b"]


def test_what_was_worked_out_has_no_parts_of_its_own() -> None:
    value = opaque([column_value("t", "a"), column_value("t", "b")])
    assert words(value.part("x").all()) == ["t.a", "t.b"]


def test_the_shape_of_a_copy_is_its_presence_alone() -> None:
    assert words(column_value("t", "a").shape()) == ["?t.a"]


def test_one_of_several_has_the_parts_of_each() -> None:
    made = made_of([("x", column_value("t", "b"))])
    value = either([column_value("t", "a"), made, made_of([("x", column_value("t", "c"))])])
    assert words(value.part("x").all()) == ["t.a.x", "t.b", "t.c"]
    assert either([]) == NOTHING


def test_a_role_is_given_once() -> None:
    (value,) = column_value("t", "a").all()
    assert in_role(frozenset({value}), "filter") == {value._replace(kind="filter")}
    grouped = frozenset({value._replace(kind="group")})
    assert in_role(grouped, "filter") == grouped
    assert all_as(grouped, "subquery") == {value._replace(kind="subquery")}


def test_a_kind_besides_is_added_all_the_way_down() -> None:
    value = made_of([("x", column_value("t", "a"))]).also(column_value("t", "b").all()).besides("subquery")
    assert {kind for _, kind in value.part("x").all()} == {"value", "subquery"}
    assert words(value.part("x").all()) == ["t.a", "t.a", "t.b", "t.b"]


def test_nothing_more_changes_nothing() -> None:
    value = column_value("t", "a")
    assert value.also(frozenset()) is value


# --- other types -----------------------------------------------------------------------------------------


def test_another_type_keeps_places_and_not_names() -> None:
    value = realigned(column_value("t", "home"), HOME, struct(town="string", code="integer"))
    assert words(value.part("town").all()) == ["?t.home", "t.home.city"]


def test_what_differs_in_nullability_alone_is_a_copy() -> None:
    value = column_value("t", "homes")
    assert realigned(value, HOMES, {"type": "array", "elementType": HOME, "containsNull": False}) is value


def test_a_plain_value_of_another_type_is_no_copy() -> None:
    value = realigned(column_value("t", "a"), "string", "integer")
    assert words(value.shape()) == ["t.a"]


def test_inside_of_arrays_and_maps_fields_are_followed_too() -> None:
    renamed = struct(town="string", code="string")
    elements = realigned(column_value("t", "homes"), HOMES, {"type": "array", "elementType": renamed})
    assert words(elements.part("element").part("code").all()) == [
        "?t.homes",
        "?t.homes.element",
        "t.homes.element.zip",
    ]
    target: SparkType = {"type": "map", "keyType": "string", "valueType": renamed}
    values = realigned(column_value("t", "notes"), NOTES, target)
    assert words(values.part("key").all()) == ["?t.notes", "t.notes.key"]


def test_a_type_of_another_form_is_anything() -> None:
    value = realigned(column_value("t", "home"), HOME, "string")
    assert value == Value(others=column_value("t", "home").all())


@pytest.mark.parametrize(
    ("kind", "names", "inner", "mapped"),
    [
        (HOME, ["city", "zip"], None, False),
        (HOMES, ["element"], HOME, False),
        (NOTES, ["key", "value"], None, True),
        ("string", [], None, False),
        (None, [], None, False),
        ({"type": "udt", "class": "x"}, [], None, False),
    ],
)
def test_what_a_type_is_made_of(
    kind: SparkType | None, names: list[str], inner: SparkType | None, *, mapped: bool
) -> None:
    assert (field_names(kind), element_type(kind), is_map(kind)) == (names, inner, mapped)


# --- what must be read -----------------------------------------------------------------------------------


def test_presence_goes_without_saying_where_more_is_claimed() -> None:
    claimed = of("a", "b", whole=False) | of("a.element.x")
    assert words(frozenset(without_covered(claimed))) == ["?t.b", "t.a.element.x"]


def test_presence_in_another_role_is_said() -> None:
    presence = Dependence(ColumnPath("t", ("a",), whole=False), "join")
    assert presence in without_covered({presence, *of("a")})


def test_the_coarser_path_stands_for_the_finer() -> None:
    assert [path.column for path in minimal_paths(of("a", "a.b", "c.d", "c.e.f"))] == ["a", "c.d", "c.e.f"]


def test_a_presence_is_read_with_any_part() -> None:
    claimed = of("a", "c", "d", "d.e", whole=False) | of("a.b", "c")
    assert [path.column for path in minimal_paths(claimed)] == ["a.b", "c", "d.e"]


PATHS = st.builds(
    ColumnPath,
    st.sampled_from(["t", "u"]),
    st.lists(st.sampled_from("ab"), min_size=1, max_size=3).map(tuple),
    st.booleans(),
)
DEPENDENCES = st.frozensets(st.builds(Dependence, PATHS, st.sampled_from(KINDS)))


@given(DEPENDENCES)
def test_what_must_be_read_covers_every_claim_and_no_two_overlap(claimed: Dependences) -> None:
    required = minimal_paths(claimed)
    for path, _ in claimed:
        reaching = [
            each for each in required if each.dataset == path.dataset and _meet(each.parts, path.parts)
        ]
        assert reaching
        if path.whole:
            assert any(path.parts[: len(each.parts)] == each.parts for each in reaching)
    for one in required:
        assert not [
            two
            for two in required
            if two != one and one.dataset == two.dataset and _meet(one.parts, two.parts)
        ]


def _meet(one: tuple[str, ...], two: tuple[str, ...]) -> bool:
    shorter = min(len(one), len(two))
    return one[:shorter] == two[:shorter]


@given(DEPENDENCES)
def test_nothing_but_presence_is_left_out_as_covered(claimed: Dependences) -> None:
    kept = without_covered(claimed)
    assert kept == sorted(kept)
    assert {each for each in claimed if each.path.whole} <= set(kept)
    for path, kind in claimed - set(kept):
        assert any(kind == other and _meet(path.parts, deeper.parts) for deeper, other in kept)
