"""Ids are those of `stable_id`, all different, and stay when something else changes."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.cpg.extract import extract_syntax
from headwater.cpg.extract.identity import file_digest, inner_owner, module_owner, node_ids, text_part
from headwater.digest import stable_id

FIRST = "def first(a):\n    return [a + b for b in a]\n"
SECOND = "class Second:\n    def method(self, x=1):\n        return lambda y: self.f(x, y)\n"


def ids(source: str) -> list[str]:
    evidence = extract_syntax("repo", "a.py", source.encode())
    assert evidence.file.parse_status == "ok"
    return evidence.nodes.node_id


def ids_inside(source: str, qualname: str) -> set[str]:
    """The ids of a def and of all below it."""
    nodes = extract_syntax("repo", "a.py", source.encode()).nodes
    found = {nodes.qualname.index(qualname)}
    for row, parent in enumerate(nodes.parent):
        if parent in found:
            found.add(row)
    return {nodes.node_id[row] for row in found}


@given(st.text(), st.text(), st.text(), st.text())
def test_an_id_is_the_one_that_stable_id_gives(repo_id: str, path: str, name: str, local: str) -> None:
    file = file_digest(repo_id, path)
    owner = inner_owner(2, name, module_owner(1, file), file, is_class=False)
    expected = stable_id("node", repo_id, path, name, 0, "NAME", local)
    assert node_ids([text_part("NAME")], [owner.digest], [local]) == [expected]


def test_ids_are_made_of_owner_kind_and_steps() -> None:
    def made(path: str, ordinal: int, kind: str, local: str) -> str:
        return stable_id("node", "repo", "a.py", path, ordinal, kind, local)

    source = "def f(a): pass\ndef f(a):\n def g(b): return c\nclass C:\n def m(self): return lambda d: d"
    nodes = extract_syntax("repo", "a.py", source.encode()).nodes
    assert nodes.node_id[0] == made("", 0, "FILE", "")
    expected = {
        made("", 0, "MODULE", ""),
        made("f", 0, "FUNCTION", ""),
        made("f.a", 0, "PARAMETER", ""),
        made("f", 1, "FUNCTION", ""),
        made("f#1.a", 0, "PARAMETER", ""),
        made("f", 1, "EXPRESSION", "args"),
        made("f#1.g", 0, "FUNCTION", ""),
        made("f#1.g.b", 0, "PARAMETER", ""),
        made("f#1.g", 0, "NAME", "body.0.value"),
        made("C", 0, "CLASS", ""),
        made("C.m", 0, "METHOD", ""),
        made("C.m.self", 0, "PARAMETER", ""),
        made("C.m", 0, "LAMBDA", "body.0.value"),
        made("C.m", 0, "PARAMETER", "body.0.value.args.args.0"),
        made("C.m", 0, "NAME", "body.0.value.body"),
    }
    assert expected <= set(nodes.node_id)


@pytest.mark.parametrize(
    "other",
    [
        "def first(a):\n    return 0\n",
        "x = 1\n",
        "",
        "import os\n\n\ndef another(a):\n    pass\n",
    ],
)
def test_an_edit_outside_a_def_changes_no_id_inside_it(other: str) -> None:
    before = ids_inside(FIRST + SECOND, "Second")
    assert ids_inside(other + SECOND, "Second") == before
    assert ids_inside(SECOND + other, "Second") == before
    assert len(before) == 15


def test_a_new_statement_in_a_def_leaves_its_inner_defs_alone() -> None:
    edited = SECOND.replace("    def method", "    attribute = 1\n    def method")
    assert ids_inside(edited, "Second.method") == ids_inside(SECOND, "Second.method")


@pytest.mark.parametrize(
    "source",
    [
        FIRST + FIRST,
        SECOND * 3,
        "def f(): pass\nclass f: pass\nf = lambda f: f",
        "if a:\n def f(x): g(x)\nelse:\n def f(x): g(x)",
        "def f():\n def f():\n  def f(f): f\n def f():\n  def f(f): f",
        "def f(x):\n def x(): x",
        "f = lambda x: lambda x: x, lambda x: x",
        "[x for x in [x for x in x]]",
        "x.y.y.y[x:x:x]",
    ],
)
def test_no_id_is_there_twice(source: str) -> None:
    found = ids(source)
    assert len(set(found)) == len(found)


def test_not_even_in_a_function_that_python_will_not_compile() -> None:
    assert ast.parse("def f(a, a): pass")
    found = ids("def f(a, a): pass")
    assert len(set(found)) == len(found)


def test_other_files_and_repositories_have_other_ids() -> None:
    content = SECOND.encode()
    one, two = extract_syntax("repo", "a.py", content), extract_syntax("repo", "b.py", content)
    three = extract_syntax("other", "a.py", content)
    assert len({*one.nodes.node_id, *two.nodes.node_id, *three.nodes.node_id}) == 3 * len(one.nodes.node_id)
    assert len({one.file.file_id, two.file.file_id, three.file.file_id}) == 3
    assert one.file.file_id == stable_id("file", "repo", "a.py")
