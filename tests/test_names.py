from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.errors import InvalidName
from headwater.names import SnapshotKey, TablePin, check_name, same_name


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


def test_a_pin_has_a_key() -> None:
    pin = TablePin(name="orders", uri="file:///lake/orders", version=3, digest="d")
    assert pin.key == SnapshotKey("file:///lake/orders", 3)
