"""A table's change feed between two versions, pinned, as rows under a name.

Delta's own feed is the only one that is read unless the profile allows `snapshot_changes` by name: then,
where the table kept no feed, what differs between the two snapshots stands in for it.
Not here: what is done with changes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from pyspark.sql import DataFrame

from headwater.datasets import (
    DELTA_NATIVE,
    SNAPSHOT_CHANGES,
    CdfWindow,
    ReadOptions,
    milliseconds_of,
)
from headwater.delta.columns import cast_column, literal, quoted, sql_column
from headwater.delta.failures import loading_errors
from headwater.delta.files import open_rows
from headwater.delta.gates import check_gate, check_provider
from headwater.delta.head import read_commit, read_commit_file, read_head
from headwater.delta.history import newest_until
from headwater.delta.log_files import check_readable, first_version_of, list_log
from headwater.delta.projection import project_columns
from headwater.delta.snapshot import CHANGE_FEED, check_pin, describe_pin, open_log, open_snapshot
from headwater.errors import ChangesNotRecorded, DeltaError, WindowOutOfRange
from headwater.runtime import local_path_of

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql.types import DataType

    from headwater.delta.projection import ScanColumn
    from headwater.delta.snapshot import SnapshotInfo
    from headwater.names import TablePin
    from headwater.origin import Origin
    from headwater.runtime import RunSession

_OWN_COLUMNS = ("_change_type", "_commit_version", "_commit_timestamp")


@dataclass(frozen=True, slots=True, order=True, kw_only=True)
class ChangePin:
    """A window of a change feed as a run saw it: `pin` is its end, `starting_version` its first version.

    There is nothing in it if it starts behind its end.
    """

    pin: TablePin
    starting_version: int

    @property
    def is_empty(self) -> bool:
        """Whether it has no version at all."""
        return self.starting_version > self.pin.version


@dataclass(frozen=True, kw_only=True)
class ChangeRead:
    """The rows of a change feed, the snapshot at its end, how columns were made, and by whom."""

    rows: DataFrame
    snapshot: SnapshotInfo
    provider_kind: str
    columns: tuple[ScanColumn, ...] = ()


def pin_changes(name: str, uri: str, window: CdfWindow, *, newest: int | None = None) -> ChangePin:
    """The versions that a window spans, without Spark; `newest` is the one to go by, the log's if None.

    Raises:
        WindowOutOfRange: it begins or ends behind the newest version and does not allow that; or before the
            oldest that is still there, which nothing allows: changes would be missing.
    """
    files = list_log(uri)
    newest = read_head(uri).version if newest is None else newest
    oldest = first_version_of(files)
    start = _start(uri, window, oldest)
    end = _end(uri, window, newest)
    if start < oldest:
        detail = f"the oldest version that is still there is {oldest}"
        raise _out_of_range(uri, window, detail, f"Begin with version {oldest}, or with the rows themselves.")
    if end is None:
        detail = f"it ends before version {oldest}, the oldest"
        raise _out_of_range(uri, window, detail, f"Let it end with version {oldest} or later.")
    if not window.allow_out_of_range:
        if start > newest:
            raise _out_of_range(uri, window, f"it begins after version {newest}, the newest")
        if _ends_behind(uri, window, newest):
            raise _out_of_range(uri, window, f"it ends after version {newest}, the newest")
        if start > end:
            raise _out_of_range(uri, window, "there is no version in it")
    end = min(end, newest)
    check_readable(files, end)
    return ChangePin(pin=read_commit(uri, end).pin(name), starting_version=start)


def read_changes(
    session: RunSession, pinned: ChangePin, options: ReadOptions | None = None, origin: Origin | None = None
) -> DataFrame:
    """The rows of a change feed; see `open_changes`."""
    return open_changes(session, pinned, options, origin).rows


def open_changes(
    session: RunSession, pinned: ChangePin, options: ReadOptions | None = None, origin: Origin | None = None
) -> ChangeRead:
    """What changed in a pinned window: the table's columns, _change_type, _commit_version, _commit_timestamp.

    The columns are those of the window's last version, whatever the table became since.

    Raises:
        ChangesNotRecorded: the table did not keep a feed in all of the window, or changed its columns in it.
        DegradedRefused: the same, where comparing snapshots would do and the profile does not allow it.
        VersionNotFound, LogUnreadable, GateClosed: as for rows.
    """
    chosen, pin = options or ReadOptions(), pinned.pin
    snapshot = describe_pin(session, pin, origin)
    check_gate(chosen.gate, snapshot, pin.name, origin)
    missing = _first_without_feed(session, pinned, snapshot, origin)
    with loading_errors(local_path_of(pin.uri), pin.version, dataset=pin.name, origin=origin):
        if missing is None:
            rows, kind = _native(session, pinned), DELTA_NATIVE
        else:
            _check_allowed(session, pin, missing, origin, required=chosen.require_change_feed)
            rows, kind = _compared(session, pinned, snapshot, origin), SNAPSHOT_CHANGES
    rows, columns = project_columns(session, rows, chosen, dataset=pin.name, origin=origin)
    return ChangeRead(rows=rows, snapshot=snapshot, provider_kind=kind, columns=columns)


def _start(uri: str, window: CdfWindow, oldest: int) -> int:
    """The first version of a window; a time means the first commit at or after it."""
    if window.starting_version is not None:
        return window.starting_version
    moment = milliseconds_of(window.starting_timestamp or "")
    before = newest_until(uri, moment - 1)
    if before is not None:
        return before + 1
    is_oldest = oldest == 0 or newest_until(uri, moment) == oldest
    return oldest if is_oldest else oldest - 1  # commits before the oldest were in the window, and are gone


def _end(uri: str, window: CdfWindow, newest: int) -> int | None:
    if window.ending_timestamp is not None:
        return newest_until(uri, milliseconds_of(window.ending_timestamp))
    return newest if window.ending_version is None else window.ending_version


def _ends_behind(uri: str, window: CdfWindow, newest: int) -> bool:
    if window.ending_timestamp is not None:
        # A time after the newest commit: a later commit could still fall into the window.
        before = newest_until(uri, milliseconds_of(window.ending_timestamp) - 1)
        return before is not None and before >= newest
    return window.ending_version is not None and window.ending_version > newest


def _out_of_range(uri: str, window: CdfWindow, detail: str, remedy: str | None = None) -> WindowOutOfRange:
    error = WindowOutOfRange(path=str(local_path_of(uri)), window=str(window), detail=detail)
    return replace(error, remedy=remedy) if remedy else error


def _native(session: RunSession, pinned: ChangePin) -> DataFrame:
    """Delta's own feed, in the schema of the window's end: asked by option, Delta takes the newest one's."""
    pin, jvm = pinned.pin, session.jvm
    none, end = jvm.scala.Option.empty(), open_snapshot(session, pin)
    rows = jvm.org.apache.spark.sql.delta.commands.cdc.CDCReader.changesToBatchDF(
        open_log(session, pin.uri),
        min(pinned.starting_version, pin.version),
        pin.version,
        session.jvm_session,
        none,
        jvm.scala.Option.apply(end),
        False,
        none,
    )
    feed = DataFrame(rows, session.spark)
    return feed.where("false") if pinned.is_empty else feed


