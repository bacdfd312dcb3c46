"""The rows that a table has of a few keys: what goes when these keys are replaced.

They are looked for in a thread of their own while the new rows are made, since neither needs the other. Not
here: keys that are many, and the replacement.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from pyspark.sql.types import ArrayType

from headwater.delta.affected import keys_of
from headwater.delta.columns import quoted
from headwater.delta.content import hash_rows, sum_hashes
from headwater.delta.failures import reading_errors
from headwater.delta.files import open_rows
from headwater.delta.head import find_head
from headwater.delta.key_values import are_at_hand, few_keys
from headwater.delta.mutation import ReplaceKeys
from headwater.delta.snapshot import describe_pin
from headwater.errors import HeadwaterError
from headwater.runtime import ENGINE_EXCEPTIONS, for_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from headwater.delta.content import ContentDigest
    from headwater.delta.head import LogHead
    from headwater.delta.key_values import FewKeys
    from headwater.delta.mutation import Mutation
    from headwater.delta.snapshot import SnapshotInfo
    from headwater.names import TablePin
    from headwater.runtime import RunSession

KEY = "key"
_NESTED_BATCHES = "spark.sql.parquet.enableNestedColumnVectorizedReader"


@dataclass(frozen=True, slots=True, kw_only=True)
class OldRows:
    """The rows that a version has of these keys: their digest; `there` are those keys that have some."""

    pin: TablePin
    few: FewKeys
    content: ContentDigest
    there: FewKeys


def count_old_rows(session: RunSession, few: FewKeys, pin: TablePin, snapshot: SnapshotInfo) -> OldRows:
    """The rows that a version has of these keys, by one pass over the files that may have some."""
    key = f"struct({', '.join(quoted(each) for each in few.columns)}) AS {KEY}"
    with reading_errors(), _for_few_rows(session, snapshot.schema) as own:
        # With a condition that a join brings, Delta looks for the files of a scan again and again.
        hashed = hash_rows(open_rows(own, pin).where(few.condition()), key)
        content, (found,) = sum_hashes(hashed, f"collect_set({KEY})")
    return OldRows(pin=pin, few=few, content=content, there=few.only(found))


@contextmanager
def counted_ahead(
    session: RunSession, mutation: Mutation, rows: DataFrame | None, affected: DataFrame | None
) -> Generator[Callable[[], OldRows | None]]:
    """Within it, a thread counts the rows that are likely to go; what is yielded waits for them.

    It gives None if affected keys are not a few values, or may be null as names of folders. What goes wrong
    there goes wrong again for whoever needs these rows, and is told then.
    """
    head = find_head(mutation.uri) if isinstance(mutation, ReplaceKeys) else None
    found: list[OldRows] = []

    def count() -> None:
        with suppress(HeadwaterError, *ENGINE_EXCEPTIONS):
            pin = cast("LogHead", head).pin(mutation.note.table)
            snapshot = describe_pin(session, pin)
            keys = keys_of(session, mutation, rows, affected, snapshot)
            few = few_keys(keys) if keys is not None and not snapshot.partition_columns else None
            if few is not None:
                found.append(count_old_rows(session, few, pin, snapshot))

    if head is None or affected is None or not are_at_hand(affected):
        yield lambda: None
        return
    thread = threading.Thread(target=for_thread(session, count), name="counting old rows", daemon=True)
    thread.start()

    def wait() -> OldRows | None:
        thread.join()
        return found[0] if found else None

    try:
        yield wait
    finally:
        thread.join()


@contextmanager
def _for_few_rows(session: RunSession, schema: StructType) -> Generator[RunSession]:
    """Within it, a session that reads rows one by one if they are mostly lists, whose batches are dear."""
    own, lists = session.copy(), sum(isinstance(each.dataType, ArrayType) for each in schema.fields)
    try:
        if lists > len(schema.fields) // 2:
            own.spark.conf.set(_NESTED_BATCHES, "false")
        with own.active():
            yield own
    finally:
        own.release()
