"""`headwater runs` and `headwater show` from outside, in a process that has no Java."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from headwater.artifacts import (
    FileRecord,
    Manifest,
    MutationRecord,
    PinRecord,
    RegistrationRecord,
    RetryRecord,
    RoundRecord,
    SourceRecord,
    TableRecord,
    ViewCache,
    ViolationRecord,
    commit_manifest,
)

if TYPE_CHECKING:
    from pathlib import Path

    from syrupy.assertion import SnapshotAssertion

    from conftest import Finished

RunMany = Callable[..., dict[str, "Finished"]]
PIN = PinRecord(version=3, digest="c0ffee00c0ffee00c0ffee")
DONE = Manifest(
    run_id="20260101T000000000000Z-0000000a",
    project="small",
    status="done",
    started_at="2026-01-01T00:00:00+00:00",
    finished_at="2026-01-01T00:20:34.560000+00:00",
    runtime_digest="r1",
    results_digest="r2",
    settings_results={},
    settings_speed={},
    storage={},
    cache="c",
    function_digest="f1",
    versions={"spark": "4.2.0", "delta": "4.4.0"},
    sources=(
        SourceRecord(name="feed", kind="changes", digest="s", pin=PIN, path="lake", starting_version=1),
        SourceRecord(
            name="files",
            kind="listing",
            digest="s",
            pin=PIN,
            path="data",
            files=tuple(FileRecord(path=each, size=1, changed_ns=1, sha256="f") for each in "ab"),
        ),
        SourceRecord(name="orders", kind="made", digest="s", pin=PIN),
    ),
    views=(),
    tables=(
        TableRecord(
            name="facts",
            action="built",
            reason="new",
            version=3,
            rows=12345,
            digest="hw2:12345:aa",
            pin=PIN,
            seconds=2.25,
            rounds=(
                RoundRecord(number=1, given="none", new_rows=12344, rows=12344, seconds=1.25),
                RoundRecord(number=2, given="new", new_rows=1, rows=12345, seconds=0.5),
                RoundRecord(number=3, given="all", new_rows=0, rows=12345, seconds=0.25),
            ),
        ),
        TableRecord(name="totals", action="skipped", reason="nothing it reads changed", version=0, pin=PIN),
    ),
    registrations=(
        RegistrationRecord(
            name="Totals",
            kind="delta",
            provider_kind="delta_as_files",
            degraded=True,
            version=0,
            function_digest="f",
        ),
    ),
    mutations=(
        MutationRecord(
            table="facts",
            kind="overwrite",
            outcome="committed",
            operation="WRITE",
            version=3,
            commit_digest="c0ffee",
            timestamp_ms=5,
            rows=12345,
            content=None,
            min_reader_version=1,
            min_writer_version=2,
            attempts=(
                RetryRecord(number=1, base_version=2, conflict="c", verdict="again", waited_seconds=0.1),
            ),
        ),
    ),
    caches=tuple(
        ViewCache(
            view_name=name,
            cache_policy=policy,
            cache_path=path,
            plan_fingerprint="f",
            hit=hit,
            used=name != "idle",
        )
        for name, policy, path, hit in (
            ("idle", "delta_staging", "staging/idle-f", False),
            ("new_rows", "delta_staging", "staging/new_rows-f", False),
            ("old_rows", "delta_staging", "staging/old_rows-f", True),
            ("shared", "memory", None, False),
        )
    ),
    only=("facts", "totals"),
    host="a machine",
)
WORDS = "HW-DELTA-025 views/all.py:3: 2 rows for facts violate the constraint 'small'"
FAILED = replace(
    DONE,
    run_id="20260203T000000123456Z-0000000b",
    status="failed",
    started_at="2026-02-03T00:00:00.123456+00:00",
    finished_at="2026-02-03T00:00:01.123456+00:00",
    sources=(),
    only=(),
    host="",
    tables=(
        TableRecord(name="facts", action="failed", reason=WORDS),
        TableRecord(name="totals", action="skipped", reason="not reached: 'facts' failed"),
    ),
    registrations=(),
    mutations=(),
    caches=(),
    violations=(
        ViolationRecord(
            table="facts",
            constraint="small",
            expression="id < 3",
            count=2,
            sample=('{"id":3,"\x1b[2J":""}', '{"id":4}'),
        ),
    ),
    error=WORDS,
)
ASKED = {
    "runs": ("runs",),
    "runs limited": ("runs", ".", "--limit", "1"),
    "runs all": ("runs", "--limit", "0"),
    "runs json": ("runs", "--json"),
    "runs quiet": ("runs", "--quiet"),
    "runs none": ("runs", "--warehouse", "nowhere"),
    "runs no number": ("runs", "--limit", "-1"),
    "show last": ("show", "last"),
    "show done": ("show", "20260101"),
    "show json": ("show", DONE.run_id, ".", "--json"),
    "show quiet": ("show", "last", "--quiet"),
    "show unknown": ("show", "20260104"),
    "show ambiguous": ("show", "2026"),
    "show unreadable": ("show", "20251231"),
    "show none": ("show", "last", "--warehouse", "nowhere"),
    "show unknown json": ("show", "20260104", "--json"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with two runs that can be read and one that cannot; its definitions are broken."""
    folder = tmp_path_factory.mktemp("runs") / "small"
    (folder / "views").mkdir(parents=True)
    (folder / "headwater.toml").write_text('[project]\nname = "small"\n')
    (folder / "views" / "broken.py").write_text("1 / 0\n")
    for each in (DONE, FAILED, replace(DONE, run_id="20251231T000000000000Z-00000009")):
        commit_manifest(folder / ".headwater", each)
    (folder / ".headwater" / "runs" / "20251231T000000000000Z-00000009" / "manifest.json").write_text("{")
    return folder


