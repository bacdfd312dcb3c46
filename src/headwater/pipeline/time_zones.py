"""Time zones by the names that Spark gives them.

Not here: which zone a session has; that is a setting of the profile.
"""

from __future__ import annotations

import datetime as dt
import re
import zoneinfo

from headwater.errors import NotInAView

_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{2}))?(?::?(\d{2}))?")


def zone_of(name: str) -> dt.tzinfo:
    """The zone that Spark means by `name`: one of the tz database, or an offset like +02:00.

    >>> zone_of("GMT+2")
    datetime.timezone(datetime.timedelta(seconds=7200))
    """
    if name in {"UTC", "GMT", "UT", "Z"}:
        return dt.UTC
    found = _OFFSET.fullmatch(name)
    if found:
        hours, minutes, seconds = (int(part or 0) for part in found.groups()[1:])
        offset = dt.timedelta(hours=hours, minutes=minutes, seconds=seconds)
        return dt.timezone(-offset if found.group(1) == "-" else offset)
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        raise NotInAView(
            member=f"the time zone {name!r}", remedy="Give the profile a zone like Europe/Berlin or +02:00."
        ) from None


def in_zone(value: dt.datetime, zone: dt.tzinfo) -> dt.datetime:
    """The moment that `value` means where clocks show the time of `zone`."""
    return value if value.tzinfo else value.replace(tzinfo=zone)
