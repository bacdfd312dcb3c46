from __future__ import annotations

import os
from typing import TYPE_CHECKING, NoReturn

import pytest

import headwater
from headwater.cpg import Asked, Graph
from headwater.errors import NotAGraph, ProjectNotFound, RevisionUnknown, SessionIncompatible, WrongUsage
from headwater.inquiry import check_asked
from headwater.opening import ask, graph_of, open_project, open_roots

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from headwater.runtime import RunSession


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
    (tmp_path / "headwater.toml").write_text('[profiles.small]\ndriver_memory = "1g"\n')
    assert open_project(tmp_path, graph=True, profile="small").profile.driver_memory == "1g"
    chosen = open_project(tmp_path, graph=True, warehouse=tmp_path / "elsewhere")
    assert chosen.warehouse.root == tmp_path / "elsewhere"


def test_a_session_that_is_given_is_checked_at_once_and_kept(tmp_path: Path, session: RunSession) -> None:
    (tmp_path / "headwater.toml").write_text('[profiles.other]\ncatalog = "hive"\n')
    (tmp_path / "a.py").touch()
    for graph in (False, True):
        assert open_project(tmp_path, graph=graph, spark=session.spark).spark is session.spark
        with pytest.raises(SessionIncompatible, match="catalogImplementation"):
            open_project(tmp_path, graph=graph, spark=session.spark, profile="other")
    assert open_project(tmp_path).spark is None


def test_a_folder_with_neither_is_an_error(tmp_path: Path) -> None:
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "a.py").touch()
    (tmp_path / ".venv" / "pyvenv.cfg").touch()
    with pytest.raises(ProjectNotFound, match="Python files"):
        open_project(tmp_path)
    with pytest.raises(ProjectNotFound):
        open_project(tmp_path / "nowhere")
    with pytest.raises(ProjectNotFound):
        open_project(tmp_path / ".venv" / "a.py")


@pytest.mark.parametrize("folder", [".github", "_private", "deep/.hidden"])
def test_a_folder_is_looked_into_where_a_scan_looks_into_it(tmp_path: Path, folder: str) -> None:
    (tmp_path / folder).mkdir(parents=True)
    (tmp_path / folder / "a.py").touch()
    assert open_project(tmp_path).config.declare is not None


@pytest.mark.parametrize("folder", ["node_modules", "__pycache__", "deep/.tox", "env"])
def test_a_folder_is_not_looked_into_where_a_scan_does_not(tmp_path: Path, folder: str) -> None:
    (tmp_path / folder).mkdir(parents=True)
    (tmp_path / folder / "a.py").touch()
    if folder == "env":
        (tmp_path / folder / "pyvenv.cfg").touch()
    with pytest.raises(ProjectNotFound):
        open_project(tmp_path)


def test_a_folder_that_cannot_be_read_is_passed_by(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "closed").mkdir()
    (tmp_path / "open").mkdir()
    (tmp_path / "open" / "a.py").touch()
    scandir = os.scandir

    def refuse(path: str) -> Iterator[os.DirEntry[str]]:
        if path.rstrip("/").endswith("closed"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert open_project(tmp_path).config.declare is not None
    (tmp_path / "open" / "a.py").unlink()
    with pytest.raises(ProjectNotFound):
        open_project(tmp_path)


def test_several_roots_are_repositories_of_one_project(tmp_path: Path) -> None:
    for path in ("x/one/a.py", "y/two/b.py"):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).touch()
    roots = [tmp_path / "y" / "two", tmp_path / "x" / "one", tmp_path / "x" / "one"]
    project, names = open_roots(roots, warehouse=tmp_path / "w")
    assert names == ("x/one", "y/two")
    assert project.config.root == tmp_path
    alone, (name,) = open_roots(roots[:1], warehouse=tmp_path / "w")
    assert (name, alone.config.root) == ("two", tmp_path / "y")
    with pytest.raises(ProjectNotFound):
        open_roots([*roots, tmp_path / "z"], warehouse=tmp_path / "w")


def test_a_graph_that_was_never_built_cannot_be_asked_and_starts_no_spark(tmp_path: Path) -> None:
    (tmp_path / "a.py").touch()
    project = open_project(tmp_path)
    with pytest.raises(NotAGraph, match="no code graph"):
        graph_of(project)
    with pytest.raises(NotAGraph):
        ask(project, "defs", "a")


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        (Asked(question="nothing"), WrongUsage),
        (Asked(question="callers"), WrongUsage),
        (Asked(question="callers", names=("a", "b")), WrongUsage),
        (Asked(question="callers", names=("a",), depth=-1), WrongUsage),
        (Asked(question="callers", diff="HEAD"), WrongUsage),
        (Asked(question="hotspots", since="HEAD"), WrongUsage),
        (Asked(question="impact", diff="--output=a"), RevisionUnknown),
        (Asked(question="api", since=""), RevisionUnknown),
    ],
)
def test_what_cannot_be_asked_is_refused_before_there_is_a_graph(
    tmp_path: Path, asked: Asked, error: type[Exception]
) -> None:
    def query(sql: str) -> NoReturn:
        raise AssertionError(sql)

    with pytest.raises(error):
        check_asked(asked)
    with pytest.raises(error):
        ask(
            Graph("a", tmp_path, query),
            asked.question,
            *asked.names,
            depth=asked.depth,
            diff=asked.diff,
            since=asked.since,
        )


def test_a_name_that_may_be_left_out_may_be_given_too() -> None:
    for names in ((), ("a",)):
        check_asked(Asked(question="imports", names=names))
    check_asked(Asked(question="impact", diff="HEAD~1"))
