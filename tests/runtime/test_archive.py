from __future__ import annotations

import os
import subprocess
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from headwater.errors import EngineStartFailed
from headwater.home import headwater_home
from headwater.runtime.archive import (
    Train,
    archive_options,
    make_archive,
    start_archiving_in_background,
    with_archive,
)
from headwater.runtime.jars import provide_jars
from headwater.runtime.java import Java, find_java
from headwater.runtime.jvm import JvmSpec, environment_of, java_command_of

if TYPE_CHECKING:
    from pathlib import Path

SHORT_RUN = ("org.apache.spark.deploy.SparkSubmit", "--version")


def run_briefly(spec: JvmSpec, *options: str) -> subprocess.CompletedProcess[str]:
    command = java_command_of(replace(spec, options=(*spec.options, *options)))
    return subprocess.run(
        [*command, *SHORT_RUN], env=environment_of(spec), capture_output=True, text=True, check=False
    )


def train_briefly(spec: JvmSpec, draft: Path) -> Path:
    run_briefly(spec, f"-XX:ArchiveClassesAtExit={draft}", "-Xlog:cds*=off").check_returncode()
    return draft.parent / "log"


def writer_of(content: bytes | None) -> Train:
    """A training that leaves this content as its draft, or none."""

    def train(_spec: JvmSpec, draft: Path) -> Path:
        if content is not None:
            draft.write_bytes(content)
        return draft.parent / "log"

    return train


@pytest.fixture(autouse=True)
def _on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HEADWATER_ARCHIVE", raising=False)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[JvmSpec, Path, bytes]:
    """A spec, a small archive of it, really made by a JVM, and the archive's content."""
    home, java = tmp_path_factory.mktemp("home"), find_java()
    spec = JvmSpec(java=java, jars=provide_jars(headwater_home(), java), home=home, memory="512m")
    archive = make_archive(spec, train=train_briefly)
    return spec, archive, archive.read_bytes()


@pytest.fixture
def archived(made: tuple[JvmSpec, Path, bytes]) -> tuple[JvmSpec, Path]:
    """A spec whose archive is whole again, whatever an earlier test did to it."""
    spec, archive, content = made
    archive.chmod(0o644)
    archive.write_bytes(content)
    return spec, archive


def test_a_made_archive_is_used(archived: tuple[JvmSpec, Path]) -> None:
    spec, archive = archived
    assert archive_options(spec)[0] == f"-XX:SharedArchiveFile={archive}"
    answer = run_briefly(with_archive(spec), "-Xlog:class+load=info")
    assert "SparkSubmit source: shared objects file (top)" in answer.stdout


def test_a_truncated_archive_is_not_offered_to_the_engine(archived: tuple[JvmSpec, Path]) -> None:
    spec, archive = archived
    with archive.open("r+b") as content:
        content.truncate(archive.stat().st_size // 2)
    assert with_archive(spec) == spec


def test_an_archive_with_other_bytes_does_not_break_a_start(archived: tuple[JvmSpec, Path]) -> None:
    spec, archive = archived
    content = bytearray(archive.read_bytes())
    for part in range(1, 10):
        at = len(content) * part // 10
        content[at : at + 4096] = b"\x5a" * 4096
    archive.write_bytes(content)
    answer = run_briefly(with_archive(spec))
    assert (answer.returncode, answer.stdout) == (0, "")
    archive.write_bytes(b"\0" * len(content))
    answer = run_briefly(with_archive(spec))
    assert (answer.returncode, answer.stdout) == (0, "")


def test_other_options_another_java_or_another_jar_need_another_archive(
    archived: tuple[JvmSpec, Path], tmp_path: Path
) -> None:
    spec, _ = archived
    assert archive_options(replace(spec, memory="1g")) == archive_options(spec)
    assert archive_options(replace(spec, options=())) == ()
    assert archive_options(replace(spec, java=replace(spec.java, version="17.0.99"))) == ()
    (tmp_path / "more.jar").touch()
    assert archive_options(replace(spec, jars=(*spec.jars, tmp_path / "more.jar"))) == ()


def test_off_is_off(archived: tuple[JvmSpec, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    spec, _ = archived
    monkeypatch.setenv("HEADWATER_ARCHIVE", "off")
    assert archive_options(spec) == ()
    assert not start_archiving_in_background(replace(spec, options=()))


def test_nothing_is_started_where_there_is_an_archive(archived: tuple[JvmSpec, Path]) -> None:
    assert not start_archiving_in_background(archived[0])


def test_the_oldest_archives_of_others_are_removed(made: tuple[JvmSpec, Path, bytes], tmp_path: Path) -> None:
    spec = replace(made[0], home=tmp_path)
    (tmp_path / "archive").mkdir()
    for age, name in enumerate(["recent", "old", "oldest"], start=1):
        path = tmp_path / "archive" / f"{name}-0.jsa"
        path.touch()
        os.utime(path, (1_000_000 - age, 1_000_000 - age))
    archive = make_archive(spec, train=writer_of(made[2]))
    assert sorted(path.name for path in (tmp_path / "archive").glob("*.jsa")) == sorted(
        [archive.name, "recent-0.jsa"]
    )


@pytest.mark.parametrize("content", [None, b"", b"garbage" * 1000], ids=["none", "empty", "garbage"])
def test_an_archive_that_cannot_be_used_is_not_kept(
    made: tuple[JvmSpec, Path, bytes], tmp_path: Path, content: bytes | None
) -> None:
    with pytest.raises(EngineStartFailed):
        make_archive(replace(made[0], home=tmp_path), train=writer_of(content))
    assert [path.name for path in (tmp_path / "archive").iterdir()] == ["archive.lock"]


def test_a_failed_attempt_leaves_a_note_and_is_not_repeated_within_the_hour(tmp_path: Path) -> None:
    java = tmp_path / "java"
    java.write_text("#!/bin/sh\necho broken >&2\nexit 1\n")
    java.chmod(0o755)
    broken = Java(path=java, version="17", major=17, vendor="none")
    spec = JvmSpec(java=broken, jars=(), home=tmp_path, memory="512m")
    assert start_archiving_in_background(spec)
    assert not start_archiving_in_background(spec)
    assert "ended without writing a class archive" in text_of_note(tmp_path / "logs", seconds=30)
    assert not start_archiving_in_background(spec)
    (attempt,) = (tmp_path / "archive").glob("*.attempt")
    os.utime(attempt, (1_000_000, 1_000_000))
    assert start_archiving_in_background(spec)


def text_of_note(folder: Path, seconds: float) -> str:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        text = "".join(path.read_text() for path in sorted(folder.glob("background-*.log")))
        if text:
            return text
        time.sleep(0.1)
    return ""


def test_a_home_that_cannot_be_written_is_no_reason_to_fail(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    spec = JvmSpec(java=find_java(), jars=(), home=tmp_path / "file", memory="512m")
    assert archive_options(spec) == ()
    assert not start_archiving_in_background(spec)


def test_one_archive_serves_engines_of_both_kinds(tmp_path: Path) -> None:
    asked: list[bool] = []

    def train(spec: JvmSpec, _draft: Path) -> Path:
        asked.append(spec.quick)
        return tmp_path / "log"

    spec = JvmSpec(java=find_java(), jars=(), home=tmp_path, memory="512m", quick=True)
    with pytest.raises(EngineStartFailed, match="without writing"):
        make_archive(spec, train=train)
    assert asked == [False]
