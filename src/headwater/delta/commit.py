"""THE write path: `commit_mutation`, and nothing else writes.

Every write is a Delta transaction of the application `headwater/<pipeline>/<table>` whose number is the base
version plus one: two of our writers on one base cannot both land. Delta says nothing when it drops the later
one, so the commit is looked up by its mutation id afterwards; if it is not there, the race was lost. Only a
blind append has no number: it may land beside any other.
Not here: deciding whether a write is needed.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from headwater.delta.applying import application_of, apply_mutation, replace_keys
from headwater.delta.arrow import opened_rows
from headwater.delta.conflicts import DROPPED, classify
from headwater.delta.digests import compute_content, derive_content, find_content, keep_content
from headwater.delta.failures import writing_error
from headwater.delta.head import LogHead, find_commit, find_head, read_commit, read_head
from headwater.delta.layout import Layout
from headwater.delta.mutation import Append, Delete, Merge, Overwrite, ReplaceKeys, Update, is_step
from headwater.delta.old_rows import counted_ahead
from headwater.delta.preparing import PreparedWrite, prepare_write, violation_of
from headwater.delta.receipt import Attempt, Outcome, Protocol, Receipt
from headwater.delta.replacing import keys_laid_down, laid_down
from headwater.delta.settling import clustering_of, finish_table
from headwater.delta.snapshot import describe_pin, open_snapshot
from headwater.delta.upkeep.content import keeps_rows
from headwater.digest import digest_of
from headwater.errors import CommitConflict, HeadwaterError
from headwater.policies import WritePolicy
from headwater.runtime import ENGINE_EXCEPTIONS, check_writable, failure_of, local_path_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame

    from headwater.delta.conflicts import Conflict
    from headwater.delta.content import ContentDigest
    from headwater.delta.mutation import CommitNote, Mutation
    from headwater.delta.old_rows import OldRows
    from headwater.names import TablePin
    from headwater.origin import Origin
    from headwater.runtime import RunSession

_ROWS = {
    "append": (("numOutputRows",), ()),
    "overwrite": (("numOutputRows",), ()),
    "replace_where": (("numOutputRows",), ("numCopiedRows",)),
    "replace_keys": (("numOutputRows",), ("numCopiedRows",)),
    "merge": (("numTargetRowsInserted", "numTargetRowsUpdated"), ()),
    "update": (("numUpdatedRows",), ()),
    "delete": ((), ()),
}
_MERGE_DELETED = "numTargetRowsDeleted"


def commit_mutation(
    session: RunSession,
    mutation: Mutation,
    rows: Any = None,
    origin: Origin | None = None,
    *,
    affected: Any = None,
) -> Receipt:
    """Does to a table what `mutation` says, exactly once, and returns what Delta recorded.

    The same mutation may be sent again at any time, after a kill too: if it is in the table already, nothing
    happens. If another writer was first, it is tried again on the newer version as often as its policy says,
    unless it is `exact`.

    Args:
        session: an open session.
        mutation: what is meant to happen.
        rows: a DataFrame of any open session, or anything with `__arrow_c_stream__`; the rows to be written,
            or the source of a merge. Update and Delete have none.
        origin: the definition that asked, for errors.
        affected: the keys that a ReplaceKeys is about, in columns of their names, given like rows.

    Raises:
        CommitConflict: other writers were first, each time; nothing of this write is in the table.
        ConstraintViolated, SchemaDiffers, MeaningDiffers, GateClosed: the rows or the table do not fit.
        ConstraintInvalid, PolicyRefused, FeatureUnknown: the policy does not.
        MutationRefused, MergeAmbiguous, RowsUnusable, NotADeltaTable: the mutation does not.
        WriteFailed, EngineFailed: storage or Spark failed; nothing of this write is in the table.
        StoreUnsafe, RemoteUnsupported: tables are not written there.
    """
    check_writable(session.runtime.profile.storage, mutation.uri)
    landed = _find_commit(mutation)
    if landed is not None:
        _finish_again(session, mutation, landed)
        return _receipt(session, mutation, landed, "already_committed", None, [])
    attempts: list[Attempt] = []
    with (
        opened_rows(session, rows, mutation.uri, origin) as given,
        opened_rows(session, affected, mutation.uri, origin) as named,
        counted_ahead(session, mutation, given, named) as ahead,
        laid_down(session, mutation, given, origin) as frame,
        keys_laid_down(session, mutation, named, origin) as keys,
    ):
        while True:
            done = _attempt(session, mutation, frame, keys, ahead, attempts, origin)
            if done is not None:
                return done
            time.sleep(attempts[-1].waited_seconds)


def _attempt(
    session: RunSession,
    mutation: Mutation,
    rows: DataFrame | None,
    affected: DataFrame | None,
    ahead: Callable[[], OldRows | None],
    attempts: list[Attempt],
    origin: Origin | None,
) -> Receipt | None:
    """One try: its receipt, or None if another writer was first and it can be tried again."""
    base = find_head(mutation.uri)
    _check_base(mutation, base, origin)
    failure: Exception | None = None
    prepared: PreparedWrite | None = None
    note = replace(mutation.note, attempts=tuple(each.conflict for each in attempts))
    number = (base.version if base else -1) + 1
    try:
        prepared = prepare_write(session, mutation, rows, base, origin, affected=affected, ahead=ahead)
        base = prepared.base
        _check_base(mutation, base, origin)  # somebody may have come while the table was prepared
        number = (base.version if base else -1) + 1
        _apply(session, mutation, prepared, note, number)
    except ENGINE_EXCEPTIONS as error:
        failure = error
    # The log has the last word: the engine may say yes to a write that it dropped, or fail after a commit.
    landed = _find_commit(mutation)
    if landed is not None:
        if prepared is not None and prepared.clustering:
            with suppress(*ENGINE_EXCEPTIONS):  # the rows are there; whoever sends the mutation again ends it
                finish_table(session, mutation, prepared.layout, prepared.clustering)
        return _receipt(session, mutation, landed, "committed", prepared, attempts)
    may_do_nothing = isinstance(mutation, Merge | Update | Delete | ReplaceKeys)
    if failure is None and base and may_do_nothing and not _was_dropped(session, mutation, number):
        return _receipt(session, mutation, base, "no_change", prepared, attempts)
    conflict = DROPPED if failure is None else classify(failure_of(failure))
    if conflict.verdict == "fail" and failure is not None:
        raise _final_error(session, mutation, prepared, failure, origin) from failure
    attempts.append(_met(mutation, conflict, base, attempts, failure, origin))
    return None


def _apply(
    session: RunSession, mutation: Mutation, prepared: PreparedWrite, note: CommitNote, number: int
) -> None:
    if isinstance(mutation, ReplaceKeys) and prepared.replacing is not None:
        replace_keys(session, mutation, prepared.replacing, note=note, number=number, layout=prepared.layout)
        return
    apply_mutation(
        session,
        mutation,
        prepared.rows,
        note=note,
        number=number,
        layout=prepared.layout,
        schema_mode=prepared.schema_mode,
        in_place=prepared.in_place,
    )


def _final_error(
    session: RunSession,
    mutation: Mutation,
    prepared: PreparedWrite | None,
    failure: Exception,
    origin: Origin | None,
) -> HeadwaterError:
    """What the caller is told of a failure that trying again would not mend."""
    violated = violation_of(session, mutation, prepared, failure, origin)
    path = str(local_path_of(mutation.uri))
    return violated or writing_error(failure, path, mutation.kind, origin)


def _met(
    mutation: Mutation,
    conflict: Conflict,
    base: LogHead | None,
    attempts: list[Attempt],
    failure: Exception | None,
    origin: Origin | None,
) -> Attempt:
    """A try that met another writer; raises CommitConflict if it was the last that is allowed."""
    policy, number = mutation.policy or WritePolicy(), len(attempts) + 1
    version = base.version if base else -1
    if number >= policy.max_attempts:
        failed = failure_of(failure) if failure is not None else None
        detail = failed.detail if failed else f"version {version + 1} is not the one written here"
        tries = f" (try {number} of {policy.max_attempts})" if policy.max_attempts > 1 else ""
        raise CommitConflict(
            origin=origin,
            path=str(local_path_of(mutation.uri)),
            detail=f"{detail}{tries}",
            condition=failed.condition if failed else None,
            sql_state=failed.sql_state if failed else None,
        ) from failure
    # No two mutations have one id, so no two writers that met wait equally long.
    share = int(digest_of([mutation.note.mutation_id, number])[:8], 16) / (1 << 32)
    wait = policy.backoff_seconds * number * (0.5 + share)
    return Attempt(
        number=number,
        base_version=version,
        conflict=conflict.name,
        verdict=conflict.verdict,
        waited_seconds=round(wait, 3),
    )


def _check_base(mutation: Mutation, head: LogHead | None, origin: Origin | None) -> None:
    """Raises CommitConflict for an exact mutation whose base is no longer the newest version.

    What the mutation itself committed to prepare the table does not count, nor what only rearranged it.
    """
    if not mutation.exact:
        return
    version = head.version if head else -1
    while head is not None and head.version > mutation.base_version:
        is_ours = is_step(head.user_metadata, "prepare", mutation.note.mutation_id)
        if not is_ours and not keeps_rows(mutation.uri, head.version):
            break
        head = find_commit(mutation.uri, head.version - 1) if head.version else None
    if (head.version if head else -1) != mutation.base_version:
        raise CommitConflict(
            origin=origin,
            path=str(local_path_of(mutation.uri)),
            detail=f"it was to follow version {mutation.base_version}, and the newest is {version}",
        )


def _find_commit(mutation: Mutation) -> LogHead | None:
    """The first commit that carries this mutation's id, among those after its base.

    Not the last one: what Delta compacts by itself behind a commit says that it is the same.
    """
    head, found = find_head(mutation.uri), None
    while head is not None and head.version > mutation.base_version:
        if is_step(head.user_metadata, None, mutation.note.mutation_id):
            found = head
        head = find_commit(mutation.uri, head.version - 1) if head.version else None
    return found


def _was_dropped(session: RunSession, mutation: Mutation, number: int) -> bool:
    """Whether Delta wrote nothing because it knows a transaction of this number, or of a later one."""
    pin = read_head(mutation.uri).pin(mutation.note.table)
    known: Any = open_snapshot(session, pin).transactions().get(application_of(mutation.note))
    return bool(known.isDefined()) and int(known.get()) >= number


# --- receipts ------------------------------------------------------------------------------------------


def _finish_again(session: RunSession, mutation: Mutation, landed: LogHead) -> None:
    """Ends a mutation that was killed before its end: its rows are there, its clustering is not."""
    columns = mutation.policy.cluster_by if mutation.policy else ()
    if not columns or not isinstance(mutation, Overwrite) or read_head(mutation.uri) != landed:
        return
    snapshot = describe_pin(session, landed.pin(mutation.note.table))
    if not clustering_of(session, mutation.uri, snapshot):
        finish_table(session, mutation, Layout(cluster_by=columns), columns)


def _receipt(
    session: RunSession,
    mutation: Mutation,
    commit: LogHead,
    outcome: Outcome,
    prepared: PreparedWrite | None,
    attempts: list[Attempt],
) -> Receipt:
    pin = _end(mutation, commit).pin(mutation.note.table)
    info = describe_pin(session, pin)
    metrics = dict(commit.metrics) if outcome != "no_change" else {}
    content: ContentDigest | None = None
    with suppress(HeadwaterError):  # the commit is there, whatever comes of its digest
        content = _content(session, mutation, commit, pin, outcome, prepared)
    return Receipt(
        pin=pin,
        kind=mutation.kind,
        outcome=outcome,
        operation=commit.operation if outcome != "no_change" else "",
        timestamp_ms=commit.timestamp_ms,
        rows=_rows_written(mutation, metrics) if outcome != "no_change" else 0,
        metrics=tuple(metrics.items()),
        protocol=Protocol(
            min_reader_version=info.min_reader_version,
            min_writer_version=info.min_writer_version,
            reader_features=info.reader_features,
            writer_features=info.writer_features,
        ),
        content=content,
        attempts=tuple(attempts),
        constraints=prepared.checks if prepared else (),
        meanings=prepared.meanings if prepared else (),
        settings=tuple(prepared.layout.properties.items()) if prepared else (),
        left_out=prepared.layout.left_out if prepared else (),
    )


def _end(mutation: Mutation, commit: LogHead) -> LogHead:
    """The commit with which a mutation ended: the next one, if that is the mutation's own."""
    following = find_commit(mutation.uri, commit.version + 1)
    if following and is_step(following.user_metadata, "finish", mutation.note.mutation_id):
        return following
    return commit


