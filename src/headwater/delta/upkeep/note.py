"""Who asked for an operation on a table, and why: kept in each commit that the operation makes.

Not here: the record of an operation, which has more than a commit can say.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from headwater.delta.mutation import NOTE_SETTING

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from headwater.runtime import RunSession

Operation: TypeAlias = Literal[
    "optimize",
    "vacuum",
    "restore",
    "export",
    "checkpoint",
    "cleanup-log",
    "features",
    "properties",
    "constraints",
]
_KEY = "headwater_upkeep"


@dataclass(frozen=True, slots=True, kw_only=True)
class UpkeepNote:
    """An operation that somebody asked for.

    Args:
        operation: what is done.
        upkeep_id: tells it from any other; ids sort by time.
        asked_by: the user's name on the machine where it was asked.
        reason: why, in the words of whoever asked; a policy says which rule was due.
        forced: why a guard was overruled; None if none was.
    """

    operation: Operation
    upkeep_id: str
    asked_by: str
    reason: str = ""
    forced: str | None = None

    def text(self) -> str:
        """The note as a commit carries it."""
        return json.dumps({_KEY: asdict(self)}, sort_keys=True)


def upkeep_note_of(user_metadata: str | None) -> UpkeepNote | None:
    """The note inside a commit's metadata; None if no operation of upkeep made it."""
    try:
        found: object = json.loads(user_metadata or "")
        inside = cast("dict[str, object]", found)[_KEY]
        return UpkeepNote(**cast("dict[str, str]", inside))  # pyright: ignore[reportArgumentType]
    except (ValueError, KeyError, TypeError):
        return None


@contextmanager
def noted_session(
    session: RunSession, note: UpkeepNote, settings: Mapping[str, str] | None = None
) -> Generator[RunSession]:
    """A session of its own whose commits carry the note; it is the active one, and gone afterwards."""
    own = session.copy()
    try:
        for key, value in {NOTE_SETTING: note.text(), **(settings or {})}.items():
            own.spark.conf.set(key, value)
        with own.active():
            yield own
    finally:
        own.release()
