"""A node's name and the place where it is written."""

from __future__ import annotations

import pytest

from headwater.cpg.extract import extract_syntax


def names(source: str, kind: str) -> list[tuple[str | None, str | None]]:
    """Name and its text for all nodes of a class."""
    content = source.encode()
    evidence = extract_syntax("repo", "a.py", content)
    nodes = evidence.nodes
    assert evidence.diagnostics == ()
    found: list[tuple[str | None, str | None]] = []
    for row, each in enumerate(nodes.ast_kind):
        if each == kind:
            start, end = nodes.name_bstart[row], nodes.name_bend[row]
            text = None if start is None else content[start:end].decode()
            found.append((nodes.name[row], text))
    return found


@pytest.mark.parametrize(
    ("source", "kind", "expected"),
    [
        ("def f(): pass", "FunctionDef", "f"),
        ("@d\ndef  \\\n f(): pass", "FunctionDef", "f"),
        ("async  def f(): pass", "AsyncFunctionDef", "f"),
        ("class C(B): pass", "ClassDef", "C"),
        ("(x)", "Name", "x"),
        ("x.y . z", "Attribute", "z"),
        ("é.ü", "Attribute", "ü"),
        ("f(a = 1)", "keyword", "a"),
        ("def f(*, a: int): pass", "arg", "a"),
        ("def f(**a): pass", "arg", "a"),
        ("import a.b as c", "alias", "a.b"),
        ("from a import *", "alias", "*"),
        ("from ..a.b import c", "ImportFrom", "a.b"),
        ("from . a import c", "ImportFrom", "a"),
        ("try: pass\nexcept (A) as e: pass", "ExceptHandler", "e"),
        ("try: pass\nexcept* A as e: pass", "ExceptHandler", "e"),
    ],
)
def test_a_name_is_where_it_is_written(source: str, kind: str, expected: str) -> None:
    assert names(source, kind)[0] == (expected, expected)


@pytest.mark.parametrize(
    ("pattern", "kind", "expected"),
    [
        ("[1] as b", "MatchAs", "b"),
        ("b", "MatchAs", "b"),
        ("[*b]", "MatchStar", "b"),
        ("{**b}", "MatchMapping", "b"),
        ("{'a': (1), ** b ,}", "MatchMapping", "b"),
    ],
)
def test_a_pattern_may_have_a_name(pattern: str, kind: str, expected: str) -> None:
    assert names(f"match a:\n case {pattern}: pass", kind) == [(expected, expected)]


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("f(**a)", "keyword"),
        ("from . import a", "ImportFrom"),
        ("try: pass\nexcept A: pass", "ExceptHandler"),
        ("try: pass\nexcept: pass", "ExceptHandler"),
        ("match a:\n case _: pass", "MatchAs"),
        ("match a:\n case {}: pass", "MatchMapping"),
        ("f()", "Call"),
    ],
)
def test_a_node_without_a_name_has_none(source: str, kind: str) -> None:
    assert names(source, kind) == [(None, None)]


def test_a_name_is_in_normal_form_and_its_text_as_written() -> None:
    assert names("\ufb01 = a.\ufb01", "Name")[0] == ("fi", "\ufb01")
    assert names("\ufb01 = a.\ufb01", "Attribute") == [("fi", "\ufb01")]


def test_a_dotted_name_may_have_blanks() -> None:
    assert names("import a . b", "alias") == [("a.b", "a . b")]


def test_file_and_module_have_names_without_a_place() -> None:
    nodes = extract_syntax("repo", "src/package/module.py", b"").nodes
    assert nodes.name == ["module.py", "package.module"]
    assert nodes.name_bstart == nodes.name_bend == [None, None]
