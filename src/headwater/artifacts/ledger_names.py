"""The names of the ledger, each with its columns: one struct is both the row in Python and the table in SQL.

A field is a column. Its type decides the column's: str STRING, int BIGINT, float DOUBLE, bool BOOLEAN,
datetime TIMESTAMP, a tuple of texts ARRAY<STRING>, and Json, whatever is nested, a STRING with JSON in it.
To add a column, add a field: rows that were written before have null there.
Not here: what fills them (`ledger`), nor where rows lie.
"""

from __future__ import annotations

from datetime import datetime  # noqa: TC003  msgspec reads the annotations
from typing import Any, ClassVar, TypeAlias

import msgspec

Json: TypeAlias = Any


class LedgerEntry(msgspec.Struct, frozen=True, kw_only=True):
    """What every row of every name has.

    `sql_name` is the name in SQL and `event` the kind of row behind it; `id_column` says what the row is of,
    and `named_by` is the column that rows are found by.
    """

    sql_name: ClassVar[str]
    event: ClassVar[str]
    id_column: ClassVar[str] = "run_id"
    named_by: ClassVar[str]


class RunManifestEntry(LedgerEntry, frozen=True, kw_only=True):
    """What a run was made of, and what it made: one row per run.

    `plan_fingerprints` has the fingerprint of every view, and `plan_signature` is one digest of them all.
    `delta_inputs` and `outputs` are pins: dataset, version, and the digest of the version's commit.
    `artifact_ids` are the keys of its scans and planned views; the commit of an output carries the run's id
    and, as the key of its task, the view's fingerprint, so that one leads to the other.
    """

    sql_name: ClassVar[str] = "run_manifest"
    event: ClassVar[str] = "manifest"
    named_by: ClassVar[str] = "plan_signature"
    run_id: str
    plan_signature: str
    plan_fingerprints: Json
    delta_inputs: Json
    outputs: Json
    artifact_ids: tuple[str, ...]


class RunEntry(LedgerEntry, frozen=True, kw_only=True):
    """One row per run that did something; `error` is why it failed, `only` the views that were asked for."""

    sql_name: ClassVar[str] = "hw_runs"
    event: ClassVar[str] = "run"
    named_by: ClassVar[str] = "project"
    run_id: str
    project: str
    status: str
    started_at: datetime
    finished_at: datetime
    seconds: float
    host: str
    error: str | None
    only: tuple[str, ...]
    views: int
    tables: int
    cache_profile: str
    runtime_digest: str
    results_digest: str
    function_digest: str
    rules_digest: str | None
    families: tuple[str, ...]
    versions: Json


class TaskEntry(LedgerEntry, frozen=True, kw_only=True):
    """What a run did about each stored view, in the order of `number`.

    `action` is built, incremental, skipped or failed, and `reason` says why. `digest` is that of the table's
    rows. `refresh` tells whether all rows were made or those of some keys, why, and which versions of inputs
    were looked at to find the keys. `operators` is what the operators of a slow task counted.
    """

    sql_name: ClassVar[str] = "hw_tasks"
    event: ClassVar[str] = "task"
    named_by: ClassVar[str] = "view_name"
    run_id: str
    view_name: str
    number: int
    task_key: str | None
    action: str
    reason: str
    version: int | None
    rows: int | None
    digest: str | None
    started_at: datetime | None
    seconds: float | None
    refresh: Json
    operators: Json


class RoundEntry(LedgerEntry, frozen=True, kw_only=True):
    """One round of a fixpoint; `given` is what it read of the table: none, the new rows, or all so far."""

    sql_name: ClassVar[str] = "hw_rounds"
    event: ClassVar[str] = "round"
    named_by: ClassVar[str] = "view_name"
    run_id: str
    view_name: str
    number: int
    given: str
    new_rows: int
    rows: int
    seconds: float


