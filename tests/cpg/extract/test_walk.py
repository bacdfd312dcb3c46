"""Nodes come in pre-order, each with its place in the tree."""

from __future__ import annotations

import ast

from headwater.cpg.extract import NodeColumns, extract_syntax
from headwater.cpg.extract.syntax import walk_file
from headwater.cpg.extract.walk import AST_CLASSES, SHAPES, Walk, end_of


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


def walked(source: str) -> Walk:
    return walk_file("repo", "a.py", source.encode()).walk


def test_the_owner_of_a_row_is_the_def_that_it_is_written_in() -> None:
    rows = walked("@a\ndef f(b=c):\n lambda d: e\nclass C(g): h").rows
    owners = {
        ast.unparse(row[0]): rows[row[2].row][0].__class__.__name__
        for row in rows
        if isinstance(row[0], ast.Name | ast.arg)
    }
    assert owners == {
        **dict.fromkeys("abc", "FunctionDef"),
        **dict.fromkeys("de", "Lambda"),
        **dict.fromkeys("gh", "ClassDef"),
    }


def test_what_opens_is_told_outer_before_inner() -> None:
    walk = walked("class C:\n def f(a=lambda: 1): [b for b in a]\nlambda: 2")
    assert [walk.rows[row][0].__class__.__name__ for row in walk.opened] == [
        *("ClassDef", "FunctionDef", "Lambda", "Lambda")
    ]


def test_all_below_a_row_stand_side_by_side() -> None:
    rows = walked("f(a, [b, c])\nd").rows
    texts = [ast.unparse(row[0]) for row in rows]
    for text, last in {"f(a, [b, c])": "c", "[b, c]": "c", "a": "a", "d": "d"}.items():
        assert texts[end_of(rows, texts.index(text)) - 1] == last


def test_every_class_has_a_shape() -> None:
    assert set(SHAPES) == set(AST_CLASSES)
    assert SHAPES[ast.Attribute][2] == ("value",)
    assert all("ctx" not in fields for _, _, fields in SHAPES.values())
