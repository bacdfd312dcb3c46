"""Which commit made the rows of a version: files may have been rearranged since, and properties set.

A commit leaves the rows alone if it has no files, or is an OPTIMIZE whose files all say so; and if what it
says of the table itself was asked for here. Not here: comparing rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from headwater.delta.digests import find_content, keep_content
from headwater.delta.head import find_actions, find_commit, read_commit
from headwater.delta.log_files import commit_path
from headwater.delta.mutation import note_of
from headwater.delta.upkeep.note import upkeep_note_of
from headwater.digest import digest_of_bytes
from headwater.errors import LogUnreadable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headwater.delta.head import LogHead
    from headwater.names import TablePin

_FILES = ("add", "remove")
# What moves rows between files. Any writer may say that it changes nothing; these are known not to.
_MOVES_ROWS = frozenset({"OPTIMIZE", "REORG"})
_CHANGES_ROWS = b'"dataChange":true'
_SAYS_NOTHING_OF_ROWS = {"commitInfo", "domainMetadata", "checkpointMetadata", "sidecar"}
_OF_THE_TABLE = {"metaData", "protocol"}
# Restoring changes rows, whatever its files say.
_REARRANGING = frozenset({"optimize", "vacuum", "checkpoint", "properties", "features", "constraints"})


def rows_made_by(pin: TablePin) -> TablePin:
    """The newest commit at or before a pin that changed the table's rows, pinned; without Spark.

    Where the log does not go back so far, the oldest commit that is known to have the same rows.
    """
    found = pin
    for version in range(pin.version, 0, -1):
        if not keeps_rows(pin.uri, version):
            break
        try:
            before = find_commit(pin.uri, version - 1)
        except LogUnreadable:  # older than what is asked about; a read does not need it
            break
        if before is None:
            break
        found = before.pin(pin.name)
    return found


def rows_commit(head: LogHead) -> LogHead:
    """The same as a commit, with what it says of itself."""
    made = rows_made_by(head.pin(""))
    return head if made.version == head.version else read_commit(head.uri, made.version)


def newest_with_same_rows(pin: TablePin) -> TablePin:
    """The newest version, from a pin on, that has the pin's rows; the pin itself if the table moved on.

    A pin whose commit is not there any more is given back as it is.
    """
    found = pin
    try:
        is_same = digest_of_bytes(commit_path(pin.uri, pin.version).read_bytes()) == pin.digest
    except OSError:
        is_same = False
    while is_same:
        following = find_commit(pin.uri, found.version + 1)
        if following is None or not keeps_rows(pin.uri, following.version):
            break
        found = following.pin(pin.name)
    return found


def carry_content(old: TablePin, new: TablePin) -> None:
    """Keeps the content digest of a version for a later one that has the same rows."""
    known = find_content(old)
    if known is not None and old.version < new.version and find_content(new) is None:
        same = range(old.version + 1, new.version + 1)
        if all(keeps_rows(new.uri, version) for version in same):
            keep_content(new, known)


def keeps_rows(uri: str, version: int) -> bool:
    """Whether a commit leaves the table's rows as they were; not if it is not there to be asked."""
    try:
        if _CHANGES_ROWS in commit_path(uri, version).read_bytes():
            return False  # nearly every commit; it need not be parsed
    except OSError:
        return False
    try:
        actions = find_actions(uri, version)
    except LogUnreadable:
        return False
    if actions is None or _is_a_mutation(actions):
        return False
    return all(_is_harmless(actions, *each) for each in _each(actions))


def _each(actions: list[dict[str, object]]) -> Iterator[tuple[str, dict[str, object]]]:
    for action in actions:
        for kind, inside in action.items():
            yield kind, cast("dict[str, object]", inside) if isinstance(inside, dict) else {}


def _is_harmless(actions: list[dict[str, object]], kind: str, inside: dict[str, object]) -> bool:
    if kind in _FILES:
        is_known = _operation(actions) in _MOVES_ROWS or _is_asked_here(actions)
        return inside.get("dataChange") is False and is_known
    return kind in _SAYS_NOTHING_OF_ROWS or (kind in _OF_THE_TABLE and _is_asked_here(actions))


def _is_asked_here(actions: list[dict[str, object]]) -> bool:
    note = upkeep_note_of(_metadata(actions))
    return note is not None and note.operation in _REARRANGING


def _is_a_mutation(actions: list[dict[str, object]]) -> bool:
    """Whether a commit is one of ours that writes: its end belongs to it, whatever files that has."""
    return note_of(_metadata(actions)) is not None


def _operation(actions: list[dict[str, object]]) -> object:
    return next((inside.get("operation") for kind, inside in _each(actions) if kind == "commitInfo"), None)


def _metadata(actions: list[dict[str, object]]) -> str | None:
    for kind, inside in _each(actions):
        metadata = inside.get("userMetadata")
        if kind == "commitInfo" and isinstance(metadata, str):
            return metadata
    return None
