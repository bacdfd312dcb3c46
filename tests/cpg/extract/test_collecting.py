"""Which scopes there are, and every site where a name is bound, used, deleted, annotated or declared."""

from __future__ import annotations

import ast
from types import SimpleNamespace

import pytest

from headwater.cpg.extract.collecting import collect_sites
from headwater.cpg.extract.sites import DEF_KINDS, ROLES


def scopes(source: str | ast.Module) -> list[tuple[str, str]]:
    found = collect_sites(ast.parse(source) if isinstance(source, str) else source)
    return [(scope.kind, scope.qualpath) for scope in found.scopes]


def sites(source: str | ast.Module) -> list[str]:
    """Each site as scope path, name, and kind of def or role."""
    found = collect_sites(ast.parse(source) if isinstance(source, str) else source)
    return [
        f"{found.scopes[found.scopes_of[binding]].qualpath}:{found.names[binding]} "
        f"{DEF_KINDS[code] or ROLES[code]}"
        for binding, code in zip(found.bindings, found.codes, strict=True)
    ]


def nodes(source: str) -> list[tuple[str, str]]:
    """The name and the class of the node of each site that is no plain use."""
    found = collect_sites(ast.parse(source))
    return [
        (found.names[binding], node.__class__.__name__)
        for binding, node, code in zip(found.bindings, found.nodes, found.codes, strict=True)
        if ROLES[code] != "use"
    ]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(): pass", [("function", "f")]),
        ("async def f(): pass", [("function", "f")]),
        ("class C:\n  def f(self): pass", [("class", "C"), ("function", "C.f")]),
        ("lambda: 1", [("lambda", "<lambda>")]),
        ("[a for a in b]", [("comprehension", "<listcomp>")]),
        ("{a for a in b}", [("comprehension", "<setcomp>")]),
        ("{a: a for a in b}", [("comprehension", "<dictcomp>")]),
        ("f(a for a in b)", [("comprehension", "<genexpr>")]),
        (
            "def f(): pass\ndef f(): lambda: 1",
            [("function", "f"), ("function", "f#1"), ("lambda", "f#1.<lambda>")],
        ),
        ("(lambda: 1)(lambda: 2)", [("lambda", "<lambda>"), ("lambda", "<lambda>#1")]),
    ],
)
def test_what_opens_a_scope(source: str, expected: list[tuple[str, str]]) -> None:
    assert scopes(source) == [("module", ""), *expected]


def test_a_scope_comes_after_what_is_around_it_and_what_is_inside_before_its_next_sibling() -> None:
    source = "class C:\n  def f():\n    def g(): pass\n  def h(): pass\ndef i(): pass"
    assert [path for _, path in scopes(source)] == ["", "C", "C.f", "C.f.g", "C.h", "i"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = 1", ["x assign"]),
        ("x, [*y] = z", ["x assign", "y assign", "z use"]),
        ("x = y = 1", ["x assign", "y assign"]),
        ("x[y] = z.a", ["x use", "y use", "z use"]),
        ("x.a = 1", ["x use"]),
        ("x += y", ["x use", "x aug", "y use"]),
        ("x: y", ["x annotate", "y use"]),
        ("x: y = z", ["x ann", "y use", "z use"]),
        ("(x): y = z", ["x assign", "y use", "z use"]),
        ("(x): y", ["y use"]),
        ("del x, y.a", ["x del", "y use"]),
        ("for x, y in z: u\nelse: v", ["x for", "y for", "z use", "u use", "v use"]),
        ("with x as y, z: u", ["y with", "x use", "z use", "u use"]),
        ("(x := y)", ["x walrus", "y use"]),
        ("import a.b, c.d as e, f", ["a import", "e import", "f import"]),
        ("from a import b, c as d", ["b import", "d import"]),
        ("from a import *", []),
        ("try: x\nexcept y as z: u", ["x use", "z except", "y use", "u use"]),
        ("try: pass\nexcept* x as y: pass", ["y except", "x use"]),
        ("match x:\n  case [y, *z]: pass", ["x use", "y match", "z match"]),
        ("match x:\n  case {a.b: y, **z}: pass", ["x use", "z match", "a use", "y match"]),
        (
            "match x:\n  case a(b, c=d) as e if f: pass",
            ["x use", "e match", "a use", "b match", "d match", "f use"],
        ),
        ("match x:\n  case _: pass", ["x use"]),
        ("global x", ["x declare"]),
        ("f(x, *y, z=u, **v)", ["f use", "x use", "y use", "u use", "v use"]),
        ("f'{x!r:{y}}'", ["x use", "y use"]),
        ("{x: y, **z}", ["x use", "z use", "y use"]),
    ],
)
def test_the_sites_of_a_module(source: str, expected: list[str]) -> None:
    assert sorted(sites(source)) == sorted(f":{each}" for each in expected)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(a, /, b, *c, d, **e): pass", [("f", "FunctionDef"), *((name, "arg") for name in "abdce")]),
        ("class C: pass", [("C", "ClassDef")]),
        ("import a", [("a", "alias")]),
        ("try: pass\nexcept A as e: pass", [("e", "ExceptHandler")]),
        (
            "match a:\n case [b, *c, {**d}]: pass",
            [("b", "MatchAs"), ("c", "MatchStar"), ("d", "MatchMapping")],
        ),
        ("global a, b", [("a", "Global"), ("b", "Global")]),
        ("def f(): nonlocal a", [("f", "FunctionDef"), ("a", "Nonlocal")]),
        ("a = 1", [("a", "Name")]),
    ],
)
def test_the_node_of_a_site_is_where_the_name_is_written(
    source: str, expected: list[tuple[str, str]]
) -> None:
    assert nodes(source) == expected