@pytest.fixture(scope="module")
def ends(headwaters: RunMany, folder: Path) -> dict[str, Finished]:
    """How each command ended."""
    return headwaters(**{name: {"arguments": each, "cwd": folder} for name, each in ASKED.items()})


@pytest.mark.parametrize("case", ["runs", "runs limited", "runs all", "runs none", "show last", "show done"])
def test_runs_are_shown_to_a_person(
    ends: dict[str, Finished], snapshot: SnapshotAssertion, case: str
) -> None:
    assert (ends[case].code, ends[case].err) == (0, "")
    assert ends[case].out == snapshot
    assert "\x1b" not in ends[case].out


def test_runs_are_told_to_a_program(ends: dict[str, Finished]) -> None:
    document = json.loads(ends["runs json"].out)
    assert document["schema_version"] == 1
    failed, done, unreadable = document["runs"]
    assert failed == {
        "run_id": FAILED.run_id,
        "status": "failed",
        "started_at": FAILED.started_at,
        "seconds": 1.0,
        "built": 0,
        "incremental": 0,
        "skipped": 0,
        "failed": 1,
        "not_reached": 1,
        "error": WORDS,
    }
    assert (done["status"], done["built"], done["error"]) == ("done", 1, None)
    assert (unreadable["status"], unreadable["started_at"]) == ("unreadable", None)
    assert unreadable["error"]


def test_a_run_as_json_is_its_manifests_file(ends: dict[str, Finished], folder: Path) -> None:
    assert ends["show json"].code == 0
    path = folder / ".headwater" / "runs" / DONE.run_id / "manifest.json"
    assert ends["show json"].out == path.read_text()


@pytest.mark.parametrize("case", ["runs quiet", "show quiet"])
def test_quiet_says_nothing(ends: dict[str, Finished], case: str) -> None:
    assert (ends[case].code, ends[case].out, ends[case].err) == (0, "", "")


@pytest.mark.parametrize("case", ["show unknown", "show ambiguous", "show unreadable", "show none"])
def test_a_run_that_cannot_be_shown_is_told_with_a_next_step(
    ends: dict[str, Finished], snapshot: SnapshotAssertion, folder: Path, case: str
) -> None:
    assert (ends[case].code, ends[case].out) == (1, "")
    assert ends[case].err.replace(str(folder), "FOLDER") == snapshot


def test_a_run_that_there_is_not_is_json_too(ends: dict[str, Finished]) -> None:
    document = json.loads(ends["show unknown json"].out)
    assert (document["status"], document["error"]["code"]) == ("failed", "HW-RUN-005")


def test_less_than_no_runs_is_wrong_usage(ends: dict[str, Finished]) -> None:
    assert ends["runs no number"].code == 2
