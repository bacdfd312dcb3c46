from __future__ import annotations

import re
from dataclasses import replace

import pytest

from headwater.artifacts import RefreshRecord
from headwater.delta import FewKeys
from headwater.names import TablePin
from headwater.run import REFRESH_REASONS, refresh_words
from headwater.run.refreshes import ChangedInput, Refresh, ReplacedKeys, full


def test_every_code_is_in_words() -> None:
    assert full("told").words == "Its policy says so."
    assert Refresh(mode="incremental", code="proven", detail="by a(k)").words.endswith(": by a(k).")
    assert all(words.endswith(".") for words in REFRESH_REASONS.values())
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", code) for code in REFRESH_REASONS)


def test_a_record_of_another_version_has_its_code_for_words() -> None:
    assert refresh_words(RefreshRecord(mode="full", code="of-old")) == "of-old"


FEW = FewKeys(columns=("a", "B"), values=frozenset({(1, "x"), (2, None)}))
PIN = TablePin(name="t", uri="file:/t", version=4, digest="d")
REPLACED = ReplacedKeys(before=3, pin=PIN, few=FEW)
CHANGED = ChangedInput(name="t", columns=("b", "A"), before=replace(PIN, version=3, digest="c"), pin=PIN)


def test_replaced_keys_stand_for_an_input_that_changed_by_them_alone() -> None:
    found = REPLACED.keys_for(CHANGED)
    assert found == FewKeys(columns=("b", "A"), values=frozenset({("x", 1), (None, 2)}))


@pytest.mark.parametrize(
    "changed",
    [
        replace(CHANGED, before=replace(PIN, version=2)),
        replace(CHANGED, pin=replace(PIN, version=5)),
        replace(CHANGED, pin=replace(PIN, digest="e")),
        replace(CHANGED, columns=("a",)),
        replace(CHANGED, columns=("a", "c")),
        replace(CHANGED, columns=("a", "b", "c")),
    ],
)
def test_what_changed_otherwise_or_is_asked_by_another_key_has_to_be_looked_at(changed: ChangedInput) -> None:
    assert REPLACED.keys_for(changed) is None
