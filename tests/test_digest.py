from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.digest import Plain, canonical_bytes, digest_of, digest_of_bytes, stable_id

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=12,
)


def shape(value: object) -> object:
    """A value with its types made visible, so that Python's 1 == True == 1.0 does not hide a difference."""
    if isinstance(value, dict):
        return ("map", tuple(sorted((key, shape(each)) for key, each in value.items())))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    if isinstance(value, list | tuple):
        return ("list", tuple(shape(each) for each in value))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    return (type(value).__name__, repr(value))


@given(plain, plain)
def test_bytes_are_equal_exactly_if_the_values_are(one: Plain, two: Plain) -> None:
    assert (canonical_bytes(one) == canonical_bytes(two)) == (shape(one) == shape(two))


@given(st.dictionaries(st.text(max_size=4), st.integers(), min_size=2))
def test_a_mapping_has_no_order(mapping: dict[str, int]) -> None:
    backwards = dict(reversed(list(mapping.items())))
    assert digest_of(mapping) == digest_of(backwards)


def test_neighbours_do_not_run_into_each_other() -> None:
    assert digest_of(["a;b", None]) != digest_of(["a", "b", ""])
    assert digest_of(["ab"]) != digest_of(["a", "b"])


def test_the_digest_is_for_ever() -> None:
    assert digest_of(["orders", 1, None, True, b"x", {"k": 2.5}]) == (
        "13b5c62ca57941963f787c7574c9bf51ee1be5559844e33db65a2868d2db855a"
    )
    assert digest_of_bytes(b"") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


parts = st.lists(st.none() | st.booleans() | st.integers() | st.text() | st.dates(), min_size=1, max_size=4)


@given(parts, parts)
def test_ids_are_equal_exactly_if_the_parts_are(
    one: list[str | int | None], two: list[str | int | None]
) -> None:
    assert (stable_id("x", *one) == stable_id("x", *two)) == (shape(one) == shape(two))


def test_an_id_is_for_ever() -> None:
    assert stable_id("node", "a", 1, None, True) == "node:9a4361bae37750643ecdb46ce3c99818"
    assert stable_id("day", date(2024, 2, 29)) == "day:ef6fd7e487eb8de2ad4dc0218de34910"


@pytest.mark.parametrize("part", [1.0, b"x", ("a",), datetime(2024, 2, 29, tzinfo=UTC)])
def test_other_parts_are_refused(part: Any) -> None:
    with pytest.raises(TypeError, match="a part of an id"):
        stable_id("x", part)
