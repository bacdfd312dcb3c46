"""The files of a repository or a folder as a pinned dataset: which there are, and what they hold.

Git's own list counts where there is a repository: tracked files, and new ones that are not ignored. Elsewhere
the folder is walked, without caches, the folders of other tools and virtual environments; so is one of which
git lists nothing. What is left out stays in the list with the reason: files, folders that cannot be read, and
other repositories. Not here: reading what the files say.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
from dataclasses import dataclass, field
from fnmatch import translate
from itertools import accumulate
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from headwater.delta.columns import sql_column
from headwater.delta.listing import FilePin, ListedFile
from headwater.digest import digest_of, digest_of_bytes
from headwater.errors import InvalidSetting, SourceUnreadable
from headwater.names import TablePin
from headwater.runtime import engine_errors, local_path_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from pyspark.sql import DataFrame

    from headwater.origin import Origin
    from headwater.runtime import RunSession

MOST_BYTES = 10_000_000
# Folders that tools keep for themselves; a virtual environment is told by its own file.
_LEFT_OUT = frozenset(
    {".git", ".hg", ".svn", ".headwater", ".tox", ".nox", ".eggs", ".cache", ".ipynb_checkpoints"}
    | {".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", "__pycache__", "node_modules"}
)
_ENVIRONMENT = "pyvenv.cfg"
_GIT_SECONDS = 60
# A repository is data: nothing that its own configuration names is run. A folder that only looks like a bare
# repository has no configuration that counts.
_GIT_OPTIONS = (
    *("--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"),
    *("-c", "safe.bareRepository=explicit"),
)
# No object is fetched to make the list: a fetch runs commands that the repository's configuration names. The
# protocols are for versions of git that do not know the other variable; they outrank the configuration.
_GIT_VARIABLES = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_GIT_TRACKED = ("ls-files", "-z", "--stage")
_GIT_NEW = ("ls-files", "-z", "--others", "--exclude-standard")
# The mode of an entry that stands for a commit of another repository.
_GIT_LINK = b"160000"
# What makes a folder named .git somebody's repository, even one that is broken.
_GIT_MARKS = frozenset({"HEAD", "objects", "refs"})
_NOT_OPENED = re.compile(r"warning: could not open directory '(.+)/': (.+)")
# An index that somebody has written by hand can name any path.
_OUTSIDE = re.compile(r"(?:^|/)\.{0,2}(?:/|$)")
# Git itself would run what the configuration names, so nobody is sent to it without a warning.
_ASK_GIT = "make a fresh clone, or, if you trust the repository, mend what `git status` says there"
_MOST_NAMED = 3
_OTHER_REPOSITORY = "it is another repository"
_LINKED_FOLDER = "it is a symbolic link"
_NAMES = ("path", "size_bytes", "content_sha256", "skip_reason")
_PART = "part"
_BYTES_PER_PARTITION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanOptions:
    """Which files count: patterns of their names, the largest size that is read, and folders, if not all."""

    include: tuple[str, ...] = ("*",)
    max_bytes: int = MOST_BYTES
    folders: tuple[str, ...] = ()

    @classmethod
    def of(cls, options: Mapping[str, str], origin: Origin | None = None) -> ScanOptions:
        """The options of a source; raises InvalidSetting for one that is not known or makes no sense."""
        for key in options:
            if key not in {"include", "max_bytes", "folders"}:
                raise InvalidSetting(
                    key=key, value=options[key], expected="include, max_bytes or folders", origin=origin
                )
        size = options.get("max_bytes", str(MOST_BYTES))
        if not size.isdigit():
            raise InvalidSetting(key="max_bytes", value=size, expected="a whole number", origin=origin)
        folders = tuple(filter(None, options.get("folders", "").split("\n")))
        for each in folders:
            if _OUTSIDE.search(each):
                expected = "folders below the source's, one in a line"
                raise InvalidSetting(key="folders", value=each, expected=expected, origin=origin)
        include = tuple(options.get("include", "*").split())
        return cls(include=include, max_bytes=int(size), folders=folders)

    def paths_below(self, root: Path) -> Iterator[str]:
        """The paths of such files below a folder, git aside, one by one as they are met."""
        pattern = self._pattern()
        return (path for path in _walked(root, {}) if pattern.match(path.rpartition("/")[2]))

    def _pattern(self) -> re.Pattern[str]:
        return re.compile("|".join(translate(each) for each in self.include) or "(?!)")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Paths:
    """What there is below a folder: files, sorted, and folders that stay closed, with the reason."""

    files: list[str]
    closed: dict[str, str] = field(default_factory=dict[str, str])


class _GitFailed(Exception):
    """There is a repository, and git does not list it; the message is what git says."""


def scan_files(
    name: str,
    uri: str,
    options: ScanOptions,
    known: Iterable[ListedFile] = (),
    origin: Origin | None = None,
) -> FilePin:
    """The files below `uri` now, sorted by path; what has the size and time it had is not hashed again.

    Raises:
        SourceUnreadable: there is no such folder, git cannot list it, or there is nothing in it that counts.
    """
    root = local_path_of(uri)
    if not os.path.isdir(root):  # noqa: PTH112  a folder that may not be looked at is none, not an error
        raise SourceUnreadable(source=name, path=str(root), detail="there is no such folder", origin=origin)
    try:
        found = _paths_in(root, options.folders)
    except _GitFailed as error:
        raise SourceUnreadable(source=name, path=str(root), detail=str(error), origin=origin) from error
    matches = options._pattern().match
    wanted = [path for path in found.files if matches(path.rpartition("/")[2])]
    closed = [_skipped(path, 0, reason) for path, reason in sorted(found.closed.items())]
    if not wanted:
        detail = f"there are no files like {' '.join(options.include)}"
        detail += "".join(f"; {each.path} is left out: {each.skip_reason}" for each in closed[:_MOST_NAMED])
        raise SourceUnreadable(source=name, path=str(root), detail=detail, origin=origin)
    scan = _Scan(str(root), options.max_bytes, known)
    files = sorted([*(scan.file(path) for path in wanted), *closed], key=attrgetter("path"))
    digest = digest_of([[each.path, each.size, each.sha256, each.skip_reason] for each in files])
    return FilePin(pin=TablePin(name=name, uri=uri, version=0, digest=digest), files=tuple(files))


def read_scanned(session: RunSession, pinned: FilePin) -> DataFrame:
    """The pinned files as rows, in as many parts as their bytes are worth."""
    columns: list[pa.Array[Any]] = [
        pa.array([each.path for each in pinned.files], pa.string()),
        pa.array([each.size for each in pinned.files], pa.int64()),
        pa.array([each.sha256 or None for each in pinned.files], pa.string()),
        pa.array([each.skip_reason for each in pinned.files], pa.string()),
    ]
    sizes = [each.size if each.skip_reason is None else 0 for each in pinned.files]
    slots = session.spark.sparkContext.defaultParallelism
    count = max(1, min(sum(sizes) // _BYTES_PER_PARTITION, 8 * slots))
    columns.append(pa.array(_parts(sizes, count), pa.int32()))
    table = pa.Table.from_arrays(columns, names=[*_NAMES, _PART])
    with engine_errors():
        rows = session.spark.createDataFrame(table)
        return rows.repartitionById(count, sql_column(session, _PART)).drop(_PART)


def _parts(sizes: Sequence[int], count: int) -> list[int]:
    """In which of `count` parts each file is: neighbours together, and about as many bytes in each.

    So who looks for one path afterwards need not look into every part.
    """
    share = max(1, -(-sum(sizes) // count))
    return [min(before // share, count - 1) for before in accumulate(sizes[:-1], initial=0)]


# --- which files there are ------------------------------------------------------------------------------


def _paths_in(root: Path, folders: Sequence[str]) -> _Paths:
    """What there is below some folders, as seen from the root; or below that."""
    if not folders:
        return _paths(root)
    files: set[str] = set()
    closed: dict[str, str] = {}
    for folder in folders:
        found = _paths(root / folder)
        files.update(f"{folder}/{path}" for path in found.files)
        closed |= {f"{folder}/{path}": reason for path, reason in found.closed.items()}
    return _Paths(files=sorted(files), closed=closed)


def _paths(root: Path) -> _Paths:
    listed = _from_git(root)
    if listed is not None and (listed.files or listed.closed):
        return listed
    closed: dict[str, str] = {}  # a folder that git ignores is listed as empty: whoever names it means it
    return _Paths(files=sorted(_walked(root, closed)), closed=closed)


def _walked(root: Path, closed: dict[str, str]) -> Iterator[str]:
    """The paths of all files; notes the folders that cannot be read in `closed`."""
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        try:
            entries = sorted(os.scandir(f"{root}/{folder}"), key=attrgetter("name"))
            are_folders = [each.is_dir(follow_symlinks=False) for each in entries]
        except OSError as error:
            closed[folder.rstrip("/") or "."] = f"cannot be read: {error.strerror or error}"
            continue
        if folder and any(each.name == _ENVIRONMENT for each in entries):
            continue
        for each, is_folder in zip(entries, are_folders, strict=True):
            if not is_folder:
                if each.is_symlink() and each.is_dir():
                    closed[folder + each.name] = _LINKED_FOLDER
                yield folder + each.name
            elif each.name not in _LEFT_OUT:
                waiting.append(f"{folder}{each.name}/")


def _from_git(root: Path) -> _Paths | None:
    """What git lists below the folder; None if it is in no repository, or there is no git."""
    real = root.resolve()
    top = _top_of(real)
    program = shutil.which("git", path=_search_path())
    if top is None or program is None:
        return None
    told = _git(program, real, "rev-parse", "--show-toplevel").stdout.removesuffix(b"\n")
    if told != os.fsencode(top):
        # A broken repository inside another, or a configuration that names another folder.
        shown = told.decode("utf-8", "replace") or "nothing"
        raise _GitFailed(f"git lists {shown} in place of {top}; check {top / '.git'}")
    tracked = _git(program, real, *_GIT_TRACKED).stdout.split(b"\0")
    others = _git(program, real, *_GIT_NEW)
    new = others.stdout.split(b"\0")
    links = {each.partition(b"\t")[2] for each in tracked if each.startswith(_GIT_LINK)}
    links |= {each.removesuffix(b"/") for each in new if each.endswith(b"/")}
    files = {each.partition(b"\t")[2] for each in tracked} | {each for each in new if not each.endswith(b"/")}
    closed = {os.fsdecode(each): _OTHER_REPOSITORY for each in links} | _not_opened(others.stderr, top, real)
    return _Paths(files=sorted(os.fsdecode(each) for each in files - links if each), closed=closed)


def _top_of(folder: Path) -> Path | None:
    """The folder, here or above, that has a repository; git, too, stops where another file system begins."""
    device = folder.stat().st_dev
    for each in (folder, *folder.parents):
        if each.stat().st_dev != device:
            return None
        if _has_repository(each):
            return each
    return None


def _has_repository(folder: Path) -> bool:
    place = folder / ".git"
    try:
        return not _GIT_MARKS.isdisjoint(sorted(os.listdir(place)))  # noqa: PTH208  names are enough
    except FileNotFoundError:
        return False
    except OSError:
        return True  # a file that says where the repository is, or one that is closed to us: git has the word


def _git(program: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """What git answers; _GitFailed if it complains at all, for half a list looks like a whole one."""
    try:
        done = subprocess.run(
            [program, *_GIT_OPTIONS, *arguments],
            cwd=folder,
            env=_git_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_GIT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise _GitFailed(f"git gave no answer in {_GIT_SECONDS} seconds; {_ASK_GIT}") from error
    except OSError as error:
        raise _GitFailed(f"git cannot be run: {error}") from error
    lines = os.fsdecode(done.stderr).splitlines()
    if done.returncode != 0 or not all(_NOT_OPENED.fullmatch(each) for each in lines):
        raise _GitFailed(_worded(done))
    return done


def _worded(done: subprocess.CompletedProcess[bytes]) -> str:
    said = " ".join(done.stderr.decode("utf-8", "replace").split()) or f"exit code {done.returncode}"
    # Of a repository that is somebody else's, git names the very command.
    step = "do that only if you trust the repository" if "safe.directory" in said else _ASK_GIT
    return f"git says: {said}; {step}"


def _git_environment() -> dict[str, str]:
    """Ours, without what a hook or a shell has said about another repository."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | _GIT_VARIABLES | {"PATH": _search_path()}


