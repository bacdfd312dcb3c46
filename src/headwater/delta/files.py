"""The data files of a table at a version: which there are, which a filter leaves, and reads of only those.

The pruning is Delta's own, asked before anything is read. Delta's JVM classes are reached here by design.
Not here: plans; whoever has one hands in columns and filters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from headwater.delta.failures import loading_errors
from headwater.delta.snapshot import check_pin, open_log, open_snapshot
from headwater.errors import FileNotInSnapshot, ScanNotResolved
from headwater.runtime import ENGINE_EXCEPTIONS, failure_of, local_path_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from headwater.names import SnapshotKey, TablePin
    from headwater.runtime import RunSession

_RECORDS = "CAST(get_json_object(stats, '$.numRecords') AS BIGINT)"
_DELETED = "coalesce(deletionVector.cardinality, 0L)"


@dataclass(frozen=True, slots=True, order=True, kw_only=True)
class DataFile:
    """A data file as the log has it; `rows` are those that are not deleted, None if nobody counted them."""

    path: str
    size: int
    rows: int | None
    deleted_rows: int
    partition: dict[str, str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanPreview:
    """What a scan would read: Delta's own choice of files for the filters, before anything is read.

    `rows_kept` and `rows_total` are None where a file has no statistics.
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
        files = DataFrame(open_snapshot(session, pin).allFiles().toDF(), session.spark)
        found = files.selectExpr(
            "path", "size", f"{_RECORDS} AS records", f"{_DELETED} AS deleted", "partitionValues"
        ).collect()
    return tuple(sorted((_data_file(row) for row in found), key=lambda each: each.path))


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
        ScanNotResolved: a column or filter does not fit the table.
    """
    everything = list_files(session, pin)
    with loading_errors(local_path_of(pin.uri), pin.version, dataset=pin.name):
        rows: DataFrame = open_rows(session, pin)
    rows = _filtered(rows, pin.name, columns, filters)
    with loading_errors(local_path_of(pin.uri), pin.version, dataset=pin.name):
        index = _prepared_index(rows)
        found = set(_input_files(session, index)) if index is not None else set[str]()
        scan: Any = index.preparedScan() if index is not None else None
        kept = tuple(each for each in everything if _absolute(pin, each.path) in found)
        used = _conditions(scan.filtersUsedForSkipping()) if scan is not None else ()
        unused = _conditions(scan.unusedFilters()) if scan is not None else ()
    return ScanPreview(
        snapshot=pin.key,
        columns=tuple(columns),
        filters=tuple(filters),
        used_filters=used,
        unused_filters=unused,
        files_total=len(everything),
        files_kept=len(kept),
        bytes_total=sum(each.size for each in everything),
        bytes_kept=sum(each.size for each in kept),
        rows_total=_rows(everything),
        rows_kept=_rows(kept),
        kept=kept,
    )


def open_rows(session: RunSession, pin: TablePin) -> DataFrame:
    """All rows of a table at a pin, by Delta's own reader."""
    path = str(local_path_of(pin.uri))
    return session.spark.read.format("delta").option("versionAsOf", pin.version).load(path)


def open_rows_of(session: RunSession, pin: TablePin, files: Iterable[str]) -> DataFrame:
    """The rows of some of a table's data files at a pin, by Delta's own reader.

    Raises:
        FileNotInSnapshot: the version has no such file.
    """
    wanted = sorted(set(files))
    snapshot, jvm = open_snapshot(session, pin), session.jvm
    chosen = snapshot.allFiles().filter(F.col("path").isin(wanted)._jc)
    actions = chosen.collectAsList()
    there = {str(row[0]) for row in DataFrame(chosen.toDF(), session.spark).select("path").collect()}
    for each in wanted:
        if each not in there:
            path = str(local_path_of(pin.uri))
            raise FileNotInSnapshot(path=path, version=pin.version, file=each)
    sequence = jvm.scala.jdk.javaapi.CollectionConverters.asScala(actions).toSeq()
    log, none = open_log(session, pin.uri), jvm.scala.Option.empty()
    return DataFrame(log.createDataFrame(snapshot, sequence, False, none), session.spark)


def _filtered(rows: DataFrame, dataset: str, columns: Sequence[str], filters: Sequence[str]) -> DataFrame:
    for each in filters:
        rows = _tried(lambda rows, each=each: rows.where(each), rows, dataset, f"the filter {each}")
    if columns:
        rows = _tried(lambda rows: rows.selectExpr(*columns), rows, dataset, ", ".join(columns))
    return rows


def _tried(change: Callable[[DataFrame], DataFrame], rows: DataFrame, dataset: str, shown: str) -> DataFrame:
    try:
        return change(rows)
    except ENGINE_EXCEPTIONS as error:
        failure = failure_of(error)
        raise ScanNotResolved(
            dataset=dataset,
            expression=shown,
            detail=failure.detail,
            condition=failure.condition,
            sql_state=failure.sql_state,
            remedy="Name columns that the table has: headwater table snapshot PATH shows them.",
        ) from error


def _prepared_index(rows: Any) -> Any:
    """Delta's file index after pruning; None if the optimiser found that nothing has to be read."""
    leaves = rows._jdf.queryExecution().optimizedPlan().collectLeaves()
    leaf = leaves.apply(0)
    return leaf.relation().location() if str(leaf.nodeName()).startswith("LogicalRelation") else None


def _input_files(session: RunSession, index: Any) -> list[str]:
    """The paths of an index's files in one call; one by one would be slow for many."""
    joined = str(
        session.jvm.java.lang.String.join("\0", session.jvm.java.util.Arrays.asList(index.inputFiles()))
    )
    return [_plain_path(each) for each in joined.split("\0") if each]


def _plain_path(uri: str) -> str:
    return "/" + uri.partition(":")[2].lstrip("/") if uri.startswith("file:") else uri


def _absolute(pin: TablePin, path: str) -> str:
    """A file's path in the form that an index gives; the log writes it encoded, and below the table's."""
    decoded = unquote(path)
    return _plain_path(decoded) if decoded.startswith("file:") else str(local_path_of(pin.uri) / decoded)


def _conditions(expressions: Any) -> tuple[str, ...]:
    found: list[str] = []
    each = expressions.iterator()
    while each.hasNext():
        found.append(str(each.next().sql()))
    return tuple(sorted(found))


def _rows(files: Iterable[DataFile]) -> int | None:
    counts = [each.rows for each in files]
    return None if any(each is None for each in counts) else sum(each or 0 for each in counts)


def _data_file(row: Any) -> DataFile:
    records, deleted = row["records"], int(row["deleted"])
    partition: dict[str, str | None] = row["partitionValues"] or {}
    return DataFile(
        path=str(row["path"]),
        size=int(row["size"]),
        rows=None if records is None else int(records) - deleted,
        deleted_rows=deleted,
        partition=dict(sorted(partition.items())),
    )
