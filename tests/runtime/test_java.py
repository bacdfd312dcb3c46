from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headwater.errors import JavaNotFound, JavaTooOld
from headwater.runtime.java import find_java

if TYPE_CHECKING:
    from pathlib import Path

RELEASE = 'IMPLEMENTOR="Debian"\nJAVA_RUNTIME_VERSION="17.0.15+6"\nJAVA_VERSION="17.0.15"\nSOURCE=""\n'


def write_java(home: Path, script: str = "#!/bin/sh\nexit 1\n", release: str | None = None) -> Path:
    """A Java home whose java is a script; by default one that must not be asked."""
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(script)
    java.chmod(0o755)
    if release is not None:
        (home / "release").write_text(release)
    return java


def answering(version: str) -> str:
    return f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-04-15' >&2\n"


def test_the_release_file_answers_without_a_process(tmp_path: Path) -> None:
    path = write_java(tmp_path, release=RELEASE)
    java = find_java({"JAVA_HOME": str(tmp_path), "PATH": ""})
    assert (java.path, java.version, java.major, java.vendor) == (path, "17.0.15", 17, "Debian")


def test_java_home_comes_before_the_path(tmp_path: Path) -> None:
    chosen = write_java(tmp_path / "a", release=RELEASE)
    other = write_java(tmp_path / "b", release=RELEASE)
    assert find_java({"JAVA_HOME": str(tmp_path / "a"), "PATH": str(other.parent)}).path == chosen
    assert find_java({"JAVA_HOME": "", "PATH": str(other.parent)}).path == other


def test_links_are_followed_to_the_java_home(tmp_path: Path) -> None:
    path = write_java(tmp_path / "jdk", release=RELEASE)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(path)
    assert find_java({"PATH": str(tmp_path / "bin")}).path == path


@pytest.mark.parametrize(
    ("version", "major"), [("17.0.15", 17), ("21-ea", 21), ("25", 25)], ids=["update", "early", "bare"]
)
def test_without_a_release_file_java_is_asked(tmp_path: Path, version: str, major: int) -> None:
    write_java(tmp_path, answering(version))
    java = find_java({"JAVA_HOME": str(tmp_path)})
    assert (java.version, java.major, java.vendor) == (version, major, "unknown")


def test_a_release_file_without_a_version_is_not_trusted(tmp_path: Path) -> None:
    write_java(tmp_path, answering("17.0.1"), release="SOURCE=x\n")
    assert find_java({"JAVA_HOME": str(tmp_path)}).version == "17.0.1"


@pytest.mark.parametrize("version", ["11.0.2", "1.8.0_392"])
def test_an_old_java_is_refused(tmp_path: Path, version: str) -> None:
    path = write_java(tmp_path, answering(version))
    with pytest.raises(JavaTooOld) as caught:
        find_java({"JAVA_HOME": str(tmp_path)})
    assert (caught.value.path, caught.value.version) == (str(path), version)


def test_a_java_home_without_java_is_named_and_the_path_not_tried(tmp_path: Path) -> None:
    other = write_java(tmp_path / "b", release=RELEASE)
    with pytest.raises(JavaNotFound) as caught:
        find_java({"JAVA_HOME": str(tmp_path / "none"), "PATH": str(other.parent)})
    assert str(tmp_path / "none") in caught.value.looked


def test_no_java_at_all(tmp_path: Path) -> None:
    with pytest.raises(JavaNotFound, match="JAVA_HOME and the PATH"):
        find_java({"PATH": str(tmp_path)})


@pytest.mark.parametrize(
    "script", ["\x7fELF nonsense", "#!/bin/sh\necho hello\n"], ids=["no program", "no java"]
)
def test_what_cannot_answer_is_no_java(tmp_path: Path, script: str) -> None:
    path = write_java(tmp_path, script)
    with pytest.raises(JavaNotFound) as caught:
        find_java({"JAVA_HOME": str(tmp_path)})
    assert str(path) in caught.value.looked


def test_the_java_of_this_machine_is_found() -> None:
    java = find_java()
    assert java.major >= 17
    assert java.path.is_file()
