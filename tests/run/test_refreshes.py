from __future__ import annotations

import re

from headwater.artifacts import RefreshRecord
from headwater.run import REFRESH_REASONS, refresh_words
from headwater.run.refreshes import Refresh, full


def test_every_code_is_in_words() -> None:
    assert full("told").words == "Its policy says so."
    assert Refresh(mode="incremental", code="proven", detail="by a(k)").words.endswith(": by a(k).")
    assert all(words.endswith(".") for words in REFRESH_REASONS.values())
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", code) for code in REFRESH_REASONS)


def test_a_record_of_another_version_has_its_code_for_words() -> None:
    assert refresh_words(RefreshRecord(mode="full", code="of-old")) == "of-old"
