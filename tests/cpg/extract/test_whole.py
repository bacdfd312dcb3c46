"""All that one file says: syntax and facts that go by the same numbers, whatever the file is."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

import pytest

from headwater.cpg.extract import extract_file, extract_syntax

if TYPE_CHECKING:
    from collections.abc import Callable

SOURCE = b"class C:\n    def m(self, x):\n        return [y for y in x]  # all\n"


def test_the_syntax_is_the_one_that_is_found_alone() -> None:
    assert extract_file("repo", "a.py", SOURCE).syntax == extract_syntax("repo", "a.py", SOURCE)


def test_facts_go_by_the_numbers_of_the_syntax() -> None:
    found = extract_file("repo", "a.py", SOURCE)
    kinds = found.syntax.nodes.ast_kind
    opened = [kinds[node] for node in found.facts.scopes.scopes.node]
    assert opened == ["Module", "ClassDef", "FunctionDef", "ListComp"]


def test_the_same_bytes_say_the_same_again() -> None:
    assert extract_file("repo", "a.py", SOURCE) == extract_file("repo", "a.py", SOURCE)


@pytest.mark.parametrize(
    ("path", "content", "status", "kinds"),
    [
        ("a.py", b"", "ok", ["CFG_ENTRY", "CFG_EXIT", "CFG_EXIT"]),
        ("a.py", b"def f(:\n    x\n", "recovered", ["BINDING"]),
        ("a.py", b"\0", "failed", ["DIAGNOSTIC"]),
        ("a.py", b"# coding: nonsense\n", "failed", ["DIAGNOSTIC"]),
        ("a.py", b"\xff", "failed", ["DIAGNOSTIC"]),
        ("a.ipynb", b"{", "failed", ["DIAGNOSTIC"]),
    ],
    ids=["empty", "recovered", "null-bytes", "unknown-encoding", "not-utf-8", "no-notebook"],
)
def test_no_file_is_an_error(path: str, content: bytes, status: str, kinds: list[str]) -> None:
    found = extract_file("repo", path, content)
    assert found.syntax.file.parse_status == status
    assert found.facts.added.node_kind[: len(kinds)] == kinds


def test_a_file_of_which_nothing_could_be_read_has_no_other_facts() -> None:
    facts = extract_file("repo", "a.py", b"\0").facts
    assert facts.relations.relations.kind == ["HAS_DIAGNOSTIC"]
    assert (facts.scopes.scopes.node, facts.flow.points.node, facts.places, facts.used) == ([], [], [], [])


@pytest.mark.parametrize("cut", range(0, len(SOURCE), 5))
def test_a_file_that_was_cut_anywhere_has_numbers_in_range(cut: int) -> None:
    found = extract_file("repo", "a.py", SOURCE[:cut] + b"(" + SOURCE[cut:])
    edges = found.facts.relations.relations
    count = len(found.syntax.nodes.node_id) + len(found.facts.added.node_id)
    assert all(0 <= number < count for number in [*edges.src, *edges.dst])
    assert edges.kind.count("HAS_DIAGNOSTIC") == len(found.syntax.diagnostics)


def test_cycles_are_looked_for_once_at_the_end_and_not_again_and_again() -> None:
    source = "".join(f"def f{number}(a): return a\n" for number in range(1_000)).encode()
    assert collections_during(lambda: extract_syntax("repo", "a.py", source)) > 1
    assert collections_during(lambda: extract_file("repo", "a.py", source)) <= 1
    assert gc.isenabled()


def collections_during(work: Callable[[], object]) -> int:
    phases: list[str] = []

    def note(phase: str, info: dict[str, int]) -> None:
        del info
        phases.append(phase)

    gc.collect()
    gc.callbacks.append(note)
    try:
        work()
    finally:
        gc.callbacks.remove(note)
    return phases.count("start")


@pytest.mark.parametrize(
    "source",
    [SOURCE, b"class C:\n def f(self):\n  self.__a = [lambda: b for b in super().f()]\n"],
    ids=["comprehension", "attributes"],
)
def test_nothing_is_left_behind_for_a_collection_and_what_is_switched_off_stays_off(source: bytes) -> None:
    extract_file("repo", "a.py", source)
    gc.disable()
    try:
        gc.collect()
        extract_file("repo", "a.py", source)
        assert gc.collect() == 0
        assert not gc.isenabled()
    finally:
        gc.enable()
