"""A table at a version, described: protocol, features, properties, schema, partitions.

Not here: its rows, and its files.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql.types import StructType

from headwater.datasets import milliseconds_of, timestamp_of
from headwater.delta.failures import loading_errors
from headwater.delta.head import read_commit, read_head
from headwater.delta.history import commit_time, version_at
from headwater.delta.log_files import check_readable, commit_path, list_log, shown_path
from headwater.digest import digest_of_bytes
from headwater.errors import DeltaError, VersionNotFound
from headwater.names import SnapshotKey
from headwater.runtime import local_path_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from headwater.names import TablePin
    from headwater.origin import Origin
    from headwater.runtime import RunSession


CHANGE_FEED = "delta.enableChangeDataFeed"
_NO_COLUMNS = '{"type":"struct","fields":[]}'
_IMPLIED: dict[tuple[int, int], tuple[tuple[str, bool], ...]] = {}
# A pin does not change, so what was said of it stays true; a run asks several times.
_DESCRIBED: dict[tuple[str, int, str], SnapshotInfo] = {}
_MOST_DESCRIBED = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotInfo:
    """What Delta says of a table at one version; `digest` tells it from a table made anew.

    `reader_features` and `writer_features` are the ones that the protocol lists by name. An older protocol
    lists none and has features by its version alone: those are the implied ones, as Delta counts them; (1, 2)
    implies appendOnly and invariants. Together they are what DESCRIBE DETAIL calls tableFeatures.
    """

    table_uri: str
    version: int
    timestamp: str
    digest: str
    min_reader_version: int
    min_writer_version: int
    reader_features: tuple[str, ...]
    writer_features: tuple[str, ...]
    implied_reader_features: tuple[str, ...]
    implied_writer_features: tuple[str, ...]
    table_properties: dict[str, str]
    schema_json: str
    partition_columns: tuple[str, ...]

    @property
    def key(self) -> SnapshotKey:
        """Which table at which version."""
        return SnapshotKey(canonical_uri=self.table_uri, version=self.version)

    @property
    def schema(self) -> StructType:
        """The table's columns, with all that is noted of them."""
        return StructType.fromJson(json.loads(self.schema_json))

    @property
    def keeps_changes(self) -> bool:
        """Whether commits on top of this version record a change feed."""
        return self.table_properties.get(CHANGE_FEED, "").lower() == "true"


def snapshot_info(
    session: RunSession, uri: str, *, version: int | None = None, timestamp: str | None = None
) -> SnapshotInfo:
    """The table at `uri` at a version, or at the newest of a time in ISO 8601, or at the newest of all.

    Raises:
        NotADeltaTable, LogUnreadable, ProtocolUnsupported: it cannot be read at all.
        VersionNotFound, TimestampOutOfRange: it can, but not there.
    """
    return describe_pin(session, pin_version("table", uri, version=version, timestamp=timestamp))


def pin_version(name: str, uri: str, *, version: int | None = None, timestamp: str | None = None) -> TablePin:
    """A table at a version, at the newest of a time, or at the newest of all, pinned without Spark."""
    if timestamp is not None:
        version = version_at(uri, milliseconds_of(timestamp))
    if version is None:
        return read_head(uri).pin(name)
    check_readable(list_log(uri), version)
    return read_commit(uri, version).pin(name)


def describe_pin(session: RunSession, pin: TablePin, origin: Origin | None = None) -> SnapshotInfo:
    """The table at a pin, as Delta reads it from the log."""
    check_pin(pin, origin)
    known = _DESCRIBED.get((pin.uri, pin.version, pin.digest))
    if known is not None and session.runtime.identity.cache.shares_log_cache:
        return known
    with loading_errors(local_path_of(pin.uri), pin.version, dataset=pin.name, origin=origin):
        found = _info(session, pin, open_snapshot(session, pin))
    if len(_DESCRIBED) >= _MOST_DESCRIBED:
        _DESCRIBED.clear()
    _DESCRIBED[pin.uri, pin.version, pin.digest] = found
    return found


