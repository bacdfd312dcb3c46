"""Every site where a name is bound, used, deleted, annotated or declared."""

from __future__ import annotations

import ast

import pytest

from headwater.cpg.extract.collecting import collect_sites
from headwater.cpg.extract.sites import DEF_KINDS, ROLES


def sites(source: str) -> list[str]:
    """Each site as scope path, name, and kind of def or role."""
    found = collect_sites(ast.parse(source))
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


def test_a_global_name_is_one_of_the_module_though_it_is_not_written_there() -> None:
    found = collect_sites(ast.parse("class C:\n  def f(self): global __a"))
    assert "_C__a" in found.scopes[0].names


@pytest.mark.parametrize(
    ("source", "declared"),
    [
        ("def f(): global x, y, x", ["f:x declare", "f:y declare"]),
        ("def f(x):\n def g(): nonlocal x, x", ["f.g:x declare"]),
        ("class C:\n def f(): global __x, _C__x", ["C.f:__x declare"]),
        ("def f(): global x; global x", ["f:x declare", "f:x declare"]),
    ],
    ids=["global", "nonlocal", "mangled", "two-statements"],
)
def test_a_statement_declares_a_name_once(source: str, declared: list[str]) -> None:
    assert [each for each in sites(source) if each.endswith("declare")] == declared