def _search_path() -> str:
    """Where programs are looked for; a relative place would be one inside the repository."""
    places = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(each for each in places if os.path.isabs(each))  # noqa: PTH117  as it is written


def _not_opened(said: bytes, top: Path, folder: Path) -> dict[str, str]:
    """The folders that git could not open, with its reason; it names them as seen from the top."""
    found = (_NOT_OPENED.fullmatch(each) for each in os.fsdecode(said).splitlines())
    return {
        os.path.relpath(top / each[1], folder): f"cannot be read: {each[2]}"
        for each in found
        if each is not None
    }


# --- what they hold ------------------------------------------------------------------------------------


class _Scan:
    """Looks at the files below one folder; what is known of a folder or a file is not asked again."""

    def __init__(self, root: str, max_bytes: int, known: Iterable[ListedFile]) -> None:
        self._root = root
        self._max_bytes = max_bytes
        self._known = {each.path: each for each in known if each.skip_reason is None}
        self._behind_link = {"": False}

    def file(self, path: str) -> ListedFile:
        """A file as it is now, or why it is left out."""
        if _OUTSIDE.search(path):
            return _skipped(path, 0, "it lies outside the folder")
        try:
            path.encode()
            if self._is_behind_link(path.rpartition("/")[0]):
                return _skipped(path, 0, "it lies behind a symbolic link")
            return self._there(path)
        except UnicodeEncodeError:
            return _skipped(path, 0, "its name is not UTF-8")
        except (FileNotFoundError, NotADirectoryError):
            return _skipped(path, 0, "it is listed, but not there")
        except OSError as error:
            return _skipped(path, 0, f"cannot be read: {error.strerror or error}")

    def _there(self, path: str) -> ListedFile:
        place = f"{self._root}/{path}"
        facts = os.lstat(place)
        if not stat.S_ISREG(facts.st_mode):
            kind = "a symbolic link" if stat.S_ISLNK(facts.st_mode) else "not a plain file"
            return _skipped(path, 0, f"it is {kind}")
        if facts.st_size > self._max_bytes:
            return _skipped(path, facts.st_size, f"it has more than {self._max_bytes} bytes")
        known = self._known.get(path)
        if known is not None and (known.size, known.changed_ns) == (facts.st_size, facts.st_ctime_ns):
            return known
        return ListedFile(
            path=path, size=facts.st_size, changed_ns=facts.st_ctime_ns, sha256=_digest_at(place)
        )

    def _is_behind_link(self, folder: str) -> bool:
        known = self._behind_link.get(folder)
        if known is None:
            above = folder.rpartition("/")[0]
            known = self._is_behind_link(above) or os.path.islink(f"{self._root}/{folder}")  # noqa: PTH114
            self._behind_link[folder] = known
        return known


def _digest_at(place: str) -> str:
    # Nothing is waited for and no link is followed, even if somebody has just put one there.
    opened = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(opened, "rb", buffering=0) as content:  # noqa: PTH123  a descriptor, not a path
        return digest_of_bytes(content.readall())


def _skipped(path: str, size: int, reason: str) -> ListedFile:
    try:
        path.encode()
    except UnicodeEncodeError:
        path = ascii(path)[1:-1]
    return ListedFile(path=path, size=size, changed_ns=0, sha256="", skip_reason=reason)
