from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from headwater.artifacts import FileRecord, Manifest, PinRecord, SourceRecord
from headwater.clock import SystemClock
from headwater.datasets import ReadOptions
from headwater.delta import CommitNote, LatestVersions
from headwater.errors import NotADeltaTable, RemoteRefused
from headwater.origin import Origin
from headwater.pipeline import SourceKind, SourceSpec
from headwater.run.pins import SourcePins, made_key
from headwater.run.warehouse import Warehouse
from headwater.runtime import StorageProfile, cache_policy

if TYPE_CHECKING:
    from pathlib import Path


def pins(root: Path, last: Manifest | None = None, storage: StorageProfile | None = None) -> SourcePins:
    return SourcePins(
        root=root,
        warehouse=Warehouse(root / ".headwater"),
        storage=storage or StorageProfile(),
        latest=LatestVersions(cache_policy("snapshot_pinned"), SystemClock()),
        last=last,
    )


def source(kind: SourceKind, path: str | None = None) -> SourceSpec:
    return SourceSpec(name="t", origin=Origin("v.py", 3), kind=kind, path=path, file_format="csv")


def write_commit(table: Path, version: int, note: CommitNote | None = None) -> None:
    (table / "_delta_log").mkdir(parents=True, exist_ok=True)
    info = {"timestamp": 1} | ({"userMetadata": note.text()} if note else {})
    (table / "_delta_log" / f"{version:020}.json").write_text(json.dumps({"commitInfo": info}))


def test_a_path_is_taken_from_the_projects_folder(tmp_path: Path) -> None:
    found = pins(tmp_path)
    assert found.uri_of(source("delta", "lake/t")) == (tmp_path / "lake" / "t").as_uri()
    assert found.uri_of(source("delta", "/lake/t")) == "file:///lake/t"
    assert found.uri_of(source("delta", "file:///lake/t")) == "file:///lake/t"
    assert found.uri_of(source("delta", "s3a://b/t")) == "s3a://b/t"
    assert found.uri_of(source("made")) == (tmp_path / ".headwater" / "tables" / "t").as_uri()


def test_a_remote_source_is_refused_where_the_profile_says_so(tmp_path: Path) -> None:
    strict = pins(tmp_path, storage=StorageProfile(require_local_paths=True))
    with pytest.raises(RemoteRefused) as caught:
        strict.pinned(source("delta", "s3a://b/t"))
    assert caught.value.origin == Origin("v.py", 3)


def test_a_source_is_pinned_once(tmp_path: Path) -> None:
    found = pins(tmp_path)
    write_commit(tmp_path / "t", 0)
    first = found.pinned(source("delta", "t"))
    write_commit(tmp_path / "t", 1)
    assert found.pinned(source("delta", "t")) is first
    assert pins(tmp_path).pinned(source("delta", "t")).pin != first.pin


def test_a_source_that_was_only_rearranged_is_what_it_was_unless_its_files_are_asked_for(
    tmp_path: Path,
) -> None:
    write_commit(tmp_path / "t", 0)
    plain, by_file = source("delta", "t"), replace(source("delta", "t"), read=ReadOptions(file_column="f"))
    before = [pins(tmp_path).pinned(each).identity for each in (plain, by_file)]
    actions = [
        {"commitInfo": {"timestamp": 2, "operation": "OPTIMIZE"}},
        {"remove": {"path": "a", "dataChange": False}},
        {"add": {"path": "b", "dataChange": False}},
    ]
    commit = tmp_path / "t" / "_delta_log" / f"{1:020}.json"
    commit.write_text("\n".join(json.dumps(each) for each in actions))
    after = [pins(tmp_path).pinned(each) for each in (plain, by_file)]
    assert [each.pin.version for each in after if each.pin] == [1, 1]
    assert after[0].identity == before[0]
    assert after[1].identity != before[1]


def test_a_missing_source_names_its_definition(tmp_path: Path) -> None:
    with pytest.raises(NotADeltaTable) as caught:
        pins(tmp_path).pinned(source("delta", "gone"))
    assert caught.value.origin == Origin("v.py", 3)


def test_what_a_function_makes_is_pinned_if_it_is_there(tmp_path: Path) -> None:
    table = tmp_path / ".headwater" / "tables" / "t"
    assert pins(tmp_path).pinned(source("made")).pin is None
    note = CommitNote(pipeline="p", table="t", run_id="r", task_key="an older definition", mutation_id="m")
    write_commit(table, 0, note)
    assert pins(tmp_path).pinned(source("made")).pin is None
    current = CommitNote(
        pipeline="p", table="t", run_id="r", task_key=made_key(source("made")), mutation_id="m"
    )
    write_commit(table, 1, current)
    assert pins(tmp_path).pinned(source("made")).pin is not None
    write_commit(table, 2, note)
    write_commit(table, 3)
    with (table / "_delta_log" / f"{3:020}.json").open("a") as commit:
        commit.write('\n{"add": {"path": "part", "dataChange":true}}\n')
    assert pins(tmp_path).pinned(source("made")).pin is not None


def test_files_as_recorded_are_not_hashed_again(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("1\n")
    facts = file.stat()
    record = FileRecord(path="", size=facts.st_size, changed_ns=facts.st_ctime_ns, sha256="recorded")
    last = manifest(
        SourceRecord(
            name="t", kind="listing", digest="d", pin=PinRecord(version=0, digest=""), files=(record,)
        )
    )
    pinned = pins(tmp_path, last).pinned(source("listing", "a.csv"))
    assert pinned.files is not None
    assert [each.sha256 for each in pinned.files.files] == ["recorded"]


def manifest(*sources: SourceRecord) -> Manifest:
    return Manifest(
        run_id="r",
        project="p",
        status="done",
        started_at="",
        finished_at="",
        runtime_digest="",
        results_digest="",
        settings_results={},
        settings_speed={},
        storage={},
        cache="snapshot_pinned",
        function_digest="",
        versions={},
        sources=sources,
        views=(),
        tables=(),
    )
