"""Versions that somebody still needs: which files and commits they stand on, and what an operation takes.

    Hold     a version, or a window of a change feed, with those who need it
    Loss     a hold that could not be read any more
    Guard    what an operation must spare, and what it does if it cannot

Not here: who needs what; the caller knows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote, urlsplit

from pyspark.sql import DataFrame

from headwater.delta.failures import loading_errors
from headwater.delta.head import find_actions, read_commit
from headwater.delta.log_files import check_readable, list_log
from headwater.delta.snapshot import open_snapshot
from headwater.errors import PinsAtRisk, RetentionTooShort, VersionNotFound
from headwater.runtime import local_path_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from headwater.delta.log_files import LogFiles
    from headwater.delta.upkeep.note import Operation
    from headwater.names import TablePin
    from headwater.runtime import RunSession

_BASE85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
_UUID_LENGTH = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """A version that must stay readable; with `starting_version`, the changes from there to it as well.

    `holders` name those who need it, such as ids of runs.
    """

    pin: TablePin
    starting_version: int | None = None
    holders: tuple[str, ...] = ()

    def __str__(self) -> str:
        changes = f" with changes from {self.starting_version}" if self.starting_version is not None else ""
        shown = ", ".join(self.holders[:3])
        more = f" and {len(self.holders) - 3} more" if len(self.holders) > 3 else ""  # noqa: PLR2004
        return f"version {self.pin.version}{changes} ({shown}{more})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """A hold that could not be read any more, and of how many files or commits it would be robbed."""

    hold: Hold
    files: int

    def __str__(self) -> str:
        return str(self.hold)


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """What an operation must leave readable.

    Args:
        holds: what is needed.
        spare: leave out what would take something of a hold, and do the rest; also if it is forced.
        forced: do what is refused otherwise; the note says why.
    """

    holds: tuple[Hold, ...] = ()
    spare: bool = False
    forced: bool = False

    def check(self, operation: Operation, uri: str, lost: Sequence[Loss]) -> None:
        """Raises PinsAtRisk if anything would be lost and nobody forces it."""
        if lost and not self.forced:
            raise PinsAtRisk(
                operation=operation,
                path=str(local_path_of(uri)),
                lost=tuple(str(each) for each in lost),
            )

    def check_hours(self, uri: str, hours: float, kept: float, what: str) -> None:
        """Raises RetentionTooShort for fewer hours than the table promises, unless it is forced."""
        if hours < kept and not self.forced:
            path = str(local_path_of(uri))
            raise RetentionTooShort(path=path, what=what, hours=f"{hours:g}", kept=f"{kept:g}")

    def readable(self, files: LogFiles) -> tuple[Hold, ...]:
        """The holds that can be loaded now; nothing can take the others any more."""
        return tuple(each for each in self.holds if _is_loadable(each, files))


def merged_holds(holds: Iterable[Hold]) -> tuple[Hold, ...]:
    """The same holds, each version and window once, with all who need it."""
    holders: dict[Hold, set[str]] = {}
    for each in holds:
        holders.setdefault(replace(each, holders=()), set()).update(each.holders)
    found = [replace(each, holders=tuple(sorted(names))) for each, names in holders.items()]
    return tuple(sorted(found, key=lambda each: (each.pin, str(each.starting_version), each.holders)))


def needed_files(session: RunSession, hold: Hold) -> frozenset[str]:
    """The files below the table's folder that reading a hold takes, by their plain relative paths."""
    found: set[str] = set()
    for action in (*_actions_of(session, hold.pin), *_changes_of(hold)):
        found.update(_files_of(action))
    return frozenset(found)


def lost_files(session: RunSession, holds: Iterable[Hold], taken: Iterable[str]) -> dict[Hold, list[str]]:
    """The holds that need any of the files that are to be taken, with those files."""
    gone = set(taken)
    found: dict[Hold, list[str]] = {}
    for each in holds if gone else ():
        robbed = sorted(needed_files(session, each) & gone)
        if robbed:
            found[each] = robbed
    return found


def _is_loadable(hold: Hold, files: LogFiles) -> bool:
    """Whether the log still leads to a hold's version, and has each commit of its window.

    A commit that is there and cannot be read is no leave to take anything: that is raised.
    """
    try:
        if read_commit(hold.pin.uri, hold.pin.version).digest != hold.pin.digest:
            return False
        check_readable(files, hold.pin.version)
    except VersionNotFound:
        return False
    there = {version for version, _ in files.commits}
    start = hold.starting_version
    return start is None or there.issuperset(range(start, hold.pin.version + 1))


def _actions_of(session: RunSession, pin: TablePin) -> list[dict[str, Any]]:
    with loading_errors(local_path_of(pin.uri), pin.version, dataset=pin.name):
        files = DataFrame(open_snapshot(session, pin).allFiles().toDF(), session.spark)
        kinds = "deletionVector.storageType AS kind", "deletionVector.pathOrInlineDv AS place"
        rows = files.selectExpr("path", *kinds).collect()
    return [
        {"path": row["path"], "deletionVector": {"storageType": row["kind"], "pathOrInlineDv": row["place"]}}
        for row in rows
    ]


def _changes_of(hold: Hold) -> list[dict[str, Any]]:
    """What the commits of a window read their changes from: files of changes, or those added and removed."""
    found: list[dict[str, Any]] = []
    if hold.starting_version is None:
        return found
    for version in range(hold.starting_version, hold.pin.version + 1):
        for action in find_actions(hold.pin.uri, version) or ():
            for kind in ("cdc", "add", "remove"):
                inside = action.get(kind)
                if isinstance(inside, dict) and _is_a_change(kind, cast("dict[str, Any]", inside)):
                    found.append(cast("dict[str, Any]", inside))
    return found


def _is_a_change(kind: str, action: Mapping[str, Any]) -> bool:
    return kind == "cdc" or bool(action.get("dataChange"))


def _files_of(action: Mapping[str, Any]) -> list[str]:
    """A data file and its deletion vector; what lies outside the table's folder is nobody's to take."""
    path = str(action["path"])
    found = [] if is_elsewhere(path) else [unquote(path)]
    vector: Mapping[str, Any] = action.get("deletionVector") or {}
    if vector.get("storageType") == "u":
        found.append(vector_path(str(vector["pathOrInlineDv"])))
    return found


def is_elsewhere(path: str) -> bool:
    """Whether a file that a log names lies outside the table's folder: a clone's files do."""
    return bool(urlsplit(path).scheme) or path.startswith("/")


def vector_path(place: str) -> str:
    """The file of a deletion vector that lies in the table's folder, by what the log says of its place."""
    prefix, coded = place[:-_UUID_LENGTH], place[-_UUID_LENGTH:]
    words: list[str] = []
    for at in range(0, _UUID_LENGTH, 5):
        number = 0
        for letter in coded[at : at + 5]:
            number = number * 85 + _BASE85.index(letter)
        words.append(f"{number:08x}")
    hexed = "".join(words)
    parts = (hexed[:8], hexed[8:12], hexed[12:16], hexed[16:20], hexed[20:])
    name = f"deletion_vector_{'-'.join(parts)}.bin"
    return f"{prefix}/{name}" if prefix else name


def held_log(uri: str, guard: Guard) -> tuple[LogFiles, tuple[Hold, ...]]:
    """The table's log, and the holds that can still be loaded from it."""
    files = list_log(uri)
    return files, guard.readable(files)
