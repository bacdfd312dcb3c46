"""An engine is started for what there is to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import headwater
from headwater.errors import EngineStartFailed
from headwater.run import pins, sessions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from headwater.runtime import RuntimeProfile

LITTLE = pins._LITTLE_BYTES
FILES = "import headwater\n\nheadwater.source('texts', path='texts', format='files')\n"
VIEW = "-- headwater: table\nSELECT path FROM texts"
MADE = """
import headwater

@headwater.source
def numbers(spark):
    return spark.range(3)
"""
ELSEWHERE = "headwater.source('lake', path='lake')\n"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """How Java would be started for a build that begins; there it ends."""
    seen: list[str] = []

    def refuse(profile: RuntimeProfile, *_: object) -> None:
        seen.append(profile.java_compiler)
        raise EngineStartFailed(detail="no more is wanted")

    def build(folder: Path, *, alone: bool, **settings: str) -> str:
        monkeypatch.setattr(sessions, "open_runtime", refuse)
        with pytest.raises(EngineStartFailed):
            headwater.open(folder, settings=settings).build(alone=alone)
        return seen[-1]

    return build


@pytest.fixture
def folder(project_folder: Callable[..., Path]) -> Path:
    """A project that reads a folder of files; the project's table asks for no schema."""
    folder = project_folder(sources_py=FILES, paths_sql=VIEW)
    (folder / "texts").mkdir()
    (folder / "texts" / "some.txt").write_bytes(b"x" * LITTLE)
    return folder


def test_a_process_that_ends_with_a_small_build_has_code_compiled_quickly(
    folder: Path, asked: Callable[..., str]
) -> None:
    assert asked(folder, alone=True) == "quick"


def test_what_goes_on_afterwards_or_was_said_is_left_as_it_is(
    folder: Path, asked: Callable[..., str]
) -> None:
    assert asked(folder, alone=False) == "auto"
    assert asked(folder, alone=True, java_compiler="full") == "full"
    assert asked(folder, alone=False, java_compiler="quick") == "quick"


def test_more_bytes_are_not_few(folder: Path, asked: Callable[..., str]) -> None:
    (folder / "texts" / "another.txt").write_bytes(b"x")
    assert asked(folder, alone=True) == "auto"


@pytest.mark.parametrize("text", [MADE, FILES + ELSEWHERE, ""], ids=["made", "delta", "no-source"])
def test_sources_whose_size_nobody_knows_may_be_large(
    folder: Path, asked: Callable[..., str], text: str
) -> None:
    log = folder / "lake" / "_delta_log"
    log.mkdir(parents=True)
    (log / f"{0:020}.json").write_text('{"commitInfo": {"timestamp": 0, "operation": "WRITE"}}\n')
    (folder / "views" / "sources.py").write_text(text)
    (folder / "views" / "paths.sql").write_text("-- headwater: table\nSELECT 1 AS one")
    assert asked(folder, alone=True) == "auto"


def test_a_source_that_is_not_there_is_told_as_always(folder: Path) -> None:
    (folder / "views" / "sources.py").write_text(FILES.replace("path='texts'", "path='gone'"))
    with pytest.raises(headwater.errors.HeadwaterError) as caught:
        headwater.open(folder).build(alone=True)
    assert "gone" in str(caught.value)
