"""The files of a repository or a folder as a pinned dataset: which there are, and what they hold.

Git's own list counts where there is a repository: tracked files, and new ones that are not ignored. Elsewhere
the folder is walked, without caches, the folders of other tools and virtual environments. A file that is left
out stays in the list with the reason. Not here: reading what the files say.
"""

from __future__ import annotations

import os
import stat
import subprocess
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from headwater.delta.listing import FilePin, ListedFile
from headwater.digest import digest_of, digest_of_file
from headwater.errors import InvalidSetting, SourceUnreadable
from headwater.names import TablePin
from headwater.runtime import engine_errors, local_path_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pyspark.sql import DataFrame

    from headwater.origin import Origin
    from headwater.runtime import RunSession

MOST_BYTES = 10_000_000
_GIT_SECONDS = 60
# Folders that tools keep for themselves; a virtual environment is told by its own file.
_LEFT_OUT = frozenset(
    {".git", ".hg", ".svn", ".headwater", ".tox", ".nox", ".eggs", ".cache", ".ipynb_checkpoints"}
    | {".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", "__pycache__", "node_modules"}
)
# A repository is data: nothing that its own configuration names is run.
_GIT = ("git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "ls-files", "-z")
_NAMES = ("path", "size_bytes", "content_sha256", "skip_reason")
_BYTES_PER_PARTITION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanOptions:
    """Which files count: patterns of their names, and the largest size that is read."""

    include: tuple[str, ...] = ("*",)
    max_bytes: int = MOST_BYTES

    @classmethod
    def of(cls, options: Mapping[str, str], origin: Origin | None = None) -> ScanOptions:
        """The options of a source; raises InvalidSetting for one that is not known or makes no sense."""
        for key in options:
            if key not in {"include", "max_bytes"}:
                raise InvalidSetting(
                    key=key, value=options[key], expected="include or max_bytes", origin=origin
                )
        size = options.get("max_bytes", str(MOST_BYTES))
        if not size.isdigit():
            raise InvalidSetting(key="max_bytes", value=size, expected="a whole number", origin=origin)
        return cls(include=tuple(options.get("include", "*").split()), max_bytes=int(size))


def scan_files(
    name: str,
    uri: str,
    options: ScanOptions,
    known: Iterable[ListedFile] = (),
    origin: Origin | None = None,
) -> FilePin:
    """The files below `uri` now, sorted by path; what has the size and time it had is not hashed again.

    Raises:
        SourceUnreadable: there is no such folder, or nothing in it that counts.
    """
    root = local_path_of(uri)
    if not root.is_dir():
        raise SourceUnreadable(source=name, path=str(root), detail="there is no such folder", origin=origin)
    before = {(each.path, each.size, each.changed_ns): each for each in known}
    wanted = sorted(
        path for path in _paths(root) if any(fnmatchcase(Path(path).name, each) for each in options.include)
    )
    if not wanted:
        detail = f"there are no files like {' '.join(options.include)}"
        raise SourceUnreadable(source=name, path=str(root), detail=detail, origin=origin)
    files = tuple(sorted(_scanned(root, path, options, before) for path in wanted))
    digest = digest_of([[each.path, each.size, each.sha256, each.skip_reason] for each in files])
    return FilePin(pin=TablePin(name=name, uri=uri, version=0, digest=digest), files=files)


def read_scanned(session: RunSession, pinned: FilePin, location: str) -> DataFrame:
    """The pinned files as rows, in as many parts as their bytes are worth; `location` is where each lies."""
    root = local_path_of(pinned.pin.uri)
    columns = [
        pa.array([each.path for each in pinned.files], pa.string()),
        pa.array([each.size for each in pinned.files], pa.int64()),
        pa.array([each.sha256 or None for each in pinned.files], pa.string()),
        pa.array([each.skip_reason for each in pinned.files], pa.string()),
        pa.array([os.path.join(root, each.path) for each in pinned.files], pa.string()),  # noqa: PTH118  fast
    ]
    table = pa.Table.from_arrays(columns, names=[*_NAMES, location])
    size = sum(each.size for each in pinned.files if each.skip_reason is None)
    slots = session.spark.sparkContext.defaultParallelism
    with engine_errors():
        rows = session.spark.createDataFrame(table)
        return rows.repartition(max(1, min(size // _BYTES_PER_PARTITION, 8 * slots)), "path")


def _paths(root: Path) -> list[str]:
    listed = _from_git(root)
    return sorted(_walked(root)) if listed is None else listed


def _from_git(root: Path) -> list[str] | None:
    """What git lists below the folder; None if it is no repository's, or git cannot be had."""
    command = [*_GIT, "--cached", "--others", "--exclude-standard", "--deduplicate"]
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
    try:
        found = subprocess.run(
            command, cwd=root, env=environment, capture_output=True, timeout=_GIT_SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return None
    if found.returncode != 0:
        return None
    return sorted(os.fsdecode(each) for each in found.stdout.split(b"\0") if each)


def _walked(root: Path) -> Iterator[str]:
    waiting = [root]
    while waiting:
        for each in sorted(waiting.pop().iterdir()):
            if not each.is_dir() or each.is_symlink():
                yield each.relative_to(root).as_posix()
            elif not _is_left_out(each):
                waiting.append(each)


def _is_left_out(folder: Path) -> bool:
    return folder.name in _LEFT_OUT or (folder / "pyvenv.cfg").exists()


def _scanned(
    root: Path, path: str, options: ScanOptions, before: dict[tuple[str, int, int], ListedFile]
) -> ListedFile:
    try:
        path.encode()
    except UnicodeEncodeError:
        return _skipped(ascii(path)[1:-1], 0, "its name is not UTF-8")
    place = root / path
    try:
        facts = place.lstat()
        if not stat.S_ISREG(facts.st_mode):
            kind = "a symbolic link" if stat.S_ISLNK(facts.st_mode) else "not a plain file"
            return _skipped(path, 0, f"it is {kind}")
        if facts.st_size > options.max_bytes:
            return _skipped(path, facts.st_size, f"it has more than {options.max_bytes} bytes")
        known = before.get((path, facts.st_size, facts.st_ctime_ns))
        if known is not None and known.skip_reason is None:
            return known
        return ListedFile(
            path=path, size=facts.st_size, changed_ns=facts.st_ctime_ns, sha256=digest_of_file(place)
        )
    except FileNotFoundError:
        return _skipped(path, 0, "it is listed, but not there")
    except OSError as error:
        return _skipped(path, 0, f"cannot be read: {error.strerror or error}")


def _skipped(path: str, size: int, reason: str) -> ListedFile:
    return ListedFile(path=path, size=size, changed_ns=0, sha256="", skip_reason=reason)
