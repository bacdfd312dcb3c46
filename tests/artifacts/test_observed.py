"""What is observed and what is not are told apart, and nothing is lost by it, whatever a manifest holds."""

from __future__ import annotations

import json
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import fields, replace

from headwater.artifacts import (
    CapabilityRecord,
    FileRecord,
    HistoryRecord,
    Manifest,
    MutationRecord,
    OperatorsRecord,
    PinRecord,
    RegistrationRecord,
    RetryRecord,
    RoundRecord,
    SnapshotRecord,
    SourceRecord,
    TableRecord,
    ViolationRecord,
    encode_manifest,
    manifest_document,
)
from headwater.artifacts.observed import OBSERVED, merge, split

TEXTS = st.text("ab/é", max_size=3)
PLAIN = st.none() | st.booleans() | st.integers(-9, 9) | TEXTS
VALUES = PLAIN | st.lists(PLAIN, max_size=2) | st.dictionaries(TEXTS, PLAIN, max_size=2)
PROPERTIES = st.dictionaries(
    st.sampled_from(
        ["a", "delta.columnMapping.mode", "delta.rowTracking.materializedRowIdColumnName", "delta.appendOnly"]
    ),
    TEXTS,
)
LEAVES: dict[object, st.SearchStrategy[Any]] = {
    str: TEXTS,
    int: st.integers(0, 99),
    float: st.integers(0, 99).map(lambda each: each / 4),
    bool: st.booleans(),
    type(None): st.none(),
    Any: VALUES,
}
# Names and kinds that decide what is observed come up often.
CHOSEN: dict[tuple[type, str], st.SearchStrategy[Any]] = {
    (SourceRecord, "kind"): st.sampled_from(["made", "delta", "changes", "listing", "memory"]),
    (SourceRecord, "name"): st.sampled_from(["a", "B"]),
    (RegistrationRecord, "name"): st.sampled_from(["a", "b", "c"]),
    (SnapshotRecord, "table_properties"): PROPERTIES,
    (Manifest, "schema_version"): st.just(2),
}


