"""Python's search for cycles: off inside, and as it was afterwards."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

import pytest

from headwater.memory import give_back, without_collections

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(params=[True, False])
def is_enabled(request: pytest.FixtureRequest) -> Iterator[bool]:
    before = gc.isenabled()
    (gc.enable if request.param else gc.disable)()
    yield request.param
    (gc.enable if before else gc.disable)()


def test_it_is_as_before_afterwards(is_enabled: bool) -> None:
    with without_collections():
        assert not gc.isenabled()
    assert gc.isenabled() == is_enabled


def test_it_is_as_before_after_an_error(is_enabled: bool) -> None:
    with pytest.raises(KeyError), without_collections():
        raise KeyError
    assert gc.isenabled() == is_enabled


def test_an_inner_one_does_not_end_the_outer_one(is_enabled: bool) -> None:
    with without_collections():
        with without_collections():
            pass
        assert not gc.isenabled()
    assert gc.isenabled() == is_enabled


def test_room_is_given_back_while_all_that_is_kept_stays() -> None:
    kept = [[str(number)] * 100 for number in range(1000)][::2]
    give_back()
    assert [each[99] for each in kept] == [str(number) for number in range(0, 1000, 2)]
