"""What lies between two versions of a table, by the commits alone: the files that tell what changed.

A window is told by its change files, where a commit kept any, else by the data files that came and went. Not
here: the changes themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from headwater.delta.digests import changed_files
from headwater.delta.files import place_of
from headwater.delta.head import checksum_of, find_actions, find_commit, number_of
from headwater.delta.snapshot import open_snapshot

if TYPE_CHECKING:
    from collections.abc import Iterable

    from headwater.names import TablePin
    from headwater.runtime import RunSession

_Action: TypeAlias = "dict[str, Any]"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeWindow:
    """What would be read to know what changed.

    Attributes:
        files, bytes: The files that tell it.
        written: How many of the bytes are of files that came; not one that merely lost rows.
        missing: The first of them that is not there any more; None if all are.
    """

    files: int
    bytes: int
    written: int
    missing: str | None = None


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
    told = (_fed if feed else changed_files)(new.uri, old.version, new.version)
    if told is None:
        return None
    went, came = told
    gone = (str(each["path"]) for each in (*went, *came) if not place_of(new, str(each["path"])).is_file())
    lesser = {each["path"] for each in went}
    return ChangeWindow(
        files=len(went) + len(came),
        bytes=_size(went) + _size(came),
        written=_size(each for each in came if each["path"] not in lesser),
        missing=next(gone, None),
    )


def table_bytes(session: RunSession, pin: TablePin) -> int:
    """How many bytes the data files of a pin have; from its checksum file, if Delta wrote one."""
    told = number_of(checksum_of(pin), "tableSizeBytes")
    return told if told is not None else int(open_snapshot(session, pin).sizeInBytes())


def _fed(uri: str, old: int, new: int) -> tuple[list[_Action], list[_Action]] | None:
    """The files that Delta's feed is read from: change files, or else what a commit removes and adds."""
    gone: list[_Action] = []
    come: list[_Action] = []
    for version in range(old + 1, new + 1):
        actions = find_actions(uri, version)
        if actions is None:
            return None
        kept, came, went = (_named(actions, name) for name in ("cdc", "add", "remove"))
        come += kept or came
        gone += [] if kept else went
    return gone, come


def _size(files: Iterable[_Action]) -> int:
    return sum(int(each.get("size") or 0) for each in files)


def _named(actions: list[dict[str, object]], name: str) -> list[_Action]:
    files = [cast("_Action", each[name]) for each in actions if isinstance(each.get(name), dict)]
    return [each for each in files if name == "cdc" or each.get("dataChange", True)]
