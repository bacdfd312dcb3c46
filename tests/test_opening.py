from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import headwater
from headwater.errors import ProjectNotFound
from headwater.opening import open_project

if TYPE_CHECKING:
    from pathlib import Path


def test_a_folder_with_a_project_file_is_a_project(tmp_path: Path) -> None:
    (tmp_path / "headwater.toml").write_text('[project]\nname = "shop"\n')
    project = open_project(tmp_path)
    assert (project.config.name, project.config.declare) == ("shop", None)
    assert project.warehouse.root == tmp_path / ".headwater"


def test_any_other_folder_with_python_files_is_a_repository(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a.pyi").touch()
    project = headwater.open(tmp_path)
    assert project.config.declare is not None
    assert project.warehouse.root == tmp_path / ".headwater"


def test_the_graph_of_a_project_has_a_warehouse_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "headwater.toml").touch()
    (tmp_path / "a.py").touch()
    assert open_project(tmp_path, graph=True).warehouse.root == tmp_path / ".headwater" / "graph"
    chosen = open_project(tmp_path, graph=True, warehouse=tmp_path / "elsewhere")
    assert chosen.warehouse.root == tmp_path / "elsewhere"


def test_a_folder_with_neither_is_an_error(tmp_path: Path) -> None:
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "a.py").touch()
    with pytest.raises(ProjectNotFound, match="Python files"):
        open_project(tmp_path)
    with pytest.raises(ProjectNotFound):
        open_project(tmp_path / "nowhere")
    with pytest.raises(ProjectNotFound):
        open_project(tmp_path / ".venv" / "a.py")
