"""Ids stay where code stays: what the history of this repository did to the ids of its own files.

Where there is no history, versions are made of the files that are there.
"""

from __future__ import annotations

import io
import re
import subprocess
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headwater.cpg.extract import extract_file

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ROOT = Path(__file__).parents[2]
SOURCE = "src/headwater"
COMMITS = 40
FEWEST = 10
LEAST_KEPT = 0.8  # of all ids; so far it was 0.9 of them and more
MODULE = '''"""Doc."""
import os

LIMIT = 3


def first(a):
    # why
    return [a + b for b in os.listdir(a)]


class Second:
    """Doc."""

    @property
    def method(self, x=LIMIT):
        def inner(y):
            return y
        self.kept = lambda z: inner(x)
        return self.kept
'''


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A file before and after an edit."""

    path: str
    before: bytes
    after: bytes


@dataclass(frozen=True, slots=True)
class Found:
    """The ids of a file: all of them, those of the file and its module, and of each def that can be told.

    A def can be told if no other has its name, nor that of a def around it. It goes by its name and its text
    from the first decorator on.
    """

    every: frozenset[str]
    outermost: frozenset[str]
    inside: dict[tuple[str, bytes], frozenset[str]]


@cache
def ids_of(path: str, content: bytes) -> Found:
    found = extract_file("repo", path, content)
    nodes, added = found.syntax.nodes, found.facts.added
    ids = [*nodes.node_id, *added.node_id]
    above = [*nodes.parent, *added.owner]
    starts, names = list(nodes.bstart), Counter(filter(None, nodes.qualname))
    for row, (field, parent) in enumerate(zip(nodes.field, nodes.parent, strict=True)):
        if field == "decorator_list" and parent is not None:
            starts[parent] = min(starts[parent], nodes.bstart[row])
    members = {row: set[str]() for row, name in enumerate(nodes.qualname) if name and is_told(name, names)}
    spans = [*([None] * len(nodes.node_id)), *added.span]
    for row, node_id in enumerate(ids):
        around, span = row, spans[row]
        while around is not None:
            # A comment behind a def's last statement is its own, and no part of its text.
            if around in members and (span is None or span[1] <= nodes.bend[around]):
                members[around].add(node_id)
            around = above[around]
    inside = {
        (nodes.qualname[row] or "", content[starts[row] : nodes.bend[row]]): frozenset(found)
        for row, found in members.items()
    }
    return Found(frozenset(ids), frozenset(ids[:2]), inside)


def is_told(name: str, names: Counter[str]) -> bool:
    steps = name.split(".")
    return all(names[".".join(steps[:count])] == 1 for count in range(1, len(steps) + 1))


def git(*arguments: str, given: str = "") -> bytes:
    command = ["git", *arguments]
    return subprocess.run(command, cwd=ROOT, input=given.encode(), capture_output=True, check=True).stdout


def versions_of_history() -> list[Version]:
    """What the last commits to our own files did to each of them."""
    if not (ROOT / ".git").exists():
        return []
    listed = git(
        *("log", f"-{COMMITS}", "--no-merges", "--raw", "--no-abbrev", "--diff-filter=M", "--format="),
        *("--", f"{SOURCE}/*.py"),
    )
    edits = [line.split() for line in listed.decode().splitlines()]
    contents = contents_of(sorted({name for _, _, *names, _, _ in edits for name in names}))
    return [
        Version(path=path, before=contents[old], after=contents[new]) for _, _, old, new, _, path in edits
    ]


def contents_of(names: Sequence[str]) -> dict[str, bytes]:
    """What git has under each name: after a line that says how much it is, and before a line end."""
    stream = io.BytesIO(git("cat-file", "--batch", given="\n".join(names)))
    contents: dict[str, bytes] = {}
    for name in names:
        contents[name] = stream.read(int(stream.readline().split()[2]))
        stream.readline()
    return contents


def versions_of_files() -> list[Version]:
    """Our own files with a line more, and with another name for their first function."""
    made: list[Version] = []
    for file in sorted((ROOT / SOURCE / "cpg").rglob("*.py")):
        path, before = file.relative_to(ROOT).as_posix(), file.read_bytes()
        renamed = re.sub(rb"^def (\w+)", rb"def \1_again", before, count=1, flags=re.MULTILINE)
        made += [Version(path=path, before=before, after=after) for after in (b"# More.\n" + before, renamed)]
    return made


@cache
def versions() -> tuple[Version, ...]:
    found = versions_of_history()
    return tuple(found if len(found) >= FEWEST else versions_of_files())


# --- what was, and what might be -----------------------------------------------------------------------


@pytest.mark.parametrize("made", [versions, versions_of_files], ids=["history", "made-edits"])
def test_ids_of_a_def_that_stayed_the_same_stay_the_same(made: Callable[[], Sequence[Version]]) -> None:
    same = 0
    lost: list[str] = []
    for each in made():
        before, after = ids_of(each.path, each.before), ids_of(each.path, each.after)
        assert before.outermost == after.outermost
        for (name, text), ids in before.inside.items():
            if (name, text) in after.inside:
                same += len(ids)
                lost += [f"{each.path}: {name}: {one}" for one in sorted(ids - after.inside[name, text])]
    assert not lost
    assert same > 1_000


def test_most_ids_outlive_an_edit_of_their_file() -> None:
    before = kept = 0
    for each in versions():
        ids = ids_of(each.path, each.before).every
        before += len(ids)
        kept += len(ids & ids_of(each.path, each.after).every)
    assert kept / before > LEAST_KEPT


# --- single edits --------------------------------------------------------------------------------------


def test_a_line_at_the_top_changes_no_id_of_what_has_a_name() -> None:
    before, after = ids_of("a.py", MODULE.encode()), ids_of("a.py", ("import sys\n" + MODULE).encode())
    assert before.outermost == after.outermost
    assert before.inside == after.inside


def test_a_comment_at_the_top_changes_no_id_at_all() -> None:
    before, after = ids_of("a.py", MODULE.encode()), ids_of("a.py", ("# More.\n" + MODULE).encode())
    assert len(after.every - before.every) == 1
    assert before.every < after.every


@pytest.mark.parametrize("name", ["first", "Second", "method", "inner"])
def test_another_name_changes_ids_of_what_has_it_and_of_what_is_inside(name: str) -> None:
    renamed = re.sub(rf"\b{name}\b", "other", MODULE)
    before, after = ids_of("a.py", MODULE.encode()), ids_of("a.py", renamed.encode())
    (inside,) = [ids for (path, _), ids in before.inside.items() if path.split(".")[-1] == name]
    lost = before.every - after.every
    assert inside <= lost
    assert len(lost - inside) == 1  # the name itself, as one of the scope around
