from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.delta import Retention, retention_of, retention_properties
from headwater.delta.upkeep.retention import CLEANS_LOG, DELETED_FILES, LOG, milliseconds_of_interval
from headwater.errors import InvalidSetting

SECONDS = {"week": 604_800, "day": 86_400, "hour": 3_600, "minute": 60, "second": 1}
HOUR = 3_600_000
PARTS = st.dictionaries(st.sampled_from(sorted(SECONDS)), st.integers(0, 10_000), min_size=1)


@given(PARTS, st.booleans(), st.sampled_from(["interval ", "INTERVAL ", "  Interval  ", ""]))
def test_an_interval_is_the_sum_of_its_parts(parts: dict[str, int], plural: bool, start: str) -> None:
    text = start + " ".join(f"{count} {unit}{'s' if plural else ''}" for unit, count in parts.items())
    plain = sum(count * SECONDS[unit] * 1000 for unit, count in parts.items())
    assert milliseconds_of_interval(LOG, text) == plain
    assert milliseconds_of_interval(LOG, text.upper()) == plain


@pytest.mark.parametrize(
    "text",
    ["", "interval", "30", "days", "interval 3 months", "interval 1 day tomorrow", "interval -1 days", "1d"],
)
def test_what_is_no_interval_is_refused_with_its_key(text: str) -> None:
    with pytest.raises(InvalidSetting) as caught:
        retention_of({DELETED_FILES: text})
    assert (caught.value.key, caught.value.value) == (DELETED_FILES, repr(text))


def test_a_table_that_says_nothing_keeps_files_for_a_week_and_commits_for_a_month() -> None:
    usual = Retention(deleted_files_ms=168 * HOUR, log_ms=720 * HOUR, cleans_log=True)
    assert retention_of({}) == retention_of({"other": "x"}) == usual
    assert usual.deleted_files_hours == 168


def test_properties_are_known_in_any_case() -> None:
    said = {DELETED_FILES.lower(): "interval 36 hours", LOG.upper(): "interval 2 days", CLEANS_LOG: "FALSE"}
    assert retention_of(said) == Retention(deleted_files_ms=36 * HOUR, log_ms=48 * HOUR, cleans_log=False)


@given(st.integers(0, 100_000))
def test_properties_for_some_hours_promise_so_many_and_no_cleaning(hours: int) -> None:
    promised = retention_of(retention_properties(hours))
    assert promised == Retention(deleted_files_ms=hours * HOUR, log_ms=hours * HOUR, cleans_log=False)
