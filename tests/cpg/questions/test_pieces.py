"""What a source is made of, and what is written where."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.cpg.questions.pieces import branches_of, pieces_of, written

PARTS = (
    "x = 1",
    "def f(a):\n    return a",
    "class C(dict):\n    y: int = 2\n    def m(self):\n        def n(): ...\n        return n",
    "if x:\n    z = 3\nelse:\n    def f(b): ...",
    "for each in []:\n    print(each)",
    "try:\n    import a\nexcept ImportError as e:\n    a = None\nfinally:\n    pass",
    "match x:\n    case 1 if x: pass\n    case _: pass",
)


def changed(before: str, after: str) -> set[str]:
    old, new = (pieces_of(ast.parse(each)) for each in (before, after))
    return {
        name
        for name in old.keys() | new.keys()
        if name not in old or name not in new or written(old[name]) != written(new[name])
    }


def test_definitions_are_named_as_they_stand() -> None:
    found = pieces_of(ast.parse("\n".join(PARTS)))
    assert {name: piece.kind for name, piece in found.items()} == {
        "": "module",
        "x": "variable",
        "f": "function",
        "C": "class",
        "C.y": "variable",
        "C.m": "method",
        "C.m.n": "function",
        "z": "variable",
        "a": "variable",
    }


def test_a_piece_has_the_lines_of_its_name_and_of_its_decorators() -> None:
    piece = pieces_of(ast.parse("\n@a\n@b\ndef f(): ...\n"))["f"]
    assert (piece.first, piece.line) == (2, 4)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("def f():\n  '''a'''", "def f():\n  '''b'''", set[str]()),
        ("def f(): return 1", "def f(): return True", {"f"}),
        ("def f(): return 1", "def f(): return 1.0", {"f"}),
        ("def f(a): ...", "def f(a=1): ...", {"f"}),
        ("def f(): ...", "async def f(): ...", {"f"}),
        ("@a\ndef f(): ...", "def f(): ...", {"f"}),
        ("class A:\n  def f(self): ...", "class A:\n  def f(self): 1", {"A.f"}),
        ("def f():\n  if a:\n    b()\n  c()", "def f():\n  if a:\n    b()\n    c()", {"f"}),
        ("def f():\n  def g(): ...", "def f():\n  def g(): 1", {"f.g"}),
        ("a, (b, *c) = x", "a, (b, *c) = y", {"a", "b", "c"}),
        ("a.b = 1", "a.b = 2", {""}),
        ("if a: x = 1", "if b: x = 1", {""}),
        ("def f(): ...\ndef f(): 1", "def f(): 1\ndef f(): ...", {"f"}),
    ],
)
def test_what_is_written_tells_which_definition_changed(before: str, after: str, expected: set[str]) -> None:
    assert changed(before, after) == expected


@given(st.lists(st.sampled_from(PARTS)))
def test_layout_never_changes_what_is_written(parts: list[str]) -> None:
    source = "\n".join(parts)
    assert changed(source, ast.unparse(ast.parse(source)) + "\n# end\n") == set()


@given(st.lists(st.sampled_from(PARTS)), st.lists(st.sampled_from(PARTS)))
def test_what_changed_is_the_same_from_either_side(before: list[str], after: list[str]) -> None:
    one, other = "\n".join(before), "\n".join(after)
    assert changed(one, other) == changed(other, one)


def test_a_source_that_is_deep_is_read_all_the_same() -> None:
    deep = "x = " + "+".join(["1"] * 900)
    assert changed(deep, f"{deep}+1") == {"x"}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return a", 0),
        ("if a: pass\n  elif b: pass\n  else: pass", 2),
        ("for a in b:\n    while a: pass", 2),
        ("try: pass\n  except A: pass\n  except B: pass", 2),
        ("return a and b and c or d", 3),
        ("return [a for a in b if a if b]", 3),
        ("return 1 if a else 2", 1),
        ("match a:\n    case 1: pass\n    case 2: pass", 2),
        ("def g():\n    if a: pass", 0),
        ("return lambda: a or b", 1),
    ],
)
def test_branches_are_counted_where_they_are_written(body: str, expected: int) -> None:
    assert branches_of(pieces_of(ast.parse(f"def f():\n  {body}"))["f"]) == expected
