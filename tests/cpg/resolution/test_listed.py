"""What lists are made of."""

from __future__ import annotations

import numpy as np
import pytest

from headwater.cpg.resolution.listed import Listed, thousandths, written_out
from headwater.cpg.resolve.confidence import CONFIDENCE


def test_confidences_are_whole_thousandths() -> None:
    assert thousandths([0.0, 1.0, 0.95, 0.57, 0.0004, 0.0006]) == [0, 1000, 950, 570, 0, 1]
    assert thousandths([]) == []


@pytest.mark.parametrize("resolver", CONFIDENCE)
def test_nothing_of_a_confidence_is_lost(resolver: str) -> None:
    shares = [sure for _, sure in CONFIDENCE[resolver]]
    assert [each / 1000 for each in thousandths(shares)] == shares


def test_entries_are_packed_in_the_order_of_rows_and_else_as_they_were() -> None:
    listed = Listed([2, 0, 2, 1], {"kind": ["a", None, "b", "a"], "count": [1, 2, None, 4]})
    found = listed.packed({"kind": "STRING", "count": "INT"})
    assert np.asarray(found.rows).tolist() == [0, 1, 2, 2]
    columns = {name: written_out(each).to_pylist() for name, each in found.columns.items()}
    assert columns == {"kind": [None, "a", "a", "b"], "count": [2, 4, 1, None]}
