"""What a run tells others, as events, while it goes on; by itself it tells nobody.

Not here: who is told, and how; see `openlineage`.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Protocol, Self

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager

    from headwater.delta import Receipt, Registration, TableScan
    from headwater.errors import HeadwaterError


class TaskFacts(Protocol):
    """What is known of tables while they are made: how names are read, what was committed and scanned."""

    @property
    def registrations(self) -> Mapping[str, Registration]:
        """How each name is read now."""
        ...

    @property
    def receipts(self) -> Sequence[Receipt]:
        """What was committed so far."""
        ...

    @property
    def scans(self) -> Mapping[str, tuple[TableScan, ...]]:
        """What each table was made of."""
        ...


class RunEvents(Protocol):
    """Who is told. Within it a run is under way; nothing here raises an error of its own."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What went wrong in telling, once all is told."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_raised: object) -> None: ...

    def watching(self, facts: TaskFacts, name: str) -> AbstractContextManager[None]:
        """Within it a name is brought up to date; its end is told, if `started` was."""
        ...

    def started(self, facts: TaskFacts, name: str) -> None:
        """The rows of a table are about to be made."""
        ...

    def ended(self, errors: Mapping[str, HeadwaterError]) -> None:
        """The run is over, and on record."""
        ...


class NoEvents:
    """Nobody is told."""

    warnings: tuple[str, ...] = ()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        pass

    def watching(self, facts: TaskFacts, name: str) -> AbstractContextManager[None]:
        """Nothing."""
        del facts, name
        return nullcontext()

    def started(self, facts: TaskFacts, name: str) -> None:
        """Nothing."""

    def ended(self, errors: Mapping[str, HeadwaterError]) -> None:
        """Nothing."""