def _first_without_feed(
    session: RunSession, pinned: ChangePin, end: SnapshotInfo, origin: Origin | None
) -> int | None:
    """The first version of a window whose changes were not kept."""
    uri, start = pinned.pin.uri, pinned.starting_version
    if pinned.is_empty:
        return None if end.keeps_changes else pinned.pin.version
    first = end
    try:
        if start < pinned.pin.version:
            first = describe_pin(session, read_commit(uri, start).pin(pinned.pin.name), origin)
        if not first.keeps_changes:
            return start
        # Every commit is read, also where a checkpoint lies above it: Delta passes over one that is empty.
        off = [each for each in range(start, pinned.pin.version + 1) if _switched(uri, each) is False]
    except DeltaError as error:
        error.origin = error.origin or origin
        raise
    return off[0] if off else None


def _switched(uri: str, version: int) -> bool | None:
    """Whether a commit turns the feed on or off; None if it says nothing about it."""
    content, _ = read_commit_file(uri, version)
    for line in content.splitlines():
        if b'"metaData"' not in line:
            continue
        metadata: Any = json.loads(line).get("metaData")
        if isinstance(metadata, dict):
            properties: Any = cast("dict[str, Any]", metadata).get("configuration")
            is_kept = isinstance(properties, dict) and cast("dict[str, Any]", properties).get(CHANGE_FEED)
            return str(is_kept).lower() == "true"
    return None


