"""A table's rows in fewer, fuller files: compacted, along a z-order curve, or by its own clustering.

The rows stay; readers of older versions keep the older files. Not here: when it is due.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame

from headwater.delta.columns import table_in_sql
from headwater.delta.files import list_files, open_rows
from headwater.delta.layout import path_of
from headwater.delta.settling import FILE_SIZE, clustering_of, java_texts
from headwater.delta.snapshot import describe_pin
from headwater.delta.upkeep.content import carry_content
from headwater.delta.upkeep.failing import upkeep_errors
from headwater.delta.upkeep.log import check_commit
from headwater.delta.upkeep.note import noted_session
from headwater.delta.upkeep.receipt import UpkeepReceipt, table_state
from headwater.errors import InvalidSetting, PolicyRefused
from headwater.given import size
from headwater.runtime import local_path_of

if TYPE_CHECKING:
    from headwater.delta.files import DataFile
    from headwater.delta.snapshot import SnapshotInfo
    from headwater.delta.upkeep.receipt import TableState
    from headwater.delta.upkeep.task import UpkeepTask
    from headwater.names import TablePin
    from headwater.runtime import RunSession

_LARGEST = "spark.databricks.delta.optimize.maxFileSize"
_SMALLEST = "spark.databricks.delta.optimize.minFileSize"
# Delta's own, where neither the caller nor the table says anything.
_USUAL_FILE_SIZE = 1 << 30
# Delta's own: the share of deleted rows from which on it rewrites a file.
_HOLES = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Optimizing:
    """How a table is to be optimized.

    Args:
        where: a condition in SQL over the columns that it is partitioned by; all of it if None.
        zorder_by: columns by which rows are brought together; not for a table with clustering of its own.
        target_file_size: about how many bytes a file gets; the table's own choice if None.
        full: cluster everything anew, also what is clustered already.
    """

    where: str | None = None
    zorder_by: tuple[str, ...] = ()
    target_file_size: int | None = None
    full: bool = False


def optimize_table(task: UpkeepTask, chosen: Optimizing | None = None) -> UpkeepReceipt:
    """Rewrites a table's files so that there are fewer, fuller ones; its rows stay as they are.

    Raises:
        PolicyRefused: z-order for a table with clustering, or `full` for one without.
        CommitConflict: another writer was first; nothing was committed.
        MutationRefused: the condition or a column does not fit the table.
    """
    chosen = chosen or Optimizing()
    session, uri = task.session, task.uri
    pin, before = table_state(task)
    snapshot = describe_pin(session, pin)
    clustering = clustering_of(session, uri, snapshot)
    _check(chosen, uri, clustering)
    wanted = file_size_of(snapshot, chosen.target_file_size)
    lost = check_commit(task, "optimize", snapshot)
    if task.dry_run:
        return replace(_planned(task, pin, chosen, before, wanted, clustering), lost=lost)
    settings = {_LARGEST: str(wanted), _SMALLEST: str(wanted // 2)}
    with upkeep_errors("optimize", uri), noted_session(session, task.note, settings) as own:
        told = _optimize(own, uri, chosen, snapshot)
    newest, after = table_state(task)
    carry_content(pin, newest)
    metrics = {
        "files_removed": int(told["numFilesRemoved"]),
        "files_added": int(told["numFilesAdded"]),
        "bytes_removed": int(told["filesRemoved"]["totalSize"] or 0),
        "bytes_added": int(told["filesAdded"]["totalSize"] or 0),
        "partitions": int(told["partitionsOptimized"]),
    }
    is_same = after.version == before.version
    words = f"{metrics['files_removed']:,} files became {metrics['files_added']:,}"
    return UpkeepReceipt(
        operation="optimize",
        outcome="unchanged" if is_same else "done",
        summary="its files are as they should be" if is_same else words,
        before=before,
        after=after,
        metrics=tuple(metrics.items()),
        lost=() if is_same else lost,
    )


def file_size_of(snapshot: SnapshotInfo, wanted: int | None = None) -> int:
    """About how many bytes a file of a table should have: as wanted, as it says itself, or as Delta does."""
    said = snapshot.table_properties.get(FILE_SIZE, "")
    try:
        return wanted or size(FILE_SIZE, int(said) if said.isdigit() else said)
    except InvalidSetting:  # nobody has said anything, or something that only others understand
        return _USUAL_FILE_SIZE


def small_files(files: tuple[DataFile, ...], wanted: int) -> list[DataFile]:
    """The files that compacting takes: less than half as large as wanted and not alone, or full of holes."""
    found = [each for each in files if each.size < wanted // 2 or _has_holes(each)]
    folders = Counter(tuple(each.partition.items()) for each in found)
    return [each for each in found if folders[tuple(each.partition.items())] > 1 or _has_holes(each)]


def _has_holes(file: DataFile) -> bool:
    """Whether deletion vectors take so much out of a file that Delta rewrites it for that alone."""
    return file.deleted_rows > _HOLES * ((file.rows or 0) + file.deleted_rows)


def _check(chosen: Optimizing, uri: str, clustering: tuple[str, ...]) -> None:
    path = str(local_path_of(uri))
    if chosen.zorder_by and clustering:
        raise PolicyRefused(
            path=path,
            key="zorder_by",
            value=", ".join(chosen.zorder_by),
            complaint=f"it is clustered by {', '.join(clustering)}",
            remedy="Optimize it without zorder_by: its own clustering is used.",
        )
    if chosen.full and chosen.where:
        raise PolicyRefused(
            path=path,
            key="full",
            value="true",
            complaint=f"a condition was given too: {chosen.where}",
            remedy="Leave one of the two out.",
        )
    if chosen.full and not clustering:
        raise PolicyRefused(
            path=path,
            key="full",
            value="true",
            complaint="it has no clustering of its own",
            remedy="Leave it out, or give the table cluster_by.",
        )


def _optimize(own: RunSession, uri: str, chosen: Optimizing, snapshot: SnapshotInfo) -> Any:
    path = str(local_path_of(uri))
    if chosen.full:
        return own.spark.sql(f"OPTIMIZE {table_in_sql(uri)} FULL").collect()[0]["metrics"]
    builder = own.jvm.io.delta.tables.DeltaTable.forPath(own.jvm_session, path).optimize()
    if chosen.where:
        builder = builder.where(chosen.where)
    if not chosen.zorder_by:
        return DataFrame(builder.executeCompaction(), own.spark).collect()[0]["metrics"]
    columns = [path_of(each, snapshot.schema.names) for each in chosen.zorder_by]
    told = builder.executeZOrderBy(java_texts(own, columns))
    return DataFrame(told, own.spark).collect()[0]["metrics"]


def _planned(
    task: UpkeepTask,
    pin: TablePin,
    chosen: Optimizing,
    before: TableState,
    wanted: int,
    clustering: tuple[str, ...],
) -> UpkeepReceipt:
    with upkeep_errors("optimize", pin.uri):  # what could not be done is not planned
        rows = open_rows(task.session, pin)
        rows.select(*(path_of(each, rows.columns) for each in chosen.zorder_by))
        rows.where(chosen.where or "true")
    files = list_files(task.session, pin)
    taken = list(files) if chosen.zorder_by or clustering else small_files(files, wanted)
    nothing = not taken
    how = " by its clustering" if clustering else " along a z-order curve" if chosen.zorder_by else ""
    where = f" where {chosen.where}" if chosen.where else ""
    return UpkeepReceipt(
        operation="optimize",
        outcome="unchanged" if nothing else "planned",
        summary="its files are as they should be"
        if nothing
        else f"up to {len(taken):,} of {len(files):,} files would be rewritten{how}{where}",
        before=before,
        after=before,
        metrics=(("files_considered", len(taken)), ("bytes_considered", sum(each.size for each in taken))),
        listed=tuple(each.path for each in taken),
    )
