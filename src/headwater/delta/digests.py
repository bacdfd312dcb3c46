"""Content digests of a table's versions: kept beside its log, and worked out from the nearest that is kept.

A digest is kept in the table's folder, under `_headwater`, with the digest of the commit that it belongs to;
whoever copies a table without them, or removes them, loses only time. Not here: how rows are hashed.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from pyspark.sql import DataFrame

from headwater.delta.content import ContentDigest, content_of_text, digest_rows
from headwater.delta.failures import loading_errors, storage_error
from headwater.delta.files import DELETED, RECORDS, open_rows, open_rows_of
from headwater.delta.head import find_commit
from headwater.delta.snapshot import describe_pin, open_snapshot
from headwater.errors import EngineFailed
from headwater.runtime import engine_errors, local_path_of

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.delta.snapshot import SnapshotInfo
    from headwater.names import TablePin
    from headwater.runtime import RunSession

_KEPT = 100


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
    try:
        with engine_errors():
            return digest_rows(rows)
    except EngineFailed as error:
        raise storage_error(error) or error from error


def _moved(session: RunSession, old: TablePin, known: ContentDigest, new: TablePin) -> ContentDigest | None:
    if not _is_widened(describe_pin(session, old), describe_pin(session, new)):
        return None
    before, after = _files(session, old), _files(session, new)
    removed, added = before - after, after - before
    if sum(each.rows for each in (*removed, *added)) > sum(each.rows for each in after):
        return compute_content(session, new)
    gone = digest_read(open_rows_of(session, old, [each.path for each in removed])) if removed else None
    come = digest_read(open_rows_of(session, new, [each.path for each in added])) if added else None
    less = known - gone if gone else known
    return less + come if come else less


@dataclass(frozen=True, slots=True)
class _File:
    """A data file with the rows that are deleted in it: another deletion vector is another file."""

    path: str
    vector: str | None
    rows: int


def _files(session: RunSession, pin: TablePin) -> set[_File]:
    with loading_errors(local_path_of(pin.uri), pin.version, dataset=pin.name):
        files = DataFrame(open_snapshot(session, pin).allFiles().toDF(), session.spark)
        vector = "to_json(deletionVector)"
        found: list[Any] = files.selectExpr(
            "path", f"{vector} AS vector", f"coalesce({RECORDS} - {DELETED}, size) AS rows"
        ).collect()
    return {_File(str(row["path"]), row["vector"], int(row["rows"])) for row in found}


def _is_widened(old: SnapshotInfo, new: SnapshotInfo) -> bool:
    """Whether rows of before hash as they did: the same columns, and perhaps more, without defaults."""
    if old.schema_json == new.schema_json:
        return True
    before, after = _columns(old), _columns(new)
    more = [each for name, each in after.items() if name not in before]
    return all(after.get(name, {}).get("type") == each["type"] for name, each in before.items()) and not any(
        each["metadata"] for each in more
    )


def _columns(snapshot: SnapshotInfo) -> dict[str, dict[str, Any]]:
    fields = cast("list[dict[str, Any]]", json.loads(snapshot.schema_json)["fields"])
    return {str(each["name"]): each for each in fields}


def _place(pin: TablePin, version: int) -> Path:
    return local_path_of(pin.uri) / "_headwater" / "content" / f"{version:020}.json"
