"""One Delta table, asked about: where it is, what it is at a version, its commits, its files, its soundness.

    project = headwater.open("examples/orders")
    table = locate_table("revenue_by_country", project)
    described = describe_table(TableRequest(table=table, profile=project.profile))

A table need not belong to a project. Where it is and which version is meant is found out, and its commits are
read, without Spark. Values of properties that look secret are struck out here, so nobody can show them.
Not here: how Delta is asked, and how an answer is shown.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast
from urllib.parse import unquote

from headwater.artifacts import last_manifest
from headwater.datasets import DELTA_NATIVE
from headwater.delta import (
    CommitRecord,
    ScanPreview,
    SnapshotInfo,
    Verification,
    describe_pin,
    pin_version,
    preview_scan,
    read_history,
    row_promise,
    verify_pin,
)
from headwater.errors import InvalidSetting, NotADeltaTable, NotBuilt, UnknownDataset
from headwater.names import TablePin, near_hint, same_name
from headwater.run.outcome import Listener, Progress, ignore_progress
from headwater.run.pins import is_address, source_uri
from headwater.run.sessions import opened_session
from headwater.runtime import RuntimeProfile, StorageProfile, redacted

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from pyspark.sql import SparkSession

    from headwater.artifacts import Manifest
    from headwater.run.project import Project
    from headwater.runtime import RunSession

_DELTA_KINDS = frozenset({"delta", "made", "changes"})


@dataclass(frozen=True, slots=True, kw_only=True)
class LocatedTable:
    """Where a table is said to be, under the name it is known by; nobody has looked yet."""

    name: str
    uri: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRequest:
    """A table that is asked about: at a version, at the newest of a time in ISO 8601, or at the newest.

    `spark` is somebody's session to work in, if there is one: `project.spark`.
    """

    table: LocatedTable
    profile: RuntimeProfile
    version: int | None = None
    timestamp: str | None = None
    spark: SparkSession | None = None

    def __post_init__(self) -> None:
        if self.version is not None and self.timestamp is not None:
            raise InvalidSetting(key="version", value="given with a timestamp", expected="one of the two")

    def pin(self) -> TablePin:
        """The version that is meant, found without Spark.

        Raises:
            NotADeltaTable, LogUnreadable, RemoteUnsupported: there is no log that could be read.
            VersionNotFound, TimestampOutOfRange: there is, but not of that version or time.
        """
        table = self.table
        return pin_version(table.name, table.uri, version=self.version, timestamp=self.timestamp)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDescription:
    """A table at a version: what Delta says of it, and what the log promises about its files and rows.

    `rows` is None if a file's rows were never counted; `deleted_rows` are still in the files.
    """

    info: SnapshotInfo
    provider_kind: str
    files: int
    bytes: int
    rows: int | None
    deleted_rows: int


# --- where it is ---------------------------------------------------------------------------------------


def is_table_path(target: str) -> bool:
    """Whether somebody who wrote this means a place, and not a name.

    >>> [is_table_path(each) for each in ("lake/orders", "./orders", "file:/lake/t", "s3a://b", "orders")]
    [True, True, True, True, False]
    """
    return not target or "/" in target or target.startswith(".") or is_address(target)


def locate_table(
    target: str, project: Project | None = None, *, storage: StorageProfile | None = None
) -> LocatedTable:
    """The table that a path or a name means.

    What has a slash, a leading dot or a scheme is a path. Anything else is a name of the project if it knows
    one, in any case: a stored table, or a Delta source of the last run. Else it is a folder, if there is one.

    Args:
        target: the path or the name.
        project: whose names count; without one there are only paths.
        storage: the rules for addresses; the project's own if None.

    Raises:
        UnknownDataset, NotBuilt: it is neither a name nor a folder.
        NotADeltaTable: it is neither, and there is no project; or it is a name of something else.
        RemoteRefused, InvalidSetting: an address that is not allowed, or cannot be one.
    """
    rules = storage or (project.profile.storage if project else StorageProfile())
    if is_table_path(target):
        return _at(target, rules)
    named = tables_of(project) if project else {}
    found = named.get(same_name(target))
    if found is not None:
        return found
    if Path(target).is_dir():
        return _at(target, rules)
    raise _unknown(target, project, tuple(sorted(each.name for each in named.values())))


def _at(path: str, storage: StorageProfile) -> LocatedTable:
    uri = storage.canonical_uri(path)
    return LocatedTable(name=unquote(uri.rstrip("/").rpartition("/")[2]) or uri, uri=uri)


def tables_of(project: Project) -> dict[str, LocatedTable]:
    """Every Delta table that a project has a name for, by that; what the last run says goes first."""
    last = last_manifest(project.warehouse.root)
    names = [
        *_folders_of(project),
        *(table.name for table in (last.tables if last else ()) if table.pin is not None),
    ]
    storage = project.profile.storage
    located = [
        LocatedTable(name=name, uri=storage.canonical_uri(str(project.warehouse.table_path(name))))
        for name in names
    ]
    sources = [each for each in (last.sources if last else ()) if each.kind in _DELTA_KINDS]
    root, warehouse = project.config.root, project.warehouse
    located += [
        LocatedTable(name=each.name, uri=source_uri(each, root=root, warehouse=warehouse, storage=storage))
        for each in sources
    ]
    return {same_name(each.name): each for each in located}


def _folders_of(project: Project) -> Iterator[str]:
    tables = project.warehouse.table_path("")
    if tables.is_dir():
        yield from sorted(each.name for each in tables.iterdir() if each.is_dir())


def _unknown(
    target: str, project: Project | None, known: tuple[str, ...]
) -> NotADeltaTable | NotBuilt | UnknownDataset:
    if project is None:
        return NotADeltaTable(path=target)
    last = last_manifest(project.warehouse.root)
    if last is None and not known:
        return NotBuilt(name=target, path=str(project.config.root))
    other = _other_kind(target, last) if last else None
    if other is not None:
        return NotADeltaTable(path=other)
    return UnknownDataset(name=target, known=known, hint=near_hint(same_name(target), known))


def _other_kind(target: str, last: Manifest) -> str | None:
    """What a recorded name is, if it is something else than a Delta table."""
    for source in last.sources:
        if same_name(source.name) == same_name(target):
            return f"the source '{source.name}' (of kind {source.kind})"
    for view in last.views:
        if same_name(view.name) == same_name(target):
            return f"the view '{view.name}', which {'was never made' if view.stored else 'is not stored'},"
    return None


# --- what it is ----------------------------------------------------------------------------------------


def describe_table(request: TableRequest, listen: Listener = ignore_progress) -> TableDescription:
    """What a table is at a version: protocol, features, properties, schema, files and promised rows."""
    pin = request.pin()
    with _session(request, listen, f"reading the log up to version {pin.version}") as session:
        info = describe_pin(session, pin)
        promise = row_promise(session, pin)
    return TableDescription(
        info=replace(info, table_properties=dict(redacted(tuple(info.table_properties.items())))),
        provider_kind=DELTA_NATIVE,
        files=promise.files,
        bytes=promise.bytes,
        rows=promise.rows,
        deleted_rows=promise.deleted_rows,
    )


def read_commits(request: TableRequest, limit: int | None = None) -> tuple[CommitRecord, ...]:
    """The commits up to the version that is asked for, newest first, at most `limit`; without Spark."""
    uri = request.table.uri
    if request.version is None and request.timestamp is None:
        found = read_history(uri, limit)
    else:
        newest = request.pin().version
        found = tuple(each for each in read_history(uri) if each.version <= newest)[:limit]
    return tuple(_without_secrets(each) for each in found)


def preview_files(
    request: TableRequest,
    *,
    columns: Sequence[str] = (),
    filters: Sequence[str] = (),
    listen: Listener = ignore_progress,
) -> ScanPreview:
    """The data files that a scan of a table would read; without columns and filters, all that it has.

    Raises:
        ScanNotResolved: a column or filter does not fit the table.
    """
    pin = request.pin()
    with _session(request, listen, f"listing the files of version {pin.version}") as session:
        return preview_scan(session, pin, columns=columns, filters=filters)


def verify_table(request: TableRequest, listen: Listener = ignore_progress) -> Verification:
    """Whether a table at a version holds what its log promises, by reading every row of it."""
    pin = request.pin()
    with _session(request, listen, f"reading every row of version {pin.version}") as session:
        return verify_pin(session, pin)


@contextmanager
def _session(request: TableRequest, listen: Listener, doing: str) -> Generator[RunSession]:
    with opened_session(request.profile, listen, request.spark) as session:
        listen(Progress(message=doing))
        yield session


def _without_secrets(commit: CommitRecord) -> CommitRecord:
    """A commit as it may be shown: properties that it set, and whatever its writer noted, may hold keys."""
    noted = commit.user_metadata
    return replace(
        commit,
        parameters=tuple((key, str(_shown(key, value))) for key, value in commit.parameters),
        user_metadata=None if noted is None else _text_shown(noted),
    )


def _shown(key: str, value: object) -> object:
    """A value without secrets; all of it is one if its key says so."""
    struck = redacted(((key, ""),))[0][1]
    if struck:
        return struck
    if isinstance(value, str):
        return _text_shown(value)
    if isinstance(value, list):
        return [_shown("", each) for each in cast("list[object]", value)]
    if isinstance(value, dict):
        return {name: _shown(name, each) for name, each in cast("dict[str, object]", value).items()}
    return value


def _text_shown(text: str) -> str:
    """The same text, unless there is a secret in it, or in the JSON that it is."""
    try:
        inside = cast("object", json.loads(text))
    except (ValueError, RecursionError):
        inside = None
    if not isinstance(inside, dict | list):
        return redacted((("", text),))[0][1]
    shown = _shown("", cast("object", inside))
    return text if shown == inside else json.dumps(shown, sort_keys=True)
