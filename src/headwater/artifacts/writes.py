"""How tables were written, as records: mutations, the tries that met others, the rows that were not allowed.

Not here: the forms that records have; see `records`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from headwater.runtime import redacted

if TYPE_CHECKING:
    from headwater.delta import Receipt
    from headwater.errors import ConstraintViolated


class RetryRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A try of a mutation that met another writer."""

    number: int
    base_version: int
    conflict: str
    verdict: str
    waited_seconds: float


class ConstraintRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A constraint that every written row met; `extra_passes`: how often rows were read once more for it."""

    name: str
    expression: str
    enforced_by: str
    extra_passes: int


class MeaningRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A column that was seen to have its semantic type."""

    column_name: str
    semantic_type: str
    metadata_key: str | None


class MutationRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A mutation that is done. `content` is the digest of the table's rows after it."""

    table: str
    kind: str
    outcome: str
    operation: str
    version: int
    commit_digest: str
    timestamp_ms: int
    rows: int | None
    content: str | None
    metrics: dict[str, str] = {}
    min_reader_version: int
    min_writer_version: int
    reader_features: tuple[str, ...] = ()
    writer_features: tuple[str, ...] = ()
    attempts: tuple[RetryRecord, ...] = ()
    constraints: tuple[ConstraintRecord, ...] = ()
    meanings: tuple[MeaningRecord, ...] = ()
    properties: dict[str, str] = {}
    left_out: tuple[str, ...] = ()


class ViolationRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A constraint that rows did not meet, so nothing was written: how many, and a few of them as JSON."""

    table: str
    constraint: str
    expression: str
    count: int
    sample: tuple[str, ...] = ()


def mutation_record(receipt: Receipt) -> MutationRecord:
    """The record of a receipt; secrets in properties are struck out."""
    protocol = receipt.protocol
    return MutationRecord(
        table=receipt.pin.name,
        kind=receipt.kind,
        outcome=receipt.outcome,
        operation=receipt.operation,
        version=receipt.version,
        commit_digest=receipt.pin.digest,
        timestamp_ms=receipt.timestamp_ms,
        rows=receipt.rows,
        content=receipt.content.text if receipt.content else None,
        metrics=dict(receipt.metrics),
        min_reader_version=protocol.min_reader_version,
        min_writer_version=protocol.min_writer_version,
        reader_features=protocol.reader_features,
        writer_features=protocol.writer_features,
        attempts=tuple(
            RetryRecord(
                number=each.number,
                base_version=each.base_version,
                conflict=each.conflict,
                verdict=each.verdict,
                waited_seconds=each.waited_seconds,
            )
            for each in receipt.attempts
        ),
        constraints=tuple(
            ConstraintRecord(
                name=each.name,
                expression=each.expression,
                enforced_by=each.enforced_by,
                extra_passes=each.extra_passes,
            )
            for each in receipt.constraints
        ),
        meanings=tuple(
            MeaningRecord(
                column_name=each.column_name,
                semantic_type=each.semantic_type,
                metadata_key=each.metadata_key,
            )
            for each in receipt.meanings
        ),
        properties=dict(redacted(receipt.settings)),
        left_out=receipt.left_out,
    )


def violation_record(table: str, error: ConstraintViolated) -> ViolationRecord:
    """The record of rows that were not written to a table."""
    return ViolationRecord(
        table=table,
        constraint=error.constraint,
        expression=error.expression,
        count=error.count,
        sample=error.sample,
    )
