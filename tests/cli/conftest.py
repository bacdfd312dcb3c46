"""Cheaper ways to run the command than a process each: many in one process, or here, over the one Spark."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headwater.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable

EXAMPLE = Path(__file__).parents[2] / "examples" / "orders"
PROFILE_KEPT = """
[profiles.kept]
master = "local[2]"
driver_memory = "2g"

[profiles.kept.storage.options]
"fs.s3a.secret.key" = "hunter2"
"fs.s3a.endpoint" = "here"
"""
PROCESS = {"HEADWATER_ARCHIVE": "off", "COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1"}


@dataclass(frozen=True)
class Finished:
    """A command that ran."""

    code: int
    out: str
    err: str


@pytest.fixture(scope="session")
def headwaters() -> Callable[..., dict[str, Finished]]:
    """Runs commands one after another in one process, which has no Java; their ends, by their names.

    Of each: its `arguments`, perhaps the folder where it runs (`cwd`) and its own `variables`.
    """

    def run(**commands: dict[str, Any]) -> dict[str, Finished]:
        environment = {**os.environ, **PROCESS, "PATH": "/nonexistent"}
        environment.pop("JAVA_HOME", None)
        done = subprocess.run(
            [sys.executable, str(Path(__file__).with_name("many_commands.py"))],
            input=json.dumps(list(commands.values()), default=str),
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )
        assert (done.returncode, done.stderr) == (0, "")
        ends = json.loads(done.stdout)
        return {name: Finished(**end) for name, end in zip(commands, ends, strict=True)}

    return run


@pytest.fixture
def headwater_here(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., Finished]:
    """Runs the whole command in this process, so that its Spark is the one of all tests."""

    def run(*arguments: str | Path, cwd: Path | None = None) -> Finished:
        with monkeypatch.context() as patch:
            patch.setattr(sys, "argv", ["headwater", *(str(each) for each in arguments)])
            for name, value in PROCESS.items():
                patch.setenv(name, value)
            if cwd:
                patch.chdir(cwd)
            capfd.readouterr()
            with pytest.raises(SystemExit) as left:
                main()
        shown = capfd.readouterr()
        assert isinstance(left.value.code, int)
        return Finished(left.value.code, shown.out, shown.err)

    return run


@dataclass(frozen=True)
class BuiltExample:
    """A copy of the example, and how its first build, in a process of its own, ended.

    It was built with the profile `kept`: storage options belong to the application, and the tests' one has
    none.
    """

    folder: Path
    end: Finished


@pytest.fixture(scope="session")
def built_example(tmp_path_factory: pytest.TempPathFactory) -> BuiltExample:
    """The example after its first build; tests that change it take a copy."""
    folder = tmp_path_factory.mktemp("built_example") / "orders"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns(".headwater", "__pycache__"))
    with (folder / "headwater.toml").open("a") as toml:
        toml.write(PROFILE_KEPT)
    command = [str(Path(sys.executable).parent / "headwater"), "build", str(folder), "--json"]
    done = subprocess.run(
        [*command, "--profile", "kept"],
        env={**os.environ, **PROCESS},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    return BuiltExample(folder, Finished(done.returncode, done.stdout, done.stderr))
