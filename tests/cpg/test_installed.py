"""Distributions by metadata on the disk, some of it broken or made to mislead."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from headwater.cpg.installed import distribution_of, installed_for

if TYPE_CHECKING:
    from pathlib import Path

SITE = "lib/python3.11/site-packages"


def write(place: Path, text: str | bytes) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(text.encode() if isinstance(text, str) else text)


def install(site: Path, name: str, *, record: str | bytes | None = None, top: str | None = None) -> None:
    """A distribution as an installer leaves it."""
    folder = site / f"{name}.dist-info"
    folder.mkdir(parents=True)
    if record is not None:
        write(folder / "RECORD", record)
    if top is not None:
        write(folder / "top_level.txt", top)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of this Python, which has no others."""
    folder = tmp_path / "python"
    folder.mkdir()
    monkeypatch.setattr(sys, "path", ["", str(tmp_path / "gone"), str(folder)])
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    return folder


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('[project]\nname = "shop"\nversion = "1.2.3"', ("shop", "1.2.3")),
        ('[project]\nname = "shop"\nversion = "1!2.0rc1+local-4"', ("shop", "1!2.0rc1+local-4")),
        ('[project]\nname = "shop"\ndynamic = ["version"]', ("shop", ".")),
        ('[project]\nname = "shop"\nversion = "not told"', ("shop", ".")),
        ('[project]\nname = "shop"\nversion = ["1"]', ("shop", ".")),
        ('[tool.poetry]\nname = "my.shop_x-1"\nversion = "2"', ("my.shop_x-1", "2")),
        ('[project]\nname = "a"\n[tool.poetry]\nname = "b"', ("a", ".")),
        ('[build-system]\nrequires = ["x"]', None),
        ("", None),
    ],
)
def test_a_project_file_gives_the_name_and_the_version(
    root: Path, text: str, found: tuple[str, str] | None
) -> None:
    write(root / "pyproject.toml", text)
    assert distribution_of(root) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[metadata]\nname = shop\nversion = 1.0", ("shop", "1.0")),
        ("[metadata]\nname = shop\nversion = attr: shop.__version__", ("shop", ".")),
        ("[metadata]\nname = shop\nversion = file: VERSION", ("shop", ".")),
        ("[metadata]\nname = shop\ndescription = 100 %(of) it", ("shop", ".")),
        ("[metadata]\nversion = 1.0", None),
        ("[flake8]\nmax = 1", None),
    ],
)
def test_a_configuration_gives_them_where_the_project_file_does_not(
    root: Path, text: str, found: tuple[str, str] | None
) -> None:
    write(root / "setup.cfg", text)
    assert distribution_of(root) == found
    write(root / "pyproject.toml", "[tool.black]\nline = 1")
    assert distribution_of(root) == found


def test_the_project_file_goes_before_a_configuration(root: Path) -> None:
    write(root / "pyproject.toml", '[project]\nname = "first"\nversion = "1"')
    write(root / "setup.cfg", "[metadata]\nname = second\nversion = 2")
    assert distribution_of(root) == ("first", "1")


@pytest.mark.parametrize("name", ["pyproject.toml", "setup.cfg"])
@pytest.mark.parametrize(
    "content",
    [
        b"= [",
        b"\xff\xfe[project]",
        b"name = 1",
        b'project = "shop"',
        b"[metadata\nname = shop",
        b"[metadata]\nname = a\nname = b",
        b"a = " + b"[" * 100_000,
    ],
)
def test_a_broken_file_gives_nothing(root: Path, name: str, content: bytes) -> None:
    write(root / name, content)
    assert distribution_of(root) is None


@pytest.mark.parametrize(
    "text", ['project = "shop"', "project = [1]", "tool = 3", 'tool = {poetry = "shop"}']
)
def test_a_table_that_is_something_else_gives_nothing(root: Path, text: str) -> None:
    write(root / "pyproject.toml", text)
    assert distribution_of(root) is None


