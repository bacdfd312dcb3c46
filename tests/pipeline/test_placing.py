"""Which sources there are can be told before anything is built."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headwater.errors import InvalidSetting
from headwater.pipeline import open_definitions, read_project, sources_ahead

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SOURCES = """
import headwater

headwater.source("texts", path="texts", format="files")
headwater.source("lake", path="lake")
headwater.source("few", rows=[(1,)], schema="id INT")
"""
MADE = """
@headwater.source
def made(spark):
    return spark.range(1)
"""
ELSEWHERE = '\n[locations.lake]\npath = "/other/lake"\n'


def ahead(folder: Path) -> dict[str, str | None] | None:
    with open_definitions(read_project(folder)) as loaded:
        found = sources_ahead(loaded)
    return None if found is None else {each.name: each.path for each in found}


def test_sources_with_a_path_are_told_where_this_project_puts_them(
    project_folder: Callable[..., Path],
) -> None:
    folder = project_folder(sources_py=SOURCES)
    assert ahead(folder) == {"texts": "texts", "lake": "lake"}
    toml = folder / "headwater.toml"
    toml.write_text(toml.read_text() + ELSEWHERE)
    assert ahead(folder) == {"texts": "texts", "lake": "/other/lake"}


def test_nothing_is_told_where_a_function_makes_a_source(project_folder: Callable[..., Path]) -> None:
    assert ahead(project_folder(sources_py=SOURCES + MADE)) is None


def test_a_location_that_says_too_much_is_refused(project_folder: Callable[..., Path]) -> None:
    folder = project_folder(sources_py=SOURCES)
    toml = folder / "headwater.toml"
    toml.write_text(toml.read_text() + "\n[locations.texts]\nversion = 3\n")
    with pytest.raises(InvalidSetting, match="texts"):
        ahead(folder)
