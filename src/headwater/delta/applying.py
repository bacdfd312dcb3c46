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

from headwater.delta.columns import frame_in, quoted
from headwater.delta.mutation import NOTE_SETTING, Append, Delete, Merge, Overwrite, ReplaceWhere, Update
from headwater.delta.settling import born_with
from headwater.runtime import local_path_of

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from pyspark.sql import DataFrame, SparkSession

    from headwater.delta.layout import Layout
    from headwater.delta.mutation import CommitNote, MergeClause, Mutation, ReplaceKeys
    from headwater.delta.replacing import Replacing
    from headwater.policies import SchemaMode
    from headwater.runtime import RunSession

_APPLICATION = "spark.databricks.delta.write.txnAppId"
_NUMBER = "spark.databricks.delta.write.txnVersion"
_MERGE_SCHEMA = "spark.databricks.delta.schema.autoMerge.enabled"
# Delta lays down the rows of a replacement once more where it cannot tell that they stay the same.
_LAY_DOWN = ("insertReplaceOnOrUsing.materializeSource", "merge.materializeSource")
_AS_THEY_ARE = {f"spark.databricks.delta.{each}": "none" for each in _LAY_DOWN}
_FOLDERS = "partitionOverwriteMode"
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
            options = {_FOLDERS: "static", **({"replaceWhere": where} if where is not None else {})}
            if mode is not None:
                options["mergeSchema" if mode == "merge" else "overwriteSchema"] = "true"
            properties, settings = ({}, {}) if number else born_with(session, layout)
            _write(mutation, rows, note, number, layout, {**properties, **options}, settings)
        return
    settings = {**layout.settings, _MERGE_SCHEMA: str(schema_mode == "merge").lower()}
    with _table_of(session, mutation, note, number, settings) as (own, table):
        if isinstance(mutation, Delete):
            table.delete(mutation.where) if mutation.where else table.delete()
        elif isinstance(mutation, Update):
            values = _map(session, mutation.assignments)
            table.updateExpr(mutation.where, values) if mutation.where else table.updateExpr(values)
        elif isinstance(mutation, Merge) and rows is not None:
            _merge(own, table, mutation, rows)


def replace_keys(
    session: RunSession,
    mutation: ReplaceKeys,
    replacing: Replacing,
    *,
    note: CommitNote,
    number: int,
    layout: Layout,
) -> None:
    """Replaces keys as it was prepared, as transaction `number`; raises what the engine throws."""
    if replacing.way == "replace_on":
        # Delta takes no word about folders as an option here, and a session's would replace whole ones.
        settings = {**_AS_THEY_ARE, f"spark.sql.sources.{_FOLDERS}": "static"}
        options = {"replaceOn": replacing.condition, "targetAlias": replacing.table}
        rows = replacing.source.alias(replacing.name)
        _write(mutation, rows, note, number, layout, options, settings)
        return
    settings = {**layout.settings, **_AS_THEY_ARE, _MERGE_SCHEMA: "false"}
    with _table_of(session, mutation, note, number, settings) as (own, table):
        source: Any = frame_in(own, replacing.source)
        merge = getattr(table, "as")(replacing.table)
        merge = merge.merge(getattr(source._jdf, "as")(replacing.name), replacing.condition)
        names = [quoted(each) for each in replacing.columns]
        values = _map(session, tuple((each, f"{replacing.name}.{each}") for each in names))
        inserts = f"NOT {replacing.name}.{replacing.deletes}"
        merge = merge.whenMatched().delete().whenNotMatched(inserts).insertExpr(values)
        if replacing.sweeps:
            merge = merge.whenNotMatchedBySource(replacing.sweeps).delete()
        merge.execute()


@contextmanager
def _table_of(
    session: RunSession, mutation: Mutation, note: CommitNote, number: int, settings: Mapping[str, str]
) -> Generator[tuple[RunSession, Any]]:
    """A session of its own with what a transaction takes from there, and the table in it."""
    own = session.copy()
    try:
        said = {_APPLICATION: application_of(note), _NUMBER: str(number), NOTE_SETTING: note.text()}
        for key, value in {**settings, **said}.items():
            own.spark.conf.set(key, value)
        tables = session.jvm.io.delta.tables.DeltaTable
        table = tables.forPath(own.jvm_session, str(local_path_of(mutation.uri)))
        with own.active():
            yield own, table
    finally:
        own.release()


def _write(
    mutation: Append | Overwrite | ReplaceWhere | ReplaceKeys,
    rows: DataFrame,
    note: CommitNote,
    number: int,
    layout: Layout,
    options: Mapping[str, str],
    settings: Mapping[str, str] | None = None,
) -> None:
    writer = (
        rows.write.format("delta")
        .mode("append" if isinstance(mutation, Append) else "overwrite")
        .option("userMetadata", note.text())
    )
    if not (isinstance(mutation, Append) and mutation.blind):
        writer = writer.option("txnAppId", application_of(note)).option("txnVersion", str(number))
    for key, value in options.items():
        writer = writer.option(key, value)
    if layout.partition_by:
        writer = writer.partitionBy(*layout.partition_by)
    born = {} if number else mutation.birth_settings()
    with _in_force(rows, {**layout.settings, **born, **(settings or {})}):
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


def _merge(session: RunSession, table: Any, mutation: Merge, rows: DataFrame) -> None:
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
