"""Content digests of a table's versions: kept beside its log, and worked out from the nearest that is kept.

A digest is kept in the table's folder, under `_headwater`, with the digest of the commit that it belongs to;
whoever copies a table without them, or removes them, loses only time. Not here: how rows are hashed.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from headwater.delta.content import ContentDigest, content_of_text, digest_rows
from headwater.delta.failures import loading_errors, reading_errors
from headwater.delta.files import open_actions, open_rows
from headwater.delta.head import find_actions, find_commit
from headwater.delta.snapshot import describe_pin
from headwater.runtime import local_path_of

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame

    from headwater.delta.snapshot import SnapshotInfo
    from headwater.names import TablePin
    from headwater.runtime import RunSession

_Action: TypeAlias = "dict[str, Any]"
_KEPT = 100
_MAPPED = ("delta.columnMapping.id", "delta.columnMapping.physicalName")


def keep_content(pin: TablePin, content: ContentDigest) -> None:
    """Writes a version's digest beside the log, and forgets that of a hundred versions before.

    A folder that cannot be written keeps none: a digest is an aid.
    """
    path = _place(pin, pin.version)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(json.dumps({"commit": pin.digest, "content": content.text}))
        draft.replace(path)
        _place(pin, pin.version - _KEPT).unlink(missing_ok=True)


def find_content(pin: TablePin) -> ContentDigest | None:
    """The digest that is kept for a pin; None if none is, or it belongs to a table that was there before."""
    try:
        found: object = json.loads(_place(pin, pin.version).read_bytes())
        kept = cast("dict[str, str]", found)
        return content_of_text(kept["content"]) if kept["commit"] == pin.digest else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def derive_content(session: RunSession, pin: TablePin) -> ContentDigest | None:
    """A version's digest, kept or made from the nearest one that is; None if there is none to start from.

    What is read is the files that the two versions do not share: old less removed plus added.
    """
    for version in range(pin.version, max(-1, pin.version - _KEPT), -1):
        commit = find_commit(pin.uri, version) if version != pin.version else None
        near = commit.pin(pin.name) if commit else pin
        known = find_content(near) if commit or version == pin.version else None
        if known is not None:
            return known if near == pin else _moved(session, near, known, pin)
    return None


def compute_content(session: RunSession, pin: TablePin) -> ContentDigest:
    """A version's digest, by a pass over all of its rows.

    Raises:
        DataFileMissing, DataFileUnreadable: its rows cannot be read.
    """
    with loading_errors(local_path_of(pin.uri), pin.version, dataset=pin.name):
        rows = open_rows(session, pin)
    return digest_read(rows)


def digest_read(rows: DataFrame) -> ContentDigest:
    """The digest of rows that are read from a table; a file that cannot be read is a typed error."""
    with reading_errors():
        return digest_rows(rows)


def _moved(session: RunSession, old: TablePin, known: ContentDigest, new: TablePin) -> ContentDigest | None:
    changed = changed_files(new.uri, old.version, new.version)
    if changed is None or not is_widened(describe_pin(session, old), describe_pin(session, new)):
        return None
    removed, added = changed
    for files, pin, sign in ((removed, old, -1), (added, new, 1)):
        if files:
            with loading_errors(local_path_of(pin.uri), pin.version, dataset=pin.name):
                rows = open_actions(session, pin, files)
            part = digest_read(rows)
            known = known + part if sign > 0 else known - part
    return known


def changed_files(uri: str, old: int, new: int) -> tuple[list[_Action], list[_Action]] | None:
    """The data files that only the older version has, and only the newer one; None if that is not told.

    Commits may be gone, or add files once more that were there before. They are read without Spark. Another
    deletion vector makes another file.
    """
    removed: dict[str, _Action] = {}
    added: dict[str, _Action] = {}
    for version in range(old + 1, new + 1):
        actions = find_actions(uri, version)
        if actions is None or _states_again(actions):
            return None
        for each in actions:
            for name, here, there in (("remove", removed, added), ("add", added, removed)):
                action = each.get(name)
                if isinstance(action, dict):
                    file = cast("_Action", action)
                    if "partitionValues" not in file:
                        return None  # others may leave it out of what they remove
                    key = json.dumps([file["path"], file.get("deletionVector")], sort_keys=True)
                    if there.pop(key, None) is None:
                        here[key] = file
    return list(removed.values()), list(added.values())


def _states_again(actions: list[dict[str, object]]) -> bool:
    """Whether a commit adds files without new rows and removes none, as Delta does to note more of them."""
    added = [each["add"] for each in actions if isinstance(each.get("add"), dict)]
    is_removing = any(isinstance(each.get("remove"), dict) for each in actions)
    return not is_removing and any(cast("_Action", each).get("dataChange") is False for each in added)


def is_widened(old: SnapshotInfo, new: SnapshotInfo) -> bool:
    """Whether rows of before hash as they did: the same columns, and perhaps more, without defaults."""
    if old.schema_json == new.schema_json:
        return True
    before, after = _columns(old), _columns(new)
    more = [each for name, each in after.items() if name not in before]
    is_kept = all(name in after and _stored(after[name]) == _stored(each) for name, each in before.items())
    return is_kept and not any(set(each["metadata"]) - set(_MAPPED) for each in more)


def _stored(column: dict[str, Any]) -> list[Any]:
    """What a column is in files: two of one name may be different ones, where columns are mapped."""
    return [column["type"], *(column["metadata"].get(key) for key in _MAPPED)]


def _columns(snapshot: SnapshotInfo) -> dict[str, dict[str, Any]]:
    fields = cast("list[dict[str, Any]]", json.loads(snapshot.schema_json)["fields"])
    return {str(each["name"]): each for each in fields}


def _place(pin: TablePin, version: int) -> Path:
    return local_path_of(pin.uri) / "_headwater" / "content" / f"{version:020}.json"
