from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import headwater
from headwater.artifacts import read_manifest
from headwater.origin import Origin
from headwater.pipeline import Pipeline, PlanBytes, SourceSpec
from headwater.run.recording import planned_sources
from headwater.runtime import identity_of

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
