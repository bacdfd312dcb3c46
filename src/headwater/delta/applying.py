"""Each kind of mutation as Delta does it: as a transaction with a number, and with the mutation's note.

Rows that are at hand go through Spark's writer, which takes both as options. Merge, update and delete take
them from their session's settings; they get a session of their own, since a setting that stayed behind would
make Delta drop the next write without a word. Not here: whether it landed.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from headwater.delta.columns import frame_in
from headwater.delta.mutation import NOTE_SETTING, Append, Delete, Merge, Overwrite, ReplaceWhere, Update
from headwater.runtime import local_path_of

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from pyspark.sql import DataFrame, SparkSession

    from headwater.delta.layout import Layout
    from headwater.delta.mutation import CommitNote, MergeClause, Mutation
    from headwater.policies import SchemaMode
    from headwater.runtime import RunSession

_APPLICATION = "spark.databricks.delta.write.txnAppId"
_NUMBER = "spark.databricks.delta.write.txnVersion"
_MERGE_SCHEMA = "spark.databricks.delta.schema.autoMerge.enabled"
_locks: WeakKeyDictionary[SparkSession, threading.RLock] = WeakKeyDictionary()


def application_of(note: CommitNote) -> str:
    """The application under which all writes of a pipeline to a table are numbered."""
    return f"headwater/{note.pipeline}/{note.table}"


def apply_mutation(
    session: RunSession,
    mutation: Mutation,
    rows: DataFrame | None,
    *,
    note: CommitNote,
    number: int,
    layout: Layout,
    schema_mode: SchemaMode | None,
    in_place: bool = False,
) -> None:
    """Does what the mutation says, as transaction `number`; raises what the engine throws.

    `in_place` replaces all rows of a table and leaves everything else: Delta drops the clustering of a table
    that it overwrites otherwise.
    """
    if isinstance(mutation, Append | Overwrite | ReplaceWhere):
        if rows is not None:
            mode = None if in_place and schema_mode == "overwrite" else schema_mode
            where = mutation.where if isinstance(mutation, ReplaceWhere) else "true" if in_place else None
            _write(mutation, rows, note, number, layout, mode, where)
        return
    own = session.copy()
    try:
        settings = {**layout.settings, _APPLICATION: application_of(note), _NUMBER: str(number)}
        settings |= {NOTE_SETTING: note.text(), _MERGE_SCHEMA: str(schema_mode == "merge").lower()}
        for key, value in settings.items():
            own.spark.conf.set(key, value)
        table = session.jvm.io.delta.tables.DeltaTable.forPath(
            own.jvm_session, str(local_path_of(mutation.uri))
        )
        with own.active():
            _change(own, table, mutation, rows)
    finally:
        own.release()


def _write(
    mutation: Append | Overwrite | ReplaceWhere,
    rows: DataFrame,
    note: CommitNote,
    number: int,
    layout: Layout,
    schema_mode: SchemaMode | None,
    where: str | None,
) -> None:
    writer = (
        rows.write.format("delta")
        .mode("append" if isinstance(mutation, Append) else "overwrite")
        .option("userMetadata", note.text())
        .option("partitionOverwriteMode", "static")
    )
    if not (isinstance(mutation, Append) and mutation.blind):
        writer = writer.option("txnAppId", application_of(note)).option("txnVersion", str(number))
    if where is not None:
        writer = writer.option("replaceWhere", where)
    if schema_mode is not None:
        writer = writer.option("mergeSchema" if schema_mode == "merge" else "overwriteSchema", "true")
    if layout.partition_by:
        writer = writer.partitionBy(*layout.partition_by)
    born = {} if number else mutation.birth_settings()
    with _in_force(rows, {**layout.settings, **born}):
        writer.save(str(local_path_of(mutation.uri)))


@contextmanager
def _in_force(rows: DataFrame, settings: Mapping[str, str]) -> Generator[None]:
    """Within it, the rows' own session has these settings, and afterwards what it had before.

    Not a session of its own: what counts rows on their way listens to the session that they belong to.
    """
    if not settings:
        yield
        return
    frame: Any = rows
    conf, known = frame._jdf.sparkSession().conf(), frame._jdf.sparkSession().sessionState().conf()
    with _locks.setdefault(rows.sparkSession, threading.RLock()):
        before = {key: str(known.getConfString(key)) if known.contains(key) else None for key in settings}
        try:
            for key, value in settings.items():
                conf.set(key, value)
            yield
        finally:
            for key, value in before.items():
                if value is None:
                    conf.unset(key)
                else:
                    conf.set(key, value)


def _change(
    session: RunSession, table: Any, mutation: Merge | Update | Delete, rows: DataFrame | None
) -> None:
    if isinstance(mutation, Delete):
        table.delete(mutation.where) if mutation.where else table.delete()
    elif isinstance(mutation, Update):
        values = _map(session, mutation.assignments)
        if mutation.where:
            table.updateExpr(mutation.where, values)
        else:
            table.updateExpr(values)
    elif rows is not None:
        source: Any = frame_in(session, rows)
        merge = getattr(table, "as")("t").merge(getattr(source._jdf, "as")("s"), mutation.on)
        for clause in mutation.clauses:
            merge = _clause(session, merge, clause)
        merge.execute()


def _clause(session: RunSession, merge: Any, clause: MergeClause) -> Any:
    starts = {
        "matched": merge.whenMatched,
        "not_matched": merge.whenNotMatched,
        "not_matched_by_source": merge.whenNotMatchedBySource,
    }
    start = starts[clause.when]
    builder = start(clause.condition) if clause.condition else start()
    if clause.action == "delete":
        return builder.delete()
    if not clause.assignments:
        return builder.updateAll() if clause.action == "update" else builder.insertAll()
    values = _map(session, clause.assignments)
    return builder.updateExpr(values) if clause.action == "update" else builder.insertExpr(values)


def _map(session: RunSession, pairs: tuple[tuple[str, str], ...]) -> Any:
    found = session.jvm.java.util.HashMap()
    for key, value in pairs:
        found.put(key, value)
    return found