class PlanEntry(LedgerEntry, frozen=True, kw_only=True):
    """How each view was planned, stored or not: one row per view and run.

    A view whose table was refreshed key by key has one more, with the plan that was run instead; `refresh` in
    `details` tells how that differs.

    The plans are texts in canonical form; the optimised and the physical one are there if they were asked
    for. `required_functions` and `tags` are what it calls of the catalogue, and `function_digest` is that of
    all functions of the session; `settings_digest` is that of the settings and versions that results depend
    on. `fingerprint_parts` tells which part of two fingerprints differs. `details` has the digest of the
    plan's bytes, gates, semantic checks, and what was decided about statistics.
    """

    sql_name: ClassVar[str] = "hw_plans"
    event: ClassVar[str] = "plan"
    named_by: ClassVar[str] = "view_name"
    run_id: str
    view_name: str
    plan_fingerprint: str
    fingerprint_parts: Json
    file: str
    line: int
    language: str
    stored: bool
    function_digest: str
    required_functions: tuple[str, ...]
    tags: tuple[str, ...]
    inputs: Json
    settings_digest: str
    analysed: str | None
    optimised: str | None
    physical: str | None
    columns: Json
    lineage: Json
    scans: Json
    findings: Json
    approximate: tuple[str, ...]
    policy: Json
    details: Json


class LineageEntry(LedgerEntry, frozen=True, kw_only=True):
    """One column that another depends on; `kind` is value, filter, join, group, window, order or subquery."""

    sql_name: ClassVar[str] = "hw_lineage"
    event: ClassVar[str] = "lineage"
    named_by: ClassVar[str] = "view_name"
    run_id: str
    view_name: str
    from_dataset: str
    from_column: str
    to_dataset: str
    to_column: str
    kind: str


class ScanEntry(LedgerEntry, frozen=True, kw_only=True):
    """What a view reads of one pinned table: all its files, and those that filters leave.

    `used_filters` could rule files out, `unused_filters` could not.
    """

    sql_name: ClassVar[str] = "hw_scans"
    event: ClassVar[str] = "scan"
    named_by: ClassVar[str] = "view_name"
    run_id: str
    view_name: str
    key: str
    dataset: str
    version: int
    candidate_files: int
    candidate_bytes: int
    kept_files: int
    kept_bytes: int
    kept_rows: int | None
    used_filters: tuple[str, ...]
    unused_filters: tuple[str, ...]
    columns: tuple[str, ...]


class SnapshotEntry(LedgerEntry, frozen=True, kw_only=True):
    """Every dataset that a run touched, at its version, with what its protocol asks for.

    `role` is input for a source and output for a stored table, `kind` what sort of source it is. `digest` is
    that of the version's commit, of the files, or of the rows in memory. `rows_checked` is how many rows a
    scan gave that was counted.
    """

    sql_name: ClassVar[str] = "hw_snapshots"
    event: ClassVar[str] = "snapshot"
    named_by: ClassVar[str] = "dataset"
    run_id: str
    dataset: str
    role: str
    kind: str
    version: int
    starting_version: int | None
    timestamp: datetime | None
    digest: str
    provider_kind: str | None
    degraded: bool | None
    min_reader_version: int | None
    min_writer_version: int | None
    reader_features: tuple[str, ...]
    writer_features: tuple[str, ...]
    schema_digest: str | None
    partition_columns: tuple[str, ...]
    table_properties: Json
    options: Json
    rows_checked: int | None


class MutationEntry(LedgerEntry, frozen=True, kw_only=True):
    """Every write: how it ended, and what was looked at on the way.

    `content` is the digest of the table's rows after it. `constraints` are those that every row met,
    `meanings` the columns whose semantic types were seen, `left_out` the properties that are not a table's.
    """

    sql_name: ClassVar[str] = "hw_mutations"
    event: ClassVar[str] = "mutation"
    named_by: ClassVar[str] = "dataset"
    run_id: str
    dataset: str
    kind: str
    outcome: str
    operation: str
    version: int
    timestamp: datetime
    commit_digest: str
    rows: int | None
    content: str | None
    retries: int
    min_reader_version: int
    min_writer_version: int
    reader_features: tuple[str, ...]
    writer_features: tuple[str, ...]
    metrics: Json
    constraints: Json
    meanings: Json
    properties: Json
    left_out: tuple[str, ...]


