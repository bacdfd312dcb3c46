"""A run that is killed between its commits and its record is recorded by the run after it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import headwater
from headwater.artifacts import marked_runs, read_manifests
from headwater.run import engine, making

if TYPE_CHECKING:
    from headwater.artifacts import Manifest
    from headwater.run import Progress, Project
    from headwater.runtime import SessionRuntime

MakeProject = Callable[..., Path]
ONE = "-- headwater: table\nSELECT 1 AS x"
TWO = "-- headwater: table\nSELECT x + 1 AS y FROM one"


class Killed(BaseException):
    """What nobody catches."""


@pytest.fixture
def folder(project_folder: MakeProject, runtime: SessionRuntime) -> Path:
    assert runtime.profile.driver_memory == "2g"
    return project_folder(one_sql=ONE, two_sql=TWO)


def project(folder: Path) -> Project:
    return headwater.open(folder, settings={"master": "local[2]", "driver_memory": "2g"})


def killed_at(
    place: Any, name: str, monkeypatch: pytest.MonkeyPatch, folder: Path, *, when: str = ""
) -> None:
    """A build that ends where a function begins, as if its process were gone."""
    real = getattr(place, name)

    def kill(*given: Any, **named: Any) -> Any:
        if not when or any(getattr(each, "name", None) == when for each in given):
            raise Killed
        return real(*given, **named)

    monkeypatch.setattr(place, name, kill)
    with pytest.raises(Killed):
        project(folder).build()
    monkeypatch.undo()


def manifests(folder: Path) -> list[Manifest]:
    return list(read_manifests(folder / ".headwater"))


def in_the_ledger(folder: Path) -> list[str]:
    with project(folder).query("SELECT run_id FROM hw_runs ORDER BY run_id") as result:
        return [row["run_id"] for row in result.read_all().to_pylist()]


def test_what_a_killed_run_has_committed_is_recorded_under_its_id(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed_at(making, "run_task", monkeypatch, folder, when="two")
    assert manifests(folder) == []
    (left,) = marked_runs(folder / ".headwater")
    heard: list[Progress] = []
    outcome = project(folder).build(listen=heard.append)
    assert f"recording run {left.run_id}, which was stopped" in [each.message for each in heard]
    assert [(each.name, each.action) for each in outcome.tables] == [("one", "skipped"), ("two", "built")]
    stopped, last = manifests(folder)
    assert (stopped.run_id, stopped.status, stopped.error) == (
        left.run_id,
        "failed",
        "the run was stopped before it ended",
    )
    assert [(each.name, each.action, each.version, each.reason) for each in stopped.tables] == [
        ("one", "built", 0, "made before the run was stopped"),
        ("two", "skipped", None, "not reached: the run was stopped before it ended"),
    ]
    assert stopped.tables[0].digest == last.tables[0].digest
    assert list(marked_runs(folder / ".headwater")) == []
    assert in_the_ledger(folder) == [stopped.run_id, last.run_id]
    assert project(folder).build().status == "unchanged"


def test_a_run_killed_before_its_manifest_is_found_though_all_its_tables_are_there(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed_at(engine, "commit_manifest", monkeypatch, folder)
    outcome = project(folder).build()
    assert [each.action for each in outcome.tables] == ["skipped", "skipped"]
    stopped, last = manifests(folder)
    assert [each.action for each in stopped.tables] == ["built", "built"]
    assert [each.digest for each in stopped.tables] == [each.digest for each in last.tables]
    assert project(folder).build().status == "unchanged"


def test_a_mark_that_cannot_be_read_stops_nobody(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    killed_at(making, "run_task", monkeypatch, folder, when="one")
    mark = next((folder / ".headwater" / "runs").glob("*/started.json"))
    mark.write_bytes(b"{")
    heard: list[Progress] = []
    assert project(folder).build(listen=heard.append).status == "done"
    assert any("going on without the record of a run" in each.message for each in heard)


def test_a_run_killed_between_its_manifest_and_the_ledger_is_added_to_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed_at(engine, "append_runs", monkeypatch, folder)
    (before,) = manifests(folder)
    outcome = project(folder).build()
    assert [each.action for each in outcome.tables] == ["skipped", "skipped"]
    after, last = manifests(folder)
    assert after == before
    assert in_the_ledger(folder) == [before.run_id, last.run_id]
    assert project(folder).build().status == "unchanged"
