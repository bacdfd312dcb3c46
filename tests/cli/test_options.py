from __future__ import annotations

import pytest

from headwater.cli.options import flags_of
from headwater.errors import InvalidSetting


def test_flags_are_settings_by_key() -> None:
    assert flags_of("local[1]", ["a=1", " b = x=y "]) == {"a": "1", "b": "x=y", "master": "local[1]"}
    assert flags_of(None, None) == {}


@pytest.mark.parametrize("pair", ["a", "=1", " =1", ""])
def test_a_pair_needs_key_and_value(pair: str) -> None:
    with pytest.raises(InvalidSetting):
        flags_of(None, [pair])
