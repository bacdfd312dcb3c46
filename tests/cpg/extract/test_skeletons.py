"""The headers of a compound statement are known without its blocks."""

from __future__ import annotations

import ast

import pytest
import tree_sitter_python
from tree_sitter import Language, Node, Parser

from headwater.cpg.extract.fragments import Fragments
from headwater.cpg.extract.scanning import Scan
from headwater.cpg.extract.skeletons import Skeleton, clauses_of, read_skeleton, settle
from headwater.cpg.extract.source import line_starts_of


def first_node(text: str) -> Node:
    return Parser(Language(tree_sitter_python.language())).parse(text.encode()).root_node.children[0]


def skeleton_of(text: str) -> Skeleton | None:
    data = text.encode()
    return read_skeleton(Fragments(Scan(data, line_starts_of(data))), first_node(text), 0)


@pytest.mark.parametrize(
    ("text", "headers"),
    [
        ("if a:\n x\nelif b: y\nelse:\n z\n", ["if a:", "elif b:", "else:"]),
        ("for a in b: x\nelse: y\n", ["for a in b:", "else:"]),
        ("try: x\nexcept A: y\nfinally: z\n", ["try:", "except A:", "finally:"]),
        ("match a:\n case 1: x\n case _: y\n", ["match a:", "case 1:", "case _:"]),
        ("def f(a: b = {1: 2}): x\n", ["def f(a: b = {1: 2}):"]),
        ("class A(B): x\n", ["class A(B):"]),
    ],
)
def test_a_clause_has_its_header_and_its_block(text: str, headers: list[str]) -> None:
    clauses = clauses_of(first_node(text), 0)
    assert [text[each.start : each.end] for each in clauses] == headers
    blocks = ["".join(text[node.start_byte : node.end_byte] for node in each.block) for each in clauses]
    assert [each for each in blocks if each] == list("xyz")[: len([each for each in blocks if each])]


@pytest.mark.parametrize(
    ("text", "blocks", "rest"),
    [
        ("if a:\n x x\nelif b: y\nelse:\n z\n", 3, 0),
        ("if a:\n x x\nelif b b: y\nelse:\n z\n", 1, 2),
        ("try: x x\nexcept A, e: y\nexcept B B: y\nfinally: z\n", 4, 0),
        ("match a:\n case 1: x x\n case 2: y\n", 2, 0),
        ("@a\n@b\ndef f(a a): x\n", 1, 0),
    ],
)
def test_a_skeleton_has_a_block_for_each_clause_that_parses(text: str, blocks: int, rest: int) -> None:
    skeleton = skeleton_of(text)
    assert skeleton is not None
    assert (len(skeleton.blocks), len(skeleton.rest)) == (blocks, rest)
    assert all(isinstance(block.statements[0], ast.Pass) for block in skeleton.blocks)


def test_there_is_no_skeleton_without_a_first_header() -> None:
    assert skeleton_of("while a a:\n x\n") is None


def test_decorators_belong_to_their_definition() -> None:
    skeleton = skeleton_of("@a\n@b(1)\ndef f():\n x x\n")
    assert skeleton is not None
    assert isinstance(skeleton.statement, ast.FunctionDef)
    assert [each.lineno for each in skeleton.statement.decorator_list] == [1, 2]
    assert skeleton.statement.lineno == 3


def test_a_filled_statement_ends_with_its_last_block() -> None:
    text = "if a:\n x x\nelif b:\n y\n"
    skeleton = skeleton_of(text)
    assert skeleton is not None
    (around,) = ast.parse("if 1:\n\n\n yy").body
    assert isinstance(around, ast.If)
    skeleton.blocks[-1].statements[:] = around.body
    settle(skeleton.statement)
    assert (skeleton.statement.end_lineno, skeleton.statement.end_col_offset) == (4, 3)


def test_many_clauses_are_no_depth() -> None:
    skeleton = skeleton_of("if a: x x\n" + "elif b: y\n" * 800)
    assert skeleton is not None
    assert len(skeleton.blocks) == 801
    settle(skeleton.statement)
