"""The data files of a table at a version: which there are, which a filter leaves, and reads of only those.

The pruning is Delta's own, asked before anything is read. Delta's JVM classes are reached here by design.
Not here: plans; whoever has one hands in columns and filters.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from pyspark.sql import DataFrame

from headwater.delta.failures import loading_errors
from headwater.delta.projection import Boundary, each_of
from headwater.delta.snapshot import check_pin, open_log, open_snapshot
from headwater.errors import FileNotInSnapshot
from headwater.runtime import ENGINE_EXCEPTIONS, failure_of, local_path_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from headwater.names import SnapshotKey, TablePin
    from headwater.origin import Origin
    from headwater.runtime import RunSession

# A data file's rows as the log counts them, and those that its deletion vector takes out.
RECORDS = "CAST(get_json_object(stats, '$.numRecords') AS BIGINT)"
DELETED = "coalesce(deletionVector.cardinality, 0L)"


@dataclass(frozen=True, slots=True, order=True, kw_only=True)
class DataFile:
    """A data file as the log has it; `rows` are those that are not deleted, None if nobody counted them.

    `partition` has the table's names of columns, also where column mapping gave them others in the log.
    """

    path: str
    size: int
    rows: int | None
    deleted_rows: int
    partition: dict[str, str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanPreview:
    """What a scan would read: Delta's own choice of files for the filters, before anything is read.

    Filters are shown as Spark resolved them: the used ones left files out by partition or statistics, the
    unused ones could not. Where Spark finds that no row can meet them, no file is read and neither has any.
    `rows_kept` and `rows_total` are None where a file has no statistics; rows that deletion vectors take out
    are not in them.
    """

    snapshot: SnapshotKey
    columns: tuple[str, ...]
    filters: tuple[str, ...]
    used_filters: tuple[str, ...]
    unused_filters: tuple[str, ...]
    files_total: int
    files_kept: int
    bytes_total: int
    bytes_kept: int
    rows_total: int | None
    rows_kept: int | None
    kept: tuple[DataFile, ...]


def list_files(session: RunSession, pin: TablePin) -> tuple[DataFile, ...]:
    """Every data file of a table at a pin, sorted by path."""
    check_pin(pin)
    with loading_errors(local_path_of(pin.uri), pin.version, dataset=pin.name):
        snapshot = open_snapshot(session, pin)
        names = _logical_names(snapshot.metadata())
        files = DataFrame(snapshot.allFiles().toDF(), session.spark)
        found = files.selectExpr(
            "path", "size", f"{RECORDS} AS records", f"{DELETED} AS deleted", "partitionValues"
        ).collect()
    return tuple(sorted((_data_file(row, names) for row in found), key=lambda each: each.path))


def preview_scan(
    session: RunSession, pin: TablePin, *, columns: Sequence[str] = (), filters: Sequence[str] = ()
) -> ScanPreview:
    """The files that a scan of some columns under some filters would read, and what the filters did for it.

    Args:
        session: where Delta is asked.
        pin: the table at its version.
        columns: names of columns, or SQL expressions over them; all if empty.
        filters: conditions in SQL; a row that comes out meets them all.

    Raises:
        ScanNotResolved: a column or filter does not fit the table, or asks for more than a row.
    """
    everything = list_files(session, pin)
    if not columns and not filters:
        return _preview(pin, everything, everything)
    with loading_errors(local_path_of(pin.uri), pin.version, dataset=pin.name):
        rows = open_rows(session, pin)
    rows = _filtered(session, rows, pin.name, columns, filters)
    with loading_errors(local_path_of(pin.uri), pin.version, dataset=pin.name):
        scan = _prepared_scan(session, rows)
        found = set(sizes_of(session, scan.files())) if scan is not None else set[str]()
        used = conditions_of(scan.filtersUsedForSkipping()) if scan is not None else ()
        unused = conditions_of(scan.unusedFilters()) if scan is not None else ()
    kept = tuple(each for each in everything if each.path in found)
    told = _preview(pin, everything, kept)
    return replace(
        told, columns=tuple(columns), filters=tuple(filters), used_filters=used, unused_filters=unused
    )


def _preview(pin: TablePin, everything: tuple[DataFile, ...], kept: tuple[DataFile, ...]) -> ScanPreview:
    return ScanPreview(
        snapshot=pin.key,
        columns=(),
        filters=(),
        used_filters=(),
        unused_filters=(),
        files_total=len(everything),
        files_kept=len(kept),
        bytes_total=sum(each.size for each in everything),
        bytes_kept=sum(each.size for each in kept),
        rows_total=rows_of(everything),
        rows_kept=rows_of(kept),
        kept=kept,
    )


def open_rows(session: RunSession, pin: TablePin) -> DataFrame:
    """All rows of a table at a pin, by Delta's own reader."""
    path = str(local_path_of(pin.uri))
    return session.spark.read.format("delta").option("versionAsOf", pin.version).load(path)


