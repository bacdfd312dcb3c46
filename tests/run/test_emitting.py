"""Builds whose OpenLineage events are taken by a server and by a file."""

from __future__ import annotations

import json
import shutil
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, cast

import pytest
from lakes import Lake, make_lake
from openlineage_forms import check_event
from receiver import Receiver, receiving

import headwater
from headwater.artifacts import read_manifests
from headwater.run import emitting, tasks

if TYPE_CHECKING:
    from collections.abc import Generator

    from syrupy.assertion import SnapshotAssertion

    from headwater.run import Project, RunOutcome
    from headwater.runtime import SessionRuntime

MakeProject = Callable[..., Path]
Document = dict[str, Any]
ONE = "-- headwater: table\nSELECT 1 AS x"
TWO = "-- headwater: table\nSELECT x + 1 AS y FROM one"
SUMS = "SELECT a.k, sum(a.x) AS total, max(y) AS y FROM big a JOIN b ON a.k = b.k GROUP BY a.k"


def ask_for_events(folder: Path, **said: str | float) -> Path:
    toml = folder / "headwater.toml"
    lines = [f"{key} = {json.dumps(value)}" for key, value in said.items()]
    toml.write_text("\n".join([toml.read_text().partition("[openlineage]")[0], "[openlineage]", *lines, ""]))
    return folder


def opened(folder: Path) -> Project:
    return headwater.open(folder, settings={"master": "local[2]", "driver_memory": "2g"})


def build(folder: Path, **asked: Any) -> RunOutcome:
    return opened(folder).build(**asked)


def in_file(path: Path) -> list[Document]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def told(events: list[Document]) -> list[tuple[str, str]]:
    """Jobs and states, in the order in which they came."""
    return [(each["job"]["name"], each["eventType"]) for each in events]


def the(events: list[Document], job: str, state: str) -> Document:
    (found,) = [each for each in events if (each["job"]["name"], each["eventType"]) == (job, state)]
    return found


@dataclass
class Told:
    """A project after builds, and what was told of each."""

    lake: Lake
    outcomes: list[RunOutcome]
    events: list[list[Document]]
    started_before: dict[str, bool]


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory, runtime: SessionRuntime) -> Generator[Told]:
    """Three builds: a first one; one of an added row; one with a view that fails, and another behind it."""
    lake = make_lake(tmp_path_factory.mktemp("told") / "project", runtime)
    is_there: dict[str, bool] = {}

    def hear(event: Document) -> None:
        if event["eventType"] == "START" and event["outputs"]:
            is_there.setdefault(event["job"]["name"], Path(event["outputs"][0]["name"]).exists())

    (lake.folder / "views" / "big.sql").write_text("SELECT k, x FROM a WHERE x > 5\n")
    lake.view("sums", SUMS, refresh_by=["k"], refresh="incremental")
    (lake.folder / "views" / "tops.py").write_text(
        "import headwater\n\n\n@headwater.table\ndef tops(sums):\n    return sums.select('k', 'total')\n"
    )
    told = Told(lake, [], [], is_there)
    with receiving(Receiver(heard=hear)) as server:
        ask_for_events(lake.folder, url=server.url, file="out/events.jsonl", namespace="shop")
        changes = (
            lambda: None,
            lambda: lake.sql("INSERT INTO {a} VALUES (3, 'w', 9), (1, 'w', 9)"),
            lambda: _break(lake),
        )
        for change in changes:
            change()
            server.events.clear()
            told.outcomes.append(build(lake.folder))
            told.events.append(list(server.events))
        yield told


def _break(lake: Lake) -> None:
    (lake.folder / "views" / "bad.sql").write_text("-- headwater: table\nSELECT CAST(j AS INT) AS n FROM a\n")
    (lake.folder / "views" / "after.sql").write_text("-- headwater: table\nSELECT n FROM bad\n")


# --- what is told --------------------------------------------------------------------------------------


def test_each_table_and_the_run_around_them_begin_and_end(history: Told) -> None:
    assert told(history.events[0]) == [
        ("small", "START"),
        ("small.sums", "START"),
        ("small.sums", "COMPLETE"),
        ("small.tops", "START"),
        ("small.tops", "COMPLETE"),
        ("small", "COMPLETE"),
    ]
    assert [each.warnings for each in history.outcomes] == [(), (), ()]


def test_a_start_has_arrived_before_anything_is_written(history: Told) -> None:
    assert history.started_before == {"small.sums": False, "small.tops": False, "small.bad": False}


def test_every_event_is_one_by_openlineages_own_classes(history: Told) -> None:
    for event in (each for events in history.events for each in events):
        check_event(event)


