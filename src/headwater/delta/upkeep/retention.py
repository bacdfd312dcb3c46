"""How far back a table can be read, by its properties: what Delta keeps of replaced files and of the log.

Not here: whether a version's files are there.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.errors import InvalidSetting

if TYPE_CHECKING:
    from collections.abc import Mapping

DELETED_FILES = "delta.deletedFileRetentionDuration"
LOG = "delta.logRetentionDuration"
CLEANS_LOG = "delta.enableExpiredLogCleanup"
# Delta's own, for a table that says nothing.
_DEFAULTS = {DELETED_FILES: "interval 1 week", LOG: "interval 30 days"}
HOUR_MS = 3_600_000
_UNITS = {
    "week": 7 * 24 * HOUR_MS,
    "day": 24 * HOUR_MS,
    "hour": HOUR_MS,
    "minute": 60_000,
    "second": 1_000,
    "millisecond": 1,
    "microsecond": 0.001,
}
_PART = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(" + "|".join(_UNITS) + r")s?", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """What a table's properties promise, in milliseconds.

    Args:
        deleted_files_ms: how long a file that a newer version does not have stays, at least.
        log_ms: how long commits stay in the log, at least.
        cleans_log: whether whoever writes a checkpoint removes older commits by the way.
    """

    deleted_files_ms: int
    log_ms: int
    cleans_log: bool

    @property
    def deleted_files_hours(self) -> float:
        """The same in hours, as vacuum takes it."""
        return self.deleted_files_ms / HOUR_MS

    @property
    def log_hours(self) -> float:
        """How long commits stay, in hours."""
        return self.log_ms / HOUR_MS


def retention_of(properties: Mapping[str, str]) -> Retention:
    """What properties promise, by Delta's defaults where they are silent.

    Raises:
        InvalidSetting: a property that is no duration.
    """
    known = {key.lower(): value for key, value in properties.items()}
    durations = {key: known.get(key.lower(), usual) for key, usual in _DEFAULTS.items()}
    return Retention(
        deleted_files_ms=milliseconds_of_interval(DELETED_FILES, durations[DELETED_FILES]),
        log_ms=milliseconds_of_interval(LOG, durations[LOG]),
        cleans_log=known.get(CLEANS_LOG.lower(), "true").lower() != "false",
    )


def check_hours(hours: float | None) -> None:
    """Raises InvalidSetting for hours that are no time."""
    if hours is not None and not (math.isfinite(hours) and hours >= 0):
        raise InvalidSetting(key="retention_hours", value=str(hours), expected="a number, zero or above")


def retention_properties(hours: int) -> dict[str, str]:
    """The properties under which every version stays readable for so many hours after it was replaced.

    A write does not clean the log of such a table; that is asked for by itself.
    """
    duration = f"interval {hours // 24} days" if hours % 24 == 0 else f"interval {hours} hours"
    return {DELETED_FILES: duration, LOG: duration, CLEANS_LOG: "false"}


def wider_properties(properties: Mapping[str, str], hours: int) -> dict[str, str]:
    """What is to be set so that a table keeps its past for so many hours; nothing if it does.

    What it keeps longer stays so: somebody has said it.
    """
    present, wanted = retention_of(properties), retention_properties(hours)
    asked = retention_of(wanted)
    keeps = present.deleted_files_ms >= asked.deleted_files_ms and present.log_ms >= asked.log_ms
    if keeps and not present.cleans_log:
        return {}
    longer = max(hours, math.ceil(present.deleted_files_hours), math.ceil(present.log_hours))
    wanted[LOG] = retention_properties(longer)[LOG]
    if present.deleted_files_ms > asked.deleted_files_ms:
        del wanted[DELETED_FILES]
    return wanted


def milliseconds_of_interval(key: str, text: str) -> int:
    """An interval as Delta writes one, in milliseconds.

    >>> milliseconds_of_interval("delta.logRetentionDuration", "interval 1 day 12 hours")
    129600000
    """
    inside = re.sub(r"(?i)^\s*interval\b", "", text).strip()
    parts = [match for match in _PART.finditer(inside) if match]
    if not parts or "".join(part[0] for part in parts).strip() != inside:
        raise InvalidSetting(key=key, value=repr(text), expected="an interval such as 'interval 30 days'")
    return int(sum(float(part[1]) * _UNITS[part[2].lower()] for part in parts))
