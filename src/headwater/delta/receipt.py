"""What Delta says it did.

Not here: why it was asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from headwater.names import TablePin

Outcome = Literal["committed", "already_committed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """A commit that is there: its pin, when, what operation, how many rows it wrote."""

    pin: TablePin
    outcome: Outcome
    operation: str
    timestamp_ms: int
    rows: int | None
    metrics: tuple[tuple[str, str], ...]