def test_the_file_has_the_same_events_as_the_server(history: Told) -> None:
    everything = [each for events in history.events for each in events]
    assert in_file(history.lake.folder / "out" / "events.jsonl")[: len(everything)] == everything


def test_the_events_of_a_small_project(history: Told, snapshot: SnapshotAssertion) -> None:
    """Without times, ids, folders, and sizes of files."""
    run_id = history.outcomes[0].run_id
    ids: dict[str, str] = {}

    def plain(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {inner: plain(each, inner) for inner, each in cast("Document", value).items()}
        if isinstance(value, list):
            return [plain(each, key) for each in cast("list[Any]", value)]
        if key == "runId":
            return ids.setdefault(value, f"id {len(ids)}")
        if key == "eventTime":
            return "a time"
        if key == "size":
            return value > 0
        if isinstance(value, str):
            return value.replace(str(history.lake.folder), "/project").replace(run_id, "the run")
        return value

    assert [plain(each) for each in history.events[0]] == snapshot


def test_versions_are_those_that_were_read_and_made(history: Told) -> None:
    sums, tops = (the(history.events[1], f"small.{name}", "COMPLETE") for name in ("sums", "tops"))
    versions = {each["name"]: each["facets"]["version"]["datasetVersion"] for each in sums["inputs"]}
    folder = history.lake.folder
    assert versions == {str(folder / "lake" / "a"): "2", str(folder / "lake" / "b"): "1"}
    made = {each.name: str(each.version) for each in history.outcomes[1].tables}
    assert sums["outputs"][0]["facets"]["version"]["datasetVersion"] == made["sums"] == "1"
    assert tops["inputs"][0]["facets"]["version"]["datasetVersion"] == made["sums"]
    assert tops["inputs"][0]["name"] == sums["outputs"][0]["name"]


def test_rows_are_counted_as_they_were_written(history: Told) -> None:
    counts = [
        the(events, "small.sums", "COMPLETE")["outputs"][0]["outputFacets"]["outputStatistics"]["rowCount"]
        for events in history.events[:2]
    ]
    assert counts == [2, 1]  # keys 1 and 2; then key 1 alone
    assert history.outcomes[1].tables[0].action == "incremental"


def test_a_table_that_fails_says_why_and_one_behind_it_says_nothing(history: Told) -> None:
    events = history.events[2]
    assert told(events) == [
        ("small", "START"),
        ("small.bad", "START"),
        ("small.bad", "FAIL"),
        ("small", "FAIL"),
    ]
    error = the(events, "small.bad", "FAIL")["run"]["facets"]["errorMessage"]
    assert error["message"] == str(history.outcomes[2].errors["bad"])
    assert the(events, "small", "FAIL")["run"]["facets"]["errorMessage"]["message"].startswith("bad: ")
    assert "version" not in the(events, "small.bad", "FAIL")["outputs"][0]["facets"]


def test_a_build_with_nothing_to_do_tells_nothing(history: Told) -> None:
    folder = history.lake.folder
    for name in ("bad", "after"):
        (folder / "views" / f"{name}.sql").unlink()
    place = folder / "out" / "events.jsonl"
    assert build(folder).status == "done"  # views are gone; every table stays
    assert told(in_file(place))[-2:] == [("small", "START"), ("small", "COMPLETE")]
    before = place.read_bytes()
    assert build(folder).status == "unchanged"
    assert place.read_bytes() == before


SOURCES = """
import headwater


@headwater.source
def made(spark):
    return spark.range(3)


headwater.source("kept", rows=[(1,)], schema="id BIGINT")
headwater.source("listed", path="data", format="csv", schema="id BIGINT")
"""
THREE = (
    "-- headwater: table\nSELECT id FROM made UNION ALL SELECT id FROM kept UNION ALL SELECT id FROM listed"
)


def test_sources_that_are_no_tables_have_names_and_versions_too(
    project_folder: MakeProject, runtime: SessionRuntime
) -> None:
    assert runtime
    folder = ask_for_events(project_folder(sources_py=SOURCES, three_sql=THREE), file="events")
    (folder / "data").mkdir()
    (folder / "data" / "a.csv").write_text("7\n8\n")
    assert build(folder).warnings == ()
    events = in_file(folder / "events")
    assert told(events)[1:3] == [("small.made", "START"), ("small.made", "COMPLETE")]
    source = the(events, "small.made", "COMPLETE")
    assert source["job"]["facets"]["sourceCodeLocation"]["url"] == "file:views/sources.py#L5"
    assert source["outputs"][0]["outputFacets"]["outputStatistics"]["rowCount"] == 3
    three = the(events, "small.three", "COMPLETE")
    places = {(each["namespace"], each["name"]): each for each in three["inputs"]}
    assert list(places) == [
        ("headwater", "small.kept"),
        ("file", str(folder / "data")),
        ("file", str(folder / ".headwater" / "tables" / "made")),
    ]
    kept, listed, made = places.values()
    assert made["facets"]["version"]["datasetVersion"] == "0"
    assert {len(each["facets"]["version"]["datasetVersion"]) for each in (kept, listed)} == {64}
    assert listed["inputFacets"]["inputStatistics"]["size"] == 4
    origins = three["outputs"][0]["facets"]["columnLineage"]["fields"]["id"]["inputFields"]
    assert {(each["namespace"], each["name"]) for each in origins} == set(places)
    for event in events:
        check_event(event)


# --- a run that is stopped -----------------------------------------------------------------------------


class Killed(BaseException):
    """What nobody catches."""


def test_a_run_that_was_killed_has_its_end_told_by_the_next(
    project_folder: MakeProject, runtime: SessionRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert runtime
    folder = ask_for_events(project_folder(one_sql=ONE, two_sql=TWO), file="events")
    real = tasks.commit_mutation

    def kill(session: Any, mutation: Any, *given: Any, **named: Any) -> Any:
        if mutation.note.table == "two":
            raise Killed
        return real(session, mutation, *given, **named)

    monkeypatch.setattr(tasks, "commit_mutation", kill)
    with pytest.raises(Killed):
        build(folder)
    monkeypatch.undo()
    events = in_file(folder / "events")
    assert told(events) == [
        ("small", "START"),
        ("small.one", "START"),
        ("small.one", "COMPLETE"),
        ("small.two", "START"),
    ]
    assert build(folder).status == "done"
    later = in_file(folder / "events")[4:]
    assert told(later) == [
        ("small.one", "COMPLETE"),
        ("small.two", "ABORT"),
        ("small", "ABORT"),
        ("small", "START"),
        ("small.two", "START"),
        ("small.two", "COMPLETE"),
        ("small", "COMPLETE"),
    ]
    killed = {each["job"]["name"]: each["run"]["runId"] for each in events}
    assert {each["job"]["name"]: each["run"]["runId"] for each in later[:3]} == killed
    assert the(later, "small", "ABORT")["run"]["facets"]["errorMessage"]["message"]
    for event in later:
        check_event(event)
    build(folder, full=True)
    assert "ABORT" not in [state for _, state in told(in_file(folder / "events")[11:])]


# --- nobody is there -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def quiet_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("quiet") / "project"
    (folder / "views").mkdir(parents=True)
    (folder / "headwater.toml").write_text('[project]\nname = "small"\n')
    (folder / "views" / "one.sql").write_text(ONE)
    return folder


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@pytest.mark.parametrize("trouble", ["dead port", "500", "slow", "unwritable file", "no key", "bad event"])
def test_events_that_get_lost_are_one_warning_and_nothing_else(
    quiet_project: Path,
    tmp_path: Path,
    runtime: SessionRuntime,
    monkeypatch: pytest.MonkeyPatch,
    trouble: str,
) -> None:
    assert runtime
    folder = shutil.copytree(quiet_project, tmp_path / "project")
    receiver = Receiver(answers=[500] * 99) if trouble == "500" else Receiver()
    receiver.hold = Event() if trouble == "slow" else None
    with receiving(receiver) as server:
        said: dict[str, str | float] = {"url": server.url, "timeout_seconds": 1}
        match trouble:
            case "dead port":
                said["url"] = f"http://127.0.0.1:{free_port()}"
            case "unwritable file":
                said = {"file": "views"}
            case "no key":
                said["api_key_env"] = "NO_SUCH_KEY"
            case "bad event":
                said["namespace"] = "shop"
                monkeypatch.setattr(emitting, "build_table_event", None)
            case _:
                pass
        start = time.monotonic()
        outcome = build(ask_for_events(folder, **said))
        took = time.monotonic() - start
    assert (outcome.status, outcome.error) == ("done", None)
    (warning,) = outcome.warnings
    assert warning.startswith("OpenLineage: ")
    assert "\n" not in warning
    (manifest,) = read_manifests(folder / ".headwater")
    assert (manifest.status, manifest.tables[0].rows) == ("done", 1)
    assert took < 60
    again = build(folder)
    assert (again.status, again.warnings) == ("unchanged", ())
    with opened(folder).query("SELECT status FROM hw_runs") as result:
        assert result.read_all().to_pylist() == [{"status": "done"}]
