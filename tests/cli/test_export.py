"""`headwater export`, run as a user would."""

from __future__ import annotations

import csv
import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pyarrow.parquet as pq
import pytest
import typer
from scip_messages import complaints_of, read_index, slices_of
from typer.testing import CliRunner

from headwater.cli.answers import answer_lines
from headwater.cli.export import export
from headwater.cpg.exports.grammar import last_part
from headwater.errors import HeadwaterError, InvalidSetting, ProjectNotFound, TargetNotEmpty
from headwater.opening import ask, graph_of, open_project

if TYPE_CHECKING:
    from typer.testing import Result

pytestmark = pytest.mark.usefixtures("runtime")

APP = typer.Typer()
APP.add_typer(export)
EXAMPLE = Path(__file__).parents[2] / "examples" / "small_repo"
SMALL = ("--set", "master=local[2]", "--set", "driver_memory=2g")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(APP, ["export", "callgraph", *arguments, *SMALL])


@pytest.fixture(scope="module")
def roots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("roots")
    sources = {
        "a/one/main.py": "def f(): g()\ndef g(): len('x')\nf()\n",
        "b/two/main.py": "import other\nother.h()\n",
        "b/two/other.py": "def h(): pass\n",
        "b/beside/main.py": "def never(): pass\n",
    }
    for path, text in sources.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def read(place: Path) -> Any:
    return json.loads(place.read_text())


