from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from headwater.delta.scanning import MOST_BYTES, ScanOptions, read_scanned, scan_files
from headwater.digest import digest_of_bytes
from headwater.errors import InvalidSetting, SourceUnreadable

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.delta.listing import FilePin
    from headwater.runtime import RunSession

PYTHON = ScanOptions(include=("*.py",))


def write(folder: Path, **contents: str) -> None:
    for name, text in contents.items():
        path = folder / (name.replace("__", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def scan(folder: Path, options: ScanOptions = PYTHON, known: FilePin | None = None) -> FilePin:
    return scan_files("sources", folder.as_uri(), options, known.files if known else ())


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)  # noqa: S607


def paths(pinned: FilePin) -> list[str]:
    return [each.path for each in pinned.files]


def reasons(pinned: FilePin) -> dict[str, str | None]:
    return {each.path: each.skip_reason for each in pinned.files}


def test_a_folder_is_walked_without_caches_and_environments(tmp_path: Path) -> None:
    write(tmp_path, b="2", a="1", pkg__mod="3", _private="4")
    write(tmp_path / ".hidden", x="5")
    write(tmp_path / ".headwater", x="no")
    write(tmp_path / ".git", x="no")
    write(tmp_path / "__pycache__", x="no")
    write(tmp_path / "node_modules", x="no")
    write(tmp_path / "env", x="no")
    (tmp_path / "env" / "pyvenv.cfg").touch()
    (tmp_path / "notes.txt").touch()
    assert paths(scan(tmp_path)) == [".hidden/x.py", "_private.py", "a.py", "b.py", "pkg/mod.py"]


def test_of_a_repository_git_says_what_counts(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    write(tmp_path, tracked="1", gone="2", ignored="3", new="4")
    (tmp_path / ".gitignore").write_text("ignored.py\n")
    git(tmp_path, "add", "tracked.py", "gone.py", ".gitignore")
    git(tmp_path, "commit", "-qm", "first")
    (tmp_path / "gone.py").unlink()
    assert reasons(scan(tmp_path)) == {
        "gone.py": "it is listed, but not there",
        "new.py": None,
        "tracked.py": None,
    }


def test_a_folder_inside_a_repository_is_listed_from_there(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    write(tmp_path, outside="1", inner__inside="2")
    assert paths(scan(tmp_path / "inner")) == ["inside.py"]


def test_a_repository_cannot_make_git_run_anything(tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    hook = tmp_path / "hook.sh"
    hook.write_text(f"#!/bin/sh\ntouch {canary}\n")
    hook.chmod(0o755)
    repository = tmp_path / "repository"
    repository.mkdir()
    git(repository, "init", "-q")
    git(repository, "config", "core.fsmonitor", str(hook))
    write(repository, a="1")
    assert paths(scan(repository)) == ["a.py"]
    assert not canary.exists()


def test_without_git_the_folder_is_walked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(tmp_path, "init", "-q")
    write(tmp_path, a="1")
    monkeypatch.setenv("PATH", "")
    assert paths(scan(tmp_path)) == ["a.py"]


def test_what_is_left_out_says_why(tmp_path: Path) -> None:
    write(tmp_path, small="x", large="x" * 11)
    (tmp_path / "link.py").symlink_to(tmp_path / "small.py")
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / os.fsdecode(b"bad\xff.py")).touch()
    assert reasons(scan(tmp_path, ScanOptions(include=("*.py",), max_bytes=10))) == {
        "bad\\udcff.py": "its name is not UTF-8",
        "large.py": "it has more than 10 bytes",
        "link.py": "it is a symbolic link",
        "pipe.py": "it is not a plain file",
        "small.py": None,
    }


@pytest.mark.parametrize(
    "name", ["a b.py", "a'b.py", 'a"b.py', "a\nb.py", "a[1]*.py", "ä.py", "-x.py", "$(x).py"]
)
def test_any_name_that_can_be_written_counts(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"x = 1\n")
    for _ in ("walked", "by git"):
        (found,) = scan(tmp_path).files
        assert (found.path, found.sha256) == (name, digest_of_bytes(b"x = 1\n"))
        git(tmp_path, "init", "-q")


def test_the_pin_changes_with_content_names_and_reasons_only(tmp_path: Path) -> None:
    write(tmp_path, a="1", b="2")
    first = scan(tmp_path)
    os.utime(tmp_path / "a.py", (1, 1))
    assert scan(tmp_path).pin == first.pin
    write(tmp_path, a="3")
    second = scan(tmp_path)
    assert second.pin.digest != first.pin.digest
    (tmp_path / "a.py").rename(tmp_path / "c.py")
    assert scan(tmp_path).pin.digest != second.pin.digest
    limited = ScanOptions(include=("*.py",), max_bytes=0)
    assert scan(tmp_path, limited).pin.digest != scan(tmp_path).pin.digest


def test_a_file_that_is_as_recorded_is_not_read_again(tmp_path: Path) -> None:
    write(tmp_path, a="1")
    first = scan(tmp_path)
    (tmp_path / "a.py").chmod(0o000)
    renewed = scan(tmp_path, known=first)  # the time has changed with the mode, so it is looked at again
    assert renewed.files[0].path == "a.py"
    again = scan(tmp_path, known=renewed)
    assert again.files[0] is renewed.files[0]


def test_a_folder_without_such_files_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SourceUnreadable, match=r"no files like \*\.py"):
        scan(tmp_path)
    with pytest.raises(SourceUnreadable, match="no such folder"):
        scan(tmp_path / "nowhere")


def test_options_are_checked() -> None:
    assert ScanOptions.of({}) == ScanOptions(include=("*",), max_bytes=MOST_BYTES)
    chosen = ScanOptions.of({"include": "*.py  *.pyi", "max_bytes": "7"})
    assert chosen == ScanOptions(include=("*.py", "*.pyi"), max_bytes=7)
    with pytest.raises(InvalidSetting, match="max_bytes"):
        ScanOptions.of({"max_bytes": "many"})
    with pytest.raises(InvalidSetting, match="includes"):
        ScanOptions.of({"includes": "*.py"})


def test_the_files_are_rows(tmp_path: Path, session: RunSession) -> None:
    write(tmp_path, a="1", b="22")
    (tmp_path / "link.py").symlink_to(tmp_path / "a.py")
    rows = read_scanned(session, scan(tmp_path), "_location").orderBy("path").collect()
    assert [tuple(row) for row in rows] == [
        ("a.py", 1, digest_of_bytes(b"1"), None, str(tmp_path / "a.py")),
        ("b.py", 2, digest_of_bytes(b"22"), None, str(tmp_path / "b.py")),
        ("link.py", 0, None, "it is a symbolic link", str(tmp_path / "link.py")),
    ]
