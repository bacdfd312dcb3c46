"""What lists are made of."""

from __future__ import annotations

import pytest

from headwater.cpg.resolution.listed import thousandths
from headwater.cpg.resolve.confidence import CONFIDENCE


def test_confidences_are_whole_thousandths() -> None:
    assert thousandths([0.0, 1.0, 0.95, 0.57, 0.0004, 0.0006]) == [0, 1000, 950, 570, 0, 1]
    assert thousandths([]) == []


@pytest.mark.parametrize("resolver", CONFIDENCE)
def test_nothing_of_a_confidence_is_lost(resolver: str) -> None:
    shares = [sure for _, sure in CONFIDENCE[resolver]]
    assert [each / 1000 for each in thousandths(shares)] == shares
