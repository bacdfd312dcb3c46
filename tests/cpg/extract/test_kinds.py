"""Every class of the tree has a kind, today's and tomorrow's."""

from __future__ import annotations

import ast

import pytest

from headwater.cpg.extract.kinds import NODE_KINDS, Error, node_kind_of
from headwater.cpg.extract.walk import AST_CLASSES

NOT_CONCRETE = {"Load", "Store", "Del", "Interactive", "Expression", "FunctionType", "AST", "slice"}


def test_the_table_names_every_concrete_class() -> None:
    bases = {base.__name__ for each in AST_CLASSES for base in each.__bases__}
    current = {each.__name__ for each in AST_CLASSES if each.__module__ == "ast"}
    old = {"Num", "Str", "Bytes", "NameConstant", "Ellipsis", "Index", "ExtSlice", "Suite"}
    old |= {"AugLoad", "AugStore", "Param"}
    assert current - bases - NOT_CONCRETE - old <= set(NODE_KINDS)


@pytest.mark.parametrize(
    ("ancestor", "kind"),
    [
        (ast.expr, "EXPRESSION"),
        (ast.stmt, "STATEMENT"),
        (ast.pattern, "PATTERN"),
        (ast.AST, "EXPRESSION"),
    ],
)
def test_a_class_that_is_not_known_yet_is_what_it_derives_from(ancestor: type[ast.AST], kind: str) -> None:
    assert node_kind_of(type("Tomorrow", (ancestor,), {})) == kind


@pytest.mark.parametrize(
    ("each", "kind"),
    [
        (ast.Module, "MODULE"),
        (ast.AsyncFunctionDef, "FUNCTION"),
        (ast.GeneratorExp, "COMPREHENSION"),
        (ast.arg, "PARAMETER"),
        (ast.keyword, "ARGUMENT"),
        (ast.alias, "IMPORT_ALIAS"),
        (ast.JoinedStr, "LITERAL"),
        (ast.ExceptHandler, "STATEMENT"),
        (ast.NotIn, "EXPRESSION"),
        (ast.MatchAs, "PATTERN"),
        (Error, "ERROR"),
    ],
)
def test_kinds_are_those_of_the_graph(each: type[ast.AST], kind: str) -> None:
    assert node_kind_of(each) == kind