@pytest.mark.parametrize(
    "name", ["my shop", "shop 1.0 x/", "../shop", "`shop`", "-shop", ".", "", "shop\\n", "\\u0085"]
)
def test_a_name_that_would_break_symbols_is_none(root: Path, name: str) -> None:
    write(root / "pyproject.toml", f'[project]\nname = "{name}"\nversion = "1"')
    assert distribution_of(root) is None


def test_a_folder_without_project_file_is_no_distribution(root: Path) -> None:
    assert distribution_of(root) is None
    (root / "pyproject.toml").mkdir()
    assert distribution_of(root) is None


def test_modules_belong_to_what_brings_them(site: Path) -> None:
    record = (
        "yaml/__init__.py,sha256=x,1\nyaml/loader.py,,\n_yaml.cpython-311-x86_64-linux-gnu.so,,\nsingle.py,,\n"
        "../../../bin/yaml,,\nbin/tool,,\n__pycache__/single.cpython-311.pyc,,\nPyYAML-6.0.dist-info/RECORD,,\n"
    )
    install(site, "PyYAML-6.0", record=record)
    install(site, "old-2.1", top="old\n_old\n", record="other/__init__.py,,\n")
    found = installed_for()
    assert found.versions == {"PyYAML": "6.0", "old": "2.1"}
    assert found.of_modules == {
        "yaml": "PyYAML",
        "_yaml": "PyYAML",
        "single": "PyYAML",
        "old": "old",
        "_old": "old",
    }


def test_what_says_nothing_of_its_modules_is_still_there(site: Path) -> None:
    install(site, "bare-1")
    install(site, "broken-2", record=b"\xff\xfe,,\n")
    install(site, "unversioned")
    (site / "file-3.dist-info").write_text("no folder")
    found = installed_for()
    assert found.versions == {"bare": "1", "broken": "2", "file": "3"}
    assert found.of_modules == {}


@pytest.mark.parametrize("name", ["my shop-1", "`x`-1", "x-1 0", "-1", "x-v`"])
def test_metadata_with_a_name_that_would_break_symbols_is_passed_over(site: Path, name: str) -> None:
    install(site, name, top="yaml")
    found = installed_for()
    assert (found.versions, found.of_modules) == ({}, {})


@pytest.mark.parametrize("name", [".venv", "venv", "env"])
def test_an_environment_of_the_repository_counts_first(root: Path, site: Path, name: str) -> None:
    install(site, "x-1", top="x\nshared")
    install(site, "y-1", top="y\nshared")
    install(root / name / SITE, "x-2", top="x")
    install(root / name / SITE, "z-2", top="shared")
    write(root / name / "pyvenv.cfg", "home = nowhere")
    found = installed_for(root)
    assert found.versions == {"x": "2", "y": "1", "z": "2"}
    assert found.of_modules == {"x": "x", "y": "y", "shared": "z"}


def test_a_folder_without_the_mark_is_no_environment(root: Path, site: Path) -> None:
    install(site, "x-1", top="x")
    install(root / "env" / SITE, "x-2", top="x")
    assert installed_for(root).versions == {"x": "1"}


def test_without_a_repository_only_this_python_counts(
    root: Path, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(site, "x-1", top="x")
    install(root / ".venv" / SITE, "z-2", top="z")
    write(root / ".venv" / "pyvenv.cfg", "")
    monkeypatch.chdir(root)
    assert installed_for().versions == {"x": "1"}


def test_what_this_python_has_is_found() -> None:
    found = installed_for()
    assert found.of_modules["pyarrow"] == "pyarrow"
    assert found.versions["pyarrow"][0].isdigit()


def test_nothing_of_the_repository_is_run(root: Path, site: Path) -> None:
    install(site, "x-1", top="x")
    for name in ("setup.py", "x.py", "sitecustomize.py", f".venv/{SITE}/x.py"):
        write(root / name, "raise SystemExit")
    write(root / ".venv" / "pyvenv.cfg", "")
    write(root / "setup.cfg", "[metadata]\nname = shop\nversion = attr: x.version")
    before = set(sys.modules)
    assert distribution_of(root) == ("shop", ".")
    assert installed_for(root).versions == {"x": "1"}
    assert "x" not in set(sys.modules) - before
