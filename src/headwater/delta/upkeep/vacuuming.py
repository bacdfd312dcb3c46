"""Files that no version within a table's retention has any more, deleted; never what somebody still needs.

Delta says which files it would delete, and that list, less what holds need, is all that it is then given: a
file that expires in between stays until the next time. Not here: who needs what.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql.classic.column import Column

from headwater.delta.columns import table_in_sql
from headwater.delta.snapshot import describe_pin
from headwater.delta.upkeep.content import carry_content
from headwater.delta.upkeep.failing import upkeep_errors
from headwater.delta.upkeep.holds import Loss, held_log, lost_files
from headwater.delta.upkeep.log import lost_to_cleanup
from headwater.delta.upkeep.note import noted_session
from headwater.delta.upkeep.receipt import UpkeepReceipt, table_state
from headwater.delta.upkeep.retention import check_hours, retention_of
from headwater.runtime import local_path_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.delta.upkeep.receipt import TableState
    from headwater.delta.upkeep.task import UpkeepTask
    from headwater.runtime import RunSession

_LOGGING = "spark.databricks.delta.vacuum.logging.enabled"
_INVENTORY = "headwater_inventory"
_ROWS = "array<struct<path: string, length: bigint, isDir: boolean, modificationTime: bigint>>"
_SETTINGS = {
    # What is too short is decided here, before Delta is asked.
    "spark.databricks.delta.retentionDurationCheck.enabled": "false",
    # Otherwise Delta takes no notice of the hours that it is given, unless they are none.
    "spark.databricks.delta.vacuum.retentionWindowIgnore.enabled": "false",
    # Otherwise it lists a folder of six files in ten thousand tasks.
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "8",
}


def vacuum_table(task: UpkeepTask, retention_hours: float | None = None) -> UpkeepReceipt:
    """Deletes the files that no version within the retention has; a dry run lists them.

    `retention_hours` is how long a file stays after it was replaced; the table's own property if None.

    Raises:
        RetentionTooShort: fewer hours than the table's property, and nobody forces it.
        PinsAtRisk: a version that is needed would lose files, and nobody spares them or forces it.
    """
    check_hours(retention_hours)
    session, uri, guard, dry_run = task.session, task.uri, task.guard, task.dry_run
    pin, before = table_state(task)
    snapshot = describe_pin(session, pin)
    kept = retention_of(snapshot.table_properties)
    hours = kept.deleted_files_hours if retention_hours is None else retention_hours
    # Delta may clean the log with a commit; where that would cost something, none is made.
    silent = {_LOGGING: "false"} if lost_to_cleanup(task, snapshot) else {}
    settings = {**_SETTINGS, **silent}
    with upkeep_errors("vacuum", uri), noted_session(session, task.note, settings) as own:
        listed = _candidates(own, uri, hours)
        _, holds = held_log(uri, guard)
        robbed = lost_files(session, holds, listed)
        lost = tuple(Loss(hold=hold, files=len(files)) for hold, files in robbed.items())
        if guard.spare:
            needed = {file for files in robbed.values() for file in files}
            listed, lost = [each for each in listed if each not in needed], ()
        if not dry_run:
            guard.check("vacuum", uri, lost)
            guard.check_hours(uri, hours, kept.deleted_files_hours, "replaced files")
            if listed:
                _delete(own, uri, hours, listed)
    newest, after = (pin, before) if dry_run or not listed else table_state(task)
    carry_content(pin, newest)
    return _receipt(uri, listed, lost, before, after, dry_run=dry_run)


def _receipt(
    uri: str,
    listed: Sequence[str],
    lost: tuple[Loss, ...],
    before: TableState,
    after: TableState,
    *,
    dry_run: bool,
) -> UpkeepReceipt:
    there = [each for each in listed if (local_path_of(uri) / each).exists()]
    counted = len(listed) if dry_run else len(listed) - len(there)
    noun = "file" if counted == 1 else "files"
    words = f"{counted:,} {noun} {'would be deleted' if dry_run else 'deleted'}"
    return UpkeepReceipt(
        operation="vacuum",
        outcome="unchanged" if not listed else "planned" if dry_run else "done",
        summary=words if listed else "there is nothing to delete",
        before=before,
        after=after,
        metrics=(("files_deleted", counted),) if not dry_run else (("files_to_delete", counted),),
        lost=lost,
        listed=tuple(listed),
    )


def _statement(uri: str, hours: float, using: str = "") -> str:
    return f"VACUUM {table_in_sql(uri)} {using}RETAIN {math.ceil(hours)} HOURS"


def _candidates(own: RunSession, uri: str, hours: float) -> list[str]:
    """What Delta would delete, files and empty folders, by plain paths below the table's folder."""
    rows = own.spark.sql(f"{_statement(uri, hours)} DRY RUN").collect()
    root = local_path_of(uri)
    found = (Path("/" + str(row["path"]).partition(":")[2].lstrip("/")) for row in rows)
    # Of a folder that its encoded name stands for Delta says that it is empty, and then leaves it.
    return sorted(str(each.relative_to(root)) for each in found if each.is_file() or _is_empty(each))


def _is_empty(path: Path) -> bool:
    return path.is_dir() and not any(path.iterdir())


def _delete(own: RunSession, uri: str, hours: float, listed: Sequence[str]) -> None:
    rows = [row for each in listed if (row := _inventory_row(local_path_of(uri) / each)) is not None]
    # As one text: a row by a row would be several calls into the JVM for each.
    functions = own.jvm.org.apache.spark.sql.functions
    text, options = functions.lit(json.dumps(rows)), own.jvm.java.util.HashMap()
    inventory: Any = functions.inline(functions.from_json(text, _ROWS, options))
    own.spark.range(1).select(Column(inventory)).createOrReplaceTempView(_INVENTORY)
    own.spark.sql(_statement(uri, hours, f"USING INVENTORY (TABLE {_INVENTORY}) ")).collect()


def _inventory_row(path: Path) -> dict[str, str | int] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    changed = found.st_mtime_ns // 1_000_000
    return {
        "path": f"file:{path}",
        "length": found.st_size,
        "isDir": path.is_dir(),
        "modificationTime": changed,
    }
