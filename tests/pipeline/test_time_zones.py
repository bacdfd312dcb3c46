"""Zones by Spark's names, and moments in them."""

from __future__ import annotations

import datetime as dt

import pytest

from headwater.errors import NotInAView
from headwater.pipeline.time_zones import in_zone, zone_of

NOON = dt.datetime(2026, 7, 1, 12)  # noqa: DTZ001 - a time without a zone is what this is about


@pytest.mark.parametrize(
    ("name", "hour"),
    [
        ("UTC", 12),
        ("Z", 12),
        ("Europe/Berlin", 10),
        ("+02:00", 10),
        ("GMT+2", 10),
        ("UTC-0200", 14),
        ("-2:00:00", 14),
    ],
)
def test_names_of_zones_are_sparks(name: str, hour: int) -> None:
    assert in_zone(NOON, zone_of(name)).astimezone(dt.UTC).hour == hour


def test_a_time_with_a_zone_keeps_it() -> None:
    assert in_zone(NOON.replace(tzinfo=dt.UTC), zone_of("Asia/Tokyo")).tzinfo is dt.UTC


@pytest.mark.parametrize("name", ["Nowhere/Land", "../etc", ""])
def test_a_zone_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(NotInAView):
        zone_of(name)
