"""Something that is otherwise in one of two recorded runs than in the other, and that tables can differ for.

Not here: how causes are found, and which tables one reaches.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from headwater.datasets import timestamp_of
from headwater.delta import note_of

if TYPE_CHECKING:
    from headwater.delta import CommitRecord

CauseKind = Literal["code", "input", "schema", "setting", "function", "outside_write", "chance", "unknown"]
_SHOWN_COMMITS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseCommit:
    """A commit that moved a table; `run_id` if a run of Headwater made it, of this project or another."""

    version: int
    timestamp: str
    operation: str
    run_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """One thing that changed.

    Attributes:
        kind: `code`, what a view or source says; `input`, the data that a view reads; `schema`, the columns
            of that; `setting`, a setting, version or policy; `function`, what a function computes;
            `outside_write`, a write by somebody else to a table of a run; `chance`, a clock or chance that a
            view is allowed to have; `unknown`, if rows differ and nothing on record tells why.
        view: Where it lies: the view that changed, or that reads what did; None for what holds for all.
        name: What it is that changed: the operator, the input, the column of one, the setting, the function.
        before, after: What it was, and is: versions, texts, digests.
        commits: Those that moved a table from the one version to the other, oldest first.
        file, line: Where the view stands, if its text is what changed.
        detail: All of it in words.
    """

    kind: CauseKind
    view: str | None
    name: str = ""
    before: str | int | None = None
    after: str | int | None = None
    commits: tuple[CauseCommit, ...] = ()
    file: str | None = None
    line: int | None = None
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Traced:
    """A cause that reaches a table; `path` leads from what changed to the table, through all in between."""

    cause: Cause
    path: tuple[str, ...]


def cause_commit(commit: CommitRecord) -> CauseCommit:
    """A commit of a log, as a cause tells it."""
    note = note_of(commit.user_metadata)
    return CauseCommit(
        version=commit.version,
        timestamp=timestamp_of(commit.timestamp_ms),
        operation=commit.operation,
        run_id=note.run_id if note else None,
    )


def commit_words(commits: tuple[CauseCommit, ...]) -> str:
    """Commits for a person: the newest few of them."""
    shown = [f"{each.operation or 'a commit'} (version {each.version})" for each in commits[-_SHOWN_COMMITS:]]
    more = len(commits) - len(shown)
    return ", ".join([*([f"{more} more"] if more else ()), *shown])
