"""What a run tells around its tables: what it has shown to work, last commits, operators of slow tasks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import headwater
from headwater.artifacts import read_manifest
from headwater.run.facts import capabilities_shown, last_commits
from headwater.run.tasks import TaskContext

if TYPE_CHECKING:
    import pytest

    from headwater.artifacts import Manifest
    from headwater.runtime import SessionRuntime

MakeProject = Callable[..., Path]
SETTINGS = {"master": "local[2]", "driver_memory": "2g"}
SUM = "-- headwater: table\nSELECT id % 7 AS k, count(*) AS n FROM range(10000) GROUP BY 1"


def built(folder: Path) -> Manifest:
    outcome = headwater.open(folder, settings=SETTINGS).build()
    assert outcome.error is None
    return read_manifest(outcome.manifest)


def test_a_run_records_what_it_used_and_the_last_commits(
    project_folder: MakeProject, runtime: SessionRuntime
) -> None:
    assert runtime.profile.driver_memory == "2g"
    folder = project_folder(one_sql=SUM)
    first = built(folder)
    assert {each.name: each.probe_result for each in first.capabilities} == {
        "query": "1 names were read",
        "delta_commit": "1 commits",
        "plan_rehydration": "1 plans were run",
    }
    assert all(each.compatible and each.entrypoint.startswith("headwater.") for each in first.capabilities)
    assert [(each.dataset, each.version, each.run_id) for each in first.history] == [("one", 0, first.run_id)]
    assert (first.host, first.operators) != ("", ())
    (table,) = first.tables
    assert table.started_at is not None
    assert table.seconds is not None
    assert table.seconds > 0
    (folder / "views" / "one.sql").write_text(SUM.replace("7", "5"))
    second = built(folder)
    assert [(each.version, each.run_id) for each in second.history] == [(1, second.run_id), (0, first.run_id)]


def test_what_the_operators_of_a_slow_task_counted_is_kept(
    project_folder: MakeProject, runtime: SessionRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every task is slow to somebody who counts from the year before."""
    assert runtime.profile.driver_memory == "2g"
    folder = project_folder(one_sql=SUM)
    of = TaskContext.__init__

    def slow(self: TaskContext, **given: object) -> None:
        of(self, **{**given, "slow_seconds": 0.0})  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(TaskContext, "__init__", slow)
    (found,) = built(folder).operators
    assert found.table == "one"
    operators = {each.operator: each.metrics for each in found.operators}
    scanned = next(metrics for name, metrics in operators.items() if name.startswith("Range"))
    assert scanned["numOutputRows"] == 10000
    assert any("HashAggregate" in name for name in operators)


def test_a_dataset_without_a_log_has_no_history(tmp_path: Path) -> None:
    assert last_commits({"gone": (tmp_path / "gone").as_uri()}) == ()


def test_a_run_that_did_nothing_has_shown_nothing() -> None:
    assert capabilities_shown(plans=0, receipts=(), registrations={}) == ()
