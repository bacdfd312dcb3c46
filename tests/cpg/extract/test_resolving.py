"""What a name of a scope stands for."""

from __future__ import annotations

import ast
from types import SimpleNamespace

import pytest

from headwater.cpg.extract.scopes import find_scopes

SHARED = (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)  # one object for all trees


def meanings(source: str | ast.Module) -> dict[str, tuple[str, str | None, str | None]]:
    """Of each name its kind, what it resolves to, and why; names are told as scope path and name."""
    module = ast.parse(source) if isinstance(source, str) else source
    for row, node in enumerate(ast.walk(module), 1):
        if not isinstance(node, SHARED):
            node.__dict__["row"] = row
    evidence = find_scopes(module)
    bindings, paths = evidence.bindings, evidence.scopes.qualpath
    told = [f"{paths[scope]}:{name}" for scope, name in zip(bindings.scope, bindings.name, strict=True)]
    return {
        told[binding]: (kind, None if target is None else told[target], reason)
        for binding, (kind, target, reason) in enumerate(
            zip(bindings.kind, bindings.resolves_to, bindings.reason, strict=True)
        )
    }


@pytest.mark.parametrize(
    ("source", "name", "kind"),
    [
        ("x = 1", ":x", "global"),
        ("x: int", ":x", "global"),
        ("def x(): pass", ":x", "global"),
        ("import x", ":x", "import"),
        ("import x\nx: int\ndel x", ":x", "import"),
        ("import x\nx = 1", ":x", "global"),
        ("def f(): import x", "f:x", "import"),
        ("class C: import x", "C:x", "import"),
        ("def f(x): x = 1", "f:x", "param"),
        ("lambda x: x", "<lambda>:x", "param"),
        ("def f(): x = 1", "f:x", "local"),
        ("def f(): x: int", "f:x", "local"),
        ("def f(): del x", "f:x", "local"),
        ("[x for x in y]", "<listcomp>:x", "local"),
        ("class C: x = 1", "C:x", "class_attr"),
        ("class C:\n  def x(self): pass", "C:x", "class_attr"),
    ],
)
def test_a_name_that_its_scope_binds_stands_for_itself(source: str, name: str, kind: str) -> None:
    assert meanings(source)[name] == (kind, None, None)


@pytest.mark.parametrize(
    ("source", "name", "expected"),
    [
        ("x = 1\ndef f(): x", "f:x", ("global", ":x", "module")),
        ("import x\nclass C: x", "C:x", ("global", ":x", "module")),
        ("x = 1\ndef f(): global x; x = 2", "f:x", ("global", ":x", "declared")),
        ("def f(): global x; x = 1", "f:x", ("global", ":x", "declared")),
        ("def f(): global x; x = 1", ":x", ("global", None, "declared")),
        ("def f(): global x; x = 1\ndef g(): x", "g:x", ("global", ":x", "module")),
        ("def f(): global x; x = 1\nx", ":x", ("global", None, "declared")),
        ("def f():\n  x = 1\n  def g(): global x; x", "f.g:x", ("global", ":x", "declared")),
        ("x = 1\ndef f():\n  global x\n  def g(): x", "f.g:x", ("global", ":x", "module")),
        ("def f(x):\n  def g(): x", "f.g:x", ("free", "f:x", "enclosing")),
        ("def f(x):\n  def g(): nonlocal x; x = 1", "f.g:x", ("nonlocal", "f:x", "declared")),
        (
            "def f(x):\n  def g():\n    nonlocal x\n    lambda: x",
            "f.g.<lambda>:x",
            ("free", "f:x", "enclosing"),
        ),
        ("def f(): nonlocal x", "f:x", ("nonlocal", None, "unbound")),
        ("def f(): import x; lambda: x", "f.<lambda>:x", ("free", "f:x", "enclosing")),
        ("def f(x): [x for _ in y]", "f.<listcomp>:x", ("free", "f:x", "enclosing")),
        ("def f(x):\n  class C: x", "f.C:x", ("free", "f:x", "enclosing")),
        ("print", ":print", ("builtin", None, "builtin")),
        ("def f(): print", "f:print", ("builtin", ":print", "builtin")),
        ("def f(): print", ":print", ("builtin", None, "builtin")),
        ("print\nclass C: print", "C:print", ("builtin", ":print", "builtin")),
        ("def f():\n  print\n  lambda: print", "f.<lambda>:print", ("builtin", ":print", "builtin")),
        ("from a import *\ndef f(): print", "f:print", ("builtin", ":print", "builtin")),
        ("print = 1\ndef f(): print", "f:print", ("global", ":print", "module")),
        ("x", ":x", ("global", None, "unbound")),
        ("def f(): x", "f:x", ("global", None, "unbound")),
        ("x\ndef f(): x", "f:x", ("global", None, "unbound")),
        ("from a import *\nx", ":x", ("global", None, "star-import")),
        ("from a import *\ndef f(): x", "f:x", ("global", None, "star-import")),
        ("__file__, __name__", ":__name__", ("global", None, "module")),
        ("def f(): __file__", "f:__file__", ("global", None, "module")),
    ],
)
def test_a_name_of_another_scope(
    source: str, name: str, expected: tuple[str, str | None, str | None]
) -> None:
    assert meanings(source)[name] == expected