def _rows_written(mutation: Mutation, metrics: dict[str, str]) -> int | None:
    is_merged = isinstance(mutation, ReplaceKeys) and _MERGE_DELETED in metrics
    if isinstance(mutation, ReplaceKeys) and metrics.get("numFiles") == "0":
        return 0  # Delta counts no rows then
    plus, minus = _ROWS["merge" if is_merged else mutation.kind]
    if any(name not in metrics for name in plus):
        return None
    return sum(int(metrics[name]) for name in plus) - sum(int(metrics.get(name, 0)) for name in minus)


def _content(
    session: RunSession,
    mutation: Mutation,
    commit: LogHead,
    pin: TablePin,
    outcome: Outcome,
    prepared: PreparedWrite | None,
) -> ContentDigest | None:
    """The digest of the table after a commit: observed in the write where that saw all rows that changed."""
    if isinstance(mutation, Append) and mutation.blind:
        return None
    known = find_content(pin)
    if known is not None:
        return known
    if outcome == "committed":
        known = _observed(session, mutation, commit, prepared)
    if known is None and not isinstance(mutation, Overwrite):
        known = derive_content(session, pin)
    # What was sent again was perhaps killed before it could keep its digest: then nothing is there to derive.
    if known is None and (isinstance(mutation, Overwrite) or outcome == "already_committed"):
        known = compute_content(session, pin)
    if known is not None:
        keep_content(pin, known)
    return known


