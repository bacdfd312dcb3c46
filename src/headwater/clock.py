"""Time and run ids, always handed in: the one place that reads the machine's clock or randomness."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """What a run asks for the time and for new ids."""

    def now(self) -> datetime:
        """The current time, in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds on a scale that never goes back."""
        ...

    def new_token(self) -> str:
        """Eight hex digits that no other call gave."""
        ...


@dataclass(frozen=True, slots=True)
class SystemClock:
    """The machine's own time."""

    def now(self) -> datetime:
        """The current time, in UTC."""
        return datetime.now(UTC)  # noqa: TID251  the one place

    def monotonic(self) -> float:
        """Seconds on a scale that never goes back."""
        return time.monotonic()

    def new_token(self) -> str:
        """Eight random hex digits."""
        return secrets.token_hex(4)


def new_run_id(clock: Clock) -> str:
    """An id that sorts by time: `20260131T235959123456Z-1f2e3d4c`."""
    return f"{clock.now():%Y%m%dT%H%M%S%fZ}-{clock.new_token()}"
