"""Rows that a task has put aside: a table whose newest commit says, without Spark, that they are all there.

Not here: who puts rows aside, and when they are thrown away.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from headwater.delta.files import place_of
from headwater.delta.head import find_actions, find_head
from headwater.delta.mutation import note_of
from headwater.errors import DeltaError

if TYPE_CHECKING:
    from headwater.delta.head import LogHead
    from headwater.names import TablePin


def find_staged(uri: str, table: str, task_key: str) -> LogHead | None:
    """The newest commit of a table, if an Overwrite of this task made it and its files are there.

    None for any other table, for none, and for one that is damaged: its rows are made again then. That a file
    has the bytes that it was written with is not looked at, only that it is as long.
    """
    try:
        head = find_head(uri)
        note = note_of(head.user_metadata) if head is not None else None
        if head is None or note is None or (note.table, note.task_key) != (table, task_key):
            return None
        actions = cast("list[dict[str, dict[str, object]]]", find_actions(uri, head.version) or [])
        # Only then are the files that the commit added all that the table has.
        replaces = any(_mode(each["commitInfo"]) == "Overwrite" for each in actions if "commitInfo" in each)
        pin, added = head.pin(table), [each["add"] for each in actions if "add" in each]
        is_whole = replaces and all(_is_there(pin, each) for each in added)
    except (DeltaError, KeyError, TypeError):
        return None
    return head if is_whole else None


def _mode(info: dict[str, object]) -> object:
    return cast("dict[str, object]", info.get("operationParameters", {})).get("mode")


def _is_there(pin: TablePin, added: dict[str, object]) -> bool:
    try:
        return place_of(pin, str(added["path"])).stat().st_size == added["size"]
    except OSError:
        return False
