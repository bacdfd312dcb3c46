from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import headwater as library
from headwater.artifacts import read_manifest
from headwater.runtime import identity_of

if TYPE_CHECKING:
    from conftest import Finished

MakeProject = Callable[..., Path]


def test_a_manifest_has_relative_paths_and_no_secret(
    project_folder: MakeProject, headwater: Callable[..., Finished]
) -> None:
    """In a process of its own: storage options belong to the application, and the tests' one has none."""
    folder = project_folder(one_sql="-- headwater: table\nSELECT 1 AS x", two_sql="SELECT x FROM one")
    (folder / "headwater.toml").write_text(
        '[profiles.local]\nmaster = "local[2]"\ndriver_memory = "1g"\n'
        '[profiles.local.storage.options]\n"fs.s3a.secret.key" = "hunter2"\n"fs.s3a.endpoint" = "here"\n'
    )
    done = headwater("build", folder, "--json")
    assert done.code == 0, done.err
    path = Path(json.loads(done.out)["manifest"])
    manifest = read_manifest(path)
    assert [(view.name, view.file, view.line, view.reads) for view in manifest.views] == [
        ("one", "views/one.sql", 1, ()),
        ("two", "views/two.sql", 1, ("one",)),
    ]
    text = path.read_text()
    assert str(folder) not in text
    assert "hunter2" not in text
    assert "hunter2" not in "".join(file.read_text() for file in sorted(folder.rglob("*.json")))
    assert manifest.storage == {
        "require_local_paths": "false",
        "spark.hadoop.fs.s3a.endpoint": "here",
        "spark.hadoop.fs.s3a.secret.key": "*********",
    }
    assert (manifest.settings_results["spark.sql.session.timeZone"], manifest.cache) == (
        "UTC",
        "snapshot_pinned",
    )
    assert manifest.versions["spark"] == "4.2.0"
    identity = identity_of(library.open(folder).profile)
    assert (manifest.runtime_digest, manifest.results_digest) == (identity.digest, identity.results_digest)
    assert manifest.function_digest == identity.functions.digest