def _check_allowed(
    session: RunSession, pin: TablePin, version: int, origin: Origin | None, *, required: bool
) -> None:
    detail = f"version {version} did not keep one"
    if required:
        path = str(local_path_of(pin.uri))
        raise ChangesNotRecorded(
            dataset=pin.name, path=path, detail=f"{detail}, and it is required", origin=origin
        )
    check_provider(
        session,
        SNAPSHOT_CHANGES,
        pin.name,
        detail=f"of its change feed {detail}, so two snapshots would be compared",
        remedy=f"Set {CHANGE_FEED} = true on the table and begin with a version after that. ",
        origin=origin,
    )


def _compared(session: RunSession, pinned: ChangePin, end: SnapshotInfo, origin: Origin | None) -> DataFrame:
    """Rows that only one of the two snapshots has; what came and went in between is not seen."""
    pin = pinned.pin
    after = open_rows(session, pin)
    taken = [name for name in after.columns if name.casefold() in _OWN_COLUMNS]
    if taken:
        raise _not_comparable(pin, f"it has a column {taken[0]} of its own", origin)
    earlier = _before_window(session, pinned, after, origin)
    marks = (("delete", earlier.exceptAll(after)), ("insert", after.exceptAll(earlier)))
    deleted, inserted = (rows.withColumn("_change_type", literal(session, mark)) for mark, rows in marks)
    moment = sql_column(session, f"timestamp_millis({milliseconds_of(end.timestamp)})")
    rows = deleted.union(inserted).withColumn("_commit_version", sql_column(session, f"{pin.version}L"))
    rows = rows.withColumn("_commit_timestamp", moment)
    return rows.where("false") if pinned.is_empty else rows


def _before_window(
    session: RunSession, pinned: ChangePin, after: DataFrame, origin: Origin | None
) -> DataFrame:
    before = min(pinned.starting_version, pinned.pin.version) - 1
    if before < 0:
        return after.limit(0)
    start = read_commit(pinned.pin.uri, before).pin(pinned.pin.name)
    check_pin(start, origin)
    return earlier_rows(session, open_rows(session, start), after, start, origin)


def earlier_rows(
    session: RunSession, rows: DataFrame, after: DataFrame, pin: TablePin, origin: Origin | None = None
) -> DataFrame:
    """Rows of an earlier version, `pin`, in the columns of later ones; columns that came later are null.

    Raises:
        ChangesNotRecorded: a column was of another type.
    """
    known = {each.name.casefold(): each for each in rows.schema.fields}

    def column(name: str, kind: DataType) -> Column:
        found = known.get(name.casefold())
        if found is None:
            return cast_column(session, literal(session, None), kind).alias(name)
        if found.dataType != kind:
            words = f"its column {name} was {found.dataType.simpleString()} in version {pin.version}"
            raise _not_comparable(pin, words, origin)
        return sql_column(session, quoted(found.name)).alias(name)

    return rows.select(*[column(each.name, each.dataType) for each in after.schema.fields])


def _not_comparable(pin: TablePin, detail: str, origin: Origin | None) -> ChangesNotRecorded:
    path = str(local_path_of(pin.uri))
    words = f"{detail}, so its snapshots cannot be compared"
    return ChangesNotRecorded(dataset=pin.name, path=path, detail=words, origin=origin)
