from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.errors import InvalidName
from headwater.names import SnapshotKey, TablePin, check_name, near_hint, near_name, same_name


@pytest.mark.parametrize("name", ["orders", "Orders2", "a", "x" * 128])
def test_a_plain_name_is_good(name: str) -> None:
    assert check_name(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        "1a",
        "a-b",
        "a b",
        "a.b",
        "../x",
        "x" * 129,
        "hw_runs",
        "HW_x",
        "run_manifest",
        "naïve",
        "a\n",
        "_a",
    ],
)
def test_a_name_that_could_bite_is_refused(name: str) -> None:
    with pytest.raises(InvalidName):
        check_name(name)


@given(st.from_regex(r"[A-Za-z][A-Za-z0-9_]{0,20}", fullmatch=True))
def test_case_does_not_matter(name: str) -> None:
    assert same_name(name) == same_name(name.upper()) == same_name(name.lower())


def test_pins_sort_by_name_then_place_then_version() -> None:
    pins = [
        TablePin(name=name, uri="u", version=version, digest="d")
        for name, version in (("b", 0), ("a", 1), ("a", 0))
    ]
    assert [(pin.name, pin.version) for pin in sorted(pins)] == [("a", 0), ("a", 1), ("b", 0)]


def test_a_pin_has_the_key_of_its_snapshot_whatever_its_name() -> None:
    one, two = (TablePin(name=name, uri="file:///t", version=3, digest="d") for name in ("a", "b"))
    assert one.key == two.key == SnapshotKey(canonical_uri="file:///t", version=3)


def test_a_near_name_is_asked_for_and_a_far_one_is_not() -> None:
    assert near_name("oders", ["orders", "customers"]) == "orders"
    assert near_hint("oders", ["orders", "customers"]) == "Did you mean 'orders'? "
    assert near_name("x", ["orders"]) is None
    assert not near_hint("x", ["orders"])
