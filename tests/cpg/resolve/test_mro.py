"""The order of classes is Python's own."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from headwater.cpg.resolve.mro import linearise

# For each class the earlier classes that are its bases.
HIERARCHIES = st.lists(st.lists(st.integers(0, 9), max_size=3), min_size=1, max_size=10).map(
    lambda drawn: [list(dict.fromkeys(base for base in bases if base < at)) for at, bases in enumerate(drawn)]
)


@given(HIERARCHIES)
def test_it_is_that_of_python(hierarchy: list[list[int]]) -> None:
    made: dict[int, type[Any]] = {}
    orders: dict[int, tuple[int, ...]] = {}
    for at, bases in enumerate(hierarchy):
        if any(base not in made for base in bases):
            continue
        orders[at] = linearise(at, bases, orders.__getitem__)
        try:
            made[at] = type(f"C{at}", tuple(made[base] for base in bases), {})
        except TypeError:  # Python knows no order for it
            del orders[at]
            continue
        assert [f"C{each}" for each in orders[at]] == [each.__name__ for each in made[at].__mro__[:-1]]


@given(HIERARCHIES)
def test_every_class_is_there_once_even_where_python_knows_no_order(hierarchy: list[list[int]]) -> None:
    orders: dict[int, tuple[int, ...]] = {}
    for at, bases in enumerate(hierarchy):
        orders[at] = linearise(at, bases, orders.__getitem__)
        assert orders[at][0] == at
        assert sorted(orders[at]) == sorted({at, *(each for base in bases for each in orders[base])})


def test_a_class_that_is_its_own_base_comes_to_an_end() -> None:
    assert linearise(1, [1, 2], lambda each: (each,)) == (1, 2)