def test_names_of_a_class_are_not_seen_in_its_functions() -> None:
    found = meanings("def f(x):\n  class C:\n    x = 1\n    def g(self): x\n    [x for _ in y]")
    assert found["f.C:x"] == ("class_attr", None, None)
    assert found["f.C.g:x"] == found["f.C.<listcomp>:x"] == ("free", "f:x", "enclosing")


def test_a_name_is_free_in_all_scopes_on_its_way() -> None:
    found = meanings("def f(x):\n  class C:\n    def g(self):\n      return lambda: x")
    expected = ("free", "f:x", "enclosing")
    assert found["f.C:x"] == found["f.C.g:x"] == found["f.C.g.<lambda>:x"] == expected


@pytest.mark.parametrize(
    ("source", "comprehension", "bound"),
    [
        (
            "def f(z): [x := y for y in z]",
            ("f.<listcomp>:x", ("nonlocal", "f:x", "enclosing")),
            ("f:x", "local"),
        ),
        ("[x := y for y in z]", ("<listcomp>:x", ("global", ":x", "module")), (":x", "global")),
        (
            "def f(z):\n  global x\n  [x := y for y in z]",
            ("f.<listcomp>:x", ("global", ":x", "module")),
            ("f:x", "global"),
        ),
    ],
    ids=["function", "module", "declared"],
)
def test_a_walrus_in_a_comprehension(
    source: str, comprehension: tuple[str, tuple[str, str, str]], bound: tuple[str, str]
) -> None:
    found = meanings(source)
    assert found[comprehension[0]] == comprehension[1]
    assert found[bound[0]][0] == bound[1]


def test_the_class_cell_is_free_in_methods_and_what_is_in_them() -> None:
    found = meanings("class C:\n  def f(self):\n    def g(): super().f()\n  x = __class__\ndef h(): super()")
    assert found["C.f.g:__class__"] == found["C.f:__class__"] == ("free", None, "enclosing")
    assert found["C:__class__"] == found["h:__class__"] == ("global", None, "unbound")
    assert found["C.f.g:super"] == ("builtin", ":super", "builtin")


def test_a_private_name_of_a_function_around_is_another_in_a_class() -> None:
    found = meanings("__x = 1\ndef f(__x):\n  class C:\n    def g(self): __x")
    assert found["f.C.g:__x"] == ("global", None, "unbound")
    found = meanings("def f(_C__x):\n  class C:\n    def g(self): __x")
    assert found["f.C.g:__x"] == ("free", "f:_C__x", "enclosing")
    found = meanings("def f(__x):\n  class C:\n    class _:\n      def g(self): __x")
    assert found["f.C._.g:__x"] == found["f.C:__x"] == ("free", "f:__x", "enclosing")


def test_an_annotation_that_is_never_evaluated_sees_names_of_the_class() -> None:
    source = "from __future__ import annotations\nclass C:\n  x = 1\n  def f(self, a: x): pass"
    assert meanings(source)["C.<annotation>:x"] == ("free", "C:x", "enclosing")


def test_an_annotation_that_is_never_evaluated_makes_no_name_free_in_scopes_on_the_way() -> None:
    source = "from __future__ import annotations\ndef f(x):\n  def g():\n    def h(a: x): pass"
    found = meanings(source)
    assert found["f.g.<annotation>:x"] == ("free", "f:x", "enclosing")
    assert "f.g:x" not in found


def test_type_parameters_are_seen_in_the_class_and_its_functions() -> None:
    module = ast.parse("class C:\n  def f(self): T")
    parameter = SimpleNamespace(name="T", row=0)  # as Python 3.12 has it
    module.body[0].__dict__["type_params"] = [parameter]
    found = meanings(module)
    assert found["C.f:T"] == found["C:T"] == ("free", "C.<type_params>:T", "enclosing")