class RetryEntry(LedgerEntry, frozen=True, kw_only=True):
    """A try of a write that met another writer: on which version, what it met, how long it waited."""

    sql_name: ClassVar[str] = "hw_retries"
    event: ClassVar[str] = "retry"
    named_by: ClassVar[str] = "dataset"
    run_id: str
    dataset: str
    number: int
    base_version: int
    conflict: str
    verdict: str
    waited_seconds: float


class ViolationEntry(LedgerEntry, frozen=True, kw_only=True):
    """A constraint that rows did not meet, so that nothing was written; `sample` are a few of the rows."""

    sql_name: ClassVar[str] = "hw_violations"
    event: ClassVar[str] = "violation"
    named_by: ClassVar[str] = "dataset"
    run_id: str
    dataset: str
    constraint_name: str
    expression: str
    count: int
    sample: tuple[str, ...]


class MaintenanceEntry(LedgerEntry, frozen=True, kw_only=True):
    """An operation of upkeep on a stored table: who asked for it, why, and the table before and after.

    `forced` is why a guard was overruled, `lost` what could not be read any more afterwards. It belongs to no
    run.
    """

    sql_name: ClassVar[str] = "hw_maintenance"
    event: ClassVar[str] = "maintenance"
    id_column: ClassVar[str] = "upkeep_id"
    named_by: ClassVar[str] = "dataset"
    upkeep_id: str
    dataset: str
    operation: str
    status: str
    asked_by: str
    reason: str
    forced: str | None
    started_at: datetime
    finished_at: datetime | None
    summary: str | None
    version_before: int | None
    version_after: int | None
    files_before: int | None
    files_after: int | None
    bytes_before: int | None
    bytes_after: int | None
    options: Json
    metrics: Json
    lost: Json
    error: str | None


class CacheEntry(LedgerEntry, frozen=True, kw_only=True):
    """How the rows of a view that is not stored were kept during a run.

    `cache_policy` is none, memory or delta_staging, and `cache_path` where they lie in staging, from the
    warehouse's folder. `hit` is whether rows of before could be used, `used` whether rows of the cache were
    read at all.
    """

    sql_name: ClassVar[str] = "hw_cache"
    event: ClassVar[str] = "cache"
    named_by: ClassVar[str] = "view_name"
    run_id: str
    view_name: str
    cache_policy: str
    cache_path: str | None
    plan_fingerprint: str
    hit: bool
    used: bool


class SettingEntry(LedgerEntry, frozen=True, kw_only=True):
    """A setting that was in force; `scope` is results, speed or storage. Secrets are struck out."""

    sql_name: ClassVar[str] = "hw_settings"
    event: ClassVar[str] = "setting"
    named_by: ClassVar[str] = "key"
    run_id: str
    scope: str
    key: str
    value: str


class CapabilityEntry(LedgerEntry, frozen=True, kw_only=True):
    """Something that a run needed and did: by which door, and what came of it."""

    sql_name: ClassVar[str] = "hw_capabilities"
    event: ClassVar[str] = "capability"
    named_by: ClassVar[str] = "name"
    run_id: str
    name: str
    compatible: bool
    entrypoint: str
    module: str
    ctx_kind: str
    probe_result: str | None
    error: str | None


class MaterializationEntry(LedgerEntry, frozen=True, kw_only=True):
    """One of the last commits of a dataset that a run touched.

    `made_by` is the run that made it, if one did. Protocol and features are there for versions that the run
    itself read or wrote.
    """

    sql_name: ClassVar[str] = "hw_materializations"
    event: ClassVar[str] = "materialization"
    named_by: ClassVar[str] = "dataset"
    run_id: str
    dataset: str
    version: int
    timestamp: datetime
    operation: str
    made_by: str | None
    min_reader_version: int | None
    min_writer_version: int | None
    reader_features: tuple[str, ...]
    writer_features: tuple[str, ...]


LEDGER_NAMES: tuple[type[LedgerEntry], ...] = tuple(
    sorted(LedgerEntry.__subclasses__(), key=lambda each: each.sql_name)
)
