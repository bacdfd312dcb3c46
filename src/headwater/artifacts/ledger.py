"""Everything a run knows as rows of the ledger, from its manifest and its plans; and upkeep likewise.

    LedgerRow          a row as it is stored: a few columns, and JSON
    ledger_rows        those of a run
    maintenance_row    that of an operation of upkeep

Each part of a manifest becomes the rows of one name, by a function of that name's own. Rows come in one
order: by kind, then by number. Not here: the columns of names (`ledger_names`), nor writing.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec

from headwater.artifacts.ledger_names import (
    CacheEntry,
    CapabilityEntry,
    LedgerEntry,
    LineageEntry,
    MaintenanceEntry,
    MaterializationEntry,
    MutationEntry,
    PlanEntry,
    RetryEntry,
    RoundEntry,
    RunEntry,
    RunManifestEntry,
    ScanEntry,
    SettingEntry,
    SnapshotEntry,
    TaskEntry,
    ViolationEntry,
)
from headwater.artifacts.ledger_sql import details_of
from headwater.artifacts.records import without_secrets
from headwater.digest import digest_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from headwater.artifacts.manifest import Manifest, PinRecord
    from headwater.artifacts.records import RegistrationRecord
    from headwater.artifacts.upkeep import UpkeepRecord
    from headwater.artifacts.writes import MutationRecord
    from headwater.plan import PlanBundle, PlanText


class LedgerRow(msgspec.Struct, frozen=True, kw_only=True):
    """One row: of which run or operation, of what kind, when, about what, the how manieth, and the rest."""

    run_id: str
    kind: str
    at: datetime
    name: str
    number: int
    details: str


def ledger_rows(manifest: Manifest, bundles: Iterable[PlanBundle]) -> list[LedgerRow]:
    """All rows of a run."""
    every = sorted(bundles, key=lambda each: each.view)
    plans = [each for each in every if each.refresh is None]
    entries = (
        _manifest(manifest, plans),
        _run(manifest),
        *_tasks(manifest),
        *_rounds(manifest),
        *_plans(manifest, every),
        *_lineage(manifest, plans),
        *_scans(manifest, plans),
        *_snapshots(manifest),
        *_mutations(manifest),
        *_retries(manifest),
        *_violations(manifest),
        *_settings(manifest),
        *_capabilities(manifest),
        *_materializations(manifest),
        *_caches(manifest),
    )
    return _rows(entries, _time(manifest.started_at))


def maintenance_row(record: UpkeepRecord) -> LedgerRow:
    """The row of an operation of upkeep."""
    before, after = record.before, record.after
    given: dict[str, Any] = {
        "dataset": record.table,
        "started_at": _time(record.started_at),
        "finished_at": _time(record.finished_at) if record.finished_at else None,
        "options": without_secrets(record.options),
    }
    for number in ("version", "files", "bytes"):
        given[f"{number}_before"] = getattr(before, number) if before else None
        given[f"{number}_after"] = getattr(after, number) if after else None
    entry = MaintenanceEntry(**_shared(MaintenanceEntry, record) | given)
    (row,) = _rows([entry], entry.started_at)
    return row


def _rows(entries: Iterable[LedgerEntry], at: datetime) -> list[LedgerRow]:
    kinds: defaultdict[str, list[LedgerEntry]] = defaultdict(list)
    for each in entries:
        kinds[each.event].append(each)
    return [
        LedgerRow(
            run_id=getattr(entry, entry.id_column),
            kind=kind,
            at=at,
            name=getattr(entry, entry.named_by),
            number=number,
            details=details_of(entry),
        )
        for kind in sorted(kinds)
        for number, entry in enumerate(kinds[kind])
    ]


# --- a run as a whole ----------------------------------------------------------------------------------


def _manifest(manifest: Manifest, plans: Sequence[PlanBundle]) -> RunManifestEntry:
    prints = {each.view: each.fingerprint.digest for each in plans}
    scans = {unit.key for each in plans for unit in each.scans}
    made = {each.name: each.pin for each in manifest.tables if each.pin}
    read = {each.name: each.pin for each in manifest.sources if each.kind in {"delta", "changes", "made"}}
    return RunManifestEntry(
        run_id=manifest.run_id,
        plan_signature=digest_of(prints),
        plan_fingerprints=prints,
        delta_inputs=_pins(read),
        outputs=_pins(made),
        artifact_ids=(*sorted(scans), *(each.key for each in plans)),
    )


def _pins(pins: dict[str, PinRecord]) -> list[dict[str, Any]]:
    return [
        {"dataset": name, "version": pins[name].version, "digest": pins[name].digest} for name in sorted(pins)
    ]


def _run(manifest: Manifest) -> RunEntry:
    started, finished = _time(manifest.started_at), _time(manifest.finished_at)
    return RunEntry(
        run_id=manifest.run_id,
        project=manifest.project,
        status=manifest.status,
        started_at=started,
        finished_at=finished,
        seconds=(finished - started).total_seconds(),
        host=manifest.host,
        error=manifest.error,
        only=manifest.only,
        views=len(manifest.views),
        tables=len(manifest.tables),
        cache_profile=manifest.cache,
        runtime_digest=manifest.runtime_digest,
        results_digest=manifest.results_digest,
        function_digest=manifest.function_digest,
        rules_digest=manifest.rules,
        families=manifest.families,
        versions=manifest.versions,
    )


def _tasks(manifest: Manifest) -> Iterator[TaskEntry]:
    operators = {each.table: each.operators for each in manifest.operators}
    # Those that did not run come last, by name.
    order = sorted(manifest.tables, key=lambda each: (each.started_at or "~", each.name))
    for number, each in enumerate(order):
        given: dict[str, Any] = {
            "run_id": manifest.run_id,
            "view_name": each.name,
            "number": number,
            "started_at": _time(each.started_at) if each.started_at else None,
            "operators": operators.get(each.name),
        }
        yield TaskEntry(**_shared(TaskEntry, each) | given)


def _rounds(manifest: Manifest) -> Iterator[RoundEntry]:
    for table in manifest.tables:
        given: dict[str, Any] = {"run_id": manifest.run_id, "view_name": table.name}
        yield from (RoundEntry(**_shared(RoundEntry, each) | given) for each in table.rounds)


def _settings(manifest: Manifest) -> Iterator[SettingEntry]:
    scopes = {
        "results": manifest.settings_results,
        "speed": manifest.settings_speed,
        "storage": manifest.storage,
    }
    for scope, settings in scopes.items():
        for key, value in sorted(without_secrets(settings).items()):
            yield SettingEntry(run_id=manifest.run_id, scope=scope, key=key, value=str(value))


def _capabilities(manifest: Manifest) -> Iterator[CapabilityEntry]:
    for each in manifest.capabilities:
        yield CapabilityEntry(run_id=manifest.run_id, **_shared(CapabilityEntry, each))


# --- plans ---------------------------------------------------------------------------------------------


def _plans(manifest: Manifest, plans: Sequence[PlanBundle]) -> Iterator[PlanEntry]:
    statistics = {each.dataset_name: each for each in manifest.statistics}
    for each in plans:
        yield PlanEntry(
            run_id=manifest.run_id,
            view_name=each.view,
            plan_fingerprint=each.fingerprint.digest,
            fingerprint_parts=each.fingerprint,
            file=each.file,
            line=each.line,
            language=each.language,
            stored=each.stored,
            function_digest=each.function_digest,
            required_functions=tuple(function.name for function in each.functions),
            tags=each.tags,
            inputs=each.inputs,
            settings_digest=each.fingerprint.settings,
            analysed=_text(each.analysed),
            optimised=_text(each.optimised),
            physical=_text(each.physical),
            columns=each.columns,
            lineage=each.lineage,
            scans=each.scans,
            findings=each.findings,
            approximate=each.approximate,
            policy=without_secrets(each.policy),
            details={
                "gates": each.gates,
                "plan_digest": each.plan_digest,
                "refresh": each.refresh,
                "required": each.required,
                "semantics": each.semantics,
                "statistics": statistics.get(each.view),
            },
        )


def _text(plan: PlanText | None) -> str | None:
    """A plan; where there is none, what stood in its way."""
    return (plan.error or plan.text) if plan else None


def _lineage(manifest: Manifest, plans: Sequence[PlanBundle]) -> Iterator[LineageEntry]:
    for plan in plans:
        for edge in plan.lineage.edges:
            yield LineageEntry(run_id=manifest.run_id, view_name=plan.view, **asdict(edge))


def _scans(manifest: Manifest, plans: Sequence[PlanBundle]) -> Iterator[ScanEntry]:
    for plan in plans:
        for unit in plan.scans:
            yield ScanEntry(run_id=manifest.run_id, view_name=plan.view, **_shared(ScanEntry, unit))


# --- tables --------------------------------------------------------------------------------------------


def _caches(manifest: Manifest) -> Iterator[CacheEntry]:
    for each in manifest.caches:
        given: dict[str, Any] = {"run_id": manifest.run_id}
        yield CacheEntry(**_shared(CacheEntry, each) | given)


def _snapshots(manifest: Manifest) -> Iterator[SnapshotEntry]:
    registered = {each.name: each for each in manifest.registrations}
    for source in manifest.sources:
        known = registered.get(source.name)
        start = source.starting_version
        yield _snapshot(manifest.run_id, source.name, "input", source.kind, source.pin, known, start)
    for table in manifest.tables:
        if table.pin is not None:
            known = registered.get(table.name)
            yield _snapshot(manifest.run_id, table.name, "output", "delta", table.pin, known, None)


def _snapshot(
    run_id: str,
    dataset: str,
    role: str,
    kind: str,
    pin: PinRecord,
    known: RegistrationRecord | None,
    start: int | None,
) -> SnapshotEntry:
    """A dataset at its pin. The table may have been read as it is laid out now: that is the same rows."""
    seen = known.snapshot if known else None
    return SnapshotEntry(
        run_id=run_id,
        dataset=dataset,
        role=role,
        kind=kind,
        version=pin.version,
        starting_version=start,
        timestamp=_time(seen.timestamp) if seen and seen.version == pin.version else None,
        digest=pin.digest,
        provider_kind=known.provider_kind if known else None,
        degraded=known.degraded if known else None,
        min_reader_version=seen.min_reader_version if seen else None,
        min_writer_version=seen.min_writer_version if seen else None,
        reader_features=seen.reader_features if seen else (),
        writer_features=seen.writer_features if seen else (),
        schema_digest=seen.schema_digest if seen else None,
        partition_columns=seen.partition_columns if seen else (),
        table_properties=without_secrets(seen.table_properties) if seen else None,
        options=without_secrets(known.options) if known else None,
        rows_checked=known.rows_checked if known else None,
    )


def _mutations(manifest: Manifest) -> Iterator[MutationEntry]:
    for each in manifest.mutations:
        given: dict[str, Any] = {
            "run_id": manifest.run_id,
            "dataset": each.table,
            "timestamp": _of_ms(each),
            "retries": len(each.attempts),
            "properties": without_secrets(each.properties),
        }
        yield MutationEntry(**_shared(MutationEntry, each) | given)


def _retries(manifest: Manifest) -> Iterator[RetryEntry]:
    for mutation in manifest.mutations:
        for each in mutation.attempts:
            given: dict[str, Any] = {"run_id": manifest.run_id, "dataset": mutation.table}
            yield RetryEntry(**_shared(RetryEntry, each) | given)


def _violations(manifest: Manifest) -> Iterator[ViolationEntry]:
    for each in manifest.violations:
        given: dict[str, Any] = {"run_id": manifest.run_id, "dataset": each.table}
        given["constraint_name"] = each.constraint
        yield ViolationEntry(**_shared(ViolationEntry, each) | given)


def _materializations(manifest: Manifest) -> Iterator[MaterializationEntry]:
    """The last commits, and the run's own, whether or not the history was read after them."""
    protocols: dict[tuple[str, int], Any] = {
        (each.name, each.snapshot.version): each.snapshot for each in manifest.registrations if each.snapshot
    }
    protocols |= {(each.table, each.version): each for each in manifest.mutations}
    commits = {
        (each.table, each.version): (_of_ms(each), each.operation, manifest.run_id)
        for each in manifest.mutations
        if each.outcome != "no_change"
    }
    commits |= {
        (each.dataset, each.version): (_time(each.timestamp), each.operation, each.run_id)
        for each in manifest.history
    }
    for (dataset, version), (timestamp, operation, made_by) in sorted(commits.items()):
        known = protocols.get((dataset, version))
        yield MaterializationEntry(
            run_id=manifest.run_id,
            dataset=dataset,
            version=version,
            timestamp=timestamp,
            operation=operation,
            made_by=made_by,
            min_reader_version=known.min_reader_version if known else None,
            min_writer_version=known.min_writer_version if known else None,
            reader_features=known.reader_features if known else (),
            writer_features=known.writer_features if known else (),
        )


def _shared(entry: type[LedgerEntry], record: msgspec.Struct) -> dict[str, Any]:
    """The fields of a record that the entry has under the same name."""
    return {
        name: getattr(record, name) for name in entry.__struct_fields__ if name in record.__struct_fields__
    }


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def _of_ms(mutation: MutationRecord) -> datetime:
    return datetime.fromtimestamp(mutation.timestamp_ms / 1000, UTC)
