"""What git tells of a folder, and what it refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from questions_sample import commit, git, write

from headwater.cpg.questions.history import history_of, known_history
from headwater.errors import RevisionUnknown

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = ('a"b.py', "a\nb.py", "\nc.py", "ü.py", "-x.py", ":(top)d.py", "a\tb.py", " .py")


def test_files_of_a_commit_have_their_contents(tmp_path: Path) -> None:
    commit(tmp_path, {"a.py": "one\n", "b/c.py": "two\n", "empty.py": ""})
    history, first = known_history(tmp_path, "HEAD")
    write(tmp_path, {"a.py": "changed\n"})
    files = history.files(first)
    assert {path: history.contents([each])[each] for path, each in files.items()} == {
        "a.py": b"one\n",
        "b/c.py": b"two\n",
        "empty.py": b"",
    }


def test_all_contents_come_from_one_process(tmp_path: Path) -> None:
    commit(tmp_path, {f"{number}.py": f"{number}\n\n" for number in range(50)})
    history, first = known_history(tmp_path, "HEAD")
    files = history.files(first)
    contents = history.contents(files.values())
    assert {path: contents[each] for path, each in files.items()} == {
        f"{number}.py": f"{number}\n\n".encode() for number in range(50)
    }


def test_a_content_that_is_not_there_is_left_out(tmp_path: Path) -> None:
    commit(tmp_path, {"a.py": "one\n"})
    history, first = known_history(tmp_path, "HEAD")
    here = history.files(first)["a.py"]
    assert history.contents(["0" * 40, here, "f" * 40]) == {here: b"one\n"}


def test_hostile_names_come_as_they_are(tmp_path: Path) -> None:
    commit(tmp_path, dict.fromkeys(HOSTILE, "x\n"))
    history, first = known_history(tmp_path, "HEAD")
    assert sorted(history.files(first)) == sorted(HOSTILE)
    assert history.listed() == sorted(HOSTILE)
    assert history.churn(10) == dict.fromkeys(HOSTILE, 1)


def test_a_folder_inside_sees_its_own_files_by_their_paths_in_it(tmp_path: Path) -> None:
    commit(tmp_path, {"top.py": "x\n", "in/a.py": "x\n"})
    write(tmp_path, {"in/new.py": "x\n"})
    history, first = known_history(tmp_path / "in", "HEAD")
    assert list(history.files(first)) == ["a.py"]
    assert history.listed() == ["a.py", "new.py"]
    assert history.churn(10) == {"a.py": 1}


def test_files_that_are_new_are_listed_and_ignored_ones_are_not(tmp_path: Path) -> None:
    commit(tmp_path, {".gitignore": "b.py\n"})
    write(tmp_path, {"a.py": "", "b.py": ""})
    history, _ = known_history(tmp_path, "HEAD")
    assert history.listed() == [".gitignore", "a.py"]


def test_links_are_no_files(tmp_path: Path) -> None:
    tmp_path.joinpath("link.py").symlink_to("/etc/passwd")
    commit(tmp_path, {"a.py": ""})
    history, first = known_history(tmp_path, "HEAD")
    assert list(history.files(first)) == ["a.py"]


def test_churn_counts_commits_up_to_a_bound(tmp_path: Path) -> None:
    for number in range(3):
        commit(tmp_path, {"a.py": f"{number}\n"} | ({"b.py": "x\n"} if number == 1 else {}))
    history = history_of(tmp_path)
    assert history is not None
    assert history.churn(10) == {"a.py": 3, "b.py": 1}
    assert history.churn(1) == {"a.py": 1}


def test_nothing_committed_is_no_churn_and_an_unknown_revision(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    history = history_of(tmp_path)
    assert history is not None
    assert history.churn(10) == {}
    with pytest.raises(RevisionUnknown):
        known_history(tmp_path, "HEAD")


@pytest.mark.parametrize(
    "revision",
    [
        "",
        "-",
        "--output=x",
        "-n1",
        "nowhere",
        "HEAD~9",
        "HEAD:a.py",
        "HEAD..HEAD",
        "a\0b",
        "a\nb",
        "--",
        "^HEAD",
    ],
)
def test_what_means_no_commit_is_an_unknown_revision(tmp_path: Path, revision: str) -> None:
    commit(tmp_path, {"a.py": ""})
    with pytest.raises(RevisionUnknown) as raised:
        known_history(tmp_path, revision)
    assert raised.value.revision == revision
    assert not (tmp_path / "x").exists()


def test_a_folder_outside_of_git_has_no_history(tmp_path: Path) -> None:
    assert history_of(tmp_path) is None
    with pytest.raises(RevisionUnknown, match="not a git repository"):
        known_history(tmp_path, "HEAD")


def test_without_git_there_is_no_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(tmp_path, {"a.py": ""})
    monkeypatch.setenv("PATH", f".:{tmp_path}")
    assert history_of(tmp_path) is None
    with pytest.raises(RevisionUnknown, match="there is no program git"):
        known_history(tmp_path, "HEAD")


def test_the_folder_is_asked_whatever_the_shell_has_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(tmp_path / "here", {"a.py": ""})
    commit(tmp_path / "there", {"b.py": ""})
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "there" / ".git"))
    history, first = known_history(tmp_path / "here", "HEAD")
    assert list(history.files(first)) == ["a.py"]


def test_no_program_of_the_repository_is_run(tmp_path: Path) -> None:
    commit(tmp_path, {"a.py": "one\n", ".gitattributes": "*.py diff=own filter=own\n"})
    program = f"touch {tmp_path / 'ran'}; cat"
    for name in ("diff.own.textconv", "diff.own.command", "filter.own.clean", "core.fsmonitor", "core.pager"):
        git(tmp_path, "config", name, program)
    write(tmp_path, {"a.py": "two\n"})
    history, first = known_history(tmp_path, "HEAD")
    history.contents(history.files(first).values())
    history.listed()
    history.churn(10)
    assert not (tmp_path / "ran").exists()
