"""The past of a Delta table from its commit files: what each commit says, its schema, the newest at a time.

Not here: the rows of a version, nor whether it can still be loaded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from headwater.datasets import timestamp_of
from headwater.delta.head import find_actions, number_of, pairs_of, read_commit_file
from headwater.delta.log_files import commit_path, first_version_of, head_version_of, list_log, shown_path
from headwater.digest import digest_of_bytes
from headwater.errors import LogUnreadable, TimestampOutOfRange, VersionNotFound

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitRecord:
    """One commit as its file tells it; `timestamp_ms` is the time that time travel goes by."""

    version: int
    timestamp_ms: int
    digest: str
    operation: str
    parameters: tuple[tuple[str, str], ...]
    metrics: tuple[tuple[str, str], ...]
    user_metadata: str | None
    engine_info: str | None
    is_blind_append: bool | None
    read_version: int | None


def read_history(uri: str, limit: int | None = None) -> tuple[CommitRecord, ...]:
    """The commits whose files are there, newest first, at most `limit` of them.

    Raises:
        NotADeltaTable: there is no log.
        LogUnreadable: a file is no commit, or the log does not tell its newest version.
    """
    files = list_log(uri)
    head_version_of(files)
    versions = [version for version, _ in reversed(files.commits)]
    return _records(uri, versions, versions if limit is None else versions[: max(limit, 0)])


def commits_between(uri: str, first: int, last: int) -> tuple[CommitRecord, ...]:
    """The commits of some versions, both ends included, that are there; newest first.

    Raises:
        NotADeltaTable: there is no log.
        LogUnreadable: a file is no commit.
    """
    versions = [version for version, _ in reversed(list_log(uri).commits)]
    return _records(uri, versions, [each for each in versions if first <= each <= last])


def schema_at(uri: str, version: int) -> str | None:
    """A table's schema at a version, in Spark's JSON; None where the commits that are there do not tell it.

    Raises:
        LogUnreadable: a file is no commit.
    """
    for each in range(version, -1, -1):
        for action in find_actions(uri, each) or ():
            metadata = action.get("metaData")
            if isinstance(metadata, dict):
                found = cast("dict[str, object]", metadata).get("schemaString")
                return found if isinstance(found, str) else None
    return None


def writes_rows(uri: str, version: int) -> bool:
    """Whether a commit adds or takes out rows, as it says itself; also if it is not there to be asked."""
    actions = find_actions(uri, version)
    if actions is None:
        return True
    files = (each.get(kind) for each in actions for kind in ("add", "remove", "cdc"))
    return any(
        isinstance(each, dict) and cast("dict[str, object]", each).get("dataChange") is not False
        for each in files
    )


def _records(uri: str, versions: list[int], wanted: list[int]) -> tuple[CommitRecord, ...]:
    """Those of the commits of a log, newest first, that are `wanted`, and are there."""
    infos = [(version, *each) for version in wanted if (each := _find_commit(uri, version)) is not None]
    gone = set(wanted) - {version for version, _, _ in infos}
    rising = [version for version in reversed(versions) if version not in gone]
    times = _times(uri, rising, {version: info for version, _, info in infos})
    return tuple(_record(version, content, info, times[version]) for version, content, info in infos)


def version_at(uri: str, timestamp_ms: int) -> int:
    """The version that was the newest at a time, in milliseconds since 1970, as Delta decides it.

    A commit's time is its in-commit timestamp, if the table keeps those and did when it was made; else its
    file's modification time, moved to one millisecond after the commit before it where it is not later.

    Raises:
        NotADeltaTable: there is no log.
        LogUnreadable: the newest version cannot be loaded, or a file that is asked for its time is no commit.
        TimestampOutOfRange: the time is before the first version that is still there, or after the last.
    """
    versions = _available(uri)
    version, time = _active_commit(uri, versions, timestamp_ms)
    if time > timestamp_ms:
        detail = f"its first version is {version}, of {timestamp_of(time)}"
    elif version == versions[-1] and time < timestamp_ms:
        detail = f"its last version is {version}, of {timestamp_of(time)}"
    else:
        return version
    raise TimestampOutOfRange(path=shown_path(uri), timestamp=timestamp_of(timestamp_ms), detail=detail)


def newest_until(uri: str, timestamp_ms: int) -> int | None:
    """The newest version at or before a time, however late that is; None before the first that is there.

    Raises:
        NotADeltaTable: there is no log.
        LogUnreadable: as for `version_at`.
    """
    version, time = _active_commit(uri, _available(uri), timestamp_ms)
    return version if time <= timestamp_ms else None


def commit_time(uri: str, version: int) -> int:
    """The time of a version in milliseconds since 1970, as `version_at` knows it.

    Raises:
        VersionNotFound: its commit is not there.
    """
    versions = [each for each, _ in list_log(uri).commits]
    if version not in versions:
        raise VersionNotFound(path=shown_path(uri), version=version)
    own = _in_commit_time(uri, version)
    if own is not None and _in_commit_time(uri, versions[-1]) is not None:
        return own
    return _file_times(uri, versions[: versions.index(version) + 1])[version]


def _available(uri: str) -> list[int]:
    """The versions that time travel may name."""
    files = list_log(uri)
    first = first_version_of(files)
    return [version for version, _ in files.commits if version >= first]


def _find_commit(uri: str, version: int) -> tuple[bytes, Mapping[str, object]] | None:
    try:
        return read_commit_file(uri, version)
    except VersionNotFound:  # log cleanup took it since it was listed
        return None


def _record(version: int, content: bytes, info: Mapping[str, object], time: int) -> CommitRecord:
    blind = info.get("isBlindAppend")
    return CommitRecord(
        version=version,
        timestamp_ms=time,
        digest=digest_of_bytes(content),
        operation=str(info.get("operation", "")),
        parameters=pairs_of(info, "operationParameters"),
        metrics=pairs_of(info, "operationMetrics"),
        user_metadata=_text(info, "userMetadata"),
        engine_info=_text(info, "engineInfo"),
        is_blind_append=blind if isinstance(blind, bool) else None,
        read_version=number_of(info, "readVersion"),
    )


def _times(uri: str, versions: list[int], infos: Mapping[int, Mapping[str, object]]) -> Mapping[int, int]:
    """The time of each commit of `infos`, newest first, as `version_at` has it, among all `versions`."""
    times: dict[int, int] = {}
    for version, info in infos.items():
        time = number_of(info, "inCommitTimestamp")
        if time is None:
            return times | _file_times(uri, versions[: versions.index(version) + 1])
        times[version] = time
    return times


def _text(info: Mapping[str, object], key: str) -> str | None:
    value = info.get(key)
    return value if isinstance(value, str) else None


def _in_commit_time(uri: str, version: int) -> int | None:
    return number_of(read_commit_file(uri, version)[1], "inCommitTimestamp")


def _active_commit(uri: str, versions: list[int], timestamp_ms: int) -> tuple[int, int]:
    """The last of `versions` at or before a time, or else the first of them; and the time of that one.

    In-commit timestamps count from the newest commit back to the first that has none. Those of an earlier
    stretch, before the table ceased to keep them, do not: there, and in between, Delta asks the files.
    """
    active = versions[-1], 0
    for at in reversed(range(len(versions))):
        time = _in_commit_time(uri, versions[at])
        if time is None:
            return _active_file(uri, versions[: at + 1], timestamp_ms)
        active = versions[at], time
        if time <= timestamp_ms:
            break
    return active


def _active_file(uri: str, versions: list[int], timestamp_ms: int) -> tuple[int, int]:
    times = _file_times(uri, versions)
    before = [version for version in versions if times[version] <= timestamp_ms]
    active = before[-1] if before else versions[0]
    return active, times[active]


def _file_times(uri: str, versions: list[int]) -> dict[int, int]:
    """The modification times of rising versions, each after the one before it."""
    times: dict[int, int] = {}
    previous: int | None = None
    for version in versions:
        time = _file_time(uri, version)
        previous = time if previous is None else max(time, previous + 1)
        times[version] = previous
    return times


def _file_time(uri: str, version: int) -> int:
    try:
        return commit_path(uri, version).stat().st_mtime_ns // 1_000_000
    except OSError as error:
        detail = f"version {version}: {error.strerror}"
        raise LogUnreadable(path=shown_path(uri), detail=detail) from error
