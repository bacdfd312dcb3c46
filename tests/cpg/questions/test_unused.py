"""What nothing needs."""

from __future__ import annotations

from typing import TypeAlias

from code_sample import code_of, lines, row_of, small_repo

from headwater.cpg.questions import Code, dead
from headwater.cpg.questions.unused import Signs

Told: TypeAlias = "dict[str, float | None]"


def unused(code: Code, module: str | None = None, *, decorated: str = "", asked_for: str = "") -> Told:
    ids = frozenset(code.ids[row_of(code, each)] for each in decorated.split())
    answer = dead(code, Signs(ids, frozenset(asked_for.split())), module)
    return {each.name: each.confidence for each in answer.findings}


def test_what_nothing_uses_is_told_surest_first() -> None:
    assert list(unused(small_repo())) == [
        "library.text.shout",
        "library.loans.Desk.take_back",
        "library.members.Patron",
    ]
    assert list(unused(small_repo(), "library.text")) == ["library.text.shout"]


def test_private_things_are_surer_than_public_ones() -> None:
    found = unused(code_of("def _own(): ...\ndef public(): ...\nclass A:\n    def visit_x(self): ...\nA()\n"))
    assert found == {"main._own": 0.9, "main.public": 0.6, "main.A.visit_x": 0.2}


def test_what_only_unused_code_needs_is_unused() -> None:
    code = code_of("def _a(): _b()\ndef _b(): _a()\ndef _c(): _c()\n")
    assert unused(code) == {"main._a": 0.9, "main._b": 0.9, "main._c": 0.9}
    assert lines(dead(code, Signs())) == [
        "main.py:1 main._a only used by what is unused itself: main._b",
        "main.py:2 main._b only used by what is unused itself: main._a",
        "main.py:3 main._c nothing uses it",
    ]


def test_what_others_call_without_naming_it_is_needed() -> None:
    code = code_of(
        "import ast\n\n\nclass A(ast.NodeVisitor):\n    def __len__(self): ...\n"
        "    def kept(self): ...\n    def left(self): ...\n\n\nA()\n"
    )
    assert unused(code, decorated="main.A.kept") == {"main.A.left": 0.2}


def test_a_class_that_is_unused_is_told_without_its_methods() -> None:
    assert unused(code_of("class _A:\n    def m(self): ...\n")) == {"main._A": 0.9}


def test_who_calls_the_overridden_method_may_get_the_other() -> None:
    code = code_of(
        "class A:\n    def m(self): ...\nclass B(A):\n    def m(self): ...\ndef f(a: A): a.m()\nf(B())\n"
    )
    assert unused(code) == {}


def test_tests_are_needed() -> None:
    assert unused(code_of({"tests/test_a.py": "def helper(): ...\n"})) == {}


def test_a_method_whose_name_is_asked_for_of_something_unknown_may_be_used() -> None:
    code = code_of("class A:\n    def _run(self): ...\n    def stop(self): ...\nA()\n")
    assert unused(code) == {"main.A._run": 0.9, "main.A.stop": 0.5}
    assert unused(code, asked_for="_run") == {"main.A.stop": 0.5, "main.A._run": 0.2}
    assert (
        "but ._run is read of something unknown" in lines(dead(code, Signs(asked_for=frozenset({"_run"}))))[1]
    )


def test_methods_below_a_base_outside_may_be_run_from_there_however_far_above_it_is() -> None:
    code = code_of(
        "import cmd\nclass A(cmd.Cmd): ...\nclass B(A):\n    def _own(self): ...\n"
        "class C(object):\n    def m(self): ...\nB(), C()\n"
    )
    assert unused(code) == {"main.C.m": 0.5, "main.B._own": 0.2}


def test_what_unused_code_uses_is_not_surer_than_that() -> None:
    code = code_of(
        "import cmd\nclass A(cmd.Cmd):\n    def m(self): _f()\ndef _f(): _g()\ndef _g(): ...\nA()\n"
    )
    assert unused(code) == {"main.A.m": 0.2, "main._f": 0.2, "main._g": 0.2}


def test_classes_that_others_may_look_for_are_less_sure() -> None:
    code = code_of("class A:\n    class Meta: ...\nclass B(A):\n    class Meta: ...\nclass C(A): ...\nB()\n")
    assert unused(code) == {"main.A.Meta": 0.5, "main.C": 0.4, "main.B.Meta": 0.2}
    code = code_of(
        "class A:\n    def f(self, name): return getattr(self, name)\n    def b(self): ...\nA().f('b')\n"
    )
    assert unused(code) == {"main.A.b": 0.2}


def test_a_use_of_one_of_several_definitions_is_one_of_all() -> None:
    code = code_of("import sys\nif sys.argv:\n    def f(): ...\nelse:\n    def f(): ...\nf()\n")
    assert unused(code) == {}
