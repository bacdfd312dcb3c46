from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from headwater.digest import Plain, canonical_bytes, digest_of, digest_of_bytes

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