def check_pin(pin: TablePin, origin: Origin | None = None) -> None:
    """Raises the typed error of a pin whose log is not there any more, is damaged, or is another table's."""
    try:
        is_same = digest_of_bytes(commit_path(pin.uri, pin.version).read_bytes()) == pin.digest
    except OSError:
        is_same = False
    if not is_same:
        raise VersionNotFound(path=shown_path(pin.uri), version=pin.version, origin=origin)
    try:
        check_readable(list_log(pin.uri), pin.version)
    except DeltaError as error:
        error.origin = error.origin or origin
        raise


def open_log(session: RunSession, uri: str) -> Any:
    """Delta's log of a table."""
    path = session.jvm.org.apache.hadoop.fs.Path(str(local_path_of(uri)))
    return session.jvm.org.apache.spark.sql.delta.DeltaLog.forTable(session.jvm_session, path)


def forget_log(session: RunSession, uri: str) -> None:
    """Drops what Delta has cached of a table's log: it keeps one log per path and JVM."""
    path = session.jvm.org.apache.hadoop.fs.Path(str(local_path_of(uri)))
    session.jvm.org.apache.spark.sql.delta.DeltaLog.invalidateCache(session.jvm_session, path)


def open_snapshot(session: RunSession, pin: TablePin) -> Any:
    """Delta's snapshot of a table at a pin, never that of a table which was at its path before.

    A session whose cache policy shares no log loads it from disk each time.
    """
    if not session.runtime.identity.cache.shares_log_cache:
        forget_log(session, pin.uri)
    found = _load_snapshot(session, pin)
    if _is_another(found, pin):
        forget_log(session, pin.uri)
        found = _load_snapshot(session, pin)
    return found


def _load_snapshot(session: RunSession, pin: TablePin) -> Any:
    none = session.jvm.scala.Option.empty()
    return open_log(session, pin.uri).getSnapshotAt(pin.version, none, none, none, False)


def _is_another(snapshot: Any, pin: TablePin) -> bool:
    """Whether the version's commit file was written anew since Delta cached what it read from it."""
    seen = int(snapshot.logSegment().lastCommitFileModificationTimestamp())
    try:
        return seen != commit_path(pin.uri, pin.version).stat().st_mtime_ns // 1_000_000
    except OSError:  # it went since the pin was checked; a load from disk says so
        return True


def _info(session: RunSession, pin: TablePin, snapshot: Any) -> SnapshotInfo:
    # As two texts: field by field it would be some hundred calls into the JVM.
    protocol: dict[str, Any] = json.loads(str(snapshot.protocol().json()))["protocol"]
    metadata: dict[str, Any] = json.loads(str(snapshot.metadata().json()))["metaData"]
    properties: dict[str, str] = metadata.get("configuration") or {}
    versions = int(protocol["minReaderVersion"]), int(protocol["minWriterVersion"])
    implied = _implied(session, snapshot, versions)
    return SnapshotInfo(
        table_uri=pin.uri,
        version=pin.version,
        timestamp=timestamp_of(commit_time(pin.uri, pin.version)),
        digest=pin.digest,
        min_reader_version=versions[0],
        min_writer_version=versions[1],
        reader_features=_names(protocol.get("readerFeatures") or ()),
        writer_features=_names(protocol.get("writerFeatures") or ()),
        implied_reader_features=_names(name for name, is_for_readers in implied if is_for_readers),
        implied_writer_features=_names(name for name, _ in implied),
        table_properties=dict(sorted(properties.items())),
        schema_json=str(metadata.get("schemaString") or _NO_COLUMNS),
        partition_columns=tuple(metadata.get("partitionColumns") or ()),
    )


def _implied(session: RunSession, snapshot: Any, versions: tuple[int, int]) -> tuple[tuple[str, bool], ...]:
    """The features that old protocols have without naming them, by Delta's own list, asked once each."""
    if versions not in _IMPLIED:
        convert = session.jvm.scala.jdk.javaapi.CollectionConverters
        found = convert.asJava(snapshot.protocol().implicitlySupportedFeatures())
        _IMPLIED[versions] = tuple((str(each.name()), bool(each.isReaderWriterFeature())) for each in found)
    return _IMPLIED[versions]


def _names(found: Iterable[Any]) -> tuple[str, ...]:
    return tuple(sorted(str(each) for each in found))
