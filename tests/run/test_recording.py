from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import headwater
from headwater.artifacts import encode_manifest, read_manifest

MakeProject = Callable[..., Path]


@pytest.mark.usefixtures("runtime")
def test_a_manifest_has_relative_paths_and_no_secret(project_folder: MakeProject) -> None:
    folder = project_folder(one_sql="-- headwater: table\nSELECT 1 AS x", two_sql="SELECT x FROM one")
    (folder / "headwater.toml").write_text(
        '[profiles.local]\nmaster = "local[2]"\ndriver_memory = "1g"\n'
        '[profiles.local.spark]\n"spark.sql.session.localRelationCacheThreshold" = 100000000\n'
        '"spark.sql.redaction.string.regex" = "hunter2.password"\n'
    )
    project = headwater.open(folder)
    outcome = project.build()
    manifest = read_manifest(outcome.manifest)
    assert [(view.name, view.file, view.line, view.reads) for view in manifest.views] == [
        ("one", "views/one.sql", 1, ()),
        ("two", "views/two.sql", 1, ("one",)),
    ]
    text = encode_manifest(manifest).decode()
    assert str(folder) not in text
    assert (
        manifest.runtime_digest
        == headwater.open(folder).build().manifest.read_text().split('"runtime_digest": "')[1][:64]
    )
    assert manifest.settings_results["spark.sql.session.timeZone"] == "UTC"
    assert manifest.versions["spark"] == "4.2.0"
