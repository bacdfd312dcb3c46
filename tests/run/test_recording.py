from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import headwater
from headwater.artifacts import read_manifest
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
