from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from headwater.delta import scanning
from headwater.delta.scanning import MOST_BYTES, ScanOptions, read_scanned, scan_files
from headwater.digest import digest_of_bytes
from headwater.errors import InvalidSetting, SourceUnreadable

if TYPE_CHECKING:
    from collections.abc import Iterator
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


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    command = ["git", *identity, *arguments]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    done = subprocess.run(
        command, cwd=folder, check=True, capture_output=True, encoding="utf-8", env=environment
    )
    return done.stdout


def program(path: Path, script: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


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


def test_only_some_folders_can_be_asked_for(tmp_path: Path) -> None:
    for path in ("a/one.py", "a/deep/two.py", "b/three.py", "c.py"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    options = ScanOptions.of({"include": "*.py", "folders": "a\nb\na/deep"})
    assert [each.path for each in scan(tmp_path, options).files] == [
        "a/deep/two.py",
        "a/one.py",
        "b/three.py",
    ]
    for outside in ("../a", "/a", "a/../.."):
        with pytest.raises(InvalidSetting, match="folders"):
            ScanOptions.of({"folders": outside})


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


def test_a_repository_cannot_make_git_fetch(tmp_path: Path) -> None:
    """A missing tree of a sparse index is fetched to list it, by a command of the repository's choice."""
    canary = tmp_path / "canary"
    repository = tmp_path / "repository"
    repository.mkdir()
    git(repository, "init", "-q")
    write(repository, inside__a="1", outside__b="2")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "first")
    tree = git(repository, "rev-parse", "HEAD:outside").strip()
    git(repository, "sparse-checkout", "init", "--cone", "--sparse-index")
    git(repository, "sparse-checkout", "set", "inside")
    for key, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.url": repository.as_uri(),
        "remote.origin.promisor": "true",
        "remote.origin.uploadpack": f"touch {canary}; git-upload-pack",
        "protocol.allow": "always",
    }.items():
        git(repository, "config", key, value)
    (repository / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    with pytest.raises(SourceUnreadable, match=r"git says: .*git status"):
        scan(repository)
    assert not canary.exists()


def test_a_program_named_git_in_the_folder_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = tmp_path / "repository"
    write(repository, a="1")
    git(repository, "init", "-q")
    program(repository / "git", f"touch {tmp_path / 'canary'}")
    for search in (f":.:{os.environ['PATH']}", ":."):
        monkeypatch.setenv("PATH", search)
        assert paths(scan(repository)) == ["a.py"]
    assert not (tmp_path / "canary").exists()


def test_a_folder_that_looks_like_a_bare_repository_is_walked(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--bare")
    write(tmp_path, a="1")
    assert paths(scan(tmp_path)) == ["a.py"]


def test_a_bare_repository_inside_another_is_not_asked(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    git(tmp_path, "init", "-q", "--bare", "inner")
    write(tmp_path / "inner", a="1")
    with pytest.raises(SourceUnreadable, match="cannot use bare repository"):
        scan(tmp_path / "inner")


@pytest.mark.parametrize("path", ["../outside.py", "/etc/outside.py", "in/../../out.py"])
def test_an_index_cannot_name_a_file_outside(tmp_path: Path, path: str) -> None:
    (tmp_path / "outside.py").write_text("secret")
    repository = tmp_path / "repository"
    repository.mkdir()
    git(repository, "init", "-q")
    (repository / ("x" * len(path))).touch()
    git(repository, "add", ".")
    (repository / ("x" * len(path))).unlink()
    index = repository / ".git" / "index"
    content = index.read_bytes()[:-20].replace(b"x" * len(path), path.encode())
    index.write_bytes(content + hashlib.sha1(content, usedforsecurity=False).digest())
    assert reasons(scan(repository)) == {path: "it lies outside the folder"}


def test_a_path_behind_a_link_is_left_out(tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    write(repository, pkg__deep__a="1", pkg__b="2", c="3")
    git(repository, "init", "-q")
    git(repository, "add", ".")
    (repository / "pkg").rename(tmp_path / "outside")
    (repository / "pkg").symlink_to(tmp_path / "outside")
    assert reasons(scan(repository)) == {
        "c.py": None,
        "pkg/b.py": "it lies behind a symbolic link",
        "pkg/deep/a.py": "it lies behind a symbolic link",
    }


def test_the_root_itself_may_be_a_link(tmp_path: Path) -> None:
    write(tmp_path / "real", pkg__a="1")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    for _ in ("walked", "by git"):
        assert reasons(scan(tmp_path / "link")) == {"pkg/a.py": None}
        git(tmp_path / "real", "init", "-q")


@pytest.mark.parametrize("name", ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_CEILING_DIRECTORIES"])
def test_the_shells_own_repository_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    for each in ("mine", "other"):
        write(tmp_path / each, **{f"in__{each}": "1"})
        (tmp_path / each / ".gitignore").write_text("ignored.py\n")
        git(tmp_path / each, "init", "-q")
        git(tmp_path / each, "add", ".")
    write(tmp_path / "mine" / "in", ignored="2")
    values = {"GIT_DIR": "other/.git", "GIT_INDEX_FILE": "other/.git/index", "GIT_WORK_TREE": "other"}
    monkeypatch.setenv(name, str(tmp_path / values.get(name, "mine")))
    assert reasons(scan(tmp_path / "mine" / "in")) == {"mine.py": None}


def test_a_folder_that_git_ignores_is_walked(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    write(tmp_path, a="1", build__lib__b="2")
    write(tmp_path / "build" / "lib" / "__pycache__", c="no")
    (tmp_path / ".gitignore").write_text("build/\n")
    assert paths(scan(tmp_path)) == ["a.py"]
    assert paths(scan(tmp_path / "build" / "lib")) == ["b.py"]


def test_other_repositories_are_named(tmp_path: Path) -> None:
    write(tmp_path, a="1", deep__new__b="2", sub__c="3", gone__d="4", stale__e="5")
    git(tmp_path, "init", "-q")
    for each in ("deep/new", "sub", "gone", "stale"):
        git(tmp_path / each, "init", "-q")
        git(tmp_path / each, "add", ".")
        git(tmp_path / each, "commit", "-qm", "first")
    git(tmp_path, "add", "a.py", "sub", "gone", "stale")
    shutil.rmtree(tmp_path / "gone")
    shutil.rmtree(tmp_path / "stale" / ".git")
    other = dict.fromkeys(("deep/new", "gone", "stale", "sub"), "it is another repository")
    assert reasons(scan(tmp_path)) == {"a.py": None, **other}
    (tmp_path / "a.py").unlink()
    git(tmp_path, "rm", "-q", "--cached", "a.py")
    with pytest.raises(SourceUnreadable, match=r"no files like \*\.py; deep/new is left out: it is another"):
        scan(tmp_path)


def test_another_repository_may_have_any_name(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    git(tmp_path, "init", "-q", os.fsdecode(b"bad\xff"))
    with pytest.raises(SourceUnreadable, match=r"bad\\udcff is left out"):
        scan(tmp_path)
    write(tmp_path, a="1")
    assert reasons(scan(tmp_path)) == {"a.py": None, "bad\\udcff": "it is another repository"}


def test_a_file_that_became_a_folder_is_no_repository(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "tool").touch()
    git(tmp_path, "add", ".")
    (tmp_path / "tool").unlink()
    write(tmp_path, tool__a="1")
    assert reasons(scan(tmp_path)) == {"tool/a.py": None}


def test_a_folder_that_became_a_file_has_nothing_in_it(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    write(tmp_path, a="1", tool__b="2")
    git(tmp_path, "add", ".")
    shutil.rmtree(tmp_path / "tool")
    (tmp_path / "tool").touch()
    assert reasons(scan(tmp_path)) == {"a.py": None, "tool/b.py": "it is listed, but not there"}


def test_a_repository_of_somebody_else_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, a="1")
    git(tmp_path, "init", "-q")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setitem(scanning._GIT_VARIABLES, "GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    monkeypatch.setitem(scanning._GIT_VARIABLES, "GIT_CONFIG_NOSYSTEM", "1")
    step = rf"git config --global --add safe\.directory {re.escape(str(tmp_path))}; .* trust"
    with pytest.raises(SourceUnreadable, match=step):
        scan(tmp_path)


@pytest.mark.parametrize("file", ["index", "HEAD", "config"])
def test_a_broken_repository_is_an_error(tmp_path: Path, file: str) -> None:
    write(tmp_path, a="1", inner__b="2")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "a.py")
    (tmp_path / ".git" / file).write_text("broken")
    for folder in (tmp_path, tmp_path / "inner"):
        with pytest.raises(SourceUnreadable, match=r"git says: .*git status"):
            scan(folder)


def test_a_broken_repository_is_not_taken_for_the_one_around_it(tmp_path: Path) -> None:
    write(tmp_path, inner__b="2")
    git(tmp_path, "init", "-q")
    git(tmp_path / "inner", "init", "-q")
    (tmp_path / "inner" / ".git" / "HEAD").write_text("broken")
    with pytest.raises(SourceUnreadable, match=f"in place of {re.escape(str(tmp_path / 'inner'))}"):
        scan(tmp_path / "inner")


def test_a_repository_cannot_have_another_folder_listed(tmp_path: Path) -> None:
    write(tmp_path, outside__secret="1", repository__a="2")  # noqa: S106  a file's name
    git(tmp_path / "repository", "init", "-q")
    git(tmp_path / "repository", "config", "core.worktree", str(tmp_path / "outside"))
    with pytest.raises(SourceUnreadable, match=r"git lists .*outside in place of"):
        scan(tmp_path / "repository")


def test_a_work_tree_of_its_own_is_listed(tmp_path: Path) -> None:
    write(tmp_path / "first", a="1")
    git(tmp_path / "first", "init", "-q")
    git(tmp_path / "first", "add", ".")
    git(tmp_path / "first", "commit", "-qm", "first")
    git(tmp_path / "first", "worktree", "add", str(tmp_path / "second"))
    assert reasons(scan(tmp_path / "second")) == {"a.py": None}
    shutil.rmtree(tmp_path / "first")
    with pytest.raises(SourceUnreadable, match="git says: fatal: not a git repository"):
        scan(tmp_path / "second")


def test_a_git_that_does_not_answer_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, a="1")
    git(tmp_path, "init", "-q")
    program(tmp_path / "bin" / "git", "exec sleep 60")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setattr(scanning, "_GIT_SECONDS", 0.1)
    with pytest.raises(SourceUnreadable, match="no answer in"):
        scan(tmp_path)


def test_a_folder_that_git_cannot_open_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, in__a="1")
    git(tmp_path, "init", "-q")
    real = shutil.which("git")
    (tmp_path / "warning").write_text("warning: could not open directory 'in/it's/': Permission denied\n")
    script = f'{real} "$@" && case "$*" in *others*) cat {tmp_path / "warning"} >&2;; esac'
    program(tmp_path / "bin" / "git", script)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    assert reasons(scan(tmp_path / "in")) == {"a.py": None, "it's": "cannot be read: Permission denied"}


def test_a_folder_that_a_walk_cannot_open_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, a="1", deep__closed__b="2")
    scandir = os.scandir

    def refuse(path: str) -> Iterator[os.DirEntry[str]]:
        if path.rstrip("/").endswith(closed):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    closed = "closed"
    monkeypatch.setattr(os, "scandir", refuse)
    assert reasons(scan(tmp_path)) == {"a.py": None, "deep/closed": "cannot be read: Permission denied"}
    closed = tmp_path.name
    with pytest.raises(SourceUnreadable, match=r"; \. is left out: cannot be read: Permission denied"):
        scan(tmp_path)


def test_a_link_that_is_put_in_place_of_a_file_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, outside="secret", folder__a="1")
    facts = (tmp_path / "folder" / "a.py").lstat()
    (tmp_path / "folder" / "a.py").unlink()
    (tmp_path / "folder" / "a.py").symlink_to(tmp_path / "outside.py")

    def as_it_was(_: str) -> os.stat_result:
        return facts

    monkeypatch.setattr(os, "lstat", as_it_was)
    (found,) = scan(tmp_path / "folder").files
    assert (found.sha256, found.skip_reason) == ("", "cannot be read: Too many levels of symbolic links")


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
    rows = read_scanned(session, scan(tmp_path)).orderBy("path").collect()
    assert [tuple(row) for row in rows] == [
        ("a.py", 1, digest_of_bytes(b"1"), None),
        ("b.py", 2, digest_of_bytes(b"22"), None),
        ("link.py", 0, None, "it is a symbolic link"),
    ]
