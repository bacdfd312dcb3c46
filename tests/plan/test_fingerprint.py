from __future__ import annotations

import pytest
from msgspec.structs import replace

from headwater.plan import Fingerprint
from headwater.plan.fingerprint import PARTS

FIRST = Fingerprint(code="c", functions="f", settings="s", policies="p", inputs="i")


@pytest.mark.parametrize("part", PARTS)
def test_each_part_counts_and_is_named(part: str) -> None:
    other = replace(FIRST, **{part: "x"})
    assert other.digest != FIRST.digest
    assert other.differing(FIRST) == (part,)


def test_parts_do_not_run_into_each_other() -> None:
    other = replace(FIRST, code="cf", functions="")
    assert other.digest != replace(FIRST, code="c", functions="f").digest
    assert FIRST.differing(FIRST) == ()
