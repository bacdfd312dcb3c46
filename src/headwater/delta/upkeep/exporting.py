"""A copy of a table at a version that stands alone: its files, and a log of one commit that names them.

What was read of the table there is read of the copy: columns, properties, features, deletion vectors, row
ids. Its history and its change feed are not in it. Not here: copying to another store.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from headwater.delta.digests import compute_content, find_content
from headwater.delta.failures import loading_errors
from headwater.delta.head import read_head
from headwater.delta.history import commit_time
from headwater.delta.snapshot import check_pin, forget_log, open_snapshot
from headwater.delta.upkeep.holds import is_elsewhere, vector_path
from headwater.delta.upkeep.receipt import UpkeepReceipt, table_state
from headwater.errors import (
    DataFileMissing,
    InvalidSetting,
    MutationRefused,
    RowsDiffer,
    TargetNotEmpty,
    WriteFailed,
)
from headwater.runtime import local_path_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.delta.content import ContentDigest
    from headwater.delta.upkeep.note import UpkeepNote
    from headwater.delta.upkeep.task import UpkeepTask
    from headwater.names import TablePin
    from headwater.runtime import RunSession

# They name versions of the table that the copy does not have; without them the feature holds from the first.
_OF_VERSIONS = ("delta.inCommitTimestampEnablementVersion", "delta.inCommitTimestampEnablementTimestamp")
_IN_COMMIT_TIMES = "delta.enableInCommitTimestamps"
_FIRST_COMMIT = f"{0:020}.json"


def export_snapshot(
    task: UpkeepTask,
    pin: TablePin,
    target: Path,
    tell: Callable[[int, int], None] = lambda _done, _all: None,
) -> UpkeepReceipt:
    """Copies a table at a pin to a folder that is not there yet, and compares the rows of the two.

    The folder appears when the copy is whole. A failure before that leaves nothing behind; a process that is
    killed leaves a folder with a leading dot beside the target.

    Raises:
        TargetNotEmpty, InvalidSetting: something is there, or it is inside the table's own folder.
        DataFileMissing: a file of that version is gone.
        RowsDiffer: the copy does not read as the table does.
        WriteFailed: the target cannot be written.
    """
    session, dry_run = task.session, task.dry_run
    _, before = table_state(task)
    if target.resolve().is_relative_to(local_path_of(pin.uri)):
        expected = "a folder outside the table: what lies in it and is not its own is vacuumed"
        raise InvalidSetting(key="target", value=str(target), expected=expected)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise TargetNotEmpty(path=str(target))
    actions = _actions(session, pin)
    adds = [each["add"] for each in actions if "add" in each]
    copies = _copies(pin, adds)
    size = sum(int(each["size"]) for each in adds)
    if not dry_run:
        made = _stage(pin, target, copies, _log(actions, pin, task.note), tell)
        try:
            _compare(session, pin, made)
            _put(made, target)
        finally:
            shutil.rmtree(made, ignore_errors=True)
    verb = "would be copied" if dry_run else "copied"
    return UpkeepReceipt(
        operation="export",
        outcome="planned" if dry_run else "done",
        summary=f"version {pin.version}, {len(copies):,} files of {size:,} bytes, {verb} to {target}",
        before=before,
        after=before,
        metrics=(("files_copied", len(copies)), ("bytes_copied", size)),
        listed=tuple(sorted(copies)),
    )


def _actions(session: RunSession, pin: TablePin) -> list[dict[str, Any]]:
    """What a log of one commit says of a snapshot, as Delta writes it."""
    check_pin(pin)
    with loading_errors(local_path_of(pin.uri), pin.version, dataset=pin.name):
        snapshot = open_snapshot(session, pin)
        convert = session.jvm.scala.jdk.javaapi.CollectionConverters
        files = convert.asScala(snapshot.allFiles().collectAsList()).toSeq()
        anything = session.jvm.scala.reflect.ManifestFactory.Any()
        listed: list[dict[str, Any]] = json.loads(
            str(session.jvm.org.apache.spark.sql.delta.util.JsonUtils.toJson(files, anything))
        )
        domains = [json.loads(str(each.json())) for each in convert.asJava(snapshot.domainMetadata())]
        heads = [json.loads(str(each.json())) for each in (snapshot.protocol(), snapshot.metadata())]
    configuration: dict[str, str] = heads[1]["metaData"].get("configuration") or {}
    for key in _OF_VERSIONS:
        configuration.pop(key, None)
    adds = [{"add": {**each, "dataChange": True}} for each in sorted(listed, key=lambda each: each["path"])]
    return [*heads, *domains, *adds]


def _copies(pin: TablePin, adds: list[dict[str, Any]]) -> dict[str, Path]:
    """Each file of the copy, by its path below it, and where it is now; a file from elsewhere moves in."""
    root = local_path_of(pin.uri)
    found: dict[str, Path] = {}
    for at, add in enumerate(adds):
        place = unquote(str(add["path"]))
        if is_elsewhere(str(add["path"])):
            source = Path("/" + place.partition(":")[2].lstrip("/") if ":" in place else place)
            place = f"{at:08}-{source.name}"
            add["path"] = quote(place)
        else:
            source = root / place
        found[place] = source
        vector: dict[str, Any] = add.get("deletionVector") or {}
        if vector.get("storageType") == "u":
            own = vector_path(str(vector["pathOrInlineDv"]))
            found[own] = root / own
        elif vector.get("storageType") == "p":
            detail = "its deletion vectors belong to the table that it is a clone of"
            raise MutationRefused(path=str(root), kind="export", detail=detail)
    for source in found.values():
        if not source.is_file():
            raise DataFileMissing(path=str(root), file=source.name)
    return found


def _log(actions: list[dict[str, Any]], pin: TablePin, note: UpkeepNote) -> bytes:
    time = commit_time(pin.uri, pin.version)
    info: dict[str, Any] = {
        "timestamp": time,
        "operation": "EXPORT",
        "operationParameters": {"version": str(pin.version), "digest": pin.digest},
        "isBlindAppend": False,
        "userMetadata": note.text(),
    }
    configuration: dict[str, str] = actions[1]["metaData"].get("configuration") or {}
    if configuration.get(_IN_COMMIT_TIMES) == "true":
        info = {"inCommitTimestamp": time, **info}
    lines = [{"commitInfo": info}, *actions]
    return b"".join(json.dumps(each, separators=(",", ":")).encode() + b"\n" for each in lines)


def _stage(
    pin: TablePin,
    target: Path,
    copies: dict[str, Path],
    log: bytes,
    tell: Callable[[int, int], None],
) -> Path:
    """The copy beside its target, under a name of its own."""
    made: Path | None = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
        for at, (place, source) in enumerate(sorted(copies.items())):
            tell(at, len(copies))
            (made / place).parent.mkdir(parents=True, exist_ok=True)
            _copy(pin, source, made / place)
        (made / "_delta_log").mkdir()
        (made / "_delta_log" / _FIRST_COMMIT).write_bytes(log)
        made.chmod(0o755)
    except BaseException as error:
        if made is not None:
            shutil.rmtree(made, ignore_errors=True)
        if isinstance(error, OSError):
            raise WriteFailed(path=str(target), detail=error.strerror or str(error)) from error
        raise
    return made


def _copy(pin: TablePin, source: Path, place: Path) -> None:
    if not source.is_file():
        raise DataFileMissing(path=str(local_path_of(pin.uri)), file=source.name)
    shutil.copyfile(source, place)


def _compare(session: RunSession, pin: TablePin, made: Path) -> None:
    """Raises RowsDiffer unless the copy reads as the table does."""
    copy = read_head(made.resolve().as_uri()).pin(pin.name)
    try:
        wanted: ContentDigest = find_content(pin) or compute_content(session, pin)
        found = compute_content(session, copy)
    finally:
        forget_log(session, copy.uri)
    if found != wanted:
        problem = f"the copy has {found.text}, and the table {wanted.text}"
        raise RowsDiffer(path=str(local_path_of(pin.uri)), version=pin.version, detail=problem)


def _put(made: Path, target: Path) -> None:
    try:
        with suppress(FileNotFoundError):
            target.rmdir()
        os.rename(made, target)  # noqa: PTH104  Path.rename would say the same of a folder that came since
    except OSError as error:
        raise WriteFailed(path=str(target), detail=error.strerror or str(error)) from error
