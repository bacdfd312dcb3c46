"""How tables were read, as records: snapshots, registrations, scans, windows, verifications.

Each has one form in JSON and one in MessagePack, a schema, and a typed error for bytes that are something
else. Not here: where records are kept; a manifest holds some of them.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, cast

import msgspec

from headwater.digest import digest_of
from headwater.errors import RecordUnreadable, WarehouseNotWritable
from headwater.runtime import redacted

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from headwater.delta import ChangePin, Registration, ScanPreview, SnapshotInfo, Verification

Form: TypeAlias = Literal["json", "msgpack"]


class SnapshotRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A Delta table at a version. A manifest leaves out `table_uri` and `schema_json`: they are elsewhere."""

    table_uri: str | None = None
    version: int
    timestamp: str
    digest: str
    min_reader_version: int
    min_writer_version: int
    reader_features: tuple[str, ...] = ()
    writer_features: tuple[str, ...] = ()
    implied_reader_features: tuple[str, ...] = ()
    implied_writer_features: tuple[str, ...] = ()
    table_properties: dict[str, str] = {}
    schema_json: str | None = None
    schema_digest: str
    partition_columns: tuple[str, ...] = ()


class ColumnRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A column that was made at the scan boundary, by the expression that Spark resolved."""

    name: str
    type: str
    expression: str


class RegistrationRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A name that could be read, who read it, and under which effective options.

    `rows_checked` is the number of rows that a scan of it gave, where a job counted them and they were right.
    """

    name: str
    kind: str
    provider_kind: str
    degraded: bool
    version: int
    function_digest: str
    options: dict[str, Any] = {}
    columns: tuple[ColumnRecord, ...] = ()
    snapshot: SnapshotRecord | None = None
    rows_checked: int | None = None


class ScanRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a scan of a pinned dataset would read; `key` names it in a task graph."""

    key: str
    dataset: str
    version: int
    projected_columns: tuple[str, ...]
    pushed_filters: tuple[str, ...]
    unused_filters: tuple[str, ...]
    files_total: int
    files_kept: int
    bytes_total: int
    bytes_kept: int
    rows_total: int | None
    rows_kept: int | None
    candidate_files: tuple[str, ...]


class WindowRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A window of a change feed, both versions included; the digest is that of the last one's commit."""

    dataset: str
    starting_version: int
    ending_version: int
    digest: str


class VerificationRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a log promises, what a scan gave, and everything that does not fit."""

    table_uri: str
    version: int
    digest: str
    files: int
    bytes: int
    rows_promised: int | None
    rows_deleted: int
    files_without_statistics: int
    rows_scanned: int | None
    content: str | None = None
    problems: tuple[str, ...] = ()


ReadRecord: TypeAlias = SnapshotRecord | RegistrationRecord | ScanRecord | WindowRecord | VerificationRecord
R = TypeVar("R", bound=msgspec.Struct)


def snapshot_record(info: SnapshotInfo, *, portable: bool = False) -> SnapshotRecord:
    """The record of a snapshot; a portable one has nothing that differs from machine to machine."""
    return SnapshotRecord(
        table_uri=None if portable else info.table_uri,
        version=info.version,
        timestamp=info.timestamp,
        digest=info.digest,
        min_reader_version=info.min_reader_version,
        min_writer_version=info.min_writer_version,
        reader_features=info.reader_features,
        writer_features=info.writer_features,
        implied_reader_features=info.implied_reader_features,
        implied_writer_features=info.implied_writer_features,
        table_properties=dict(redacted(tuple(info.table_properties.items()))),
        schema_json=None if portable else info.schema_json,
        schema_digest=digest_of(info.schema_json),
        partition_columns=info.partition_columns,
    )


def registration_record(done: Registration, rows_checked: int | None = None) -> RegistrationRecord:
    """The record of a registration, as a manifest keeps it."""
    return RegistrationRecord(
        name=done.table.name,
        kind=done.table.kind,
        provider_kind=done.provider_kind,
        degraded=done.is_degraded,
        version=done.table.version,
        function_digest=done.function_digest,
        options=without_secrets(done.options),
        columns=tuple(
            ColumnRecord(name=each.name, type=each.type, expression=each.expression) for each in done.columns
        ),
        snapshot=snapshot_record(done.snapshot, portable=True) if done.snapshot else None,
        rows_checked=rows_checked,
    )


def scan_record(dataset: str, preview: ScanPreview) -> ScanRecord:
    """The record of a scan under the name of its dataset."""
    return ScanRecord(
        key=f"scan::{dataset}::{preview.snapshot.version}",
        dataset=dataset,
        version=preview.snapshot.version,
        projected_columns=preview.columns,
        pushed_filters=preview.used_filters,
        unused_filters=preview.unused_filters,
        files_total=preview.files_total,
        files_kept=preview.files_kept,
        bytes_total=preview.bytes_total,
        bytes_kept=preview.bytes_kept,
        rows_total=preview.rows_total,
        rows_kept=preview.rows_kept,
        candidate_files=tuple(each.path for each in preview.kept),
    )


def window_record(pinned: ChangePin) -> WindowRecord:
    """The record of a window of changes."""
    return WindowRecord(
        dataset=pinned.pin.name,
        starting_version=pinned.starting_version,
        ending_version=pinned.pin.version,
        digest=pinned.pin.digest,
    )


def verification_record(found: Verification) -> VerificationRecord:
    """The record of a verification."""
    return VerificationRecord(
        table_uri=found.snapshot.canonical_uri,
        version=found.snapshot.version,
        digest=found.digest,
        files=found.promise.files,
        bytes=found.promise.bytes,
        rows_promised=found.promise.rows,
        rows_deleted=found.promise.deleted_rows,
        files_without_statistics=found.promise.files_without_statistics,
        rows_scanned=found.rows_scanned,
        content=found.content.text if found.content else None,
        problems=found.problems,
    )


def encode_record(record: msgspec.Struct, form: Form = "json") -> bytes:
    """A record's one form in JSON or in MessagePack: fields and keys sorted."""
    if form == "json":
        return msgspec.json.encode(record, order="sorted")
    return msgspec.msgpack.encode(record, order="sorted")


def decode_record(kind: type[R], content: bytes, form: Form = "json") -> R:
    """The record that was encoded; raises RecordUnreadable for bytes that are no such record."""
    decode = msgspec.json.decode if form == "json" else msgspec.msgpack.decode
    try:
        return decode(content, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise RecordUnreadable(kind=kind.__name__, form=form, detail=str(error)) from error


class _Versioned(msgspec.Struct, frozen=True):
    """Of any file with a schema version, that alone."""

    schema_version: int | None = None


def check_version(content: bytes, expected: int) -> None:
    """Raises msgspec.ValidationError for the bytes of a file in another form than the `expected` one."""
    found = msgspec.json.decode(content, type=_Versioned).schema_version
    if found != expected:
        has = "it has no schema version" if found is None else f"it has schema version {found}"
        detail = f"{has}, and this Headwater reads version {expected}"
        raise msgspec.ValidationError(detail)


def write_whole(path: Path, content: bytes, owner: Path) -> Path:
    """Writes a file in one step: it is there whole, or not at all. Gives its path back.

    Raises:
        WarehouseNotWritable: the folder of its `owner` cannot be written.
    """
    draft = path.with_name(f".{path.name}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with draft.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        raise WarehouseNotWritable(path=str(owner), detail=error.strerror or str(error)) from error
    return path


def without_secrets(options: Mapping[str, object]) -> dict[str, object]:
    """The same options, with what looks secret struck out, also inside mappings."""
    texts = {key: value for key, value in options.items() if isinstance(value, str)}
    inner = {
        key: without_secrets(cast("Mapping[str, object]", value))
        for key, value in options.items()
        if isinstance(value, dict)
    }
    return {**options, **dict(redacted(tuple(texts.items()))), **inner}
