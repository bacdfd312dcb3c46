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


def test_tables_are_read(tmp_path: Path) -> None:
    text = """
[tables.orders]
target_file_size = "64mb"
partition_by = ["country"]
stats_policy = "explicit"

[tables.orders.constraints]
paid = "amount >= 0"

[tables.orders.properties]
delta.appendOnly = true
"delta.checkpointInterval" = 5
"""
    config = read_project(write(tmp_path, text))
    # Which columns "explicit" means may stand in the definition.
    assert config.tables == {
        "orders": {
            "target_file_size": 64 << 20,
            "partition_by": ("country",),
            "stats_policy": "explicit",
            "constraints": (("paid", "amount >= 0"),),
            "properties": (("delta.appendOnly", "true"), ("delta.checkpointInterval", "5")),
        }
    }


@pytest.mark.parametrize(
    ("section", "name", "key", "line"),
    [
        ("tables", "a", "order_by", 4),
        ("tables", "b", "order_by", 7),
        ("tables", "b", "zorder_by", 6),
        ("tables", "b", "", 6),
        ("tables", "c", "", 9),
        ("locations", "b", "", 1),
        ("locations", "none", "", 0),
    ],
)
def test_the_line_of_what_is_said_of_a_name(
    tmp_path: Path, section: str, name: str, key: str, line: int
) -> None:
    text = (
        "[locations.b]\nversion = 1\n"
        "[tables.a]\norder_by = ['x']\n\n"
        "[tables.b]\norder_by = ['y']\n"
        "[tables]\nc = { order_by = ['z'] }\n"
    )
    config = read_project(write(tmp_path, text))
    assert config.origin_of(section, name, key).line == line


def test_caches_are_read(tmp_path: Path) -> None:
    config = read_project(write(tmp_path, "[cache]\npaid = 'memory'\nfacts = 'delta_staging'\nx = 'none'\n"))
    assert config.cache == {"paid": "memory", "facts": "delta_staging", "x": "none"}
    assert config.rules_digest is None


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
        ("locations = {a = 1}\n", InvalidSetting, 1),
        ("[locations.a]\nversion = 1\n[locations.b]\nversion = -1\n", InvalidSetting, 4),
        ("[tables.a]\npartiton_by = ['x']\n", UnknownSetting, 2),
        ("[tables.a]\nname = 'b'\n", UnknownSetting, 2),
        ("[tables.a]\npath = 'b'\n", UnknownSetting, 2),
        ("[tables.a]\n\npartition_by = 3\n", InvalidSetting, 3),
        ("[tables.a]\ntarget_file_size = 'big'\n", InvalidSetting, 2),
        ("[tables.a]\nmax_attempts = 0\n", InvalidSetting, 2),
        ("[tables.a]\nmax_attempts = 3\n[tables.b]\nmax_attempts = 0\n", InvalidSetting, 4),
        ("[tables.a]\n[tables.a.constraints]\n'a b' = 'x > 0'\n", InvalidSetting, 2),
        ("[tables]\na = { max_attempts = 0 }\n", InvalidSetting, 2),
        ("[tables]\n\na = 1\n", InvalidSetting, 3),
        ("tables = 1\n", InvalidSetting, 1),
        ("[cache]\na = 'none'\nb = 'disk'\n", InvalidSetting, 3),
        ("[cache]\na = ['memory']\n", InvalidSetting, 2),
        ("[cache.a]\npolicy = 'memory'\n", InvalidSetting, 1),
        ("cache = 'memory'\n", InvalidSetting, 1),
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
