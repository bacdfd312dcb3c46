"""What lies between two versions of a table, by the commits alone: the files that tell what changed.

A window is told by its change files, where a commit kept any, else by the data files that came and went. Not
here: the changes themselves.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from headwater.delta.digests import changed_files
from headwater.delta.files import place_of
from headwater.delta.head import find_actions, find_commit
from headwater.delta.snapshot import open_snapshot
from headwater.runtime import local_path_of

if TYPE_CHECKING:
    from headwater.names import TablePin
    from headwater.runtime import RunSession


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeWindow:
    """What would be read to know what changed after `old` up to `new`.

    Attributes:
        files, bytes: The files that tell it.
        missing: The first of them that is not there any more; None if all are.
        is_append: Whether no commit takes anything away.
    """

    old: TablePin
    new: TablePin
    files: int
    bytes: int
    missing: str | None = None
    is_append: bool = False


def window_between(old: TablePin, new: TablePin, *, feed: bool) -> ChangeWindow | None:
    """The window between two pins of one table, without Spark; None if the log does not tell it any more.

    Args:
        old: the pin that it begins after.
        new: the pin that it ends with.
        feed: whether the table keeps a change feed; else the two versions are compared.
    """
    before = find_commit(old.uri, old.version)
    if before is None or before.digest != old.digest or old.version > new.version:
        return None  # cleaned up, or another table
    found = _fed(new.uri, old.version, new.version) if feed else _net(new.uri, old.version, new.version)
    if found is None:
        return None
    actions, is_append = found
    gone = (str(each["path"]) for each in actions if not place_of(new, str(each["path"])).is_file())
    return ChangeWindow(
        old=old,
        new=new,
        files=len(actions),
        bytes=sum(int(each.get("size") or 0) for each in actions),
        missing=next(gone, None),
        is_append=is_append,
    )


def table_bytes(session: RunSession, pin: TablePin) -> int:
    """How many bytes the data files of a pin have; from its checksum file, if Delta wrote one."""
    checksum = local_path_of(pin.uri) / "_delta_log" / f"{pin.version:020}.crc"
    try:
        return int(json.loads(checksum.read_bytes())["tableSizeBytes"])
    except (OSError, ValueError, KeyError, TypeError):
        return int(open_snapshot(session, pin).sizeInBytes())


def _net(uri: str, old: int, new: int) -> tuple[list[dict[str, Any]], bool] | None:
    changed = changed_files(uri, old, new)
    return None if changed is None else ([*changed[0], *changed[1]], not changed[0])


def _fed(uri: str, old: int, new: int) -> tuple[list[dict[str, Any]], bool] | None:
    """The files that Delta's feed is read from: change files, or else what a commit adds and removes."""
    found: list[dict[str, Any]] = []
    is_append = True
    for version in range(old + 1, new + 1):
        actions = find_actions(uri, version)
        if actions is None:
            return None
        kept, came, went = (_named(actions, name) for name in ("cdc", "add", "remove"))
        found += kept or [*came, *went]
        is_append = is_append and not kept and not went
    return found, is_append


def _named(actions: list[dict[str, object]], name: str) -> list[dict[str, Any]]:
    files = [cast("dict[str, Any]", each[name]) for each in actions if isinstance(each.get(name), dict)]
    return [each for each in files if name == "cdc" or each.get("dataChange", True)]
