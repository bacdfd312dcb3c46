"""All rows of a run from a manifest in which everything happened, and of an operation of upkeep."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from headwater.artifacts import (
    LEDGER_NAMES,
    CapabilityRecord,
    ConstraintRecord,
    HistoryRecord,
    LedgerRow,
    Manifest,
    MutationRecord,
    OperatorsRecord,
    PinRecord,
    RegistrationRecord,
    RetryRecord,
    RoundRecord,
    SnapshotRecord,
    SourceRecord,
    StateRecord,
    TableRecord,
    UpkeepRecord,
    ViewCache,
    ViolationRecord,
    ledger_rows,
    maintenance_row,
)
from headwater.plan import (
    Fingerprint,
    OperatorMetrics,
    PlanBundle,
    PlannedColumn,
    PlannedFunction,
    PlannedInput,
    PlanText,
    ScanUnit,
    StatisticsDecision,
)
from headwater.plan.dependence import ColumnPath, Dependence
from headwater.plan.lineage import ColumnLineage, ViewLineage

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

RUN = "20260102T030405000000Z-00000001"
SEEN = SnapshotRecord(
    version=3,
    timestamp="2026-01-01T00:00:00.006Z",
    digest="c3",
    min_reader_version=3,
    min_writer_version=7,
    reader_features=("deletionVectors",),
    writer_features=("appendOnly", "deletionVectors"),
    table_properties={"delta.enableChangeDataFeed": "true", "owner.api_key": "hunter2"},
    schema_digest="s3",
)
WRITTEN = MutationRecord(
    table="totals",
    kind="overwrite",
    outcome="committed",
    operation="WRITE",
    version=8,
    commit_digest="c8",
    timestamp_ms=1767323047500,
    rows=5,
    content="hw2:5:00",
    metrics={"numOutputRows": "5"},
    min_reader_version=1,
    min_writer_version=2,
    attempts=(
        RetryRecord(
            number=1, base_version=6, conflict="concurrent_append", verdict="retry", waited_seconds=0.5
        ),
    ),
    constraints=(
        ConstraintRecord(name="positive", expression="eur > 0", enforced_by="headwater", extra_passes=0),
    ),
    properties={"owner.password": "hunter2"},
)
MANIFEST = Manifest(
    run_id=RUN,
    project="orders",
    status="failed",
    started_at="2026-01-02T04:04:05+01:00",
    finished_at="2026-01-02T03:04:09.250000+00:00",
    runtime_digest="r1",
    results_digest="r2",
    settings_results={"spark.sql.ansi.enabled": "true"},
    settings_speed={"spark.master": "local[2]"},
    storage={"fs.s3a.secret.key": "hunter2"},
    cache="snapshot_pinned",
    function_digest="f1",
    versions={"spark": "4.2.0"},
    sources=(
        SourceRecord(name="events", kind="delta", digest="s", pin=PinRecord(version=3, digest="c3")),
        SourceRecord(name="rates", kind="memory", digest="m", pin=PinRecord(version=0, digest="c0")),
    ),
    views=(),
    tables=(
        TableRecord(name="broken", action="failed", reason="HW-DELTA-004 no"),
        TableRecord(name="late", action="skipped", reason="nothing it reads changed"),
        TableRecord(
            name="totals",
            action="built",
            reason="new",
            version=8,
            rows=5,
            digest="hw2:5:00",
            pin=PinRecord(version=8, digest="c8"),
            task_key="k",
            started_at="2026-01-02T03:04:06+00:00",
            seconds=1.5,
            rounds=(
                RoundRecord(number=1, given="none", new_rows=5, rows=5, seconds=0.75),
                RoundRecord(number=2, given="new", new_rows=0, rows=5, seconds=0.5),
            ),
        ),
    ),
    registrations=(
        RegistrationRecord(
            name="events",
            kind="delta",
            provider_kind="delta_native",
            degraded=False,
            version=3,
            function_digest="f1",
            options={"token": "hunter2", "files": None},
            snapshot=SEEN,
            rows_checked=7,
        ),
    ),
    mutations=(WRITTEN,),
    violations=(
        ViolationRecord(
            table="broken", constraint="positive", expression="eur > 0", count=2, sample=('{"eur":-1}',)
        ),
    ),
    statistics=(StatisticsDecision(dataset_name="totals", stats_policy="auto", stats_columns=("eur",)),),
    capabilities=(
        CapabilityRecord(
            name="commit",
            compatible=True,
            entrypoint="commit_mutation",
            module="headwater.delta",
            ctx_kind="d",
        ),
    ),
    operators=(
        OperatorsRecord(
            table="totals", operators=(OperatorMetrics(depth=0, operator="Scan", metrics={"rows": 9}),)
        ),
    ),
    history=(
        HistoryRecord(
            dataset="events",
            version=2,
            timestamp="2026-01-01T00:00:00+00:00",
            operation="MERGE",
            run_id=None,
        ),
        HistoryRecord(
            dataset="events", version=3, timestamp="2026-01-01T00:00:01+00:00", operation="WRITE", run_id="r0"
        ),
    ),
    caches=(
        ViewCache(
            view_name="through",
            cache_policy="delta_staging",
            cache_path="staging/through-f1",
            plan_fingerprint="f1",
            hit=True,
            used=True,
        ),
    ),
    host="mill",
    error="HW-DELTA-004 no",
)
PLAN = PlanBundle(
    view="totals",
    file="views/totals.sql",
    line=1,
    language="sql",
    stored=True,
    plan=b"\x00\xff",
    plan_digest="p1",
    analysed=PlanText(text="[eur#1 double]\nevents\n"),
    physical=PlanText(error="HW-PLAN-005 it cannot be planned"),
    columns=(PlannedColumn(name="eur", type="double"),),
    settings={"spark.sql.ansi.enabled": "true"},
    function_digest="f1",
    functions=(PlannedFunction(name="stable_id", digest="f2"),),
    tags=("hash",),
    inputs=(PlannedInput(name="events", kind="pin", identity="i1", version=3),),
    gates={},
    policy={"properties": {"owner.token": "hunter2"}},
    lineage=ViewLineage(
        view="totals",
        columns=(
            ColumnLineage(
                name="eur", dependences=(Dependence(ColumnPath("events", ("amount", "eur")), "value"),)
            ),
        ),
        rows=(Dependence(ColumnPath("events", ("country",)), "filter"),),
        datasets=("events",),
    ),
    scans=(
        ScanUnit(
            key="scan::events::3",
            dataset="events",
            version=3,
            candidate_files=4,
            candidate_bytes=40,
            kept_files=1,
            kept_bytes=10,
            used_filters=("country = 'DE'",),
            columns=("amount", "country"),
        ),
    ),
    fingerprint=Fingerprint(code="c", functions="f", settings="s", policies="p", inputs="i"),
)
THROUGH = replace(PLAN, view="through", stored=False)
KEPT = UpkeepRecord(
    upkeep_id="20260103T030405000000Z-00000002",
    operation="optimize",
    table="totals",
    status="done",
    asked_by="ada",
    reason="small files",
    forced=None,
    started_at="2026-01-03T03:04:05+00:00",
    finished_at="2026-01-03T03:04:06+00:00",
    options={"zorder_by": ["eur"], "password": "hunter2"},
    summary="2 files became 1",
    before=StateRecord(version=8, digest="c8", files=2, bytes=20, log_files=9, log_bytes=90),
    after=StateRecord(version=9, digest="c9", files=1, bytes=15, log_files=10, log_bytes=99),
    metrics={"numFilesAdded": 1},
)


def rows_of(manifest: Manifest = MANIFEST) -> list[LedgerRow]:
    return ledger_rows(manifest, [PLAN, THROUGH])


def details(kind: str, manifest: Manifest = MANIFEST) -> list[dict[str, Any]]:
    return [json.loads(each.details) for each in rows_of(manifest) if each.kind == kind]


def test_a_run_in_which_everything_happened_has_rows_of_every_name(snapshot: SnapshotAssertion) -> None:
    rows = rows_of()
    assert {row.kind for row in rows} == {each.event for each in LEDGER_NAMES} - {"maintenance"}
    assert [(row.kind, row.name, row.number, json.loads(row.details)) for row in rows] == snapshot


def test_rows_come_in_one_order_and_belong_to_the_run() -> None:
    rows = rows_of()
    assert rows == sorted(rows, key=lambda row: (row.kind, row.number))
    assert {(row.run_id, row.at) for row in rows} == {(RUN, datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))}
    assert rows == ledger_rows(MANIFEST, [THROUGH, PLAN])


def test_no_secret_is_in_any_row() -> None:
    texts = [row.details for row in (*rows_of(), maintenance_row(KEPT))]
    assert not [text for text in texts if "hunter2" in text]
    assert sum("*****" in text for text in texts) == 6  # setting, snapshot, mutation, two plans, upkeep


def test_tasks_are_numbered_as_they_ran() -> None:
    assert [(row.name, row.number) for row in rows_of() if row.kind == "task"] == [
        ("totals", 0),
        ("broken", 1),
        ("late", 2),
    ]
    assert details("task")[0]["operators"] == [{"depth": 0, "metrics": {"rows": 9}, "operator": "Scan"}]


def test_a_run_and_its_outputs_lead_to_each_other() -> None:
    (manifest,) = details("manifest")
    assert manifest["outputs"] == [{"dataset": "totals", "digest": "c8", "version": 8}]
    assert manifest["delta_inputs"] == [{"dataset": "events", "digest": "c3", "version": 3}]
    assert manifest["artifact_ids"] == ["scan::events::3", THROUGH.key, PLAN.key]
    assert manifest["plan_fingerprints"] == {
        "through": THROUGH.fingerprint.digest,
        "totals": PLAN.fingerprint.digest,
    }
    signatures = [row.name for row in rows_of() if row.kind == "manifest"]
    other = replace(PLAN, fingerprint=replace(PLAN.fingerprint, code="d"))
    assert signatures != [row.name for row in ledger_rows(MANIFEST, [other]) if row.kind == "manifest"]


def test_commits_of_the_run_are_in_the_history_whether_or_not_it_was_read() -> None:
    made = [
        (row.name, json.loads(row.details)["version"]) for row in rows_of() if row.kind == "materialization"
    ]
    assert made == [("events", 2), ("events", 3), ("totals", 8)]
    older, newer, own = details("materialization")
    assert (older["made_by"], newer["made_by"], own["made_by"]) == (None, "r0", RUN)
    assert (older["min_reader_version"], newer["min_reader_version"]) == (None, 3)
    unmoved = replace(MANIFEST, mutations=(replace(WRITTEN, outcome="no_change"),), history=())
    assert details("materialization", unmoved) == []


def test_a_snapshot_has_its_protocol_where_the_run_saw_it() -> None:
    events, rates, totals = details("snapshot")
    assert (events["role"], events["min_writer_version"], events["rows_checked"]) == ("input", 7, 7)
    assert events["timestamp"] == "2026-01-01T00:00:00.006000Z"
    assert (rates["kind"], rates["provider_kind"]) == ("memory", None)
    assert (totals["role"], totals["version"], totals["timestamp"]) == ("output", 8, None)


def test_upkeep_has_a_row_of_its_own(snapshot: SnapshotAssertion) -> None:
    row = maintenance_row(KEPT)
    assert (row.run_id, row.kind, row.name) == (KEPT.upkeep_id, "maintenance", "totals")
    assert json.loads(row.details) == snapshot
    begun = maintenance_row(replace(KEPT, before=None, after=None, finished_at=None, status="started"))
    assert json.loads(begun.details)["version_before"] is None
