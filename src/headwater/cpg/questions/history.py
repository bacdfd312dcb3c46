"""What git has of a folder: its files in a revision and now, and how many commits touched each.

git is only asked for objects and lists: it compares nothing, so neither filters nor programs that a
repository names are run, and nothing is written. Paths are as seen from the folder. Not here: what files say.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.errors import RevisionUnknown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

_OPTIONS = (
    *("--no-pager", "--literal-pathspecs", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"),
    *("-c", "safe.bareRepository=explicit", "-c", "log.showSignature=false"),
)
# Nothing is locked, asked for or fetched: a fetch runs commands that the repository's configuration names.
_VARIABLES = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_SECONDS = 120
_FILES = frozenset({b"100644", b"100755", b"100664"})
_NO_GIT = "there is no program git"


class _GitFailed(Exception):
    """What git says that it could not do."""


@dataclass(frozen=True, slots=True)
class History:
    """The repository of git that a folder stands in, and which program asks it."""

    root: Path
    program: str

    def commit(self, revision: str) -> str:
        """The id of the commit that a revision means.

        Raises:
            RevisionUnknown: it means none.
        """
        if not revision or revision.startswith("-") or "\0" in revision:
            raise RevisionUnknown(revision=revision, detail="that is no name of a commit")
        try:
            asked = self._git("rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}")
        except _GitFailed as failure:
            raise RevisionUnknown(revision=revision, detail=str(failure)) from failure
        told = asked.decode("ascii").strip()
        if not told.isalnum():
            raise RevisionUnknown(revision=revision, detail="that leaves commits out, and names none")
        return told

    def files(self, commit: str) -> dict[str, str]:
        """The files of a commit below the folder, and which content each has."""
        found: dict[str, str] = {}
        for each in self._git("ls-tree", "-r", "-z", "--end-of-options", commit).split(b"\0"):
            told, _, path = each.partition(b"\t")
            if told[:6] in _FILES:
                found[os.fsdecode(path)] = told.split()[2].decode("ascii")
        return found

    def contents(self, ids: Iterable[str]) -> dict[str, bytes]:
        """The contents of these ids, those that are there."""
        asked = list(dict.fromkeys(ids))
        told = self._git("cat-file", "--batch", given="".join(f"{each}\n" for each in asked).encode("ascii"))
        found: dict[str, bytes] = {}
        place = 0
        for each in asked:
            end = told.index(b"\n", place)
            heading = told[place:end].split()
            place = end + 1
            if heading[1:2] == [b"blob"]:
                found[each] = told[place : place + int(heading[2])]
                place += int(heading[2]) + 1
        return found

    def listed(self) -> list[str]:
        """The files that git has or would take, below the folder; some may be deleted."""
        told = self._git("ls-files", "-z", "--cached", "--others", "--exclude-standard")
        return sorted({os.fsdecode(each) for each in told.split(b"\0") if each})

    def churn(self, most: int) -> Mapping[str, int]:
        """How many of the last commits touched each file below the folder; none where nothing is committed.

        Merges do not count, and a file that was renamed is another one.
        """
        names = ("--no-merges", "--no-renames", "--relative", "--name-only", "-z", "--format=")
        try:
            told = self._git(
                "log", *names, "--no-ext-diff", "--no-textconv", f"--max-count={most}", "HEAD", "--"
            )
        except _GitFailed:
            return Counter()
        return Counter(os.fsdecode(each) for each in told.split(b"\0") if each)

    def _git(self, *arguments: str, given: bytes = b"") -> bytes:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        try:
            done = subprocess.run(
                [self.program, "-C", os.fspath(self.root), *_OPTIONS, *arguments],
                env=kept | _VARIABLES | {"PATH": _search_path()},
                input=given,
                capture_output=True,
                timeout=_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise _GitFailed(str(error)) from error
        if done.returncode != 0:
            said = os.fsdecode(done.stderr).strip().splitlines()
            raise _GitFailed(said[0].removeprefix("fatal: ") if said else f"it ended with {done.returncode}")
        return done.stdout


def history_of(root: Path) -> History | None:
    """What git has of a folder; None if there is no git, or it has nothing of it."""
    found = _history(root)
    return None if isinstance(found, str) else found


def known_history(root: Path, revision: str) -> tuple[History, str]:
    """The same, with the commit that a revision means.

    Raises:
        RevisionUnknown: it means none, or there is no history.
    """
    found = _history(root)
    if isinstance(found, str):
        raise RevisionUnknown(revision=revision, detail=found)
    return found, found.commit(revision)


def _history(root: Path) -> History | str:
    """What git has of a folder, or why it has nothing."""
    program = shutil.which("git", path=_search_path())
    if program is None:
        return _NO_GIT
    history = History(root.resolve(), program)
    try:
        is_inside = history._git("rev-parse", "--is-inside-work-tree")
    except _GitFailed as failure:
        return str(failure)
    return history if is_inside.strip() == b"true" else f"{root} is no folder that git has files of"


def _search_path() -> str:
    """Where programs are looked for; a relative place would be one inside the repository."""
    places = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(each for each in places if os.path.isabs(each))  # noqa: PTH117  as it is written
