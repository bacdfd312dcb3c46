"""Names become bindings where they are first seen, under the name that Python knows."""

from __future__ import annotations

import ast

import pytest

from headwater.cpg.extract.sites import DEF_KINDS, FLAGS, ROLES, Names, Scope, Sites, mangle


def scope_in_class(private: str) -> tuple[Sites, Scope]:
    sites = Sites(never_evaluates_annotations=False)
    scope = sites.scope = Scope(ast.Module([], []), "module", None, "", [])
    scope.names = Names(scope.index, private, sites)
    return sites, scope


@pytest.mark.parametrize(
    ("name", "private", "known"),
    [
        ("__x", "C", "_C__x"),
        ("__x", "_C", "_C__x"),
        ("__x_", "__C", "_C__x_"),
        ("__x__", "C", "__x__"),
        ("_x", "C", "_x"),
        ("__x", "", "__x"),
        ("__x", "__", "__x"),
    ],
)
def test_private_names_are_mangled_as_python_does(name: str, private: str, known: str) -> None:
    assert mangle(name, private) == known
    module: dict[str, object] = {}
    if private:
        exec(f"class {private}:\n  {name} = 1", module)  # noqa: S102  Python itself is asked
        assert known in vars(module[private])


def test_a_name_that_is_seen_again_is_the_same_binding() -> None:
    sites, scope = scope_in_class("")
    assert [scope.names[name] for name in ("a", "b", "a")] == [0, 1, 0]
    assert sites.names == ["a", "b"]


@pytest.mark.parametrize("spellings", [("__x", "_C__x"), ("_C__x", "__x")], ids="-".join)
def test_two_spellings_of_one_name_are_one_binding(spellings: tuple[str, str]) -> None:
    sites, scope = scope_in_class("C")
    assert [scope.names[name] for name in spellings] == [0, 0]
    assert (sites.names, sites.mangled) == ([spellings[0]], {0: "_C__x"})


def test_paths_of_scopes_count_names_that_are_there_again() -> None:
    sites, scope = scope_in_class("")
    assert [sites.path_of(name) for name in ("f", "g", "f", "f")] == ["f", "g", "f#1", "f#2"]
    sites.scope = Scope(ast.Pass(), "function", scope, "f#1", [])
    assert sites.path_of("f") == "f#1.f"


def test_every_code_has_a_role() -> None:
    assert len(ROLES) == len(DEF_KINDS) == len(FLAGS)
    assert {role for role, kind in zip(ROLES, DEF_KINDS, strict=True) if kind} == {"def", "del"}
