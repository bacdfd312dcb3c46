"""The thin code graph, built as a user would, over a small repository with something of everything in it."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headwater.cli.graph import summary_of_build, summary_text
from headwater.cpg import EVIDENCE, RESOLUTION, graph_name
from headwater.delta import find_head, read_pinned
from headwater.digest import digest_of_bytes, stable_id
from headwater.opening import open_project

if TYPE_CHECKING:
    from headwater.run import Project, RunOutcome
    from headwater.runtime import RunSession, SessionRuntime

STORED = (f"{EVIDENCE}my_repo", "file_nodes", f"{RESOLUTION}my_repo", "definitions")
# What a change of one file may mean to all others is worked out anew.
MODES = dict(zip(STORED, ("incremental", "incremental", "full", "full"), strict=True))
ACTIONS = {name: "built" if mode == "full" else mode for name, mode in MODES.items()}
SOURCES: dict[str, bytes] = {
    "app/__init__.py": b"",
    "app/models.py": b'''"""Models."""
import os, sys as system
from . import base

class Model(base.Base):
    limit: int = 3

    @property
    def name(self) -> str:
        return f"{self.limit!r:>{4}} of {os.sep}" + "\xc3\xa4"

    async def rows(self, *ids: int, **rest: str):
        return [i async for i in self if i not in ids and -i < 0]
''',
    "app/latin.py": "# -*- coding: latin-1 -*-\nname = 'ä'\r\nother = name\r\n".encode("latin-1"),
    "app/stub.pyi": b"def f(x: int) -> str: ...\n",
    "tests/test_models.py": b"def test(): assert True\n",
    "old.py": b"print 'two'\n",
    "broken.py": b"def broken(:\n    pass\n",
    "null.py": b"x = 1\x00\n",
    "notes.txt": b"not Python",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("graph") / "My-Repo"
    for path, content in SOURCES.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    (root / "link.py").symlink_to(root / "old.py")
    with (root / "huge.py").open("wb") as huge:
        huge.truncate(50_000_000)
    return root


def open_graph(folder: Path) -> Project:
    return open_project(folder, settings={"master": "local[2]", "driver_memory": "2g"})


@pytest.fixture(scope="module")
def built(folder: Path, runtime: SessionRuntime) -> tuple[Project, RunOutcome]:
    del runtime  # its application is the one that the build shares
    project = open_graph(folder)
    return project, project.build()


@pytest.fixture(scope="module")
def rows(built: tuple[Project, RunOutcome]) -> Any:
    project, _ = built

    @cache
    def read(name: str) -> list[dict[str, Any]]:
        with project.query(f"SELECT * FROM {name}") as result:
            return result.read_all().to_pylist()

    return read


def test_the_build_makes_the_tables_and_says_what_it_did(built: tuple[Project, RunOutcome]) -> None:
    _, outcome = built
    assert (outcome.status, outcome.error) == ("done", None)
    assert sorted(table.name for table in outcome.tables) == sorted(STORED)


def test_every_file_is_there_read_or_not(rows: Any) -> None:
    files = {row["path"]: row for row in rows("files")}
    assert set(files) == {*SOURCES, "link.py", "huge.py"} - {"notes.txt"}
    statuses = {path: row["parse_status"] for path, row in files.items()}
    assert {path for path, status in statuses.items() if status == "failed"} == {"null.py", "old.py"}
    assert statuses["broken.py"] == "recovered"
    assert statuses["link.py"] == statuses["huge.py"] == "skipped"
    assert files["huge.py"]["skip_reason"] == "it has more than 2000000 bytes"
    assert files["link.py"]["skip_reason"] == "it is a symbolic link"
    model = files["app/models.py"]
    assert model["content_sha256"] == digest_of_bytes(SOURCES["app/models.py"])
    assert (model["module_fqn"], model["encoding"], model["language"]) == ("app.models", "utf-8", "python")
    assert files["tests/test_models.py"]["is_test"]
    assert files["app/stub.pyi"]["language"] == "stub"


def test_every_kind_of_the_syntax_tree_is_a_node_with_its_exact_text(rows: Any) -> None:
    nodes: dict[str, list[Any]] = {}
    for row in rows("nodes"):
        nodes.setdefault(row["path"], []).append(row)
    for path in ("app/models.py", "app/stub.pyi", "tests/test_models.py"):
        tree = ast.parse(SOURCES[path])
        contexts = {"Load", "Store", "Del"}
        expected = {type(node).__name__ for node in ast.walk(tree)} - contexts
        assert {row["ast_kind"] for row in nodes[path]} - {None} == expected
    texts = {
        (row["ast_kind"], SOURCES["app/models.py"][row["bstart"] : row["bend"]])
        for row in nodes["app/models.py"]
    }
    assert ("FormattedValue", b"{self.limit!r:>{4}}") in texts
    assert ("Attribute", b"os.sep") in texts
    assert ("NotIn", b"not in") in texts
    assert ("Constant", '"ä"'.encode()) in texts
    latin = {
        (row["ast_kind"], SOURCES["app/latin.py"][row["bstart"] : row["bend"]])
        for row in nodes["app/latin.py"]
    }
    assert ("Constant", "'ä'".encode("latin-1")) in latin


def test_every_edge_joins_two_nodes(rows: Any) -> None:
    nodes = {row["node_id"]: row for row in rows("nodes")}
    edges = rows("edges")
    assert len(nodes) == len(rows("nodes"))
    assert len({row["edge_id"] for row in edges}) == len(edges)
    assert all(row["src_node_id"] in nodes and row["dst_node_id"] in nodes for row in edges)
    syntax = [row for row in edges if row["edge_kind"] == "AST"]
    assert len(syntax) == sum(row["parent_id"] is not None for row in nodes.values())
    for edge in syntax:
        child = nodes[edge["dst_node_id"]]
        assert (edge["src_node_id"], edge["label"], edge["ordinal"]) == (
            child["parent_id"],
            child["field"],
            child["idx"],
        )


def test_containment_leads_from_the_repository_to_every_definition(rows: Any) -> None:
    nodes = {row["node_id"]: row for row in rows("nodes")}
    inside = {
        row["dst_node_id"]: row["src_node_id"] for row in rows("edges") if row["edge_kind"] == "CONTAINS"
    }

    def way(node_id: str) -> list[str]:
        steps = [node_id]
        while steps[-1] in inside:
            steps.append(inside[steps[-1]])
        return [nodes[step]["node_kind"] for step in steps]

    (method,) = [key for key, row in nodes.items() if row["qualname"] == "Model.rows"]
    assert way(method) == ["METHOD", "CLASS", "MODULE", "FILE", "REPO"]
    kinds = ("FILE", "MODULE", "CLASS", "FUNCTION", "METHOD")
    assert all(way(key)[-1] == "REPO" for key, row in nodes.items() if row["node_kind"] in kinds)


def test_broken_files_give_diagnostics(rows: Any) -> None:
    said = {row["path"]: row for row in rows("diagnostics")}
    assert set(said) == {"broken.py", "null.py", "old.py", "link.py", "huge.py"}
    assert all(row["message"] and row["diag_id"].startswith("diag:") for row in said.values())
    assert said["link.py"]["stage"] == "scan"


def test_ids_follow_the_published_rules_and_say_what_they_are(
    built: tuple[Project, RunOutcome], rows: Any, session: RunSession
) -> None:
    project, _ = built
    repo_id = stable_id("repo", "my_repo")
    file = next(row for row in rows("files") if row["path"] == "old.py")
    assert (file["repo_id"], file["file_id"]) == (repo_id, stable_id("file", repo_id, "old.py"))
    edge = rows("edges")[0]
    parts = (edge["edge_kind"], edge["src_node_id"], edge["dst_node_id"], edge["label"], edge["ordinal"])
    assert edge["edge_id"] == stable_id("edge", *parts)
    head = find_head(project.warehouse.table_path("file_nodes").as_uri())
    assert head is not None
    schema = read_pinned(session, head.pin("file_nodes")).schema
    types = {field.name: field.metadata.get("headwater.semantic_type") for field in schema.fields}
    assert types["node_id"] == types["parent_id"] == types["owner_def_id"] == "NodeId"
    assert (types["file_id"], types["repo_id"], types["field"]) == ("FileId", "RepoId", None)


def test_nothing_changed_means_nothing_done_and_a_change_is_seen(
    built: tuple[Project, RunOutcome], folder: Path, tmp_path: Path
) -> None:
    _, first = built
    copy = shutil.copytree(folder, tmp_path / folder.name, symlinks=True)
    for place in (folder, copy):
        again = open_graph(place).build()
        assert (again.status, again.run_id) == ("unchanged", first.run_id)
    (copy / "app" / "more.py").write_text("x = 1\n")
    planned = {view.name: view for view in open_graph(copy).plan(scans=False).views if view.stored}
    assert {name: each.mode for name, each in planned.items()} == MODES
    assert "1 file of sources changed" in planned[STORED[0]].mode_reason
    third = open_graph(copy).build()
    # Of the files, only the new one is read.
    assert {each.name: each.action for each in third.tables} == ACTIONS
    keys = {each.name: each.refresh.keys for each in third.tables if each.refresh}
    assert keys == {name: 1 if mode == "incremental" else None for name, mode in MODES.items()}


@pytest.mark.usefixtures("built")
def test_after_any_edits_the_tables_are_those_of_a_build_from_nothing(folder: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(folder, tmp_path / folder.name, symlinks=True)
    (copy / "app" / "models.py").rename(copy / "app" / "moved.py")
    (copy / "tests" / "test_models.py").unlink()
    (copy / "broken.py").write_text("def mended():\n    return 1\n")
    (copy / "app" / "latin.py").write_text("def half(:\n    pass\nx = 1\n")
    changed = open_graph(copy).build()
    assert {each.name: each.action for each in changed.tables} == ACTIONS
    shutil.rmtree(copy / ".headwater")
    anew = open_graph(copy).build()
    digests = [{each.name: each.digest for each in outcome.tables} for outcome in (changed, anew)]
    assert None not in digests[0].values()
    assert digests[0] == digests[1]


def test_the_record_names_no_place_on_this_machine(built: tuple[Project, RunOutcome]) -> None:
    _, outcome = built
    text = outcome.manifest.read_text()
    assert "headwater/cpg/pipeline.py" in text
    assert str(Path(__file__).parents[2]) not in text


@pytest.mark.parametrize(
    ("folder_name", "name"), [("My-Repo", "my_repo"), ("x", "x"), ("---", "repository"), ("a.b c", "a_b_c")]
)
def test_a_graph_is_named_after_its_folder(tmp_path: Path, folder_name: str, name: str) -> None:
    assert graph_name(tmp_path / folder_name) == name


def test_every_process_says_the_same(folder: Path) -> None:
    script = (
        "import sys; from headwater.opening import open_project\n"
        "from pyspark.sql.types import StringType, StructField, StructType\n"
        "from headwater.cpg.resolution import RESOLVED_FROM\n"
        "from headwater.pipeline import build_pipeline, open_definitions\n"
        "class Oracle:\n"  # one view asks for the columns of what it groups
        "    def schema_of(self, relation, reached):\n"
        "        columns = ['repo_id', *RESOLVED_FROM]\n"
        "        return StructType([StructField(each, StringType()) for each in columns])\n"
        "with open_definitions(open_project(sys.argv[1]).config) as loaded:\n"
        "    print([view.digest for view in build_pipeline(loaded, Oracle()).views])\n"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", script, str(folder)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1


def test_the_tutorial_is_true(tmp_path: Path, runtime: SessionRuntime) -> None:
    del runtime
    page = (Path(__file__).parents[2] / "docs" / "tutorial" / "first-code-graph.md").read_text("utf-8")
    shop = tmp_path / "shop"
    shop.mkdir()
    (shop / "cart.py").write_text(page.partition("<<'END'\n")[2].partition("END\n")[0])
    (shop / "legacy.py").write_text('print "old"\n')
    project = open_graph(shop)
    outcome = project.build()
    made = {table.name: str(table.rows) for table in outcome.tables}
    assert made == dict(re.findall(r"^(\w+) +built +1 +(\d+) +new$", page, re.MULTILINE))
    summary = summary_of_build(project, outcome)
    assert summary is not None
    numbers = summary_text(summary, outcome).partition("slowest")[0]
    assert numbers in page
    asked = re.findall(r'^\$ headwater query "([^"]+)" shop\n(.*?)\n1 row$', page, re.MULTILINE | re.DOTALL)
    assert len(asked) == 5
    for sql, shown in asked:
        with project.query(sql) as result:
            (row,) = result.read_all().to_pylist()
        written = ["NULL" if value is None else str(value) for value in row.values()]
        assert shown.splitlines()[0].split() == list(row)
        assert " ".join(shown.splitlines()[1].split()) == " ".join(written)