def _observed(
    session: RunSession, mutation: Mutation, commit: LogHead, prepared: PreparedWrite | None
) -> ContentDigest | None:
    if prepared is None:
        return None
    if prepared.replacing is not None:
        return _replaced(mutation, commit, prepared)
    if prepared.observed is None:
        return None
    found = prepared.observed.found()
    # A task that was tried twice is counted twice; the commit knows how many rows it wrote.
    if found is None or found.rows != _rows_written(mutation, dict(commit.metrics)):
        return None
    if isinstance(mutation, Overwrite) or commit.version == 0:
        return found
    if not isinstance(mutation, Append):
        return None
    before = read_commit(mutation.uri, commit.version - 1)
    is_made_here = is_step(before.user_metadata, "prepare", mutation.note.mutation_id)
    if before.version == 0 and is_made_here:  # without rows, for those to come
        return found
    known = derive_content(session, before.pin(mutation.note.table))
    return known + found if known is not None else None


def _replaced(mutation: Mutation, commit: LogHead, prepared: PreparedWrite) -> ContentDigest | None:
    """The digest after keys were replaced, if it was done on the version looked at, to as many rows."""
    replacing, metrics = prepared.replacing, dict(commit.metrics)
    if replacing is None or prepared.base is None or commit.version != prepared.base.version + 1:
        return None
    added, removed = replacing.added, replacing.removed
    nothing = "0" if metrics.get("numFiles") == "0" else None
    deleted = metrics.get(_MERGE_DELETED, metrics.get("numDeletedRows", nothing))
    if added is None or deleted is None:
        return None
    is_so = (added.rows, removed.rows) == (_rows_written(mutation, metrics), int(deleted))
    return replacing.content if is_so else None
