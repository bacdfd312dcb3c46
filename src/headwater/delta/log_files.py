"""What lies in a Delta log's folder, and whether a version can be loaded from it; names and sizes, no Spark.

Delta loads a version from the newest complete checkpoint at or below it and every commit after that. Where a
file is missing it fails deep inside, and where a commit file is empty it loads wrong rows without a word;
`check_readable` says so first. Not here: what the files hold.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from headwater.errors import LogUnreadable, NotADeltaTable, VersionNotFound
from headwater.runtime import local_path_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_COMMIT = re.compile(r"(\d{20})\.json", re.ASCII)
_CHECKPOINT = re.compile(
    r"(\d{20})\.checkpoint(?:(?:\.(\d{10})\.(\d{10}))?\.parquet|\.[^.]+\.(?:json|parquet))", re.ASCII
)
_COMPACTED = re.compile(r"\d{20}\.\d{20}\.compacted\.json", re.ASCII)
_NO_CHECKPOINT = -1
_SMALLEST_ACTION = len('{"txn":{}}')


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """The checkpoint of one version: of how many parts it is, and which of them are there and not empty.

    A checkpoint in one file, of either kind, has one part. Where several were written for one version, this
    is the one that lacks least.
    """

    version: int
    of: int
    present: tuple[int, ...]

    @property
    def is_complete(self) -> bool:
        """Whether Delta can start from it."""
        return len(self.present) == self.of

    @property
    def missing(self) -> tuple[int, ...]:
        """The numbers of the parts that are not there, from 1."""
        return tuple(part for part in range(1, self.of + 1) if part not in self.present)

    def lack(self) -> str:
        """A sentence about what an incomplete checkpoint lacks."""
        if self.of == 1:
            return f"the checkpoint of version {self.version} is an empty file"
        first = next(part for part in count(1) if part not in self.present)
        others = self.of - len(self.present) - 1
        more = f", and {others} more" if others else ""
        return f"the checkpoint of version {self.version} lacks part {first} of {self.of}{more}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFiles:
    """The files of a log as they were at one moment.

    `commits` are pairs of version and size in bytes; commits and checkpoints rise by version. `compacted` are
    noted only: Delta asks for the commits behind them all the same. With `has_staged_commits` a catalog keeps
    commits of its own, and the folder alone does not tell the newest version.
    """

    uri: str
    commits: tuple[tuple[int, int], ...]
    checkpoints: tuple[Checkpoint, ...]
    compacted: tuple[str, ...]
    has_staged_commits: bool


def list_log(uri: str) -> LogFiles:
    """The log of the table at `uri`, listed once.

    Raises:
        NotADeltaTable: there is no folder, no log in it, or neither commit nor checkpoint in the log.
        LogUnreadable: the folder cannot be listed.
    """
    log = log_folder(uri)
    try:
        sizes = sorted(_with_sizes(os.scandir(log)))
    except (FileNotFoundError, NotADirectoryError):
        raise NotADeltaTable(path=shown_path(uri)) from None
    except OSError as error:
        raise LogUnreadable(path=shown_path(uri), detail=error.strerror or str(error)) from error
    files = LogFiles(
        uri=uri,
        commits=tuple(
            (int(match.group(1)), size) for name, size in sizes if (match := _COMMIT.fullmatch(name))
        ),
        checkpoints=_checkpoints(sizes),
        compacted=tuple(name for name, _ in sizes if _COMPACTED.fullmatch(name)),
        has_staged_commits=has_staged_commits(uri),
    )
    if not (files.commits or files.checkpoints or files.has_staged_commits):
        raise NotADeltaTable(path=shown_path(uri))
    return files


def has_staged_commits(uri: str) -> bool:
    """Whether a catalog has staged commits of the table; Delta makes the folder for them on every table."""
    try:
        return any((log_folder(uri) / "_staged_commits").iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise LogUnreadable(path=shown_path(uri), detail=error.strerror or str(error)) from error


def head_version_of(files: LogFiles) -> int:
    """The newest version.

    Raises:
        LogUnreadable: the folder does not tell it: a catalog manages the commits, or the newest is missing.
    """
    if files.has_staged_commits:
        raise _unreadable(files, "it has staged commits, so its commits are managed by a catalog")
    newest = files.commits[-1][0] if files.commits else _NO_CHECKPOINT
    covered = files.checkpoints[-1].version if files.checkpoints else _NO_CHECKPOINT
    if covered > newest:
        raise _unreadable(files, f"it has a checkpoint of version {covered} but no commit file for it")
    return newest


def first_version_of(files: LogFiles) -> int:
    """The oldest version that can still be loaded: 0, or where log cleanup left a checkpoint to start from.

    Raises:
        LogUnreadable: the newest version cannot be loaded, so none can.
    """
    check_loadable(files)
    oldest = files.commits[0][0]
    if oldest == 0:
        return 0
    starts = (each.version for each in files.checkpoints if each.is_complete and each.version >= oldest - 1)
    # A checkpoint right below the oldest commit can be started from, but has no commit to be named by.
    return max(min(starts), oldest)


def check_readable(files: LogFiles, version: int) -> None:
    """Raises unless Delta would load `version` from these files, and load it whole.

    Raises:
        VersionNotFound: it is newer than the newest version, or older than what log cleanup left.
        LogUnreadable: a commit is missing or empty, or a checkpoint that is needed lacks a part; or the
            newest version cannot be loaded, which Delta does first whatever is asked for.
    """
    check_loadable(files)
    if not 0 <= version <= head_version_of(files):
        raise VersionNotFound(path=shown_path(files.uri), version=version)
    start = _start_of(files, version)
    for each, size in files.commits:
        if min(start + 1, version) <= each <= version and size < _SMALLEST_ACTION:
            raise _unreadable(files, f"the commit file of version {each} is empty")


def check_loadable(files: LogFiles) -> None:
    """Raises LogUnreadable unless Delta would load the newest version from these files, whole or not."""
    _start_of(files, head_version_of(files))


def log_folder(uri: str) -> Path:
    """The folder of a table's log."""
    return local_path_of(uri) / "_delta_log"


