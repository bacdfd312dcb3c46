"""Ids by their places."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from headwater.cpg.resolution.ids import IdColumn, Ids

ONE, TWO = pa.array(["a:0", "a:1", "a:2"]), pa.array(["a:3", "a:4"])


def texts(ids: Ids, *places: int) -> list[str | None]:
    """The ids at places."""
    return IdColumn(ids, np.array(places, np.int64)).array().to_pylist()


@pytest.mark.parametrize("parts", [[pa.concat_arrays([ONE, TWO])], [ONE, TWO], [ONE, ONE.slice(3), TWO]])
def test_parts_are_one_row_of_ids(parts: list[Any]) -> None:
    ids = Ids.of(parts)
    assert len(ids) == 5
    assert texts(ids, 4, 0, 3, 3, 2) == ["a:4", "a:0", "a:3", "a:3", "a:2"]


def test_what_is_missing_stays_missing() -> None:
    column = IdColumn(Ids.of([ONE, TWO]), np.array([-1, 3, -1, 0, *[-1] * 6, 2], np.int64))
    assert column.array().to_pylist() == [None, "a:3", None, "a:0", *[None] * 6, "a:2"]
    assert column.array().null_count == 8
    assert np.flatnonzero(column.is_there()).tolist() == [1, 3, 10]
    assert column.in_order(np.array([3, 0])).array().to_pylist() == ["a:0", None]


def test_a_slice_has_its_own_ids() -> None:
    assert texts(Ids.of([ONE.slice(1), TWO.slice(1, 1)]), 0, 1, 2) == ["a:1", "a:2", "a:4"]


def test_more_come_behind_all_others() -> None:
    ids = Ids.of([ONE, TWO])
    assert ids.joined([]) is ids
    assert texts(ids.joined(["b:5", "b:6"]), 6, 4, 5) == ["b:6", "a:4", "b:5"]
    assert texts(Ids.of([]).joined(["b:0"]), 0, -1) == ["b:0", None]


def test_no_ids_have_no_places() -> None:
    empty = Ids.of([pa.array([], pa.string())])
    assert (len(empty), texts(empty), texts(empty, -1)) == (0, [], [None])


@pytest.mark.parametrize("found", [["a", "bc"], ["a", None], ["", ""], ["a", "", "bc"]])
def test_ids_of_several_lengths_are_refused(found: list[str | None]) -> None:
    with pytest.raises(ValueError, match="of one length"):
        Ids.of([pa.array(found, pa.string())])
