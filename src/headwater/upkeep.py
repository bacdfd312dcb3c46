"""When a table is due for upkeep: a value that `[maintenance.NAME]` writes down and `table maintain` obeys.

Not here: doing it, and finding out whether it is due.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from headwater.errors import InvalidSetting
from headwater.given import columns, flag, hours, number, size

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_DAY = 24
_LEAST_FILES = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class UpkeepPolicy:
    """When a table is compacted, clustered, vacuumed, given a checkpoint, and how long its past is kept.

    Args:
        compact_small_files: compact when so many files are less than half as large as they should be.
        target_file_size: about how many bytes a file should have; the table's own choice if None.
        zorder_by: columns by which rows are brought together when it is clustered; a table that has
            clustering of its own goes by that.
        cluster_after_commits: cluster when so many commits have changed rows since it was done last.
        vacuum_every_hours: vacuum when the last time is longer ago, written as in "7 days".
        checkpoint_after_commits: write a checkpoint when so many commits came after the last one.
        cleanup_log: take commits out of the log that are older than it keeps.
        retain_hours: how long each version stays readable after it was replaced, written as in "365 days".

    Each may be None, or false, for never.
    """

    compact_small_files: int | None = 16
    target_file_size: int | None = None
    zorder_by: tuple[str, ...] = ()
    cluster_after_commits: int | None = 10
    vacuum_every_hours: int | None = 7 * _DAY
    checkpoint_after_commits: int | None = 20
    cleanup_log: bool = True
    retain_hours: int | None = 365 * _DAY


def upkeep_policy_of(given_values: Mapping[str, object], base: UpkeepPolicy | None = None) -> UpkeepPolicy:
    """A policy as people write it, over another one's choices.

    >>> upkeep_policy_of({"vacuum_every": "2 days", "compact_small_files": False}).vacuum_every_hours
    48

    Raises:
        InvalidSetting: a key that there is not, or a value that it cannot have.
    """
    found: dict[str, object] = {}
    for key, value in given_values.items():
        if key not in _TAKES:
            raise InvalidSetting(key=key, value="given", expected=f"one of {', '.join(sorted(_TAKES))}")
        field, take = _TAKES[key]
        found[field] = None if value is False and field != "cleanup_log" else take(key, value)
    return replace(base or UpkeepPolicy(), **cast("dict[str, Any]", found))


def _count(least: int) -> Callable[[str, object], int]:
    def take(key: str, value: object) -> int:
        found = number(key, value)
        if found < least:
            raise InvalidSetting(key=key, value=repr(value), expected=f"{least} or more, or false for never")
        return found

    return take


_TAKES: Mapping[str, tuple[str, Callable[[str, object], object]]] = {
    "compact_small_files": ("compact_small_files", _count(_LEAST_FILES)),
    "target_file_size": ("target_file_size", size),
    "zorder_by": ("zorder_by", columns),
    "cluster_after_commits": ("cluster_after_commits", _count(1)),
    "vacuum_every": ("vacuum_every_hours", hours),
    "checkpoint_after_commits": ("checkpoint_after_commits", _count(1)),
    "cleanup_log": ("cleanup_log", flag),
    "retain": ("retain_hours", hours),
}
# What `[maintenance.NAME]` may say.
UPKEEP_KEYS = tuple(sorted(_TAKES))
