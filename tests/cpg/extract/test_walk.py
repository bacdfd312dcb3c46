"""Nodes come in pre-order, each with its place in the tree."""

from __future__ import annotations

import ast

from headwater.cpg.extract import NodeColumns, extract_syntax
from headwater.cpg.extract.walk import AST_CLASSES, SHAPES


def extracted(source: str) -> NodeColumns:
    return extract_syntax("repo", "a.py", source.encode()).nodes


def test_a_parent_comes_before_its_children_and_children_in_their_order() -> None:
    nodes = extracted("f(a, *b, c=d)")
    assert list(zip(nodes.ast_kind, nodes.field, nodes.idx, strict=True)) == [
        (None, None, None),
        ("Module", "module", None),
        ("Expr", "body", 0),
        ("Call", "value", None),
        ("Name", "func", None),
        ("Name", "args", 0),
        ("Starred", "args", 1),
        ("Name", "value", None),
        ("keyword", "keywords", 0),
        ("Name", "value", None),
    ]


def test_what_is_left_out_of_a_list_keeps_its_index() -> None:
    nodes = extracted("{**a, b: c}")
    row = nodes.field.index("keys")
    assert (nodes.field.count("keys"), nodes.idx[row]) == (1, 1)


def test_the_owner_is_the_def_around_a_node() -> None:
    nodes = extracted("@a\ndef f(b=c):\n lambda d: e\nclass C(g): h")
    owners = {
        name: nodes.ast_kind[owner]
        for name, owner in zip(nodes.name, nodes.owner, strict=True)
        if name is not None and owner is not None
    }
    assert owners == {
        "f": "Module",
        "C": "Module",
        "a": "FunctionDef",
        "b": "FunctionDef",
        "c": "FunctionDef",
        "d": "Lambda",
        "e": "Lambda",
        "g": "ClassDef",
        "h": "ClassDef",
    }
    assert nodes.owner[:2] == [None, None]


def test_every_class_has_a_shape() -> None:
    assert set(SHAPES) == set(AST_CLASSES)
    assert SHAPES[ast.Attribute][2] == ("value",)
    assert all("ctx" not in fields for _, _, fields in SHAPES.values())
