from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import headwater
from headwater.errors import (
    DefinitionFileFailed,
    DuplicateName,
    FileNameNotUtf8,
    InvalidName,
    InvalidSetting,
    NotInAView,
)
from headwater.pipeline import open_definitions, read_project
from headwater.pipeline.definition import SqlDefinition
from headwater.pipeline.modules import modules_below

VIEW = "import headwater\n@headwater.view\ndef {name}(orders): return orders\n"
MakeProject = Callable[..., Path]


def loaded_names(folder: Path) -> list[str]:
    with open_definitions(read_project(folder)) as loaded:
        return [definition.name for definition in loaded.definitions]


def test_python_and_sql_files_are_found_in_sorted_order(project_folder: MakeProject) -> None:
    folder = project_folder(zz_py=VIEW.format(name="a"), b_sql="SELECT 1", aa_py=VIEW.format(name="c"))
    (folder / "views" / "deep").mkdir()
    (folder / "views" / "deep" / "d.sql").write_text("-- headwater: table\nSELECT 2")
    (folder / "views" / ".hidden.sql").write_text("nonsense")
    (folder / "views" / "notes.txt").write_text("nonsense")
    assert loaded_names(folder) == ["a", "b", "c", "d"]
    with open_definitions(read_project(folder)) as loaded:
        kinds = {each.name: each.kind for each in loaded.definitions if isinstance(each, SqlDefinition)}
    assert kinds == {"b": "view", "d": "table"}


@pytest.mark.parametrize("line", ["-- headwater: table", "--headwater:table", "  --  Headwater : table  "])
def test_a_directive_may_be_spaced_as_one_likes(project_folder: MakeProject, line: str) -> None:
    with open_definitions(read_project(project_folder(a_sql=f"{line}\nSELECT 1"))) as loaded:
        (definition,) = loaded.definitions
        assert isinstance(definition, SqlDefinition)
        assert definition.kind == "table"


def test_nothing_of_a_project_stays_imported(project_folder: MakeProject) -> None:
    folder = project_folder(v_py="import shared_words\n" + VIEW.format(name="a"))
    (folder / "shared_words.py").write_text("WORDS = 1\n")
    before, path = set(sys.modules), list(sys.path)
    with open_definitions(read_project(folder)) as loaded:
        assert [module.__name__ for module in loaded.modules] == ["shared_words", "views.v"]
        assert sys.modules["shared_words"].WORDS == 1
    assert not {name for name in set(sys.modules) - before if "views" in name or "shared_words" in name}
    assert sys.path == path
    (folder / "shared_words.py").write_text("WORDS = 22\n")
    with open_definitions(read_project(folder)):
        assert sys.modules["shared_words"].WORDS == 22
    assert not list(folder.rglob("__pycache__"))


def test_a_module_that_was_imported_before_comes_back(project_folder: MakeProject) -> None:
    folder = project_folder(v_py="import json\n" + VIEW.format(name="a"))
    json = sys.modules["json"]
    with open_definitions(read_project(folder)):
        pass
    assert sys.modules["json"] is json


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("x = 1\ndef broken(:\n", 2, "SyntaxError"),
        ("import headwater\n\nraise ValueError('no')\n", 3, "ValueError: no"),
        ("import no_such_module_anywhere\n", 1, "ModuleNotFoundError"),
        ("import sys\nsys.exit(3)\n", 2, "SystemExit"),
    ],
)
def test_a_file_that_does_not_import_names_its_line(
    project_folder: MakeProject, text: str, line: int, words: str
) -> None:
    folder = project_folder(v_py=text)
    with pytest.raises(DefinitionFileFailed) as caught:
        loaded_names(folder)
    assert caught.value.origin is not None
    assert Path(caught.value.origin.path).name == "v.py"
    assert caught.value.origin.line == line
    assert words in caught.value.detail


def test_two_views_of_one_name_name_each_other(project_folder: MakeProject) -> None:
    folder = project_folder(a_py=VIEW.format(name="Totals"), totals_sql="SELECT 1")
    with pytest.raises(DuplicateName) as caught:
        loaded_names(folder)
    assert caught.value.origin is not None
    assert {Path(caught.value.origin.path).name, Path(caught.value.other.path).name} == {"a.py", "totals.sql"}


def test_a_name_that_is_no_text_is_refused(project_folder: MakeProject) -> None:
    folder = project_folder()
    Path(os.fsdecode(os.fsencode(folder) + b"/views/\xff.sql")).write_text("SELECT 1")
    with pytest.raises(FileNameNotUtf8):
        loaded_names(folder)


