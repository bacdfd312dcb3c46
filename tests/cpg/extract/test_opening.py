"""What opens a scope, and what belongs to the scope around."""

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