def commit_path(uri: str, version: int) -> Path:
    """The file of one commit."""
    return log_folder(uri) / f"{version:020}.json"


def shown_path(uri: str) -> str:
    """A table's path as errors show it."""
    return str(local_path_of(uri))


def _with_sizes(entries: Iterable[os.DirEntry[str]]) -> Iterable[tuple[str, int]]:
    for entry in entries:
        if _COMMIT.fullmatch(entry.name) or ".checkpoint." in entry.name or ".compacted." in entry.name:
            try:
                size = entry.stat().st_size
            except FileNotFoundError:  # log cleanup took it since
                continue
            yield entry.name, size


def _checkpoints(sizes: list[tuple[str, int]]) -> tuple[Checkpoint, ...]:
    sets: dict[tuple[int, int], set[int]] = {}
    for name, size in sizes:
        match = _CHECKPOINT.fullmatch(name)
        if match is None:
            continue
        part, of = int(match.group(2) or 1), int(match.group(3) or 1)
        if 1 <= part <= of:
            present = sets.setdefault((int(match.group(1)), of), set())
            if size:  # Delta passes over an empty checkpoint file
                present.add(part)
    best: dict[int, Checkpoint] = {}
    for (version, of), present in sorted(sets.items()):
        found = Checkpoint(version=version, of=of, present=tuple(sorted(present)))
        kept = best.get(version)
        if kept is None or found.of - len(found.present) < kept.of - len(kept.present):
            best[version] = found
    return tuple(best.values())


def _start_of(files: LogFiles, version: int) -> int:
    """The version of the checkpoint that a load of `version` starts from; raises if that load would fail."""
    below = [each for each in files.checkpoints if each.version <= version]
    start = max((each.version for each in below if each.is_complete), default=_NO_CHECKPOINT)
    there = {each for each, _ in files.commits}
    missing = _first_missing(there, start, version)
    if missing is None:
        return start
    if start == _NO_CHECKPOINT:
        for each in reversed(below):
            if _first_missing(there, each.version, version) is None:
                raise _unreadable(files, each.lack())
    cleaned_up = missing == 0 and any(each.is_complete for each in files.checkpoints)
    if cleaned_up or version < min(there):
        raise VersionNotFound(path=shown_path(files.uri), version=version)
    raise _unreadable(files, f"the commit file of version {missing} is missing")


def _first_missing(there: set[int], start: int, version: int) -> int | None:
    """The first commit that a load from a checkpoint needs and does not find; its own is always needed."""
    return next((each for each in range(min(start + 1, version), version + 1) if each not in there), None)


def _unreadable(files: LogFiles, detail: str) -> LogUnreadable:
    return LogUnreadable(path=shown_path(files.uri), detail=detail)
