"""The head of a Delta log, read without Spark: newest version, its commit's bytes and what they say.

Checkpoints, sidecars and compacted files are ignored: the newest commit file alone names the newest version.
Not here: the table's files or schema; those need a snapshot.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from headwater.digest import digest_of_bytes
from headwater.errors import LogUnreadable, NotADeltaTable
from headwater.names import TablePin
from headwater.runtime import local_path_of

if TYPE_CHECKING:
    from pathlib import Path

_COMMIT = re.compile(r"(\d{20})\.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class LogHead:
    """The newest commit of a table: its version, the sha256 of its file, and the facts it carries."""

    uri: str
    version: int
    digest: str
    timestamp_ms: int
    operation: str
    metrics: tuple[tuple[str, str], ...]
    user_metadata: str | None

    def pin(self, name: str) -> TablePin:
        """The table at this version, under a name."""
        return TablePin(name=name, uri=self.uri, version=self.version, digest=self.digest)


def read_head(uri: str) -> LogHead:
    """The newest commit of the table at `uri`.

    Raises:
        NotADeltaTable: there is no log.
        LogUnreadable: there is one, but its newest commit is gone or is no commit.
    """
    log = _log_of(uri)
    try:
        names = sorted(entry.name for entry in log.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        raise NotADeltaTable(path=_shown(uri)) from None
    except OSError as error:
        raise LogUnreadable(path=_shown(uri), detail=str(error)) from error
    versions = [int(match.group(1)) for name in names if (match := _COMMIT.fullmatch(name))]
    if not versions:
        if any(".checkpoint" in name for name in names):
            raise LogUnreadable(path=_shown(uri), detail="it has a checkpoint but no commit file")
        raise NotADeltaTable(path=_shown(uri))
    return read_commit(uri, max(versions))


def read_commit(uri: str, version: int) -> LogHead:
    """One commit by its version; raises LogUnreadable if its file is gone or is no commit."""
    path = _log_of(uri) / f"{version:020}.json"
    try:
        content = path.read_bytes()
    except OSError as error:
        raise LogUnreadable(path=_shown(uri), detail=f"version {version}: {error.strerror}") from error
    info = _commit_info(uri, version, content)
    metrics = info.get("operationMetrics")
    pairs = cast("dict[str, object]", metrics).items() if isinstance(metrics, dict) else ()
    metadata = info.get("userMetadata")
    return LogHead(
        uri=uri,
        version=version,
        digest=digest_of_bytes(content),
        timestamp_ms=int(cast("int", info.get("timestamp", 0))),
        operation=str(info.get("operation", "")),
        metrics=tuple(sorted((str(key), str(value)) for key, value in pairs)),
        user_metadata=metadata if isinstance(metadata, str) else None,
    )


def find_head(uri: str) -> LogHead | None:
    """The newest commit, or None where there is no table yet."""
    try:
        return read_head(uri)
    except NotADeltaTable:
        return None


def is_head(pin: TablePin) -> bool:
    """Whether the pinned version still is the newest, and still the same commit: two probes, no listing."""
    log = _log_of(pin.uri)
    try:
        content = (log / f"{pin.version:020}.json").read_bytes()
    except OSError:
        return False
    newer = (log / f"{pin.version + 1:020}.json").exists()
    return not newer and digest_of_bytes(content) == pin.digest


def _log_of(uri: str) -> Path:
    return local_path_of(uri) / "_delta_log"


def _shown(uri: str) -> str:
    return str(local_path_of(uri))


def _commit_info(uri: str, version: int, content: bytes) -> dict[str, object]:
    """The commitInfo action; a file in which any line is no JSON object is not a commit."""
    info: dict[str, object] = {}
    lines = content.splitlines()
    try:
        actions = [cast("object", json.loads(line)) for line in lines if line.strip()]
    except ValueError as error:
        raise LogUnreadable(path=_shown(uri), detail=f"version {version} is not a commit: {error}") from error
    if not actions:
        raise LogUnreadable(path=_shown(uri), detail=f"version {version} is empty")
    for action in actions:
        if not isinstance(action, dict):
            raise LogUnreadable(
                path=_shown(uri), detail=f"version {version} holds something that is no action"
            )
        found = cast("dict[str, object]", action).get("commitInfo")
        if isinstance(found, dict):
            info = cast("dict[str, object]", found)
    return info