def test_each_root_is_a_repository_of_its_own_with_a_file_of_its_own(roots: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = run(str(roots / "a" / "one"), str(roots / "b" / "two"), "--out", str(out), "--json")
    assert done.exit_code == 0, done.output
    assert read(out / "a" / "one.json") == {
        "main": ["main.f"],
        "main.f": ["main.g"],
        "main.g": ["<builtin>.len"],
    }
    assert read(out / "b" / "two.json") == {"main": ["other.h"], "other": [], "other.h": []}
    assert sorted(each.relative_to(out).as_posix() for each in out.glob("*/*.json")) == [
        "a/one.json",
        "b/two.json",
    ]
    told = json.loads(done.stdout)
    assert told["schema_version"] == 1
    assert [(each["root"], each["callers"], each["calls"]) for each in told["callgraphs"]] == [
        ("a/one", 3, 3),
        ("b/two", 1, 1),
    ]


def test_one_root_is_named_by_its_folder_and_sure_candidates_can_be_asked_for(
    roots: Path, tmp_path: Path
) -> None:
    chosen = roots / "c" / "chosen"
    chosen.mkdir(parents=True)
    text = "def a(): pass\ndef b(): pass\ndef c(x):\n    f = a if x else b\n    f()\n"
    (chosen / "main.py").write_text(text)
    for least, expected in (("0", ["main.a", "main.b"]), ("1", ["main.a"])):
        done = run(str(chosen), "--out", str(tmp_path), "--min-confidence", least)
        assert done.exit_code == 0, done.output
        assert read(tmp_path / "chosen.json")["main.c"] == expected


def test_a_root_without_python_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    error = run(str(empty), "--out", str(tmp_path / "out")).exception
    assert isinstance(error, HeadwaterError)
    assert isinstance(error, ProjectNotFound)
    assert not (tmp_path / "out").exists()


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the example, after its one build."""
    folder = tmp_path_factory.mktemp("exports") / "small_repo"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns(".headwater", "__pycache__"))
    settings = {"master": "local[2]", "driver_memory": "2g"}
    outcome = open_project(folder, settings=settings).build()
    assert outcome.error is None
    return folder


def exported(*arguments: object) -> dict[str, Any]:
    done = CliRunner().invoke(APP, ["export", *map(str, arguments), "--json", *SMALL])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_all_forms_have_the_same_graph(built: Path, tmp_path: Path) -> None:
    told = {
        form: exported("graph", built, "--format", form, "--out", tmp_path / form)
        for form in ("graphml", "dot", "csv", "parquet")
    }
    numbers = {(each["nodes"], each["edges"]) for each in told.values()}
    assert len(numbers) == 1
    nodes, edges = numbers.pop()
    assert told["csv"]["files"] == [str(tmp_path / "csv" / name) for name in ("nodes.csv", "edges.csv")]
    with (tmp_path / "csv" / "nodes.csv").open(newline="") as file:
        ids = {row["id"]: row for row in csv.DictReader(file)}
    with (tmp_path / "csv" / "edges.csv").open(newline="") as file:
        joined = [(row["source"], row["target"]) for row in csv.DictReader(file)]
    root = ET.parse(tmp_path / "graphml").getroot()  # noqa: S314  our own file
    drawn = [
        (each.attrib["source"], each.attrib["target"]) for each in root.iter() if each.tag.endswith("}edge")
    ]
    kept = pq.read_table(tmp_path / "parquet" / "edges.parquet").select(["source", "target"])
    assert joined == drawn == [tuple(row.values()) for row in kept.to_pylist()]
    assert (len(ids), len(joined)) == (nodes, edges)
    assert {end for each in joined for end in each} <= set(ids)
    assert (tmp_path / "dot").read_text().count(" -> ") == edges
    assert "library.books.Catalogue.find" in {row["name"] for row in ids.values()}


def test_an_index_obeys_the_laws_of_scip(built: Path, tmp_path: Path) -> None:
    told = exported("scip", built, "--out", tmp_path / "index.scip")
    index = read_index((tmp_path / "index.scip").read_bytes())
    assert index.metadata.project_root == built.as_uri()
    assert complaints_of(index) == []
    assert told["left_out"] == []
    occurrences = 0
    for document in index.documents:
        found = slices_of(document, (built / document.relative_path).read_bytes())
        occurrences += len(found)
        ranges = [tuple(each.range) for each in document.occurrences]
        assert ranges == sorted(ranges)
        for text, roles, symbol in found:
            if roles & 1 and not symbol.startswith("local "):
                name, suffix = last_part(symbol)
                assert text == ("" if suffix == "/" else name)
    paths = [each.relative_path for each in index.documents]
    assert paths == sorted(each.relative_to(built).as_posix() for each in built.rglob("*.py"))
    assert (told["documents"], told["occurrences"]) == (len(paths), occurrences)
    assert told["symbols"] == sum(len(each.symbols) for each in index.documents)
    assert told["external_symbols"] == len(index.external_symbols)


def test_less_of_a_graph_can_be_asked_for(built: Path, tmp_path: Path) -> None:
    out = tmp_path / "calls"
    exported("graph", built, "--format", "csv", "--kinds", "CALLS", "--repository-only", "--out", out)
    rows = list(csv.DictReader((out / "edges.csv").read_text().splitlines()))
    assert {row["kind"] for row in rows} == {"CALLS"}
    nodes = list(csv.DictReader((out / "nodes.csv").read_text().splitlines()))
    assert {row["is_external"] for row in nodes} == {"false"}


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("graph", "--format", "csv", "--out", "full"), TargetNotEmpty),
        (("graph", "--format", "dot", "--out", "full"), InvalidSetting),
        (("graph", "--out", "new", "--kinds", "CALLS,calls"), InvalidSetting),
        (("scip", "--out", "full"), InvalidSetting),
    ],
)
def test_what_cannot_be_written_is_refused_before_anything_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], error: type[HeadwaterError]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").touch()
    done = CliRunner().invoke(APP, ["export", *arguments])
    assert type(done.exception) is error
    assert [each.name for each in tmp_path.iterdir()] == ["full"]


def test_the_recipes_are_true(built: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "tutorial" / "asking-code.md").read_text("utf-8")
    project = open_project(built, settings={"master": "local[2]", "driver_memory": "2g"})
    graph = graph_of(project)
    git = ["git", "-C", str(built), "-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (["init", "-q"], ["add", "library", "tests"], ["commit", "-qm", "all of it"]):
        subprocess.run([*git, *command], check=True)
    changed = built / "library" / "text.py"
    before = changed.read_text()
    changed.write_text(before.replace("def normalised(text)", "def normalised(text, blank)"))
    try:
        asked = re.findall(r"^\$ headwater ask (.*)\n((?:.*\n)*?)```", page, re.MULTILINE)
        assert len(asked) == 10
        for command, shown in asked:
            words = shlex.split(command)
            rest = [each for each in words if each not in {"--diff", "--since", "HEAD"}]
            answer = ask(
                graph,
                *rest,
                diff="HEAD" if "--diff" in words else None,
                since="HEAD" if "--since" in words else None,
            )
            assert [*answer_lines(answer, None)] == shown.splitlines()
        queries = re.findall(r'^\$ headwater query "([^"]+)"\n((?:.*\n)*?)```', page, re.MULTILINE)
        assert len(queries) == 5
        for sql, shown in queries:
            with project.query(sql) as result:
                rows = result.read_all().to_pylist()
            heading, *lines, count = [" ".join(each.split()) for each in shown.splitlines()]
            assert heading.split() == list(rows[0])
            assert lines == [" ".join(map(str, row.values())) for row in rows]
            assert count == f"{len(rows)} row{'' if len(rows) == 1 else 's'}"
    finally:
        changed.write_text(before)
