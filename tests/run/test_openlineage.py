"""Who wants no events pays nothing for them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import headwater

if TYPE_CHECKING:
    from headwater.runtime import SessionRuntime

MakeProject = Callable[..., Path]
BUILD = """
import sys
import headwater
outcome = headwater.open(sys.argv[1], settings={"master": "local[2]", "driver_memory": "2g"}).build()
loaded = [name for name in ("openlineage", "requests", "headwater.run.emitting") if name in sys.modules]
print(outcome.status, loaded)
"""


@pytest.mark.parametrize("wanted", [False, True], ids=["off", "on"])
def test_a_build_with_nothing_to_do_does_not_load_the_library(
    project_folder: MakeProject, runtime: SessionRuntime, wanted: bool
) -> None:
    assert runtime
    folder = project_folder(one_sql="-- headwater: table\nSELECT 1 AS x")
    settings = {"master": "local[2]", "driver_memory": "2g"}
    assert headwater.open(folder, settings=settings).build().status == "done"
    environ = {**os.environ, **({"HEADWATER_OPENLINEAGE_FILE": "events"} if wanted else {})}
    done = subprocess.run(
        [sys.executable, "-c", BUILD, str(folder)], env=environ, capture_output=True, check=True, text=True
    )
    assert done.stdout.strip() == "unchanged []"
    assert not (folder / "events").exists()


def test_a_build_without_events_does_not_load_what_makes_them(
    project_folder: MakeProject, runtime: SessionRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert runtime
    monkeypatch.setitem(sys.modules, "headwater.run.emitting", None)  # to import it would be an error
    folder = project_folder(one_sql="-- headwater: table\nSELECT 1 AS x")
    settings = {"master": "local[2]", "driver_memory": "2g"}
    assert headwater.open(folder, settings=settings).build().warnings == ()
