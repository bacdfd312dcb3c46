"""Pinned reads, and the versions a session believes in: a read without a version does not exist.

Not here: where the name comes from, or what is done with the rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from headwater.datasets import ReadOptions
from headwater.delta.columns import column_where, frame_in
from headwater.delta.failures import loading_errors
from headwater.delta.files import open_rows, open_rows_of
from headwater.delta.gates import check_gate
from headwater.delta.head import read_head
from headwater.delta.projection import project_columns
from headwater.delta.snapshot import describe_pin, open_log, pin_version
from headwater.errors import ChangesNotRecorded, ScanNotResolved
from headwater.runtime import local_path_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headwater.clock import Clock
    from headwater.delta.projection import ScanColumn
    from headwater.delta.snapshot import SnapshotInfo
    from headwater.names import TablePin
    from headwater.origin import Origin
    from headwater.runtime import CachePolicy, RunSession

_LONGEST_PATH = 1_000_000
_PUSHDOWN = "spark.sql.parquet.filterPushdown"


@dataclass(frozen=True, kw_only=True)
class PinnedRead:
    """The rows of a table at a pin, the snapshot they come from, and how columns were made, if they were."""

    rows: DataFrame
    snapshot: SnapshotInfo
    columns: tuple[ScanColumn, ...] = ()


def read_pinned(
    session: RunSession, pin: TablePin, options: ReadOptions | None = None, origin: Origin | None = None
) -> DataFrame:
    """The rows of a table at a pin; see `open_pinned`."""
    return open_pinned(session, pin, options, origin).rows


def open_pinned(
    session: RunSession, pin: TablePin, options: ReadOptions | None = None, origin: Origin | None = None
) -> PinnedRead:
    """The rows of a table at a pin, under its gate and with the columns and files that are asked for.

    Raises:
        VersionNotFound: that version is gone, or the table was made anew since.
        LogUnreadable, ProtocolUnsupported, BeyondRetention: the log cannot be read there.
        GateClosed: the table has less than the gate asks for.
        FileNotInSnapshot, ScanNotResolved: the options do not fit the table.
    """
    chosen = options or ReadOptions()
    snapshot = describe_pin(session, pin, origin)
    check_gate(chosen.gate, snapshot, pin.name, origin)
    if chosen.require_change_feed and not snapshot.keeps_changes:
        raise ChangesNotRecorded(
            dataset=pin.name,
            path=str(local_path_of(pin.uri)),
            detail=f"version {pin.version} does not keep one, and it is required",
            origin=origin,
        )
    with loading_errors(local_path_of(pin.uri), pin.version, dataset=pin.name, origin=origin):
        rows = _native_rows(session, pin, chosen, origin)
    if chosen.file_column is not None:
        rows = _with_file(session, rows, pin, chosen.file_column, origin)
    rows, columns = project_columns(session, rows, chosen, dataset=pin.name, origin=origin)
    return PinnedRead(rows=rows, snapshot=snapshot, columns=columns)


def _native_rows(
    session: RunSession, pin: TablePin, options: ReadOptions, origin: Origin | None
) -> DataFrame:
    if options.pushdown and options.files is None:
        return open_rows(session, pin)
    if options.pushdown:
        return open_rows_of(session, pin, options.files or (), origin)
    # The setting is a session's, and a scan keeps the session it was opened in: it gets one of its own.
    own = session.fresh()
    try:
        own.spark.conf.set(_PUSHDOWN, "false")
        with own.active():
            return frame_in(session, _native_rows(own, pin, replace(options, pushdown=True), origin))
    finally:
        own.release()


def _with_file(
    session: RunSession, rows: DataFrame, pin: TablePin, column: str, origin: Origin | None
) -> DataFrame:
    """One more column: the row's data file as the log writes its path, the same on every machine."""
    if column.casefold() in {each.casefold() for each in rows.columns}:
        raise ScanNotResolved(
            dataset=pin.name,
            expression=f"the file column {column}",
            detail="the table has a column of that name",
            remedy="Choose another name for file_column.",
            origin=origin,
        )
    root = str(open_log(session, pin.uri).dataPath().toUri().toString()).rstrip("/") + "/"
    # By this way it is found even where the table has a column of its own named _metadata.
    path = rows.metadataColumn("_metadata")["file_path"]
    below = path.substr(len(root) + 1, _LONGEST_PATH)
    return rows.withColumn(column, column_where(session, path.startswith(root), below, path))


class LatestVersions:
    """The newest version of each table as one session sees it, under the session's cache policy.

    `snapshot_pinned` keeps the first answer, `always_latest_ttl30s` looks again after 30 seconds,
    `multi_tenant_strict` looks every time and uses no log that other sessions have cached.
    """

    def __init__(self, policy: CachePolicy, clock: Clock) -> None:
        self._policy = policy
        self._clock = clock
        self._seen: dict[str, tuple[float, TablePin]] = {}

    def pin(self, name: str, uri: str, options: ReadOptions | None = None) -> TablePin:
        """The table at the version that is asked for, or that this session may believe is the newest."""
        if options is not None and (options.version is not None or options.timestamp is not None):
            return pin_version(name, uri, version=options.version, timestamp=options.timestamp)
        now = self._clock.monotonic()
        seen = self._seen.get(uri)
        if seen is not None and self._is_good(now - seen[0]):
            return replace(seen[1], name=name)  # two names may stand for one table
        pin = read_head(uri).pin(name)
        self._seen[uri] = (now, pin)
        return pin

    def remember(self, pin: TablePin) -> None:
        """Takes a version that this session has just made as the newest."""
        self._seen[pin.uri] = (self._clock.monotonic(), pin)

    def _is_good(self, age: float) -> bool:
        ttl = self._policy.ttl_seconds
        return ttl is None or age < ttl
