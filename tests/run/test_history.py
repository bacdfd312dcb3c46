"""Runs are found by their ids and told in short, from manifests alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from headwater.artifacts import Manifest, PinRecord, TableRecord, commit_manifest
from headwater.errors import ManifestUnreadable, RunAmbiguous, RunNotFound
from headwater.run import Project
from headwater.run.history import RunSummary, find_run, is_not_reached, recent_runs, seconds_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PIN = PinRecord(version=3, digest="c0ffee")
IDS = (
    "20260101T000000000000Z-0000000a",
    "20260102T000000000000Z-0000000b",
    "20260102T000000000000Z-0000000c",
    "20260303T000000000000Z-0000000d",
)
FIRST = Manifest(
    run_id=IDS[0],
    project="small",
    status="done",
    started_at="2026-01-01T00:00:00+00:00",
    finished_at="2026-01-01T00:01:02.500000+00:00",
    runtime_digest="r1",
    results_digest="r2",
    settings_results={},
    settings_speed={},
    storage={},
    cache="c",
    function_digest="f1",
    versions={},
    sources=(),
    views=(),
    tables=(TableRecord(name="a", action="built", reason="new", version=3, pin=PIN),),
)
FAILED = replace(
    FIRST,
    run_id=IDS[3],
    status="failed",
    error="HW-X it failed",
    tables=(
        TableRecord(name="a", action="skipped", reason="nothing it reads changed", version=3, pin=PIN),
        TableRecord(name="b", action="built", reason="new", version=0, pin=PIN),
        TableRecord(name="c", action="failed", reason="HW-X it failed"),
        TableRecord(name="d", action="skipped", reason="not reached: 'c' failed"),
        TableRecord(name="e", action="skipped", reason="not reached: 'c' failed"),
    ),
)


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    """Four runs; the third cannot be read, and a fifth did not come to an end."""
    for each in (FAILED, FIRST, *(replace(FIRST, run_id=name) for name in IDS[1:3])):
        commit_manifest(tmp_path, each)
    (tmp_path / "runs" / IDS[2] / "manifest.json").write_bytes(b'{"schema_version": 1}')
    (tmp_path / "runs" / "20260404T000000000000Z-0000000e").mkdir()
    return tmp_path


def test_runs_are_told_newest_first(warehouse: Path) -> None:
    found = recent_runs(warehouse)
    assert [each.run_id for each in found] == list(reversed(IDS))
    assert found[0] == RunSummary(
        run_id=IDS[3],
        status="failed",
        started_at=FIRST.started_at,
        seconds=62.5,
        built=1,
        skipped=1,
        failed=1,
        not_reached=2,
        error="HW-X it failed",
    )
    assert found[1] == RunSummary(
        run_id=IDS[2],
        status="unreadable",
        error="it has schema version 1, and this Headwater reads version 2",
    )
    assert (found[3].status, found[3].built, found[3].error) == ("done", 1, None)
    assert recent_runs(warehouse, 2) == found[:2]
    assert recent_runs(warehouse, 0) == ()
    assert recent_runs(warehouse / "nowhere") == ()


@pytest.mark.parametrize(
    ("text", "run_id"),
    [
        (IDS[0], IDS[0]),
        (IDS[1], IDS[1]),
        ("20260101", IDS[0]),
        ("20260102T000000000000Z-0000000b", IDS[1]),
        ("202603", IDS[3]),
        ("last", IDS[3]),
    ],
)
def test_a_run_is_found_by_its_id_the_beginning_of_it_or_as_the_last(
    warehouse: Path, text: str, run_id: str
) -> None:
    assert find_run(warehouse, text).run_id == run_id


def test_previous_is_the_one_before_the_last(warehouse: Path) -> None:
    commit_manifest(warehouse, replace(FIRST, run_id=f"{IDS[3]}0"))
    assert find_run(warehouse, "previous").run_id == IDS[3]


def test_an_id_that_is_the_beginning_of_another_is_found(warehouse: Path) -> None:
    commit_manifest(warehouse, replace(FIRST, run_id=f"{IDS[0]}0"))
    assert find_run(warehouse, IDS[0]) == FIRST


def test_a_beginning_that_several_have_is_refused(warehouse: Path) -> None:
    with pytest.raises(RunAmbiguous) as caught:
        find_run(warehouse, "2026")
    assert (caught.value.count, caught.value.near) == (4, (IDS[3], IDS[2], IDS[1]))
    assert caught.value.exit_code == 1
    with pytest.raises(RunAmbiguous) as caught:
        find_run(warehouse, "20260102")
    assert caught.value.near == (IDS[2], IDS[1])


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("20260102T1", (IDS[2], IDS[1], IDS[0])),
        ("20260304", (IDS[3], IDS[2], IDS[1])),
        ("0000000a", (IDS[3], IDS[2], IDS[1])),
        ("", (IDS[3], IDS[2], IDS[1])),
        ("20260404T000000000000Z-0000000e", (IDS[3], IDS[2], IDS[1])),
        (f"../runs/{IDS[0]}", (IDS[3], IDS[2], IDS[1])),
    ],
)
def test_a_run_that_there_is_not_is_refused_with_those_near_it(
    warehouse: Path, text: str, near: tuple[str, ...]
) -> None:
    with pytest.raises(RunNotFound) as caught:
        find_run(warehouse, text)
    assert caught.value.near == near
    assert caught.value.exit_code == 1
    assert all(each in caught.value.next_step for each in near)


def test_where_nothing_was_built_no_run_is_found(tmp_path: Path) -> None:
    with pytest.raises(RunNotFound, match="no record of a run 'last'") as caught:
        find_run(tmp_path, "last")
    assert caught.value.next_step.startswith("Nothing was built there yet")


def test_a_run_that_cannot_be_read_is_a_typed_error(warehouse: Path) -> None:
    with pytest.raises(ManifestUnreadable, match="schema version 1"):
        find_run(warehouse, IDS[2])


def test_times_that_are_none_have_no_length() -> None:
    assert seconds_of(FIRST) == 62.5
    assert seconds_of(replace(FIRST, finished_at="later")) is None
    assert seconds_of(replace(FIRST, finished_at="2026-01-01T00:01:02")) is None


def test_only_what_stands_behind_a_failure_is_not_reached() -> None:
    assert [is_not_reached(each) for each in FAILED.tables] == [False, False, False, True, True]


def test_a_project_tells_its_runs_whatever_became_of_its_definitions(
    project_folder: Callable[..., Path],
) -> None:
    folder = project_folder(broken_py="1 / 0")
    project = Project(folder, environ={})
    assert project.runs() == ()
    for each in (FIRST, FAILED):
        commit_manifest(project.warehouse.root, each)
    assert [each.run_id for each in project.runs()] == [IDS[3], IDS[0]]
    assert project.runs(limit=1) == project.runs()[:1]
    assert (project.run("last"), project.run("20260101")) == (FAILED, FIRST)
    with pytest.raises(RunNotFound):
        project.run("nope")