def open_rows_of(
    session: RunSession, pin: TablePin, files: Iterable[str], origin: Origin | None = None
) -> DataFrame:
    """The rows of some of a table's data files at a pin, by Delta's own reader; no files give no rows.

    Raises:
        FileNotInSnapshot: the version has no such file.
    """
    wanted = sorted(set(files))
    snapshot, convert = open_snapshot(session, pin), session.jvm.scala.jdk.javaapi.CollectionConverters
    # As one text: a literal per file would be several calls into the JVM for each.
    functions = session.jvm.org.apache.spark.sql.functions
    text, options = functions.lit(json.dumps(wanted)), session.jvm.java.util.HashMap()
    listed = functions.from_json(text, "array<string>", options)
    chosen = (
        snapshot.allFiles().filter(functions.array_contains(listed, functions.col("path"))).collectAsList()
    )
    actions = convert.asScala(chosen).toSeq()
    there = set(sizes_of(session, actions))
    for each in wanted:
        if each not in there:
            path = str(local_path_of(pin.uri))
            raise FileNotInSnapshot(path=path, version=pin.version, file=each, origin=origin)
    none = session.jvm.scala.Option.empty()
    log = open_log(session, pin.uri)
    return DataFrame(log.createDataFrame(snapshot, actions, False, none), session.spark)


def open_actions(session: RunSession, pin: TablePin, files: Iterable[Mapping[str, Any]]) -> DataFrame:
    """The rows of data files that a commit adds or removes, as it writes them, at a pin that has them."""
    known = ("path", "partitionValues", "size", "deletionVector", "baseRowId", "defaultRowCommitVersion")
    made = session.jvm.org.apache.spark.sql.delta.actions.Action
    found = session.jvm.java.util.ArrayList()
    for each in files:
        facts: dict[str, Any] = {"size": 0, "modificationTime": 0, "dataChange": True}
        facts |= {key: each[key] for key in known if each.get(key) is not None}
        found.add(made.fromJson(json.dumps({"add": facts})))
    actions = session.jvm.scala.jdk.javaapi.CollectionConverters.asScala(found).toSeq()
    log, none = open_log(session, pin.uri), session.jvm.scala.Option.empty()
    return DataFrame(log.createDataFrame(open_snapshot(session, pin), actions, False, none), session.spark)


def _filtered(
    session: RunSession, rows: DataFrame, dataset: str, columns: Sequence[str], filters: Sequence[str]
) -> DataFrame:
    boundary = Boundary(session, dataset)
    for each in filters:
        shown = f"the filter {each}"
        boundary.check_plain(rows, each, shown)
        try:
            rows = rows.where(each)
        except ENGINE_EXCEPTIONS as error:  # it resolves, and is no condition
            raise boundary.error(shown, failure_of(error)) from error
    for each in columns:
        boundary.check_plain(rows, each, f"the column {each}")
    return rows.selectExpr(*columns) if columns else rows


def _prepared_scan(session: RunSession, rows: Any) -> Any:
    """Delta's scan after pruning; None if the optimiser found that nothing has to be read.

    The optimiser is asked itself: the query's own optimised plan has what somebody cached in place of a scan.
    """
    plan = rows._jdf.queryExecution().analyzed()
    with session.active():
        leaves = session.jvm_session.sessionState().optimizer().execute(plan).collectLeaves()
    leaf = leaves.apply(0)
    is_scan = str(leaf.nodeName()).startswith("LogicalRelation")
    return leaf.relation().location().preparedScan() if is_scan else None


def place_of(pin: TablePin, path: str) -> Path:
    """A data file in the file system; the log writes its path encoded, and mostly below the table's."""
    decoded = unquote(path)
    return local_path_of(pin.uri) / re.sub("^file:/*", "/", decoded)


def sizes_of(session: RunSession, files: Any) -> dict[str, int]:
    """The paths of Delta's actions as the log writes them, each with its bytes.

    In one call: one by one is slow for many.
    """
    anything = session.jvm.scala.reflect.ManifestFactory.Any()
    text = str(session.jvm.org.apache.spark.sql.delta.util.JsonUtils.toJson(files, anything))
    return {str(each["path"]): int(each["size"]) for each in json.loads(text)}


def _logical_names(metadata: Any) -> dict[str, str]:
    """The names of the partition columns, by those that the log has for them."""
    physical = metadata.physicalPartitionSchema().fieldNames()
    logical = metadata.partitionSchema().fieldNames()
    return {str(key): str(name) for key, name in zip(physical, logical, strict=True)}


def conditions_of(expressions: Any) -> tuple[str, ...]:
    """Conditions as Spark resolved them, in SQL, sorted."""
    return tuple(sorted(str(each.sql()) for each in each_of(expressions)))


def rows_of(files: Iterable[DataFile]) -> int | None:
    """The rows of these files together; None if somebody did not count those of one."""
    counts = [each.rows for each in files]
    return None if any(each is None for each in counts) else sum(each or 0 for each in counts)


def _data_file(row: Any, names: Mapping[str, str]) -> DataFile:
    records, deleted = row["records"], int(row["deleted"])
    values: dict[str, str | None] = row["partitionValues"] or {}
    partition = {names.get(key, key): value for key, value in values.items()}
    return DataFile(
        path=str(row["path"]),
        size=int(row["size"]),
        rows=None if records is None else int(records) - deleted,
        deleted_rows=deleted,
        partition=dict(sorted(partition.items())),
    )
