"""`headwater export callgraph`, run as a user would."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import typer
from typer.testing import CliRunner

from headwater.cli.export import export
from headwater.errors import HeadwaterError, ProjectNotFound

if TYPE_CHECKING:
    from pathlib import Path

    from typer.testing import Result

pytestmark = pytest.mark.usefixtures("runtime")

APP = typer.Typer()
APP.add_typer(export)
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
