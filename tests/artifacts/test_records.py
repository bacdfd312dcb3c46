from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from syrupy.extensions.json import JSONSnapshotExtension

from headwater.artifacts import (
    ViewCache,
    decode_record,
    encode_record,
    mutation_record,
    registration_record,
    scan_record,
    snapshot_record,
    verification_record,
    violation_record,
    window_record,
)
from headwater.delta import (
    Attempt,
    ChangePin,
    ConstraintCheck,
    ContentDigest,
    DataFile,
    MeaningCheck,
    Protocol,
    Receipt,
    Registration,
    RowPromise,
    ScanColumn,
    ScanPreview,
    SnapshotInfo,
    TableSpec,
    Verification,
)
from headwater.errors import ConstraintViolated, RecordUnreadable
from headwater.names import SnapshotKey, TablePin

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

KEY = SnapshotKey(canonical_uri="file:///lake/orders", version=7)
INFO = SnapshotInfo(
    table_uri=KEY.canonical_uri,
    version=7,
    timestamp="2026-01-02T03:04:05.006Z",
    digest="ab" * 32,
    min_reader_version=3,
    min_writer_version=7,
    reader_features=("deletionVectors",),
    writer_features=("appendOnly", "deletionVectors"),
    implied_reader_features=(),
    implied_writer_features=("invariants",),
    table_properties={"delta.enableChangeDataFeed": "true", "owner.api_key": "hunter2"},
    schema_json='{"type":"struct","fields":[]}',
    partition_columns=("country",),
)
FILE = DataFile(
    path="country=DE/part-0.parquet", size=10, rows=2, deleted_rows=1, partition={"country": "DE"}
)
PREVIEW = ScanPreview(
    snapshot=KEY,
    columns=("id",),
    filters=("id > 3",),
    used_filters=("(id > 3L)",),
    unused_filters=(),
    files_total=4,
    files_kept=1,
    bytes_total=40,
    bytes_kept=10,
    rows_total=None,
    rows_kept=2,
    kept=(FILE,),
)
DONE = Registration(
    table=TableSpec(name="orders", kind="delta", uri=KEY.canonical_uri, version=7),
    provider_kind="delta_native",
    is_degraded=False,
    function_digest="cd" * 32,
    options={"columns": [["id", "CAST(id AS BIGINT)"]], "fs.s3a.secret.key": "hunter2"},
    snapshot=INFO,
    columns=(ScanColumn(name="id", type="bigint", expression="CAST(id AS BIGINT)"),),
)
PINNED = ChangePin(
    pin=TablePin(name="orders", uri=KEY.canonical_uri, version=7, digest="ab" * 32), starting_version=3
)
FOUND = Verification(
    snapshot=KEY,
    digest="ab" * 32,
    promise=RowPromise(files=4, bytes=40, rows=9, deleted_rows=1, files_without_statistics=0),
    rows_scanned=10,
    problems=("the log promises 9 rows and a scan gives 10",),
    content=ContentDigest(rows=10, first=1, second=2),
)
CONTENT = ContentDigest(rows=9, first=5, second=2**64 - 1)
ATTEMPT = Attempt(
    number=1, base_version=5, conflict="ConcurrentAppend", verdict="replan", waited_seconds=0.612
)
RECEIPT = Receipt(
    pin=PINNED.pin,
    kind="merge",
    outcome="committed",
    operation="MERGE",
    timestamp_ms=1767323045006,
    rows=3,
    metrics=(("numTargetRowsInserted", "1"), ("numTargetRowsUpdated", "2")),
    protocol=Protocol(min_reader_version=3, min_writer_version=7, writer_features=("appendOnly",)),
    content=CONTENT,
    attempts=(ATTEMPT,),
    constraints=(
        ConstraintCheck(name="paid", expression="amount >= 0", enforced_by="headwater", extra_passes=1),
    ),
    meanings=(
        MeaningCheck(column_name="id", semantic_type="NodeId", metadata_key="headwater.semantic_type"),
    ),
    settings=(("delta.appendOnly", "true"), ("owner.api_key", "hunter2")),
    left_out=("delta.minReaderVersion",),
)
VIOLATED = ConstraintViolated(
    path="/lake/orders",
    constraint="paid",
    expression="amount >= 0",
    count=2,
    sample=('{"amount":-1}', '{"amount":null}'),
)
RECORDS: dict[str, msgspec.Struct] = {
    "mutation": mutation_record(RECEIPT),
    "retry": mutation_record(RECEIPT).attempts[0],
    "violation": violation_record("orders", VIOLATED),
    "snapshot": snapshot_record(INFO),
    "registration": registration_record(DONE, rows_checked=9),
    "scan": scan_record("orders", PREVIEW),
    "window": window_record(PINNED),
    "verification": verification_record(FOUND),
    "cache": ViewCache(
        view_name="paid",
        cache_policy="delta_staging",
        cache_path=f"staging/paid-{'ab' * 32}",
        plan_fingerprint="ab" * 32,
        hit=True,
        used=True,
    ),
}
every_record = pytest.mark.parametrize("name", sorted(RECORDS))
both_forms = pytest.mark.parametrize("form", ["json", "msgpack"])


@pytest.fixture
def kept(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(JSONSnapshotExtension)


@every_record
def test_a_record_has_one_form_in_json(name: str, kept: SnapshotAssertion) -> None:
    assert json.loads(encode_record(RECORDS[name])) == kept(name=name)


@every_record
def test_a_record_has_one_form_in_messagepack(name: str, kept: SnapshotAssertion) -> None:
    content = encode_record(RECORDS[name], "msgpack")
    assert msgspec.msgpack.decode(content) == json.loads(encode_record(RECORDS[name]))
    assert content.hex() == kept(name=name)


@every_record
def test_a_record_has_a_schema(name: str, kept: SnapshotAssertion) -> None:
    assert msgspec.json.schema(type(RECORDS[name])) == kept(name=name)


@every_record
@both_forms
def test_a_record_comes_back_as_it_went(name: str, form: Any) -> None:
    assert decode_record(type(RECORDS[name]), encode_record(RECORDS[name], form), form) == RECORDS[name]


@every_record
@both_forms
def test_other_bytes_are_a_typed_error(name: str, form: Any, kept: SnapshotAssertion) -> None:
    encode: Any = msgspec.json.encode if form == "json" else msgspec.msgpack.encode
    whole: dict[str, Any] = json.loads(encode_record(RECORDS[name]))
    messages: list[str] = []
    for wrong in (encode(whole | {"more": 1}), encode({"version": 1}), encode([1]), b"", b"\xc1\xff"):
        with pytest.raises(RecordUnreadable) as caught:
            decode_record(type(RECORDS[name]), wrong, form)
        messages.append(str(caught.value))
    assert messages == kept(name=f"{name}-{form}")


@every_record
def test_no_record_shows_a_secret(name: str) -> None:
    assert b"hunter2" not in encode_record(RECORDS[name])


def test_a_portable_record_is_the_same_on_every_machine() -> None:
    there = replace(INFO, table_uri="file:///somewhere/else")
    assert snapshot_record(INFO, portable=True) == snapshot_record(there, portable=True)
    assert snapshot_record(INFO) != snapshot_record(there)


def test_a_scan_is_named_by_its_dataset_and_version() -> None:
    assert scan_record("orders", PREVIEW).key == "scan::orders::7"
