"""Functions that change often and are complex."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from code_sample import SMALL_REPO, small_repo
from questions_sample import commit, definition, edge, git, graph_of, write

from headwater.cpg.questions import Asked, answer_to, churning
from headwater.cpg.questions.churning import hotspots
from headwater.errors import NameUnknown

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.cpg.questions import Answer

BRANCHY = "def busy(a, b):\n    if a and b:\n        return 1\n    return [c for c in a]\n"
PLAIN = "def plain(a):\n    return a or 1\n\n\ndef straight(): ...\n"


def told(answer: Answer) -> list[tuple[str, str | None, int | None, str]]:
    return [(each.name, each.path, each.line, each.reason) for each in answer.findings]


def test_commits_times_branches_is_the_score(tmp_path: Path) -> None:
    commit(tmp_path, {"pkg/__init__.py": "", "pkg/a.py": BRANCHY, "pkg/b.py": PLAIN})
    for number in range(4):
        commit(tmp_path, {"pkg/b.py": f"{PLAIN}# {number}\n"})
    graph = graph_of(
        tmp_path,
        [definition(each, "function", "pkg/a.py") for each in ("pkg.a.busy", "x", "y")],
        [edge("x", "pkg.a.busy", line=2), edge("x", "pkg.a.busy", line=3), edge("y", "pkg.a.busy")],
    )
    assert told(hotspots(graph)) == [
        ("pkg.b.plain", "pkg/b.py", 1, "score 5, 5 commits, 1 branch"),
        ("pkg.a.busy", "pkg/a.py", 1, "score 3, 1 commit, 3 branches, 2 callers"),
    ]


def test_without_a_history_branches_alone_are_the_score(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": BRANCHY})
    answer = hotspots(graph_of(tmp_path, [definition("a", "module", "a.py")]))
    assert told(answer) == [("a.busy", "a.py", 1, "score 3, 3 branches")]
    assert answer.notes == ("git has no history of the folder: a score is the number of branches",)


def test_a_repository_without_a_commit_is_one_without_a_history(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    write(tmp_path, {"a.py": BRANCHY})
    assert told(hotspots(graph_of(tmp_path))) == [("a.busy", "a.py", 1, "score 3, 3 branches")]


def test_without_git_the_graph_has_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(tmp_path, {"a.py": BRANCHY})
    monkeypatch.setenv("PATH", "")
    graph = graph_of(tmp_path, [definition("a", "module", "a.py")])
    assert [each.name for each in hotspots(graph).findings] == ["a.busy"]


def test_a_module_is_looked_at_alone(tmp_path: Path) -> None:
    commit(tmp_path, {"p/__init__.py": "", "p/a.py": BRANCHY, "p/q/__init__.py": BRANCHY, "b.py": BRANCHY})
    graph = graph_of(tmp_path)
    asked = answer_to(graph, Asked(question="hotspots", names=("p",)))
    assert [each.name for each in asked.findings] == ["p.a.busy", "p.q.busy"]
    assert [each.name for each in hotspots(graph, "q").findings] == ["p.q.busy"]
    with pytest.raises(NameUnknown):
        hotspots(graph, "nothing")


def test_tests_are_left_out(tmp_path: Path) -> None:
    commit(tmp_path, {"test_a.py": BRANCHY, "tests/b.py": BRANCHY})
    assert hotspots(graph_of(tmp_path)).findings == ()


def test_files_that_do_not_parse_are_a_note(tmp_path: Path) -> None:
    commit(tmp_path, {"a.py": "def (", "b.py": b"\0", "gone.py": BRANCHY, 'h"\n.py': BRANCHY})
    write(tmp_path, {"gone.py": None})
    answer = hotspots(graph_of(tmp_path))
    assert [each.path for each in answer.findings] == ['h"\n.py']
    assert answer.notes[-1] == "2 files do not parse: a.py, b.py"


def test_only_the_highest_scores_are_told(tmp_path: Path) -> None:
    commit(tmp_path, {"a.py": "".join(f"def f{each}(a):\n    return a or 1\n" for each in range(60))})
    answer = hotspots(graph_of(tmp_path))
    assert len(answer.findings) == 50
    assert answer.notes[-1] == "10 further functions have a lower score"


def test_the_hotspots_of_the_small_repository(tmp_path: Path) -> None:
    files = {each.relative_to(SMALL_REPO).as_posix(): each.read_bytes() for each in SMALL_REPO.rglob("*.py")}
    commit(tmp_path, files)
    graph = graph_of(tmp_path)
    graph.code = small_repo()
    first, *others = told(hotspots(graph))
    score = "score 3, 1 commit, 3 branches, 1 caller"
    assert first == ("library.text.strip_marks", "library/text.py", 13, score)
    assert {each[0] for each in others} == {
        *("library.books.Catalogue.find", "library.cli.show", "library.cli.main", "library.loans.Desk.lend"),
        *("library.loans.open_desk", "library.store.save", "library.store.load"),
    }


def test_a_content_is_taken_apart_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(tmp_path, {"a.py": BRANCHY})
    graph = graph_of(tmp_path)
    first = told(hotspots(graph))
    monkeypatch.delattr(churning, "parse")
    assert told(hotspots(graph)) == first
    write(tmp_path, {"a.py": PLAIN})
    with pytest.raises(NameError):
        hotspots(graph)
