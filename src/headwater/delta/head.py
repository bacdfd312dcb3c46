"""The head of a Delta log, read without Spark: newest version, its commit's bytes and what they say.

The newest commit file names the newest version, unless the log says that a newer one was there.
Not here: whether that version can be loaded (`log_files`), nor the table's files or schema.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from headwater.delta.log_files import (
    commit_path,
    has_staged_commits,
    head_version_of,
    list_log,
    shown_path,
)
from headwater.digest import digest_of_bytes
from headwater.errors import LogUnreadable, NotADeltaTable, VersionNotFound
from headwater.names import TablePin

if TYPE_CHECKING:
    from collections.abc import Mapping


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
        LogUnreadable: there is one, but its newest commit is gone, is no commit, or only a catalog knows it.
    """
    return read_commit(uri, head_version_of(list_log(uri)))


def read_commit(uri: str, version: int) -> LogHead:
    """One commit by its version.

    Raises:
        NotADeltaTable: there is no log.
        VersionNotFound: the log has no such commit: it was cleaned up, or never made.
        LogUnreadable: its file is no commit, or the log does not tell its newest version.
    """
    content, info = read_commit_file(uri, version)
    metadata = info.get("userMetadata")
    return LogHead(
        uri=uri,
        version=version,
        digest=digest_of_bytes(content),
        timestamp_ms=time_of(info),
        operation=str(info.get("operation", "")),
        metrics=pairs_of(info, "operationMetrics"),
        user_metadata=metadata if isinstance(metadata, str) else None,
    )


def find_commit(uri: str, version: int) -> LogHead | None:
    """One commit by its version, or None where the log has no such commit; other faults are raised."""
    try:
        return read_commit(uri, version)
    except VersionNotFound:
        return None


def find_head(uri: str) -> LogHead | None:
    """The newest commit, or None where there is no table yet."""
    try:
        return read_head(uri)
    except NotADeltaTable:
        return None


def is_head(pin: TablePin) -> bool:
    """Whether the pinned version still is the newest, and still the same commit: probes, no listing.

    A table whose commits a catalog stages has no head that its folder could tell.
    """
    try:
        content = commit_path(pin.uri, pin.version).read_bytes()
    except OSError:
        return False
    newer = commit_path(pin.uri, pin.version + 1).exists()
    return not newer and digest_of_bytes(content) == pin.digest and not has_staged_commits(pin.uri)


def read_commit_file(uri: str, version: int) -> tuple[bytes, Mapping[str, object]]:
    """A commit's bytes and its commitInfo, empty where it has none; raises what `read_commit` raises."""
    try:
        content = commit_path(uri, version).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        head_version_of(list_log(uri))  # no log, or one that lost its newest commit, is another matter
        raise VersionNotFound(path=shown_path(uri), version=version) from None
    except OSError as error:
        detail = f"version {version}: {error.strerror}"
        raise LogUnreadable(path=shown_path(uri), detail=detail) from error
    return content, _commit_info(uri, version, content)


def number_of(info: Mapping[str, object], key: str) -> int | None:
    """A whole number of a commitInfo; None where there is none."""
    value = info.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def time_of(info: Mapping[str, object]) -> int:
    """When a commit says it was made, in milliseconds; 0 where it does not say."""
    in_commit = number_of(info, "inCommitTimestamp")
    return in_commit if in_commit is not None else number_of(info, "timestamp") or 0


def pairs_of(info: Mapping[str, object], key: str) -> tuple[tuple[str, str], ...]:
    """A mapping of a commitInfo as sorted pairs of texts; empty where there is none."""
    value = info.get(key)
    pairs = cast("dict[str, object]", value).items() if isinstance(value, dict) else ()
    return tuple(sorted((name, _text_of(each)) for name, each in pairs))


def _text_of(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def find_actions(uri: str, version: int) -> list[dict[str, object]] | None:
    """All actions of a commit; None where the log has no such commit."""
    try:
        content, _ = read_commit_file(uri, version)
    except VersionNotFound:
        return None
    return [json.loads(line) for line in content.splitlines() if line.strip()]


def checksum_of(pin: TablePin) -> dict[str, object]:
    """What Delta's checksum file of a version says: an aid that need not be there, and says nothing then."""
    try:
        content: object = json.loads(commit_path(pin.uri, pin.version).with_suffix(".crc").read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return cast("dict[str, object]", content) if isinstance(content, dict) else {}


def _commit_info(uri: str, version: int, content: bytes) -> dict[str, object]:
    """The commitInfo action; a file in which any line is no JSON object is not a commit."""
    try:
        actions = [cast("object", json.loads(line)) for line in content.splitlines() if line.strip()]
    except (ValueError, RecursionError) as error:
        detail = f"version {version} is not a commit: {error}"
        raise LogUnreadable(path=shown_path(uri), detail=detail) from error
    if not actions:
        raise LogUnreadable(path=shown_path(uri), detail=f"version {version} is empty")
    found: list[dict[str, object]] = []
    for action in actions:
        if not isinstance(action, dict):
            detail = f"version {version} holds something that is no action"
            raise LogUnreadable(path=shown_path(uri), detail=detail)
        info = cast("dict[str, object]", action).get("commitInfo")
        if isinstance(info, dict):
            found.append(cast("dict[str, object]", info))
    return found[0] if found else {}
