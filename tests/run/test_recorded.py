"""A run read again from its record: which one, under which profile, what it reads, and if that is there."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

import headwater
from headwater.artifacts import read_manifest, read_manifests, read_schedule
from headwater.errors import NotRecorded, PinsGone
from headwater.run.history import find_run
from headwater.run.recorded import read_recorded, recorded_profile, stored_view
from headwater.runtime import RuntimeProfile, identity_of

if TYPE_CHECKING:
    from headwater.run import ReplayReport
    from headwater.run.recorded import RecordedRun
    from headwater.runtime import SessionRuntime

MakeProject = Callable[..., Path]
SETTINGS = {"master": "local[2]", "driver_memory": "2g"}


def runs_of(folder: Path) -> list[str]:
    return [each.run_id for each in read_manifests(folder / ".headwater")]


def recorded(folder: Path, run: str = "last") -> RecordedRun:
    project = headwater.open(folder, settings=SETTINGS)
    manifest = find_run(project.warehouse.root, run)
    return read_recorded(
        manifest, root=project.config.root, warehouse=project.warehouse, storage=project.profile.storage
    )


def replayed(folder: Path, run: str, view: str | None = None) -> ReplayReport:
    return headwater.open(folder, settings=SETTINGS).replay(run, view)


def test_what_a_run_reads_is_known_without_its_definitions(kept_folder: Path) -> None:
    shutil.rmtree(kept_folder / "views")
    first, _ = runs_of(kept_folder)
    run = recorded(kept_folder, first)
    assert run.order == ("moves", "totals", "kinds")
    assert run.reached_by(["kinds"]) == ("totals",)
    assert run.reached_by(["kinds", "moves"]) == ("feed", "totals")
    pin = run.table_pin("totals")
    assert pin is not None
    assert (pin.version, pin.uri) == (0, (kept_folder / ".headwater" / "tables" / "totals").as_uri())
    feed = run.source("feed")
    assert feed is not None
    assert feed.changes is not None
    assert (feed.changes.starting_version, feed.changes.pin.version) == (0, 1)
    assert run.source("nothing") is None
    assert run.table_pin("nothing") is None
    assert stored_view(run, "TOTALS") == "totals"
    with pytest.raises(NotRecorded, match="totls") as raised:
        stored_view(run, "totls")
    assert "'totals'" in raised.value.next_step


def test_a_profile_gets_the_settings_of_a_run(kept_folder: Path) -> None:
    manifest = recorded(kept_folder).manifest
    spark = (("spark.sql.legacy.x", "1"), ("spark.sql.adaptive.enabled2", "true"), ("spark.app.x", "y"))
    today = RuntimeProfile(
        master="local[3]", time_zone="Asia/Tokyo", ansi=False, disabled_families=("id",), spark=spark
    )
    then = recorded_profile(today, manifest)
    assert dict(identity_of(then).settings.results) == manifest.settings_results
    assert (then.master, then.disabled_families, dict(then.spark)["spark.app.x"]) == ("local[3]", (), "y")
    first = replace(manifest.registrations[0], degraded=True, provider_kind="snapshot_changes")
    degraded = replace(manifest, registrations=(first,))
    assert recorded_profile(today, degraded).allow_degraded == ("snapshot_changes",)


@pytest.mark.usefixtures("runtime")
def test_both_runs_replay_with_their_windows_of_changes(kept_folder: Path) -> None:
    shutil.rmtree(kept_folder / "views")
    for run in runs_of(kept_folder):
        report = replayed(kept_folder, run)
        assert (report.run_id, report.status) == (run, "equal")
        assert [each.status for each in report.views] == ["equal"] * 3


@pytest.mark.usefixtures("runtime")
def test_a_window_whose_commits_are_gone_is_listed(kept_folder: Path) -> None:
    first, _ = runs_of(kept_folder)
    (kept_folder / "lake" / "events" / "_delta_log" / f"{0:020}.json").unlink()
    with pytest.raises(PinsGone) as raised:
        replayed(kept_folder, first, "moves")
    (gone,) = raised.value.gone
    assert gone.startswith("feed version 0: ")


@pytest.mark.usefixtures("runtime")
def test_a_table_that_was_made_anew_is_not_what_a_run_read(
    kept_folder: Path, runtime: SessionRuntime
) -> None:
    shutil.rmtree(kept_folder / "lake" / "events")
    with runtime.checkout() as session:
        rows = session.spark.sql("SELECT id, 'a' AS kind FROM range(8)")
        rows.write.format("delta").save(str(kept_folder / "lake" / "events"))
        rows.write.format("delta").mode("append").save(str(kept_folder / "lake" / "events"))
    first, _ = runs_of(kept_folder)
    with pytest.raises(PinsGone) as raised:
        replayed(kept_folder, first)
    assert [each.partition(":")[0] for each in raised.value.gone] == ["events version 1", "feed version 1"]


@pytest.mark.usefixtures("runtime")
def test_a_run_without_records_of_its_sources_says_what_it_lacks(project_folder: MakeProject) -> None:
    """As runs were recorded before sources were."""
    source = 'import headwater\n\nheadwater.source("one", rows=[(1,)], schema="x INT")\n'
    folder = project_folder(
        one_py=source,
        two_sql="-- headwater: table\nSELECT * FROM one",
        three_sql="-- headwater: table\nSELECT 1 AS x",
    )
    project = headwater.open(folder)
    outcome = project.build()
    assert outcome.error is None, str(outcome.error)
    (planned,) = read_schedule(project.warehouse.root, outcome.run_id).sources
    assert (planned.name, planned.kind, planned.plan is not None) == ("one", "memory", True)
    plans = outcome.manifest.with_name("plans.json")
    record = json.loads(plans.read_bytes())
    plans.write_text(json.dumps({**record, "sources": []}))
    with pytest.raises(PinsGone, match="did not keep how it is read"):
        project.replay("last")
    assert project.replay("last", "three").status == "equal"


@pytest.mark.usefixtures("runtime")
def test_a_code_graph_replays_from_the_files_that_it_was_made_of(tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    repository.mkdir()
    (repository / "a.py").write_text("def f(x):\n    return x + 1\n")
    (repository / "b.py").write_text("from a import f\n\nprint(f(1))\n")
    graph = headwater.open(repository, settings=SETTINGS)
    outcome = graph.build()
    assert outcome.error is None, str(outcome.error)
    (repository / "c.py").write_text("1\n")
    assert graph.replay("last").status == "equal"
    assert read_manifest(outcome.manifest).run_id == outcome.run_id
    (repository / "a.py").write_text("def f(x):\n    return x + 2\n")
    with pytest.raises(PinsGone) as raised:
        graph.replay("last")
    assert [each.partition(": ")[2] for each in raised.value.gone] == ["a.py has another content"]
