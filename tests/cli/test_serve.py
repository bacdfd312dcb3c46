"""`headwater serve` in a process of its own, over a graph that was really built, and `headwater ask`."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Finished

Run = Callable[..., "Finished"]
EXAMPLE = Path(__file__).parents[2] / "examples" / "small_repo"
SMALL = ("--set", "master=local[2]", "--set", "driver_memory=2g")


@pytest.mark.usefixtures("runtime")
def test_a_graph_in_memory_answers_as_one_that_is_read_for_a_question(
    headwater_here: Run, tmp_path: Path
) -> None:
    folder = tmp_path / "small_repo"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns(".headwater", "__pycache__"))
    only = ("--only", "definitions", "--quiet")
    assert headwater_here("build", folder, *SMALL, *only).code == 0
    asked = ("ask", "callers", "library.cli.main", "--path", folder, "--json")
    cold = headwater_here(*asked, *SMALL, "--no-server")
    assert cold.code == 0
    assert json.loads(cold.out)["findings"][0]["path"] == "library/cli.py"

    program = str(Path(sys.executable).parent / "headwater")
    command = [program, "serve", str(folder), "--json", *SMALL]
    environment = {**os.environ, "HEADWATER_ARCHIVE": "off"}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            document = json.loads("".join(iter(process.stdout.readline, "}\n")) + "}")
            place = Path(document["socket"])
            warm = [headwater_here(*asked, "--debug") for _ in range(2)]
            assert [each.out for each in warm] == [cold.out] * 2
            assert [each.err for each in warm] == [f"answered by the server at {place}\n"] * 2
            second = headwater_here("serve", folder, *SMALL)
            assert (second.code, second.err.split()[0]) == (1, "HW-RUN-011")
        finally:
            process.send_signal(signal.SIGTERM)
            _, told = process.communicate(timeout=60)
    assert process.returncode == 0
    assert told.splitlines()[-1] == "Stopped after 2 questions."
    assert not place.exists()
