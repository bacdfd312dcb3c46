from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headwater.datasets import FeatureGate, ReadOptions
from headwater.errors import (
    ConfigSyntax,
    InvalidSetting,
    ProjectNotFound,
    UnknownSetting,
    UsageError,
)
from headwater.origin import Origin
from headwater.pipeline import read_project
from headwater.pipeline.project import Location

if TYPE_CHECKING:
    from pathlib import Path


def write(folder: Path, text: str) -> Path:
    (folder / "headwater.toml").write_text(text)
    return folder


def test_an_empty_file_is_a_project(tmp_path: Path) -> None:
    config = read_project(write(tmp_path, ""))
    assert (config.name, config.definitions, config.profile, config.profiles) == (
        "project",
        ("views",),
        None,
        {},
    )
    assert config.root == tmp_path.resolve()


def test_all_keys_are_read(tmp_path: Path) -> None:
    text = (
        '[project]\nname = "x"\ndefinitions = ["a", "b.py"]\nprofile = "big"\n'
        '[profiles.big]\nmaster = "local[1]"\n'
    )
    config = read_project(write(tmp_path, text))
    assert (config.name, config.definitions, config.profile) == ("x", ("a", "b.py"), "big")
    assert config.profiles == {"big": {"master": "local[1]"}}


def test_locations_are_read(tmp_path: Path) -> None:
    text = """
[locations.orders]
path = "/lake/orders"
version = 3
files = ["b", "a"]
gate = { min_reader_version = 3, required_reader_features = ["deletionVectors"] }
"""
    config = read_project(write(tmp_path, text))
    gate = FeatureGate(min_reader_version=3, required_reader_features=("deletionVectors",))
    read = ReadOptions(version=3, files=("a", "b"), gate=gate)
    said = ("files", "gate", "version")
    assert config.locations == {"orders": Location(path="/lake/orders", read=read, said=said)}


def test_a_time_may_be_tomls_own(tmp_path: Path) -> None:
    config = read_project(write(tmp_path, "[locations.a]\ntimestamp = 2026-01-31T12:00:00Z\n"))
    assert config.locations["a"].read.timestamp == "2026-01-31T12:00:00+00:00"


def test_no_file_is_no_project(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing"):
        with pytest.raises(ProjectNotFound) as caught:
            read_project(path)
        assert "headwater init" in caught.value.next_step


@pytest.mark.parametrize(
    ("text", "error", "line"),
    [
        ('[project]\nname = "x\n', ConfigSyntax, 2),
        ("[project\n", ConfigSyntax, 1),
        ("[project]\nnam = 3\n", UnknownSetting, 2),
        ("[projects]\n", UnknownSetting, 1),
        ("[project]\n\nname = 3\n", InvalidSetting, 3),
        ('[project]\ndefinitions = "views"\n', InvalidSetting, 2),
        ("[project]\ndefinitions = [1]\n", InvalidSetting, 2),
        ("[project]\nprofile = true\n", InvalidSetting, 2),
        ("project = 1\n", InvalidSetting, 1),
        ("[locations.a]\npaht = 'x'\n", UnknownSetting, 2),
        ("[locations.a]\n\npath = 3\n", InvalidSetting, 3),
        ("[locations.a]\nversion = -1\n", InvalidSetting, 2),
        ("[locations.a]\ngate = {reader = 3}\n", InvalidSetting, 2),
        ("[locations.a]\ngate = {min_reader_version = 'x'}\n", InvalidSetting, 2),
        ("[locations.a]\nfiles = 'one'\n", InvalidSetting, 2),
        ("locations = 1\n", InvalidSetting, 1),
    ],
)
def test_a_mistake_has_its_line_and_exit_code(
    tmp_path: Path, text: str, error: type[UsageError], line: int
) -> None:
    with pytest.raises(error) as caught:
        read_project(write(tmp_path, text))
    assert caught.value.origin is not None
    assert caught.value.origin.path.endswith("headwater.toml")
    assert caught.value.origin.line == line
    assert caught.value.exit_code == 2


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "headwater.toml").write_bytes(b'[project]\nname = "\xff"\n')
    with pytest.raises(ConfigSyntax):
        read_project(tmp_path)


def test_a_projects_name_is_a_name(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting) as caught:
        read_project(write(tmp_path, '[project]\nname = "a b"\n'))
    assert (caught.value.origin, caught.value.exit_code) == (Origin(str(tmp_path / "headwater.toml"), 2), 2)
