"""Tables that are asked about: what a path or a name means, and what is found there."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING

import pytest
from lakes import TOML

import headwater
from headwater.delta import CommitNote, read_head
from headwater.errors import (
    HeadwaterError,
    InvalidSetting,
    ManifestUnreadable,
    NotADeltaTable,
    NotBuilt,
    RemoteRefused,
    RemoteUnsupported,
    ScanNotResolved,
    TimestampOutOfRange,
    UnknownDataset,
    VersionNotFound,
)
from headwater.run import (
    LocatedTable,
    Progress,
    TableRequest,
    describe_table,
    is_table_path,
    locate_table,
    preview_files,
    read_commits,
    verify_table,
)
from headwater.runtime import StorageProfile, local_path_of

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.run import Project
    from headwater.runtime import RunSession, SessionRuntime

VIEWS = """
import headwater

headwater.source("moods", rows=[(1, "glad"), (2, "sad")], schema="person BIGINT, mood STRING")
headwater.source("Towns", path="data/towns")
headwater.source("moves", path="data/towns", changes={"starting_version": 0})


@headwater.source
def people(spark):
    return spark.range(1, 4)


@headwater.view
def glad(moods):
    return moods.where("mood = 'glad'")


@headwater.table
def totals(people, Towns, moves):
    return people.join(Towns, "id").join(moves.select("id"), "id")
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory, runtime: SessionRuntime) -> Path:
    """A project that was built: every kind of name there is."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "views").mkdir()
    (folder / "headwater.toml").write_text(TOML)
    (folder / "views" / "all.py").write_text(VIEWS)
    with runtime.checkout() as session:
        rows = session.spark.range(0, 6, 1, 1).selectExpr("id", "id % 2 AS part").write.format("delta")
        rows = rows.option("delta.enableChangeDataFeed", "true").option("userMetadata", secret_note())
        rows.partitionBy("part").save(str(folder / "data" / "towns"))
    assert headwater.open(folder).build().status == "done"
    return folder


@pytest.fixture
def project(root: Path) -> Project:
    return headwater.open(root)


def secret_note() -> str:
    return json.dumps({"who": "ada", "api_key": "hush", "more": [{"url": "s3a://ada:hush@b"}, 1]})


def request_of(project: Project, target: str, version: int | None = None) -> TableRequest:
    table = locate_table(target, project)
    return TableRequest(table=table, profile=project.profile, version=version)


def path_of(table: LocatedTable) -> Path:
    return local_path_of(table.uri)


# --- where it is ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["a/b", "/a", "./a", "..", ".a", "file:a", "FILE:/a", "s3a://b/t", ""])
def test_a_place_is_told_from_a_name(text: str) -> None:
    assert is_table_path(text)
    assert not is_table_path("orders")
    assert not is_table_path("orders.delta")


def test_a_path_is_taken_as_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    place = LocatedTable(name="a b", uri=(tmp_path / "a b").as_uri())
    for target in ("./a b", f"{tmp_path}/a b", (tmp_path / "a b").as_uri(), f"file:{tmp_path}/a%20b"):
        assert locate_table(target) == place
    (tmp_path / "a b").mkdir()
    assert locate_table("a b") == place


def test_every_delta_table_of_a_project_has_its_name(root: Path, project: Project) -> None:
    stored = root / ".headwater" / "tables"
    assert path_of(locate_table("totals", project)) == stored / "totals"
    assert path_of(locate_table("PEOPLE", project)) == stored / "people"
    assert locate_table("TOWNS", project) == LocatedTable(
        name="Towns", uri=(root / "data" / "towns").as_uri()
    )
    assert path_of(locate_table("moves", project)) == root / "data" / "towns"


def test_a_name_goes_before_a_folder_and_a_path_before_a_name(
    root: Path, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "totals").mkdir()
    monkeypatch.chdir(tmp_path)
    assert path_of(locate_table("totals", project)) == root / ".headwater" / "tables" / "totals"
    assert path_of(locate_table("./totals", project)) == tmp_path / "totals"
    assert path_of(locate_table("totals")) == tmp_path / "totals"


def test_a_stored_table_is_known_without_a_manifest(root: Path, tmp_path: Path) -> None:
    (tmp_path / "headwater.toml").write_text(TOML)
    alone = headwater.open(tmp_path)
    with pytest.raises(NotBuilt):
        locate_table("totals", alone)
    stored = tmp_path / ".headwater" / "tables" / "totals"
    shutil.copytree(root / ".headwater" / "tables" / "totals", stored)
    assert path_of(locate_table("totals", alone)) == stored
    with pytest.raises(UnknownDataset):
        locate_table("people", alone)


def test_what_the_manifest_says_of_a_name_counts(root: Path, tmp_path: Path) -> None:
    shutil.copytree(root, tmp_path / "copy")
    copied = headwater.open(tmp_path / "copy")
    (manifest,) = sorted((tmp_path / "copy" / ".headwater" / "runs").glob("*/manifest.json"))
    recorded = json.loads(manifest.read_text())
    places = {"Towns": (root / "data" / "towns").as_uri(), "moves": str(root / "data" / "towns")}
    for source in recorded["sources"]:
        source["path"] = places.get(source["name"], source.get("path"))
    recorded["observed"]["tables"][0]["pin"] = None
    shutil.rmtree(tmp_path / "copy" / ".headwater" / "tables" / "totals")
    manifest.write_text(json.dumps(recorded))
    with pytest.raises(NotADeltaTable, match="the view 'totals', which was never made, is"):
        locate_table("totals", copied)
    assert path_of(locate_table("towns", copied)) == root / "data" / "towns"
    assert path_of(locate_table("moves", copied)) == root / "data" / "towns"
    manifest.write_text("{")
    with pytest.raises(ManifestUnreadable):
        locate_table("towns", copied)
    assert locate_table("./towns", copied)


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("moods", "the source 'moods' (of kind memory) is not a Delta table"),
        ("Glad", "the view 'glad', which is not stored, is not a Delta table"),
        ("total", "there is no 'total' in what the last run recorded"),
    ],
)
def test_what_is_no_table_is_said_so(project: Project, target: str, words: str) -> None:
    with pytest.raises(HeadwaterError) as caught:
        locate_table(target, project)
    assert caught.value.message == words
    if isinstance(caught.value, UnknownDataset):
        assert caught.value.known == ("Towns", "moves", "people", "totals")
        assert caught.value.next_step.startswith("Did you mean 'totals'? Known names: Towns, moves,")


def test_without_a_project_there_are_only_paths() -> None:
    with pytest.raises(NotADeltaTable) as caught:
        locate_table("nowhere_at_all")
    assert caught.value.path == "nowhere_at_all"
    with pytest.raises(InvalidSetting):
        locate_table("")
    with pytest.raises(RemoteRefused):
        locate_table("s3a://bucket/t", storage=StorageProfile(require_local_paths=True))


# --- which version -------------------------------------------------------------------------------------


def test_a_version_that_is_not_there_is_refused_without_spark(root: Path, project: Project) -> None:
    towns = locate_table("towns", project)
    assert TableRequest(table=towns, profile=project.profile).pin() == read_head(towns.uri).pin("Towns")
    with pytest.raises(VersionNotFound):
        request_of(project, "towns", 7).pin()
    with pytest.raises(TimestampOutOfRange):
        TableRequest(table=towns, profile=project.profile, timestamp="1999-01-01").pin()
    with pytest.raises(NotADeltaTable):
        request_of(project, str(root)).pin()
    with pytest.raises(RemoteUnsupported):
        request_of(project, "s3a://bucket/t").pin()
    with pytest.raises(InvalidSetting):
        TableRequest(table=towns, profile=project.profile, version=1, timestamp="2026-01-01")


# --- what it is ----------------------------------------------------------------------------------------


def test_a_table_is_described_with_what_its_log_promises(project: Project) -> None:
    heard: list[Progress] = []
    described = describe_table(request_of(project, "towns"), heard.append)
    assert described.info.table_properties["delta.enableChangeDataFeed"] == "true"
    assert (described.provider_kind, described.files) == ("delta_native", 2)
    assert (described.rows, described.deleted_rows) == (6, 0)
    assert heard[-1].message == "reading the log up to version 0"


def test_files_are_listed_or_previewed(project: Project) -> None:
    request = request_of(project, "towns")
    every = preview_files(request)
    some = preview_files(request, filters=["part = 1"], columns=["id"])
    assert every.snapshot == some.snapshot == request.pin().key
    assert (every.files_kept, every.rows_kept, every.bytes_kept) == (2, 6, every.bytes_total)
    assert (some.files_kept, some.files_total, some.rows_kept, some.rows_total) == (1, 2, 3, 6)
    assert some.kept == every.kept[1:]
    with pytest.raises(ScanNotResolved):
        preview_files(request, columns=["nope"])


def test_a_whole_table_is_whole(project: Project) -> None:
    heard: list[Progress] = []
    found = verify_table(request_of(project, "people"), heard.append)
    assert (found.is_whole, found.rows_scanned, found.promise.rows) == (True, 3, 3)
    assert heard[-1].message == "reading every row of version 0"


def test_a_missing_file_is_a_problem(session: RunSession, project: Project, tmp_path: Path) -> None:
    session.spark.range(0, 3, 1, 1).write.format("delta").save(str(tmp_path / "t"))
    next(path for path in sorted((tmp_path / "t").glob("*.parquet"))).unlink()
    found = verify_table(request_of(project, str(tmp_path / "t")))
    assert (found.is_whole, found.rows_scanned) == (False, None)


# --- how it came to be ---------------------------------------------------------------------------------


def test_commits_are_read_without_their_secrets(project: Project) -> None:
    (commit,) = read_commits(request_of(project, "towns"))
    assert commit.operation == "WRITE"
    assert "hush" not in str(commit)
    told = json.loads(commit.user_metadata or "")
    assert told == {"who": "ada", "api_key": "*********", "more": [{"url": "s3a://*********@b"}, 1]}


def test_commits_up_to_a_version_and_up_to_a_number(project: Project, tmp_path: Path) -> None:
    log = tmp_path / "t" / "_delta_log"
    log.mkdir(parents=True)
    note = CommitNote(pipeline="p", table="t", run_id="r", task_key="k", mutation_id="m").text()
    parameters = {"properties": json.dumps({"a.token": "hush", "b": "1"}), "password": "hush", "n": "[1]"}
    for version in range(4):
        info = {"operation": "X", "userMetadata": note, "operationParameters": parameters}
        (log / f"{version:020}.json").write_text(json.dumps({"commitInfo": info}))
        os.utime(log / f"{version:020}.json", (1000 + version, 1000 + version))
    request = request_of(project, str(tmp_path / "t"))
    commits = read_commits(request, 2)
    assert [each.version for each in commits] == [3, 2]
    assert commits[0].user_metadata == note
    shown = json.dumps({"a.token": "*********", "b": "1"})
    assert commits[0].parameters == (("n", "[1]"), ("password", "*********"), ("properties", shown))
    assert [each.version for each in read_commits(request_of(project, str(tmp_path / "t"), 2), 2)] == [2, 1]
    at = TableRequest(table=request.table, profile=project.profile, timestamp="1970-01-01T00:16:41Z")
    assert [each.version for each in read_commits(at)] == [1, 0]
