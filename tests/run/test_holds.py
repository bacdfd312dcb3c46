"""What recorded runs need of a table: every version and window that a manifest names, and no other."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

import headwater
from headwater.artifacts import read_manifests
from headwater.delta import Guard, list_log, read_head
from headwater.errors import ManifestUnreadable
from headwater.run import holds_on
from headwater.runtime import StorageProfile

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.delta import Hold
    from headwater.run import RunOutcome


@pytest.fixture
def folder(kept_folder: Path) -> Path:
    return kept_folder


def build(folder: Path) -> RunOutcome:
    return headwater.open(folder, profile="local").build()


def held(folder: Path, table: str, *, from_within: bool = False) -> dict[tuple[int, int | None], list[str]]:
    """The versions that are held, by window, with how many runs hold each."""
    project = None if from_within else headwater.open(folder, profile="local")
    place = folder / table
    found: tuple[Hold, ...] = holds_on(place.as_uri(), StorageProfile(), project)
    return {(each.pin.version, each.starting_version): list(each.holders) for each in found}


def test_a_source_is_held_at_what_runs_read_of_it_and_of_its_changes(folder: Path) -> None:
    first, second = (each.run_id for each in read_manifests(folder / ".headwater"))
    next_run = f"the next run after {second}"
    assert held(folder, "lake/events") == {
        (1, None): [first],
        (1, 0): [first],
        (3, None): [second],
        (3, 0): [second, next_run],
    }
    build_elsewhere = read_head((folder / "lake" / "events").as_uri())
    assert build_elsewhere.version == 3


def test_a_table_is_held_at_what_runs_left_also_for_who_knows_no_project(folder: Path) -> None:
    first, second = (each.run_id for each in read_manifests(folder / ".headwater"))
    assert held(folder, ".headwater/tables/totals") == {(0, None): [first], (1, None): [second]}
    assert held(folder, ".headwater/tables/totals", from_within=True) == {
        (0, None): [first],
        (1, None): [second],
    }
    assert held(folder, ".headwater/tables/kinds")[1, None] == [second]


def test_a_run_whose_folder_is_gone_needs_nothing_and_a_table_of_nobody_neither(
    folder: Path, tmp_path: Path
) -> None:
    first, second = (each.run_id for each in read_manifests(folder / ".headwater"))
    shutil.rmtree(folder / ".headwater" / "runs" / first)
    assert held(folder, ".headwater/tables/totals") == {(1, None): [second]}
    shutil.copytree(folder / "lake" / "events", tmp_path / "elsewhere")
    assert holds_on((tmp_path / "elsewhere").as_uri(), StorageProfile()) == ()


def test_runs_of_the_usual_warehouse_count_whichever_one_is_open(folder: Path, tmp_path: Path) -> None:
    before = held(folder, "lake/events")
    project = headwater.open(folder, profile="local", warehouse=tmp_path / "elsewhere")
    found = holds_on((folder / "lake" / "events").as_uri(), StorageProfile(), project)
    assert {(each.pin.version, each.starting_version) for each in found} == set(before)
    graph = folder / ".headwater" / "graph"
    graph.mkdir()
    (folder / ".headwater" / "runs").rename(graph / "runs")
    assert held(folder, "lake/events") == before


def test_a_window_that_lost_its_beginning_leaves_its_end_held(folder: Path) -> None:
    lake = folder / "lake" / "events"
    found = holds_on(lake.as_uri(), StorageProfile(), headwater.open(folder, profile="local"))
    guard = Guard(holds=found)
    assert {each.pin.version for each in guard.readable(list_log(lake.as_uri()))} == {1, 3}
    windows = [each for each in found if each.starting_version is not None]
    plain = [each for each in found if each.starting_version is None]
    assert {each.pin for each in windows} == {each.pin for each in plain}


def test_a_run_that_did_nothing_holds_nothing_more(folder: Path) -> None:
    before = held(folder, "lake/events")
    assert build(folder).status == "unchanged"
    assert held(folder, "lake/events") == before


def test_a_record_that_cannot_be_read_is_no_leave_to_take_anything(folder: Path) -> None:
    manifest = min((folder / ".headwater" / "runs").glob("*/manifest.json"))
    manifest.write_text("{")
    with pytest.raises(ManifestUnreadable):
        held(folder, "lake/events")
    project = headwater.open(folder, profile="local")
    uri = (folder / "lake" / "events").as_uri()
    others = holds_on(uri, StorageProfile(), project, pass_over=True)
    assert {each.pin.version for each in others} == {3}
