from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given as holds_for
from hypothesis import strategies as st

from headwater import given
from headwater.errors import InvalidSetting

if TYPE_CHECKING:
    from collections.abc import Callable

NO_TEXT = (None, 3, True, b"a", "", " \n", ["a"])


def refused(take: Callable[[], object]) -> InvalidSetting:
    with pytest.raises(InvalidSetting) as caught:
        take()
    assert (caught.value.key, caught.value.exit_code) == ("the_key", 2)
    return caught.value


def test_a_number_is_whole_and_not_below_zero() -> None:
    assert [given.number("the_key", each) for each in (0, 7)] == [0, 7]


@pytest.mark.parametrize("wrong", [-1, 1.0, True, "1", None, [1]])
def test_what_is_no_number_is_refused_with_its_key(wrong: object) -> None:
    error = refused(lambda: given.number("the_key", wrong))
    assert error.value == repr(wrong)
    assert "zero or above" in error.next_step


def test_a_text_is_kept_as_it_is() -> None:
    assert given.text("the_key", " a b ") == " a b "


@pytest.mark.parametrize("wrong", NO_TEXT)
def test_what_is_no_text_is_refused_with_its_key(wrong: object) -> None:
    assert refused(lambda: given.text("the_key", wrong)).value == repr(wrong)


def test_texts_are_a_list_in_its_order() -> None:
    assert given.texts("the_key", ["b", "a"]) == ("b", "a")
    assert given.texts("the_key", ()) == ()


@pytest.mark.parametrize("wrong", ["ab", b"ab", None, 3, {"a"}, {"a": 1}, ["a", ""], ["a", 1], [["a"]]])
def test_what_is_no_list_of_texts_is_refused_with_its_key(wrong: object) -> None:
    assert refused(lambda: given.texts("the_key", wrong)).expected == "a list of texts"


def test_a_flag_is_true_or_false() -> None:
    assert given.flag("the_key", True) is True
    assert given.flag("the_key", False) is False


@pytest.mark.parametrize("wrong", [0, 1, "true", None])
def test_what_is_no_flag_is_refused_with_its_key(wrong: object) -> None:
    assert refused(lambda: given.flag("the_key", wrong)).expected == "true or false"


def test_pairs_are_a_mapping_or_as_they_are_recorded() -> None:
    expected = (("b", 1), ("a", [2]))
    for written in ({"b": 1, "a": [2]}, [["b", 1], ["a", [2]]], (("b", 1), ("a", [2]))):
        assert given.pairs("the_key", written, "pairs") == expected
    assert given.pairs("the_key", {}, "pairs") == ()


@pytest.mark.parametrize("wrong", [None, 3, "ab", ["ab"], ["a", "b"], [["a"]], [["a", 1, 2]], [3], {"ab"}])
def test_what_is_no_mapping_is_refused_with_what_it_should_be(wrong: object) -> None:
    error = refused(lambda: given.pairs("the_key", wrong, "columns with numbers"))
    assert (error.value, error.expected) == (repr(wrong), "columns with numbers")


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ({"": 1}, ""),
        ({" ": 1}, " "),
        ({3: 1}, 3),
        ({"a": 1, "A": 2}, "A"),
        ([["a", 1], ["a", 1]], "a"),
        ([[None, 1]], None),
        ([[["a"], 1]], ["a"]),
    ],
)
def test_a_name_stands_once_and_is_a_text(wrong: object, name: object) -> None:
    error = refused(lambda: given.pairs("the_key", wrong, "pairs"))
    assert error.value == f"{name!r} twice or empty"


@holds_for(st.dictionaries(st.text(min_size=1).filter(str.strip), st.integers()))
def test_pairs_lose_nothing(written: dict[str, int]) -> None:
    if len({name.casefold() for name in written}) == len(written):
        assert dict(given.pairs("the_key", written, "pairs")) == written
    else:
        refused(lambda: given.pairs("the_key", written, "pairs"))


def test_expressions_are_names_with_sql() -> None:
    assert given.expressions("the_key", {"a": "b + 1"}) == (("a", "b + 1"),)


@pytest.mark.parametrize("wrong", [None, "", "  ", 3, ["a"]])
def test_a_name_without_an_expression_is_refused(wrong: object) -> None:
    assert refused(lambda: given.expressions("the_key", {"a": wrong})).value == "'a' without an expression"


@pytest.mark.parametrize("wrong", ["a", ["ab"], 3])
def test_what_is_no_mapping_has_no_expressions(wrong: object) -> None:
    assert refused(lambda: given.expressions("the_key", wrong)).expected == "names with SQL expressions"
