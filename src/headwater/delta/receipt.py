"""What Delta says it did.

Not here: why it was asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from headwater.delta.content import ContentDigest
    from headwater.delta.mutation import MutationKind
    from headwater.names import SnapshotKey, TablePin

Outcome = Literal["committed", "already_committed", "no_change"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """What a table asks of those who read and write it."""

    min_reader_version: int
    min_writer_version: int
    reader_features: tuple[str, ...] = ()
    writer_features: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstraintCheck:
    """A constraint that rows were tested against; `enforced_by` Delta itself, or by the commit function.

    `extra_passes` is how often the rows were read once more for it.
    """

    name: str
    expression: str
    enforced_by: Literal["delta", "headwater"]
    extra_passes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MeaningCheck:
    """A column that was seen to have its semantic type; `metadata_key` is where the schema says so, if so."""

    column_name: str
    semantic_type: str
    metadata_key: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One try of a mutation that met another writer: on which version, what it met, how long it waited."""

    number: int
    base_version: int
    conflict: str
    verdict: str
    waited_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """A mutation that is done: where the table is now, what it took, and what was looked at on the way.

    `rows` is how many the commit wrote, `content` the digest of the whole table after it (None where it was
    not asked for), `settings` the table properties that were set for it, and `left_out` those properties of
    its policy that are not a table's to set.
    """

    pin: TablePin
    kind: MutationKind
    outcome: Outcome
    operation: str
    timestamp_ms: int
    rows: int | None
    metrics: tuple[tuple[str, str], ...]
    protocol: Protocol
    content: ContentDigest | None = None
    attempts: tuple[Attempt, ...] = ()
    constraints: tuple[ConstraintCheck, ...] = ()
    meanings: tuple[MeaningCheck, ...] = ()
    settings: tuple[tuple[str, str], ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def key(self) -> SnapshotKey:
        """Which table at which version."""
        return self.pin.key

    @property
    def version(self) -> int:
        """The version at which the mutation is in the table."""
        return self.pin.version
