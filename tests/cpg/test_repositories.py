"""Graphs under edits: of one repository, of several in one warehouse, and of an extractor that is wrong."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from headwater.cpg.graph import repository_id
from headwater.opening import open_project

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.run import Project, RunOutcome

pytestmark = pytest.mark.usefixtures("runtime")

GOOD = ("def f(a):\n    return a\n", "import os\nx = os.sep\n", "class C:\n    y = 1\n", "")
BROKEN = ("def f(:\n    pass\ny = 1\n", "print 'two'\n", "x = 1\x00\n")
NAMES = ("a.py", "b.py", "p/a.py", "p/c.pyi")
# One edit: what is done, to which file, and with which text or to which other name.
EDITS = st.one_of(
    st.tuples(st.just("write"), st.sampled_from(NAMES), st.sampled_from(GOOD)),
    st.tuples(st.just("break"), st.sampled_from(NAMES), st.sampled_from(BROKEN)),
    st.tuples(st.just("rename"), st.sampled_from(NAMES), st.sampled_from(NAMES)),
    st.tuples(st.just("delete"), st.sampled_from(NAMES), st.just("")),
)
BAD_EXTRACTOR = """
from headwater.cpg import python_graph
from headwater.cpg.extract import extract_file


def dangling(repo_id, path, content):
    found = extract_file(repo_id, path, content)
    if path == "b.py":
        found.facts.relations.relations.dst[0] = 1_000_000
    return found


python_graph("bad", extract=dangling)
"""


def graph_of(folder: Path, warehouse: Path) -> Project:
    small = {"master": "local[2]", "driver_memory": "2g"}
    return open_project(folder, warehouse=warehouse, settings=small)


def write(folder: Path, path: str, text: str) -> None:
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text(text)


def edit(folder: Path, kind: str, path: str, given_text: str) -> None:
    place = folder / path
    if kind in {"write", "break"}:
        write(folder, path, given_text)
    elif place.exists() and kind == "delete":
        place.unlink()
    elif place.exists():
        (folder / given_text).parent.mkdir(parents=True, exist_ok=True)
        place.rename(folder / given_text)


def digests(outcome: RunOutcome) -> dict[str, str | None]:
    assert outcome.error is None, outcome.error
    return {table.name: table.digest for table in outcome.tables}


def test_after_random_edits_every_table_is_that_of_a_build_from_nothing(tmp_path: Path) -> None:
    runs = iter(range(1000))

    # Each example is two builds; the edits of one go on from those of the one before.
    @settings(max_examples=5, phases=[Phase.generate], derandomize=True, database=None)
    @given(st.lists(EDITS, min_size=1, max_size=4))
    def law(edits: list[tuple[str, str, str]]) -> None:
        for each in edits:
            edit(folder, *each)
        changed = graph_of(folder, tmp_path / "kept").build()
        anew = graph_of(folder, tmp_path / f"anew{next(runs)}").build()
        assert digests(changed) == digests(anew)
        modes.update(table.action for table in changed.tables)

    folder = tmp_path / "shop"
    write(folder, "always.py", "z = 1\n")
    for name, text in zip(NAMES, GOOD, strict=True):
        write(folder, name, text)
    graph_of(folder, tmp_path / "kept").build()
    modes: set[str] = set()
    law()
    assert "incremental" in modes


def test_repositories_of_one_warehouse_have_one_graph(tmp_path: Path) -> None:
    shared, alone = tmp_path / "shared", tmp_path / "alone"
    write(tmp_path / "one", "a.py", GOOD[0])
    write(tmp_path / "two", "a.py", GOOD[2])
    write(tmp_path / "two", "b.py", GOOD[1])
    graph_of(tmp_path / "one", shared).build()
    two = graph_of(tmp_path / "two", shared)
    two.build()

    def asked(project: Project, sql: str) -> list[dict[str, Any]]:
        with project.query(sql) as result:
            return result.read_all().to_pylist()

    assert asked(two, "SELECT repo_id, name, files, files_read FROM repos ORDER BY name") == [
        {"repo_id": repository_id("one"), "name": "one", "files": 1, "files_read": 1},
        {"repo_id": repository_id("two"), "name": "two", "files": 2, "files_read": 2},
    ]
    other = graph_of(tmp_path / "two", alone)
    other.build()
    for name in ("nodes", "edges", "bindings", "cfg_edges"):
        count = f"SELECT count(*) AS n FROM {name} WHERE repo_id = '{repository_id('two')}'"
        assert asked(two, count) == asked(other, count) != [{"n": 0}]
    # The other one's folder is not needed any more, and its rows stay.
    shutil.rmtree(tmp_path / "one")
    write(tmp_path / "two", "c.py", "c = 1\n")
    graph_of(tmp_path / "two", shared).build()
    counted = "SELECT repo_id, count(*) AS n FROM files GROUP BY ALL"
    assert {row["repo_id"]: row["n"] for row in asked(two, counted)} == {
        repository_id("one"): 1,
        repository_id("two"): 3,
    }


def test_an_edge_to_nowhere_is_refused_before_any_table_moves(project_folder: Any) -> None:
    folder = project_folder(graph_py=BAD_EXTRACTOR)
    write(folder, "a.py", GOOD[0])
    project = open_project(folder, settings={"master": "local[2]", "driver_memory": "2g"})
    before = project.build()
    assert before.error is None
    heads = sorted(folder.rglob("_delta_log/*.json"))
    write(folder, "b.py", GOOD[0])
    outcome = project.build()
    assert outcome.error is not None
    assert (outcome.status, outcome.error.code, outcome.error.exit_code) == ("failed", "HW-DELTA-025", 1)
    tables = [each for each in sorted(folder.rglob("_delta_log/*.json")) if "tables" in each.parts]
    assert tables == [each for each in heads if "tables" in each.parts]
    with project.query("SELECT dataset, constraint_name, count, sample FROM hw_violations") as result:
        (row,) = result.read_all().to_pylist()
    assert (row["dataset"], row["constraint_name"], row["count"]) == ("evidence_bad", "sound", 1)
    assert '"path":"b.py"' in row["sample"][0]
    assert '"issue":"dangling"' in row["sample"][0]
