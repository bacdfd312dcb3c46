"""The way to a first run: one clear sentence where something is missing."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def require_java(path: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **{k: v for k, v in os.environ.items() if k != "JAVA_HOME"},
        "PATH": str(path),
        **variables,
    }
    shell = shutil.which("sh") or "sh"
    script = ROOT / "scripts" / "require-java.sh"
    return subprocess.run([shell, str(script)], env=environment, capture_output=True, text=True, check=False)


def fake_java(folder: Path, version: str) -> None:
    for tool in ("sed", "head"):
        (folder / tool).symlink_to(shutil.which(tool) or tool)
    java = folder / "java"
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2020-01-01' >&2\n")
    java.chmod(0o755)


def test_no_java_is_one_sentence_that_says_what_to_install(tmp_path: Path) -> None:
    done = require_java(tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 1
    assert "openjdk-17" in done.stderr


@pytest.mark.parametrize(("version", "code"), [("1.8.0_392", 1), ("11.0.2", 1), ("17.0.15", 0), ("21", 0)])
def test_an_old_java_is_refused(tmp_path: Path, version: str, code: int) -> None:
    fake_java(tmp_path, version)
    done = require_java(tmp_path)
    assert done.returncode == code, done.stderr
    assert len(done.stderr.splitlines()) == code


def test_java_home_comes_first(tmp_path: Path) -> None:
    fake_java(tmp_path, "17.0.1")
    assert require_java(tmp_path, JAVA_HOME=str(tmp_path / "nowhere")).returncode == 1


def test_the_two_commands_ask_for_java_before_anything_else() -> None:
    text = (ROOT / "Makefile").read_text()
    for target in ("demo", "test"):
        assert f"\n{target}: java $(READY)" in text


def test_an_environment_that_was_stopped_half_made_is_made_anew(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts")
    for name in ("Makefile", "requirements-dev.lock", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    half, python = tmp_path / ".venv" / "bin" / "python", tmp_path / "python"
    half.parent.mkdir(parents=True)
    half.write_text("#!/bin/sh\nexit 1\n")  # a Python without a whole pip
    python.write_text('#!/bin/sh\ntest "$1" = -c || echo "$@" >> asked\ntest "$1" = -c\n')
    for each in (half, python):
        each.chmod(0o755)
    make = [shutil.which("make") or "make", "setup", "PYTHON=./python"]
    done = subprocess.run(make, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert (tmp_path / "asked").read_text() == "-m venv --clear .venv\n"


def test_ci_runs_what_a_developer_runs() -> None:
    text = (ROOT / ".ci" / "run").read_text()
    assert "make check" in text
    assert "make test" in text
