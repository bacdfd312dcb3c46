"""Which files are read, and how."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from questions_sample import commit, definition, git, graph_of, write

from headwater.cpg.questions.history import history_of
from headwater.cpg.questions.sources import has_id, parse, paths_now, read_now, shown

if TYPE_CHECKING:
    from pathlib import Path


def test_without_git_the_files_are_those_of_the_graph(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, (definition("b", "module", "b.py"), definition("os", "external", None)))
    assert paths_now(graph, None) == ["b.py"]


def test_git_lists_the_files_and_only_python_is_kept(tmp_path: Path) -> None:
    commit(tmp_path, {"a.py": "", "b.pyi": "", "c.txt": ""})
    assert paths_now(graph_of(tmp_path), history_of(tmp_path)) == ["a.py", "b.pyi"]


def test_what_is_no_file_is_not_read(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "x"})
    tmp_path.joinpath("folder.py").mkdir()
    tmp_path.joinpath("link.py").symlink_to("a.py")
    assert read_now(tmp_path, ["a.py", "folder.py", "gone.py", "link.py", "n\0l.py"]) == {"a.py": b"x"}


@pytest.mark.parametrize("content", [b"", b"x\n", b"\0\xff\r\n"])
def test_ids_are_those_of_git(tmp_path: Path, content: bytes) -> None:
    git(tmp_path, "init", "--quiet")
    write(tmp_path, {"a": content})
    told = git(tmp_path, "hash-object", "--no-filters", "a").strip()
    assert has_id(content, told)
    assert not has_id(content + b"x", told)


@pytest.mark.parametrize("content", [b"def (", b"\0", b"# coding: nothing\n", b"\xff", b"(" * 1000])
def test_what_is_no_source_has_no_tree(content: bytes) -> None:
    assert parse(content) is None


def test_doubtful_escapes_are_no_warnings() -> None:
    assert parse(b'"\\d"') is not None


def test_notes_show_a_few_paths_and_no_line_breaks() -> None:
    assert shown(["b", "a\n", "c", "d"]) == "'a\\n', b, c and 1 more"
