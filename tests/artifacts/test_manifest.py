from __future__ import annotations

import json
from typing import TYPE_CHECKING

import msgspec
import pytest
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from headwater.artifacts import (
    FileRecord,
    Manifest,
    PinRecord,
    SchemaRecord,
    SourceRecord,
    SqlRecord,
    TableRecord,
    ViewCache,
    ViewRecord,
    commit_manifest,
    encode_manifest,
    last_manifest,
    manifest_paths,
    read_manifest,
    read_manifests,
)
from headwater.errors import ManifestUnreadable, WarehouseNotWritable

if TYPE_CHECKING:
    from pathlib import Path

    from syrupy.assertion import SnapshotAssertion

PIN = PinRecord(version=3, digest="c0ffee")
WHOLE = Manifest(
    run_id="20260102T030405000000Z-00000001",
    project="orders",
    status="done",
    started_at="2026-01-02T03:04:05+00:00",
    finished_at="2026-01-02T03:04:09+00:00",
    runtime_digest="r1",
    results_digest="r2",
    settings_results={"spark.sql.ansi.enabled": "true"},
    settings_speed={"spark.master": "local[2]"},
    storage={"require_local_paths": "false"},
    cache="snapshot_pinned",
    function_digest="f1",
    versions={"delta": "4.4.0", "scala": "2.13.18", "spark": "4.2.0"},
    sources=(
        SourceRecord(
            name="customers",
            kind="listing",
            digest="s1",
            pin=PIN,
            path="data/customers.csv",
            files=(FileRecord(path="", size=9, changed_ns=1, sha256="f"),),
        ),
    ),
    views=(
        ViewRecord(
            name="totals",
            file="views/totals.sql",
            line=1,
            language="sql",
            stored=True,
            digest="v",
            reads=("orders",),
        ),
    ),
    tables=(
        TableRecord(name="totals", action="built", reason="new", version=3, rows=5, pin=PIN, task_key="k"),
    ),
    caches=(
        ViewCache(
            view_name="paid",
            cache_policy="memory",
            cache_path=None,
            plan_fingerprint="f",
            hit=False,
            used=True,
        ),
    ),
    schemas=(SchemaRecord(key="q", schema='{"type":"struct","fields":[]}'),),
    sql=(SqlRecord(digest="t", reads=("orders",)),),
)


class JsonFile(SingleFileSnapshotExtension):
    _write_mode = WriteMode.BINARY
    file_extension = "json"


def test_the_manifest_has_one_form(snapshot: SnapshotAssertion) -> None:
    assert encode_manifest(WHOLE) == snapshot(extension_class=JsonFile, name="manifest")
    document = msgspec.json.decode(encode_manifest(WHOLE))
    assert encode_manifest(WHOLE).decode() == json.dumps(document, indent=2, sort_keys=True) + "\n"


def test_the_manifest_has_a_schema(snapshot: SnapshotAssertion) -> None:
    schema = msgspec.json.format(msgspec.json.encode(msgspec.json.schema(Manifest), order="sorted"), indent=2)
    assert schema == snapshot(extension_class=JsonFile, name="schema")


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = commit_manifest(tmp_path, WHOLE)
    assert path == tmp_path / "runs" / WHOLE.run_id / "manifest.json"
    assert read_manifest(path) == WHOLE
    assert sorted(each.name for each in path.parent.iterdir()) == ["manifest.json"]


def test_the_last_run_is_the_newest_that_came_to_an_end(tmp_path: Path) -> None:
    assert last_manifest(tmp_path) is None
    commit_manifest(tmp_path, WHOLE)
    newer = msgspec.structs.replace(WHOLE, run_id="20260103T000000000000Z-00000002")
    commit_manifest(tmp_path, newer)
    (tmp_path / "runs" / "20260104T000000000000Z-00000003").mkdir()
    assert last_manifest(tmp_path) == newer


def test_manifests_are_found_oldest_first(tmp_path: Path) -> None:
    assert manifest_paths(tmp_path) == []
    newer = msgspec.structs.replace(WHOLE, run_id="20260103T000000000000Z-00000002")
    paths = [commit_manifest(tmp_path, each) for each in (newer, WHOLE)]
    (tmp_path / "runs" / "20260104T000000000000Z-00000003").mkdir()
    assert manifest_paths(tmp_path) == paths[::-1]
    assert list(read_manifests(tmp_path)) == [WHOLE, newer]


def test_runs_that_cannot_be_listed_are_not_none(tmp_path: Path) -> None:
    (tmp_path / "runs").symlink_to("runs")
    with pytest.raises(ManifestUnreadable, match="symbolic links") as caught:
        list(read_manifests(tmp_path, pass_over=True))
    assert caught.value.path == str(tmp_path / "runs")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"run_id": 3}', b'{"schema_version": 99}'])
def test_a_broken_manifest_is_a_typed_error(tmp_path: Path, content: bytes) -> None:
    commit_manifest(tmp_path, WHOLE).write_bytes(content)
    with pytest.raises(ManifestUnreadable):
        last_manifest(tmp_path)


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ({"schema_version": 1}, "it has schema version 1, and this Headwater reads version 2"),
        ({"schema_version": 3, "later": {}}, "it has schema version 3, and this Headwater reads version 2"),
        ({}, "it has no schema version, and this Headwater reads version 2"),
    ],
)
def test_a_manifest_of_another_form_says_which(tmp_path: Path, written: dict[str, object], told: str) -> None:
    path = commit_manifest(tmp_path, WHOLE)
    document = msgspec.json.decode(path.read_bytes())
    del document["schema_version"]
    path.write_bytes(msgspec.json.encode({**document, **written}))
    with pytest.raises(ManifestUnreadable) as caught:
        read_manifest(path)
    assert (caught.value.path, caught.value.detail) == (str(path), told)


def test_a_manifest_whose_parts_do_not_fit_is_a_typed_error(tmp_path: Path) -> None:
    path = commit_manifest(tmp_path, WHOLE)
    document = msgspec.json.decode(path.read_bytes())
    document["tables"] = []
    path.write_bytes(msgspec.json.encode(document))
    with pytest.raises(ManifestUnreadable, match=r"does not fit the rest - at `\$\.tables`"):
        read_manifest(path)


def test_a_folder_that_cannot_be_written_is_a_typed_error(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("in the way")
    with pytest.raises(WarehouseNotWritable):
        commit_manifest(tmp_path, WHOLE)
