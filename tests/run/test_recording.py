from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import headwater
from headwater.artifacts import read_manifest
from headwater.origin import Origin
from headwater.pipeline import Pipeline, PlanBytes, SourceSpec
from headwater.run.recording import planned_sources
from headwater.runtime import identity_of

if TYPE_CHECKING:
    from headwater.runtime import RunSession

MakeProject = Callable[..., Path]


@pytest.mark.usefixtures("runtime")
def test_a_manifest_has_relative_paths_and_what_the_runtime_was(project_folder: MakeProject) -> None:
    """That no secret is in it, too, is seen where an application has one: tests/cli/test_build.py."""
    folder = project_folder(one_sql="-- headwater: table\nSELECT 1 AS x", two_sql="SELECT x FROM one")
    project = headwater.open(folder)
    outcome = project.build()
    assert outcome.status == "done", outcome.error
    manifest = read_manifest(outcome.manifest)
    assert [(view.name, view.file, view.line, view.reads) for view in manifest.views] == [
        ("one", "views/one.sql", 1, ()),
        ("two", "views/two.sql", 1, ("one",)),
    ]
    assert str(folder) not in outcome.manifest.read_text()
    assert manifest.storage == {"require_local_paths": "false"}
    assert (manifest.settings_results["spark.sql.session.timeZone"], manifest.cache) == (
        "UTC",
        "snapshot_pinned",
    )
    assert manifest.versions["spark"] == "4.2.0"
    identity = identity_of(project.profile)
    assert (manifest.runtime_digest, manifest.results_digest) == (identity.digest, identity.results_digest)
    assert manifest.function_digest == identity.functions.digest


VIEWS = """
import headwater

headwater.source("lake", path="lake")
headwater.source("feed", path="lake", changes=headwater.delta.CdfWindow(starting_version=0))
headwater.source("files", path="files", format="csv", schema="id BIGINT, kind STRING")

@headwater.source
def numbers(spark):
    return spark.range(20)

@headwater.source
def kinds(spark):
    return spark.createDataFrame([("a", 1.5), ("b", 2.5)], "kind STRING, weight DOUBLE")

@headwater.table(enable_features=["incremental", "inCommitTimestamp"], column_mapping_mode="name")
def weighted(lake, kinds):
    return lake.join(kinds, "kind")

@headwater.table(not_null=["id"], order_by=["id"])
def all_ids(numbers, files, weighted):
    return numbers.select("id").union(files.select("id")).union(weighted.select("id"))

@headwater.table(constraints={"small": "id < MOST"})
def moves(feed, all_ids):
    return feed.select("_change_type").crossJoin(all_ids)

@headwater.table
def counted(moves):
    return moves.groupBy("_change_type").count()
"""


def two_folders(project_folder: MakeProject, session: RunSession, tmp_path: Path) -> tuple[Path, Path]:
    """A project over every kind of source, and its copy, in which the files are newer."""
    folder = project_folder(all_py=VIEWS.replace("MOST", "100"))
    session.spark.sql(
        f"CREATE TABLE delta.`{folder / 'lake'}` (id BIGINT, kind STRING) USING delta "
        "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')"
    )
    session.spark.sql(f"INSERT INTO delta.`{folder / 'lake'}` SELECT id, 'a' FROM range(8)")
    (folder / "files").mkdir()
    (folder / "files" / "one.csv").write_text("30,x\n31,y\n")
    copy = shutil.copytree(folder, tmp_path / "another place" / "copy")
    (copy / "files" / "one.csv").touch()
    return folder, copy


def test_two_folders_that_do_the_same_have_the_same_manifests_but_for_what_was_observed(
    project_folder: MakeProject,
    session: RunSession,
    tmp_path: Path,
    deterministic_part: Callable[[Path], str],
) -> None:
    one, other = two_folders(project_folder, session, tmp_path)
    for status, most in (("done", "100"), ("failed", "31")):
        written: list[Path] = []
        for folder in (one, other):
            (folder / "views" / "all.py").write_text(VIEWS.replace("MOST", most))
            outcome = headwater.open(folder, profile="local").build()
            assert outcome.status == status, outcome.error
            written.append(outcome.manifest)
        first, second = map(read_manifest, written)
        assert [each.action for each in first.tables] == [each.action for each in second.tables]
        assert first != second
        assert deterministic_part(written[0]) == deterministic_part(written[1])
        assert str(tmp_path) not in deterministic_part(written[0])
    assert len(first.violations) == 1
    assert [each.reason for each in first.tables if each.name == "counted"] == ["not reached: 'moves' failed"]


def test_sources_are_recorded_as_they_were_declared_without_secrets() -> None:
    plan = PlanBytes(executable=b"rows", canonical=b"", digest="d", reads=(), sql=(), functions=())
    here = Origin("views/a.py", 1)
    listing = SourceSpec(
        name="visits",
        origin=here,
        kind="listing",
        path="visits",
        file_format="csv",
        schema="n INT",
        options=(("header", "true"), ("password", "hunter2")),
    )
    memory = SourceSpec(name="moods", origin=here, kind="memory", plan=plan)
    first, second = planned_sources(Pipeline(name="p", views=(), sources=(listing, memory)))
    assert (first.name, first.kind, first.path, first.file_format) == ("visits", "listing", "visits", "csv")
    assert (first.schema, first.options["header"], first.plan) == ("n INT", "true", None)
    assert "hunter2" not in repr(first)
    assert (second.kind, second.plan) == ("memory", b"rows")
