from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from platformdirs import user_cache_path

from headwater.errors import HomeNotWritable
from headwater.home import LOGS_KEPT, folder_in, headwater_home, new_log

if TYPE_CHECKING:
    from pathlib import Path


def test_the_variable_names_the_home_and_it_is_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path / "a" / "b"))
    assert headwater_home() == tmp_path / "a" / "b"
    assert (tmp_path / "a" / "b").is_dir()


def test_a_relative_home_is_made_absolute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HEADWATER_HOME", "here")
    assert headwater_home() == tmp_path / "here"


def test_without_the_variable_it_is_the_cache_folder_of_the_platform(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("HEADWATER_HOME", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert headwater_home() == user_cache_path("headwater")


def test_a_file_in_the_way_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path / "file" / "home"))
    with pytest.raises(HomeNotWritable) as caught:
        headwater_home()
    assert caught.value.path == str(tmp_path / "file" / "home")


def test_a_folder_without_permission_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(_path: Path, _mode: int) -> bool:
        return False

    monkeypatch.setattr(os, "access", refuse)  # the superuser may write anywhere
    with pytest.raises(HomeNotWritable, match="no permission to write"):
        folder_in(tmp_path, "jars")


def test_only_the_last_logs_of_a_kind_are_kept(tmp_path: Path) -> None:
    other = new_log(tmp_path, "fetch")
    other.touch()
    made: list[Path] = []
    for _ in range(LOGS_KEPT + 3):
        made.append(new_log(tmp_path, "engine"))
        made[-1].touch()
    assert sorted((tmp_path / "logs").iterdir()) == sorted([other, *made[-LOGS_KEPT:]])