def test_bad_sql_files_are_refused(project_folder: MakeProject) -> None:
    folder = project_folder(a_sql="SELECT 1\n-- headwater: tabel\n")
    with pytest.raises(DefinitionFileFailed) as caught:
        loaded_names(folder)
    assert caught.value.origin is not None
    assert caught.value.origin.line == 2
    (folder / "views" / "a.sql").write_bytes(b"SELECT '\xff'")
    with pytest.raises(DefinitionFileFailed):
        loaded_names(folder)
    (folder / "views" / "a.sql").rename(folder / "views" / "a-b.sql")
    (folder / "views" / "a-b.sql").write_text("SELECT 1")
    with pytest.raises(InvalidName):
        loaded_names(folder)


def test_a_folder_that_is_named_must_be_there(project_folder: MakeProject) -> None:
    folder = project_folder()
    (folder / "headwater.toml").write_text('[project]\ndefinitions = ["views", "more"]\n')
    with pytest.raises(InvalidSetting, match="'more'") as caught:
        loaded_names(folder)
    assert caught.value.origin is not None
    assert caught.value.origin.line == 2


def test_a_folder_outside_the_project_is_refused(project_folder: MakeProject) -> None:
    folder = project_folder()
    (folder.parent / "shared").mkdir()
    (folder / "headwater.toml").write_text('[project]\ndefinitions = ["../shared"]\n')
    with pytest.raises(InvalidSetting, match="shared"):
        loaded_names(folder)


def test_the_sessions_name_is_taken(project_folder: MakeProject) -> None:
    with pytest.raises(NotInAView, match="'spark'"):
        loaded_names(project_folder(spark_sql="SELECT 1"))


def test_a_file_that_another_imports_is_imported_once(project_folder: MakeProject) -> None:
    source = "import headwater\nK = 1\nheadwater.source('s', rows=[(1,)], schema='k INT')\n"
    folder = project_folder(a_py="from views.b import K\n" + VIEW.format(name="a"), b_py=source)
    assert loaded_names(folder) == ["a", "s"]
    assert "views" not in sys.modules
    (folder / "views" / "__init__.py").write_text(VIEW.format(name="z"))
    assert loaded_names(folder) == ["a", "s", "z"]
    (folder / "views" / "a.py").write_text("from . import K\n" + VIEW.format(name="a"))
    (folder / "views" / "__init__.py").write_text("from .b import K\n")
    assert loaded_names(folder) == ["a", "s"]
    assert not {name for name in sys.modules if name.partition(".")[0] == "views"}


def test_what_was_imported_from_the_folder_before_is_set_aside(
    project_folder: MakeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = project_folder(v_py="import early_words\n" + VIEW.format(name="a"))
    (folder / "early_words.py").write_text("WORDS = 1\n")
    monkeypatch.syspath_prepend(folder)
    before = importlib.import_module("early_words")
    with open_definitions(read_project(folder)) as loaded:
        assert sys.modules["early_words"] is not before
        assert [module.__name__ for module in loaded.modules] == ["early_words", "views.v"]
    assert sys.modules["early_words"] is before
    del sys.modules["early_words"]


def test_a_module_of_the_same_name_from_elsewhere_is_not_taken_for_the_projects(
    project_folder: MakeProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "same_words.py").write_text("WORDS = 'others'\n")
    monkeypatch.syspath_prepend(tmp_path)
    others = importlib.import_module("same_words")
    folder = project_folder(v_py="from same_words import WORDS\n" + VIEW.format(name="a"))
    (folder / "same_words.py").write_text("WORDS = 'own'\n")
    with open_definitions(read_project(folder)):
        assert sys.modules["same_words"].WORDS == "own"
    assert sys.modules["same_words"] is others
    del sys.modules["same_words"]


def test_this_package_stays_imported_though_it_is_below_the_folder(tmp_path: Path) -> None:
    root = Path(headwater.__file__).parent.parent
    assert not [name for name in modules_below(root) if name.partition(".")[0] == "headwater"]
    assert modules_below(tmp_path) == {}


def test_a_keyword_that_a_table_does_not_take_has_its_line(project_folder: MakeProject) -> None:
    text = "import headwater\n\n@headwater.table(\n    partiton_by=['a'],\n)\ndef a(orders): return orders\n"
    with pytest.raises(InvalidSetting, match="partiton_by") as caught:
        loaded_names(project_folder(v_py=text))
    assert caught.value.origin is not None
    assert (Path(caught.value.origin.path).name, caught.value.origin.line) == ("v.py", 3)
