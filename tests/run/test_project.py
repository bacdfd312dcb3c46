from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import headwater
from headwater.errors import ProjectNotFound, UnknownProfile
from headwater.origin import Origin
from headwater.run import Project

if TYPE_CHECKING:
    from headwater.runtime import SessionRuntime

MakeProject = Callable[..., Path]
SETTINGS = {"master": "local[2]", "driver_memory": "2g"}


def test_the_warehouse_is_named_by_argument_then_variable_then_project(
    project_folder: MakeProject, tmp_path: Path
) -> None:
    folder = project_folder()
    environ = {"HEADWATER_WAREHOUSE": str(tmp_path / "variable")}
    assert Project(folder, environ={}).warehouse.root == folder / ".headwater"
    assert Project(folder, environ=environ).warehouse.root == tmp_path / "variable"
    chosen = Project(folder, environ=environ, warehouse=tmp_path / "argument")
    assert chosen.warehouse.root == tmp_path / "argument"


def test_the_profile_is_named_by_argument_then_variable_then_project(project_folder: MakeProject) -> None:
    folder = project_folder()
    toml = '[project]\nprofile = "a"\n[profiles.a]\nmaster = "local[1]"\n[profiles.b]\n[profiles.c]\n'
    (folder / "headwater.toml").write_text(toml)
    environ = {"HEADWATER_PROFILE": "b"}
    assert Project(folder, environ={}).profile.name == "a"
    assert Project(folder, environ=environ).profile.name == "b"
    assert Project(folder, environ=environ, profile="c").profile.name == "c"
    with pytest.raises(UnknownProfile) as caught:
        Project(folder, environ={}, profile="d")
    assert caught.value.origin is None
    (folder / "headwater.toml").write_text(toml.replace('"a"', '"z"'))
    with pytest.raises(UnknownProfile) as caught:
        Project(folder, environ={})
    assert caught.value.origin == Origin(str(folder / "headwater.toml"), 2)


def test_no_project_is_a_typed_error(tmp_path: Path) -> None:
    with pytest.raises(ProjectNotFound):
        headwater.open(tmp_path)


@pytest.mark.parametrize(
    ("cache", "statuses"),
    [("snapshot_pinned", ["done", "unchanged"]), ("multi_tenant_strict", ["done", "done"])],
)
def test_an_open_project_sees_its_sources_as_its_cache_profile_says(
    project_folder: MakeProject, runtime: SessionRuntime, cache: str, statuses: list[str]
) -> None:
    text = "import headwater\nheadwater.source('ids', path='ids')\n"
    folder = project_folder(v_py=text, total_sql="-- headwater: table\nSELECT count(*) AS n FROM ids")

    def write(count: int) -> None:
        with runtime.checkout() as session:
            session.spark.range(count).write.format("delta").mode("overwrite").save(str(folder / "ids"))

    write(3)
    project = headwater.open(folder, settings={**SETTINGS, "cache": cache})
    found = [project.build().status]
    write(5)
    found.append(project.build().status)
    assert found == statuses
