"""What is public, and what of that changed since a revision."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from questions_sample import commit, definition, git, graph_of, write

from headwater.cpg.questions import Asked, answer_to, surface
from headwater.cpg.questions.exposing import api, differences
from headwater.cpg.questions.surface import surface_of
from headwater.errors import NameUnknown, RevisionUnknown

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.cpg.questions import Finding

INIT = "from ._impl import Cart\nfrom .shop import buy\n"
IMPL = "class Cart(dict):\n    def total(self, rate=1): ...\n    @property\n    def size(self): ...\n"
SHOP = "LIMIT: int = 3\ndef buy(cart, *, fast=False) -> bool: ...\ndef _own(): ...\n"
FILES = {"p/__init__.py": INIT, "p/_impl.py": IMPL, "p/shop.py": SHOP}
PARTS = (
    "def f(a): ...",
    "def f(a, b=1): ...",
    "def g(*, a): ...",
    "class A:\n    def m(self): ...",
    "class A(B):\n    x = 1",
    "x: int = 1",
    "__all__ = ['f', 'A', 'y']",
    "from .b import y as y",
)
SIDES = st.dictionaries(
    st.sampled_from(("p/__init__.py", "p/b.py", "p/_c.py")), st.lists(st.sampled_from(PARTS)).map("\n".join)
)


def told(findings: tuple[Finding, ...]) -> list[tuple[str, str, str]]:
    return [(each.section, each.name, each.reason) for each in findings]


def compared(before: dict[str, str], after: dict[str, str]) -> list[tuple[str, str, str]]:
    sides = [surface_of({path: each.encode() for path, each in side.items()}, {}) for side in (before, after)]
    return told(tuple(differences(*sides)))


def test_public_names_are_told_with_their_signatures(tmp_path: Path) -> None:
    commit(tmp_path, dict(FILES))
    answer = api(graph_of(tmp_path))
    assert [(each.kind, each.name, each.line, each.reason) for each in answer.findings] == [
        ("module", "p", 1, ""),
        ("class", "p.Cart", 1, "(dict), from p._impl.Cart"),
        ("method", "p.Cart.total", 1, "(self, rate=1)"),
        ("property", "p.Cart.size", 1, ""),
        ("function", "p.buy", 2, "(cart, *, fast=False) -> bool, from p.shop.buy"),
        ("module", "p.shop", 1, ""),
        ("variable", "p.shop.LIMIT", 1, ": int"),
        ("function", "p.shop.buy", 2, "(cart, *, fast=False) -> bool"),
    ]


def test_a_module_is_told_alone(tmp_path: Path) -> None:
    commit(tmp_path, dict(FILES))
    answer = answer_to(graph_of(tmp_path), Asked(question="api", names=("shop",)))
    assert [each.name for each in answer.findings] == ["p.shop", "p.shop.LIMIT", "p.shop.buy"]
    with pytest.raises(NameUnknown):
        api(graph_of(tmp_path), "nothing")


def test_changes_since_a_revision_say_what_they_break(tmp_path: Path) -> None:
    commit(tmp_path, dict(FILES))
    write(
        tmp_path,
        {
            "p/_impl.py": "class Cart:\n    def total(self, rate): ...\n    def size(self): ...\n",
            "p/shop.py": SHOP.replace("fast=False", "fast=True").replace("LIMIT", "MOST"),
            "p/new.py": "def f(): ...\n",
        },
    )
    before, after = (f"(cart, *, fast={each}) -> bool" for each in (False, True))
    answer = answer_to(graph_of(tmp_path), Asked(question="api", since="HEAD"))
    assert told(answer.findings) == [
        ("removed", "p.shop.LIMIT", "breaks: it is gone"),
        ("changed", "p.Cart", "breaks: it no longer inherits from dict; (dict) -> class"),
        ("changed", "p.Cart.total", "breaks: rate is required; (self, rate=1) -> (self, rate)"),
        ("changed", "p.Cart.size", "breaks: it was a property, is a method; property -> method (self)"),
        (
            "changed",
            "p.shop.buy",
            f"compatible: the default of fast was False, is True; {before} -> {after}",
        ),
        ("added", "p.new", "with 1 names in it"),
        ("added", "p.shop.MOST", ": int"),
    ]
    assert answer.notes == ("7 in all; callers break by 4",)
    assert [each.name for each in api(graph_of(tmp_path), "p.new", since="HEAD").findings] == ["p.new"]


def test_what_was_deleted_stands_where_it_was(tmp_path: Path) -> None:
    commit(tmp_path, dict(FILES))
    write(tmp_path, {"p/shop.py": None, "p/__init__.py": "from ._impl import Cart\n"})
    findings = api(graph_of(tmp_path), since="HEAD").findings
    assert [(each.name, each.path, each.reason) for each in findings] == [
        ("p.buy", "p/__init__.py", "breaks: it is gone"),
        ("p.shop", "p/shop.py", "breaks: it is gone, with 2 names in it"),
    ]


def test_a_name_that_moves_and_stays_importable_is_no_change(tmp_path: Path) -> None:
    commit(tmp_path, {"p/__init__.py": "", "p/a.py": "class A:\n    def m(self): ...\n"})
    write(tmp_path, {"p/a.py": "from p._b import A as A\n", "p/_b.py": "class A:\n    def m(self): ...\n"})
    assert api(graph_of(tmp_path), since="HEAD").findings == ()


def test_a_new_init_breaks_who_made_objects_without_arguments() -> None:
    before = {"a.py": "class A: ...\nclass B(C): ...\n"}
    init = "\n    def __init__(self, a): ..."
    after = {"a.py": f"class A:{init}\nclass B(C):{init}\n"}
    assert compared(before, after) == [
        ("added", "a.A.__init__", "breaks: a is new and required; (self, a)"),
        ("added", "a.B.__init__", "(self, a)"),
    ]


def test_a_field_without_a_default_breaks_a_dataclass() -> None:
    before = {"a.py": "@dataclass\nclass A:\n    a: int\n"}
    after = {"a.py": "@dataclass\nclass A:\n    a: int\n    b: int\n"}
    assert compared(before, after)[0] == (
        "changed",
        "a.A.__init__",
        "breaks: b is new and required; (self, a) -> (self, a, b)",
    )


def test_another_annotation_breaks_no_call() -> None:
    assert compared({"a.py": "x: int = 1"}, {"a.py": "x: str = ''"}) == [
        ("changed", "a.x", "compatible: int -> str")
    ]


def test_a_method_may_still_come_from_a_base() -> None:
    before = {"a.py": "class A(B):\n    def m(self): ...\n"}
    assert compared(before, {"a.py": "class A(B): ...\n"}) == [
        ("removed", "a.A.m", "breaks: it is gone, unless a base has it")
    ]


@given(SIDES)
def test_a_surface_does_not_differ_from_itself(files: dict[str, str]) -> None:
    assert compared(files, files) == []


@given(SIDES, SIDES)
def test_added_and_removed_swap_with_the_sides(before: dict[str, str], after: dict[str, str]) -> None:
    one, other = compared(before, after), compared(after, before)

    def names(findings: list[tuple[str, str, str]], section: str) -> list[str]:
        return sorted(name for each, name, _ in findings if each == section)

    assert names(one, "added") == names(other, "removed")
    assert names(one, "changed") == names(other, "changed")


def test_files_that_do_not_parse_are_notes_of_their_side(tmp_path: Path) -> None:
    commit(tmp_path, {"a.py": "def (", 'h"\n.py': "x = 1", "b.py": b"\0"})
    write(tmp_path, {"a.py": "x = 1", "b.py": "y = 1"})
    answer = api(graph_of(tmp_path), since="HEAD")
    assert [each.name for each in answer.findings] == ["a", "b"]
    assert answer.notes[1:] == ("2 files do not parse (HEAD): a.py, b.py",)


def test_without_git_the_files_are_those_of_the_graph(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "x = 1"})
    graph = graph_of(tmp_path, [definition("a", "module", "a.py")])
    assert [each.name for each in api(graph).findings] == ["a", "a.x"]
    with pytest.raises(RevisionUnknown):
        api(graph, since="HEAD")


def test_a_content_is_taken_apart_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"a.py": "x = 1"})
    graph = graph_of(tmp_path, [definition("a", "module", "a.py")])
    first = api(graph)
    monkeypatch.delattr(surface, "parse")
    assert api(graph) == first


@pytest.mark.parametrize("revision", ["--output=x", "nowhere", ""])
def test_an_unknown_revision_is_refused(tmp_path: Path, revision: str) -> None:
    git(tmp_path, "init", "--quiet")
    with pytest.raises(RevisionUnknown):
        api(graph_of(tmp_path), since=revision)
