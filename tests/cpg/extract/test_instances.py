"""Attributes that a method stores in its first parameter are bindings of the class."""

from __future__ import annotations

import ast

import pytest

from headwater.cpg.extract.scopes import ScopeEvidence, find_scopes

SHARED = (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)  # one object for all trees


def found_in(source: str) -> ScopeEvidence:
    module = ast.parse(source)
    for row, node in enumerate(ast.walk(module)):
        if not isinstance(node, SHARED):
            node.__dict__["row"] = row
    return find_scopes(module)


def attributes(source: str) -> dict[str, list[str]]:
    """The sites of each attribute of instances, by the class and the attribute."""
    evidence = found_in(source)
    bindings, sites = evidence.bindings, evidence.sites
    found = {
        binding: f"{evidence.scopes.qualpath[bindings.scope[binding]]}.{bindings.name[binding]}"
        for binding, kind in enumerate(bindings.kind)
        if kind == "instance_attr"
    }
    told: dict[str, list[str]] = {name: [] for name in found.values()}
    assert len(told) == len(found)
    for binding, role, kind in zip(sites.binding, sites.role, sites.def_kind, strict=True):
        if binding in found:
            told[found[binding]].append(kind or role)
    return told


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("self.x = 1", ["assign"]),
        ("self.x, y = 1, 2", ["assign"]),
        ("self.x += 1", ["use", "aug"]),
        ("self.x: int = 1", ["ann"]),
        ("self.x: int", ["annotate"]),
        ("for self.x in y: pass", ["for"]),
        ("with y as self.x: pass", ["with"]),
        ("self.x = self.x", ["assign", "use"]),
        ("self.x = 1; del self.x", ["assign", "del"]),
        ("self.x = 1; self.x.y = 2; self.x[0] = 3; self.x()", ["assign", "use", "use", "use"]),
        ("self.x = 1; lambda: self.x; [self.x for _ in y]", ["assign", "use", "use"]),
    ],
)
def test_sites_of_an_attribute(statement: str, expected: list[str]) -> None:
    assert attributes(f"class C:\n  def f(self):\n    {statement}") == {"C.x": expected}


@pytest.mark.parametrize(
    "source",
    [
        "class C:\n  def f(self): self.x; del self.y",
        "class C:\n  @staticmethod\n  def f(self): self.x = 1",
        "class C:\n  def f(self, other): other.x = 1",
        "class C:\n  def f(*self): self.x = 1",
        "class C:\n  def f(): self.x = 1",
        "class C:\n  f = lambda self: [0 for self.x in a]",
        "def f(self): self.x = 1",
        "class C:\n  def f(self):\n    def g(self): self.x = 1",
        "class C:\n  def f(self):\n    lambda self: [0 for self.x in a]",
    ],
)
def test_what_is_no_attribute_of_instances(source: str) -> None:
    assert attributes(source) == {}


def test_methods_share_an_attribute_whatever_they_call_the_instance() -> None:
    source = "class C:\n  def f(self): self.x = 1\n  async def g(me, /): return me.x, me.y"
    assert attributes(source) == {"C.x": ["assign", "use"]}


def test_a_function_in_a_method_stores_too() -> None:
    source = "class C:\n  def f(self):\n    def g(): self.x = 1\n    class D:\n      def h(self): self.y = 1"
    assert attributes(source) == {"C.x": ["assign"], "C.f.D.y": ["assign"]}


def test_a_private_attribute_is_mangled_and_has_one_binding() -> None:
    source = "class C:\n  def f(self): self.__x = self._C__x"
    assert attributes(source) == {"C.__x": ["assign", "use"]}
    assert found_in(source).bindings.mangled_name[-1] == "_C__x"


def test_a_name_of_the_class_keeps_a_binding_of_its_own() -> None:
    bindings = found_in("class C:\n  x = 1\n  def f(self): self.x = 2").bindings
    kinds = [kind for name, kind in zip(bindings.name, bindings.kind, strict=True) if name == "x"]
    assert kinds == ["class_attr", "instance_attr"]