def test_decorators_defaults_and_annotations_are_of_the_scope_around() -> None:
    assert sites("@d\ndef f(a: t = e, *b: u, c=g) -> r: a")[1:] == [
        *(":d use", ":e use", ":g use", ":t use", ":u use", ":r use"),
        *("f:a param", "f:c param", "f:b param", "f:a use"),
    ]


def test_bases_and_keywords_of_a_class_are_of_the_scope_around() -> None:
    assert sites("@d\nclass C(b, m=k): x") == [":C class", ":d use", ":b use", ":k use", "C:x use"]


def test_defaults_of_a_lambda_are_of_the_scope_around() -> None:
    assert sites("lambda a, b=c: a") == [
        ":c use",
        *(f"<lambda>:{each}" for each in ("a param", "b param", "a use")),
    ]


def test_the_first_iterable_of_a_comprehension_is_of_the_scope_around() -> None:
    assert sites("[a for a in b if c for d in e]") == [
        ":b use",
        *(f"<listcomp>:{each}" for each in ("a comp", "d comp", "c use", "e use", "a use")),
    ]


def test_a_comprehension_in_the_first_iterable_comes_before_the_one_around_it() -> None:
    found = sites("[a for a in [b for b in c]]")
    assert "<listcomp>:b comp" in found
    assert "<listcomp>#1:a comp" in found


def test_a_walrus_in_comprehensions_binds_in_the_nearest_scope_that_is_none() -> None:
    found = sites("def f(z): [[(x := y) for _ in z] for y in z]")
    assert "f:x walrus" in found
    assert "f.<listcomp>.<listcomp>:x declare" in found
    assert not [each for each in found if ":x " in each and each.startswith("f.<listcomp>:")]


def test_super_is_a_use_of_the_class_cell_in_functions_only() -> None:
    assert sites("def f(): super().a; super") == [
        ":f function",
        *("f:super use", "f:super use", "f:__class__ use", "f:__class__ use"),
    ]
    assert sites("super") == [":super use"]


def test_annotations_that_are_never_evaluated_have_a_scope_of_their_own() -> None:
    source = "from __future__ import annotations\ndef f(a: t) -> u:\n  b: v = w"
    assert scopes(source) == [
        ("module", ""),
        ("annotation", "<annotation>"),
        ("function", "f"),
        ("annotation", "f.<annotation>"),
    ]
    found = sites(source)
    assert {"<annotation>:t use", "<annotation>:u use", "f.<annotation>:v use", "f:w use", "f:b ann"} <= {
        *found
    }


def test_a_global_name_is_one_of_the_module_though_it_is_not_written_there() -> None:
    found = collect_sites(ast.parse("class C:\n  def f(self): global __a"))
    assert "_C__a" in found.scopes[0].names


def generic(source: str) -> ast.Module:
    """A module whose first statement has the type parameter `[T: a = b]`, also for a Python without them."""
    module = ast.parse(source)
    bound, default = (ast.Name(name, ast.Load()) for name in "ab")
    module.body[0].__dict__["type_params"] = [SimpleNamespace(name="T", bound=bound, default_value=default)]
    return module


def test_type_parameters_of_a_function_have_a_scope_between_with_its_annotations() -> None:
    module = generic("@d\ndef f(x: T = c) -> T: T")
    assert scopes(module) == [
        ("module", ""),
        ("type_params", "f.<type_params>"),
        ("annotation", "f.<type_params>.T"),
        ("annotation", "f.<type_params>.T#1"),
        ("function", "f"),
    ]
    assert sites(module) == [
        *(":f function", ":d use", ":c use"),
        *(f"f.<type_params>:T {each}" for each in ("type", "use", "use")),
        *("f.<type_params>.T:a use", "f.<type_params>.T#1:b use", "f:x param", "f:T use"),
    ]


def test_type_parameters_of_a_class_have_a_scope_between_with_its_bases() -> None:
    module = generic("@d\nclass C(B[T], m=k): T")
    assert [kind for kind, _ in scopes(module)] == [
        "module",
        "type_params",
        "annotation",
        "annotation",
        "class",
    ]
    found = sites(module)
    assert found[:2] == [":C class", ":d use"]
    assert {"C.<type_params>:B use", "C.<type_params>:T use", "C.<type_params>:k use", "C:T use"} <= {*found}
