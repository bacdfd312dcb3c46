"""What a query would read of each Delta table: Delta's own choice of files, asked before anything is read.

Not here: the query; whoever has its frame hands it in.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from headwater.delta.failures import loading_errors
from headwater.delta.files import conditions_of, list_files, rows_of, sizes_of
from headwater.delta.head import checksum_of
from headwater.delta.projection import each_of
from headwater.delta.snapshot import open_snapshot
from headwater.runtime import local_path_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import DataFrame

    from headwater.names import TablePin
    from headwater.runtime import RunSession


@dataclass(frozen=True, slots=True, kw_only=True)
class TableScan:
    """What a query reads of one table: the files there are, and those that its filters leave.

    Filters are shown as Spark resolved them. A table that is read in several places is counted once, with
    every file that one of them reads. `files` are the paths that are left, as the log writes them.
    """

    pin: TablePin
    files_total: int
    bytes_total: int
    files_kept: int
    bytes_kept: int
    rows_kept: int | None
    used_filters: tuple[str, ...]
    unused_filters: tuple[str, ...]
    files: tuple[str, ...]


def scans_of(session: RunSession, rows: DataFrame, pins: Iterable[TablePin]) -> tuple[TableScan, ...]:
    """One scan per pinned table, sorted by name, of the query that `rows` describes; nothing is run.

    A pin that the optimiser found no need to read has no files left.
    """
    pins = tuple(pins)
    found: dict[tuple[str, int], list[Any]] = {}
    if not pins:  # then there is nothing to ask the optimiser for
        return ()
    for scan, path in _prepared_scans(session, rows):
        found.setdefault((path, int(scan.version())), []).append(scan)
    scans = [_table_scan(session, pin, found.get((_place(pin), pin.version), [])) for pin in pins]
    return tuple(sorted(scans, key=lambda each: each.pin.name))


def _place(pin: TablePin) -> str:
    return str(local_path_of(pin.uri))


def _prepared_scans(session: RunSession, rows: Any) -> list[tuple[Any, str]]:
    """Delta's scans after pruning, in the query and its subqueries, each with the path of its table."""
    execution = rows._jdf.queryExecution()
    with session.active():
        if execution.sparkSession().sharedState().cacheManager().isEmpty():
            optimised = execution.optimizedPlan()  # whoever runs these rows afterwards need not make it again
        else:  # it has what somebody cached in place of a scan
            optimised = session.jvm_session.sessionState().optimizer().execute(execution.analyzed())
    found: list[tuple[Any, str]] = []
    for tree in (optimised, *each_of(optimised.subqueriesAll())):
        for leaf in each_of(tree.collectLeaves()):
            if not str(leaf.nodeName()).startswith("LogicalRelation"):
                continue
            relation = leaf.relation()
            if str(relation.getClass().getSimpleName()) != "HadoopFsRelation":
                continue
            location = relation.location()
            if str(location.getClass().getSimpleName()) == "PreparedDeltaFileIndex":
                found.append((location.preparedScan(), str(location.path().toUri().getPath())))
    return found


def _table_scan(session: RunSession, pin: TablePin, scans: list[Any]) -> TableScan:
    with loading_errors(local_path_of(pin.uri), pin.version, dataset=pin.name):
        snapshot = open_snapshot(session, pin)
        kept: dict[str, int] = {}
        for scan in scans:
            kept |= sizes_of(session, scan.files())
        return TableScan(
            pin=pin,
            files_total=int(snapshot.numOfFiles()),
            bytes_total=int(snapshot.sizeInBytes()),
            files_kept=len(kept),
            bytes_kept=sum(kept.values()),
            rows_kept=_rows_kept(session, pin, scans, kept),
            used_filters=tuple(
                sorted({each for scan in scans for each in conditions_of(scan.filtersUsedForSkipping())})
            ),
            unused_filters=tuple(
                sorted({each for scan in scans for each in conditions_of(scan.unusedFilters())})
            ),
            files=tuple(sorted(kept)),
        )


def _rows_kept(session: RunSession, pin: TablePin, scans: list[Any], kept: dict[str, int]) -> int | None:
    """Delta counts rows where it looks at statistics anyway; elsewhere the log is asked.

    First what lies beside it as a file: the log itself is a job of Spark.
    """
    if not kept:
        return 0
    counted = scans[0].scanned().logicalRows() if len(scans) == 1 else None
    if counted is not None and counted.isDefined():
        return int(counted.get())
    told = _rows_told(pin, kept)
    if told is not None:
        return told
    return rows_of(each for each in list_files(session, pin) if each.path in kept)


def _rows_told(pin: TablePin, kept: dict[str, int]) -> int | None:
    """The rows of these files as the version's checksum file has them; None if it does not tell of all."""
    counts: dict[str, int] = {}
    try:
        for each in cast("list[Any]", checksum_of(pin)["allFiles"]):
            if kept.get(each["path"]) == each["size"]:
                vector: dict[str, int] = each.get("deletionVector") or {}
                counts[each["path"]] = int(json.loads(each["stats"])["numRecords"])
                counts[each["path"]] -= vector.get("cardinality", 0)
    except (KeyError, TypeError, ValueError, AttributeError):  # no list, or a file whose rows nobody counted
        return None
    return sum(counts.values()) if counts.keys() == kept.keys() else None
