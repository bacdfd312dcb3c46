"""What nothing needs."""

from __future__ import annotations

import pyarrow as pa
from code_sample import code_of, lines, row_of, small_repo

from headwater.cpg.questions import Code, dead


def unused(code: Code, module: str | None = None, decorated: tuple[str, ...] = ()) -> dict[str, float | None]:
    ids = [code.ids[row_of(code, each)] for each in decorated]
    answer = dead(code, pa.table({"parent_id": pa.array(ids, pa.string())}), module)
    return {each.name: each.confidence for each in answer.findings}


def test_what_nothing_uses_is_told_surest_first() -> None:
    assert list(unused(small_repo())) == [
        "library.members.Patron",
        "library.text.shout",
        "library.loans.Desk.take_back",
    ]
    assert list(unused(small_repo(), "library.text")) == ["library.text.shout"]


def test_private_things_are_surer_than_public_ones() -> None:
    found = unused(code_of("def _own(): ...\ndef public(): ...\nclass A:\n    def visit_x(self): ...\nA()\n"))
    assert found == {"main._own": 0.9, "main.public": 0.6, "main.A.visit_x": 0.2}


def test_what_only_unused_code_needs_is_unused() -> None:
    code = code_of("def _a(): _b()\ndef _b(): _a()\ndef _c(): _c()\n")
    assert unused(code) == {"main._a": 0.9, "main._b": 0.9, "main._c": 0.9}
    assert lines(dead(code, pa.table({"parent_id": pa.array([], pa.string())}))) == [
        "main.py:1 main._a only used by what is unused itself: main._b",
        "main.py:2 main._b only used by what is unused itself: main._a",
        "main.py:3 main._c nothing uses it",
    ]


def test_what_others_call_without_naming_it_is_needed() -> None:
    code = code_of(
        "import ast\n\n\nclass A(ast.NodeVisitor):\n    def __len__(self): ...\n"
        "    def kept(self): ...\n    def left(self): ...\n\n\nA()\n"
    )
    assert unused(code, decorated=("main.A.kept",)) == {"main.A.left": 0.2}


def test_a_class_that_is_unused_is_told_without_its_methods() -> None:
    assert unused(code_of("class _A:\n    def m(self): ...\n")) == {"main._A": 0.9}


def test_who_calls_the_overridden_method_may_get_the_other() -> None:
    code = code_of(
        "class A:\n    def m(self): ...\nclass B(A):\n    def m(self): ...\ndef f(a: A): a.m()\nf(B())\n"
    )
    assert unused(code) == {}


def test_tests_are_needed() -> None:
    assert unused(code_of({"tests/test_a.py": "def helper(): ...\n"})) == {}
