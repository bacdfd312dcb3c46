"""THE write path: `commit_mutation`, and nothing else writes.

Every write is a Delta transaction of the application `headwater/<pipeline>/<table>` whose number is the base
version plus one: two of our writers on one base cannot both land. Delta says nothing when it drops the later
one, so the commit is looked up by its mutation id afterwards; if it is not there, the race was lost.
Not here: deciding whether a write is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.delta.head import LogHead, find_commit, find_head
from headwater.delta.mutation import Mutation, Overwrite, note_of
from headwater.delta.receipt import Outcome, Receipt
from headwater.errors import CommitConflict, EngineFailed
from headwater.runtime import ENGINE_EXCEPTIONS, engine_error, failure_of, local_path_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headwater.origin import Origin

# Delta's own exception classes for "another writer was first"; their getCondition is empty.
_CONFLICTS = (
    "ConcurrentAppendException",
    "ConcurrentDeleteReadException",
    "ConcurrentDeleteDeleteException",
    "ConcurrentWriteException",
    "ConcurrentTransactionException",
    "MetadataChangedException",
    "ProtocolChangedException",
)


def commit_mutation(mutation: Mutation, rows: DataFrame, origin: Origin | None = None) -> Receipt:
    """Commits `rows` as `mutation` says, exactly once, and returns what Delta recorded.

    Args:
        mutation: what is meant to happen.
        rows: the rows, of any session that is open.
        origin: the definition that asked, for errors.

    Raises:
        CommitConflict: another writer was first; nothing of this write is in the table.
        EngineFailed: Spark or Delta failed; nothing of this write is in the table.
    """
    landed = _find_commit(mutation)
    if landed is not None:
        return _receipt(mutation, landed, "already_committed")
    path = str(local_path_of(mutation.uri))
    writer = (
        rows.write.format("delta")
        .mode(mutation.mode)
        .option("txnAppId", f"headwater/{mutation.note.pipeline}/{mutation.note.table}")
        .option("txnVersion", str(mutation.base_version + 1))
        .option("userMetadata", mutation.note.text())
    )
    if isinstance(mutation, Overwrite):
        writer = writer.option("overwriteSchema", "true")
    failure: Exception | None = None
    try:
        writer.save(path)
    except ENGINE_EXCEPTIONS as error:
        failure = error
    # The log has the last word: the engine may say yes to a write that it dropped, or fail after a commit.
    landed = _find_commit(mutation)
    if landed is not None:
        return _receipt(mutation, landed, "committed")
    if failure is not None:
        raise _write_error(failure, path, origin) from failure
    raise CommitConflict(
        origin=origin, path=path, detail=f"version {mutation.base_version + 1} is not the one written here"
    )


def _find_commit(mutation: Mutation) -> LogHead | None:
    """The commit that carries this mutation's id, among those after its base."""
    head = find_head(mutation.uri)
    while head is not None and head.version > mutation.base_version:
        note = note_of(head.user_metadata)
        if note is not None and note.mutation_id == mutation.note.mutation_id:
            return head
        if head.version == 0:
            return None
        head = find_commit(mutation.uri, head.version - 1)
    return None


def _receipt(mutation: Mutation, commit: LogHead, outcome: Outcome) -> Receipt:
    rows = dict(commit.metrics).get("numOutputRows")
    return Receipt(
        pin=commit.pin(mutation.note.table),
        outcome=outcome,
        operation=commit.operation,
        timestamp_ms=commit.timestamp_ms,
        rows=int(rows) if rows is not None else None,
        metrics=commit.metrics,
    )


def _write_error(error: BaseException, path: str, origin: Origin | None) -> CommitConflict | EngineFailed:
    failure = failure_of(error)
    if (failure.java_class or "").rpartition(".")[2] in _CONFLICTS:
        return CommitConflict(
            origin=origin,
            path=path,
            detail=failure.detail,
            condition=failure.condition,
            sql_state=failure.sql_state,
        )
    return engine_error(error, origin)
