from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.errors import Cycle, UnknownTable
from headwater.origin import Origin
from headwater.plan import order_of

if TYPE_CHECKING:
    from random import Random  # noqa: TID251  hypothesis hands it in, seeded


@st.composite
def graphs(draw: st.DrawFn) -> dict[str, tuple[str, ...]]:
    """Acyclic by construction: a name reads only names before it in a shuffled list."""
    names = draw(st.permutations([f"v{number}" for number in range(draw(st.integers(1, 8)))]))
    return {
        name: tuple(draw(st.lists(st.sampled_from(names[:place]), unique=True))) if place else ()
        for place, name in enumerate(names)
    }


@given(graphs())
def test_everything_comes_after_what_it_reads(reads: dict[str, tuple[str, ...]]) -> None:
    order = order_of(reads, {})
    assert sorted(order) == sorted(reads)
    assert all(order.index(read) < order.index(name) for name in reads for read in reads[name])


@given(graphs(), st.randoms(use_true_random=False))
def test_the_order_does_not_depend_on_how_it_is_asked(
    reads: dict[str, tuple[str, ...]], shuffle: Random
) -> None:
    names = list(reads)
    shuffle.shuffle(names)
    assert order_of({name: tuple(reversed(reads[name])) for name in names}, {}) == order_of(reads, {})


def test_ties_are_settled_by_name() -> None:
    assert order_of({"c": (), "a": (), "b": ("c",)}, {}) == ("a", "c", "b")


def test_names_are_compared_without_regard_to_case() -> None:
    assert order_of({"Orders": (), "v": ("ORDERS",)}, {}) == ("Orders", "v")


def test_a_cycle_is_spelt_out_from_reader_to_read() -> None:
    reads = {"a": ("b",), "b": ("c", "x"), "c": ("a",), "x": ()}
    with pytest.raises(Cycle) as caught:
        order_of(reads, {"a": Origin("a.py", 1)})
    assert caught.value.path == "a -> b -> c -> a"
    assert caught.value.origin == Origin("a.py", 1)


def test_a_view_that_reads_itself_is_a_cycle() -> None:
    with pytest.raises(Cycle) as caught:
        order_of({"a": ("a",)}, {})
    assert caught.value.path == "a -> a"


def test_an_unknown_name_suggests_a_near_one() -> None:
    with pytest.raises(UnknownTable) as caught:
        order_of({"orders": (), "v": ("ordrs",)}, {"v": Origin("v.sql", 1)})
    assert (caught.value.view, caught.value.name, caught.value.origin) == ("v", "ordrs", Origin("v.sql", 1))
    assert "'orders'" in caught.value.next_step
