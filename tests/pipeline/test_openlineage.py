from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headwater.errors import InvalidSetting, UnknownSetting
from headwater.origin import Origin
from headwater.pipeline import OpenLineageSettings, openlineage_in, read_project

if TYPE_CHECKING:
    from pathlib import Path


def write(folder: Path, text: str) -> Path:
    (folder / "headwater.toml").write_text(text)
    return folder


def said(folder: Path, text: str) -> OpenLineageSettings:
    return read_project(write(folder, f"[openlineage]\n{text}\n")).openlineage


def test_nothing_is_told_unless_somebody_asks(tmp_path: Path) -> None:
    assert not read_project(write(tmp_path, "")).openlineage.is_on
    assert not said(tmp_path, 'namespace = "shop"').is_on


def test_all_keys_are_read(tmp_path: Path) -> None:
    text = (
        'url = "https://lineage.example/marquez/"\nendpoint = "/api/v2/lineage"\nfile = "events.jsonl"\n'
        'namespace = "shop"\napi_key_env = "LINEAGE_KEY"\ntimeout_seconds = 2.5'
    )
    assert said(tmp_path, text) == OpenLineageSettings(
        url="https://lineage.example/marquez",
        endpoint="api/v2/lineage",
        file="events.jsonl",
        namespace="shop",
        api_key_env="LINEAGE_KEY",
        timeout_seconds=2.5,
    )


@pytest.mark.parametrize(
    "line",
    [
        'url = "lineage.example"',
        'url = "ftp://lineage.example"',
        'url = "http://"',
        'url = "http://u:hunter2@lineage.example"',
        'url = "http://lineage.example/?key=hunter2"',
        'url = "http://lineage.example:port"',
        "url = 5000",
        'endpoint = "a b"',
        'file = ""',
        'namespace = ""',
        'api_key_env = "hunter2-is-the-key"',
        "timeout_seconds = 0",
        "timeout_seconds = 61",
        "timeout_seconds = true",
        'timeout_seconds = "soon"',
    ],
    ids=str,
)
def test_a_wrong_value_is_an_error_with_its_line(tmp_path: Path, line: str) -> None:
    with pytest.raises(InvalidSetting) as caught:
        said(tmp_path, f"# a comment\n{line}")
    assert caught.value.key == line.partition(" ")[0]
    assert caught.value.origin == Origin(str(tmp_path.resolve() / "headwater.toml"), 3)
    assert "hunter2" not in f"{caught.value.message} {caught.value.next_step}"


def test_an_unknown_key_is_an_error_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(UnknownSetting) as caught:
        said(tmp_path, 'urll = "http://localhost:5000"')
    assert caught.value.origin == Origin(str(tmp_path.resolve() / "headwater.toml"), 2)
    assert "'url'" in caught.value.next_step


def test_the_environment_goes_before_the_file() -> None:
    base = OpenLineageSettings(url="http://a:1", file="x", namespace="shop")
    environ = {
        "HEADWATER_OPENLINEAGE_URL": "http://b:2/",
        "HEADWATER_OPENLINEAGE_FILE": "",
        "HEADWATER_OPENLINEAGE_TIMEOUT_SECONDS": "0.5",
    }
    found = openlineage_in(environ, base)
    assert (found.url, found.file, found.namespace) == ("http://b:2", None, "shop")
    assert found.timeout_seconds == 0.5


def test_a_wrong_variable_is_named() -> None:
    with pytest.raises(InvalidSetting) as caught:
        openlineage_in({"HEADWATER_OPENLINEAGE_URL": "here"}, OpenLineageSettings())
    assert caught.value.key == "HEADWATER_OPENLINEAGE_URL"


def test_the_key_comes_from_the_variable_that_is_named_and_is_never_shown() -> None:
    base = OpenLineageSettings(url="http://a:1", api_key_env="LINEAGE_KEY")
    found = openlineage_in({"LINEAGE_KEY": "hunter2", "OPENLINEAGE_API_KEY": "other"}, base)
    assert found.api_key == "hunter2"
    assert "hunter2" not in repr(found)


def test_other_variables_of_openlineage_change_nothing_but_the_one_that_turns_it_off() -> None:
    off = OpenLineageSettings()
    assert not openlineage_in({"OPENLINEAGE_URL": "http://a:1"}, off).is_on
    on = OpenLineageSettings(url="http://a:1", file="x")
    assert openlineage_in({"OPENLINEAGE_DISABLED": "false"}, on).is_on
    assert not openlineage_in({"OPENLINEAGE_DISABLED": "True"}, on).is_on
