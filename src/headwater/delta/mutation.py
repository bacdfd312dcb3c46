"""What is intended to happen to a table: values, no I/O.

Not here: the rows; they are handed to `commit_mutation` beside the mutation.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias, cast


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitNote:
    """What a commit says of its own making; it is kept in the commit, so that the table can be asked."""

    pipeline: str
    table: str
    run_id: str
    task_key: str
    mutation_id: str

    def text(self) -> str:
        """The note as the commit carries it."""
        inside = {"pipeline": self.pipeline, "table": self.table, "run_id": self.run_id}
        inside |= {"task_key": self.task_key, "mutation_id": self.mutation_id}
        return json.dumps({"headwater": inside}, sort_keys=True)


def note_of(user_metadata: str | None) -> CommitNote | None:
    """The note inside a commit's metadata, or None if somebody else made the commit."""
    try:
        found: object = json.loads(user_metadata or "")
        inside = cast("dict[str, str]", cast("dict[str, object]", found)["headwater"])
        return CommitNote(**inside)
    except (ValueError, KeyError, TypeError):
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class _TableMutation:
    """A table's address, the version it is meant to follow (-1: none yet), and the commit's note."""

    uri: str
    base_version: int
    note: CommitNote


@dataclass(frozen=True, slots=True, kw_only=True)
class Append(_TableMutation):
    """Rows are added."""

    mode: ClassVar[Literal["append"]] = "append"


@dataclass(frozen=True, slots=True, kw_only=True)
class Overwrite(_TableMutation):
    """Rows and schema are replaced by new ones, in one commit."""

    mode: ClassVar[Literal["overwrite"]] = "overwrite"


Mutation: TypeAlias = Append | Overwrite