def values_of(kind: Any) -> st.SearchStrategy[Any]:
    """Values of a type that a record's field has."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Literal:
        return st.sampled_from(inner)
    if origin in {Union, UnionType}:
        return st.one_of(*map(values_of, inner))
    if origin is tuple:
        return st.lists(values_of(inner[0]), max_size=2).map(tuple)
    if origin is dict:
        return st.dictionaries(TEXTS, values_of(inner[1]), max_size=2)
    return LEAVES[kind] if kind in LEAVES else records_of(kind)


def records_of(kind: type[Any]) -> st.SearchStrategy[Any]:
    """Records with any value in every field."""
    chosen = {name: values for (owner, name), values in CHOSEN.items() if owner is kind}
    free = {each.name: values_of(each.type) for each in fields(kind) if each.name not in chosen}
    return st.builds(kind, **free, **chosen)


MANIFESTS = records_of(Manifest)


@given(manifest=MANIFESTS)
def test_nothing_is_lost(manifest: Manifest) -> None:
    document = json.loads(encode_manifest(manifest))
    assert msgspec.convert(merge(document), type=Manifest) == manifest
    whole = msgspec.to_builtins(manifest)
    assert merge(json.loads(json.dumps(split(whole)))) == json.loads(json.dumps(whole))


def seen_again(manifest: Manifest, data: st.DataObject) -> Manifest:
    """The same run at another moment, on another machine: everything that such a run may see is another."""

    def other(record: Any, *names: str) -> Any:
        kinds = {each.name: each.type for each in fields(record)}
        return replace(record, **{name: data.draw(values_of(kinds[name])) for name in names})

    def table(record: TableRecord) -> TableRecord:
        failed = ("reason",) if record.action == "failed" else ()
        rounds = tuple(other(each, "seconds") for each in record.rounds)
        return replace(
            other(record, "version", "pin", "started_at", "seconds", "refresh", *failed), rounds=rounds
        )

    def source(record: SourceRecord) -> SourceRecord:
        files = tuple(other(each, "changed_ns") for each in record.files)
        made = other(record, "pin", "rows") if record.kind == "made" else record
        return replace(made, files=files)

    inputs = {each.name.casefold() for each in manifest.sources if each.kind != "made"}

    def registration(record: RegistrationRecord) -> RegistrationRecord:
        snapshot, own = record.snapshot, record.name not in inputs
        if snapshot:
            snapshot = other(snapshot, "timestamp", "table_uri", *(("version", "digest") if own else ()))
        return replace(other(record, "version") if own else record, snapshot=snapshot)

    seen = other(
        manifest, "run_id", "started_at", "finished_at", "host", "operators", "history", "resumes", "error"
    )
    mutated = ("version", "commit_digest", "timestamp_ms", "metrics", "attempts")
    return replace(
        seen,
        tables=tuple(map(table, manifest.tables)),
        sources=tuple(map(source, manifest.sources)),
        registrations=tuple(map(registration, manifest.registrations)),
        mutations=tuple(other(each, *mutated) for each in manifest.mutations),
        violations=tuple(other(each, "sample") for each in manifest.violations),
        capabilities=tuple(other(each, "error") for each in manifest.capabilities),
    )


def deterministic(manifest: Manifest) -> bytes:
    document = json.loads(encode_manifest(manifest))
    del document[OBSERVED]
    return json.dumps(document).encode()


@given(manifest=MANIFESTS, data=st.data())
def test_what_is_observed_changes_nothing_else(manifest: Manifest, data: st.DataObject) -> None:
    assert deterministic(seen_again(manifest, data)) == deterministic(manifest)


PIN = PinRecord(version=3, digest="c0ffee")
TRACKED = {
    "delta.rowTracking.materializedRowIdColumnName": "_row-id-col-6f",
    "delta.rowTracking.enabled": "true",
}
SNAPSHOT = SnapshotRecord(
    version=3,
    timestamp="now",
    digest="c0ffee",
    min_reader_version=1,
    min_writer_version=2,
    schema_digest="s",
    table_properties=TRACKED,
)


def registration(name: str, snapshot: SnapshotRecord | None) -> RegistrationRecord:
    return RegistrationRecord(
        name=name,
        kind="delta",
        provider_kind="delta_native",
        degraded=False,
        version=3,
        function_digest="f",
        snapshot=snapshot,
    )


MAPPED = replace(SNAPSHOT, table_properties={"delta.columnMapping.mode": "name"})
FULL = Manifest(
    run_id="20260102T030405000000Z-00000001",
    project="orders",
    status="failed",
    started_at="then",
    finished_at="later",
    runtime_digest="r1",
    results_digest="r2",
    settings_results={},
    settings_speed={},
    storage={},
    cache="c",
    function_digest="f1",
    versions={"spark": "4.2.0"},
    sources=(
        SourceRecord(name="Lake", kind="delta", digest="s1", pin=PIN, path="lake"),
        SourceRecord(
            name="files",
            kind="listing",
            digest="s2",
            pin=PIN,
            files=(FileRecord(path="a.csv", size=9, changed_ns=17, sha256="f"),),
        ),
        SourceRecord(name="made", kind="made", digest="s3", pin=PIN, rows=PIN, content="hw2:2:aa"),
    ),
    views=(),
    tables=(
        TableRecord(
            name="good",
            action="built",
            reason="new",
            version=3,
            pin=PIN,
            task_key="k",
            seconds=0.5,
            rounds=(RoundRecord(number=1, given="none", new_rows=0, rows=0, seconds=0.25),),
        ),
        TableRecord(name="odd", action="failed", reason="HW-X /some/place/odd cannot be written"),
    ),
    registrations=(
        registration("good", SNAPSHOT),
        registration("lake", SNAPSHOT),
        registration("mapped", MAPPED),
        registration("memory", None),
    ),
    mutations=(
        MutationRecord(
            table="good",
            kind="overwrite",
            outcome="committed",
            operation="WRITE",
            version=3,
            commit_digest="c0ffee",
            timestamp_ms=5,
            rows=2,
            content="hw2:2:aa",
            metrics={"numFiles": "1"},
            min_reader_version=1,
            min_writer_version=2,
            attempts=(
                RetryRecord(number=1, base_version=2, conflict="c", verdict="again", waited_seconds=0.1),
            ),
        ),
    ),
    violations=(ViolationRecord(table="odd", constraint="c", expression="x > 1", count=9, sample=("{}",)),),
    capabilities=(
        CapabilityRecord(name="n", compatible=False, entrypoint="e", module="m", ctx_kind="c", error="/x"),
    ),
    operators=(OperatorsRecord(table="good", operators=()),),
    history=(HistoryRecord(dataset="good", version=3, timestamp="then", operation="WRITE"),),
    host="here",
    error="HW-X /some/place/odd cannot be written",
)


def test_the_observed_part_has_the_shape_of_the_rest() -> None:
    pin = {"version": 3, "digest": "c0ffee"}
    observed = {"timestamp": "now", "table_uri": None}
    own = {**observed, "version": 3, "digest": "c0ffee"}
    identity = {"table_properties": {"delta.rowTracking.materializedRowIdColumnName": "_row-id-col-6f"}}
    unseen = {"version": None, "pin": None, "started_at": None, "seconds": None, "refresh": None}
    assert json.loads(encode_manifest(FULL))[OBSERVED] == {
        "run_id": FULL.run_id,
        "started_at": "then",
        "finished_at": "later",
        "host": "here",
        "resumes": None,
        "error": FULL.error,
        "operators": [{"table": "good", "operators": []}],
        "history": [
            {"dataset": "good", "version": 3, "timestamp": "then", "operation": "WRITE", "run_id": None}
        ],
        "sources": [{}, {"files": [{"changed_ns": 17}]}, {"pin": pin, "rows": pin}],
        "tables": [
            {
                "version": 3,
                "pin": pin,
                "started_at": None,
                "seconds": 0.5,
                "refresh": None,
                "rounds": [{"seconds": 0.25}],
            },
            {**unseen, "reason": "HW-X /some/place/odd cannot be written"},
        ],
        "registrations": [
            {"version": 3, "snapshot": {**own, **identity}},
            {"snapshot": observed},
            {"version": 3, "snapshot": {**own, "schema_digest": "s"}},
            {"version": 3},
        ],
        "mutations": [
            {
                "version": 3,
                "commit_digest": "c0ffee",
                "timestamp_ms": 5,
                "metrics": {"numFiles": "1"},
                "attempts": [msgspec.to_builtins(FULL.mutations[0].attempts[0])],
            }
        ],
        "violations": [{"sample": ["{}"]}],
        "capabilities": [{"error": "/x"}],
    }
    assert b"/some/place" not in deterministic(FULL)


def test_a_manifest_of_which_little_is_observed_has_no_empty_lists_there() -> None:
    small = replace(FULL, tables=(), mutations=(), registrations=(), violations=(), capabilities=())
    small = replace(small, sources=(SourceRecord(name="lake", kind="delta", digest="s", pin=PIN),))
    assert sorted(manifest_document(small)[OBSERVED]) == [
        *("error", "finished_at", "history", "host", "operators", "resumes", "run_id", "started_at")
    ]


MISFITS: list[tuple[Any, str]] = [
    ({"tables": [{}]}, "$.tables"),
    ({"tables": {}}, "$.tables"),
    ({"project": "another"}, "$.project"),
    ({"sources": [{}, {}, {"name": "x"}]}, "$.sources[2].name"),
    ([], "$"),
    (None, "$"),
]


@pytest.mark.parametrize(("observed", "place"), MISFITS)
def test_parts_that_do_not_fit_are_told(observed: object, place: str) -> None:
    document = json.loads(encode_manifest(FULL))
    with pytest.raises(msgspec.ValidationError, match="does not fit the rest") as caught:
        merge({**document, OBSERVED: observed})
    assert str(caught.value).endswith(f"`{place}`")
