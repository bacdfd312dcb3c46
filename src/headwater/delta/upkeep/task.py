"""One operation on one table, as it is asked for.

Not here: what each operation takes beside this.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.delta.upkeep.holds import Guard

if TYPE_CHECKING:
    from headwater.delta.upkeep.note import UpkeepNote
    from headwater.runtime import RunSession


@dataclass(frozen=True, kw_only=True)
class UpkeepTask:
    """What every operation needs to know.

    Args:
        session: an open session.
        name: the table's name in what is told.
        uri: its address.
        note: who asked, and why.
        now_ms: the present, in milliseconds since 1970.
        guard: what must stay readable.
        dry_run: only say what would be done, and lost.
    """

    session: RunSession
    name: str
    uri: str
    note: UpkeepNote
    now_ms: int
    guard: Guard = field(default_factory=Guard)
    dry_run: bool = False
