"""Pieces of a text become the nodes that they are where they stand."""

from __future__ import annotations

import ast

from headwater.cpg.extract.fragments import Fragments, Piece, Refusal
from headwater.cpg.extract.scanning import Scan
from headwater.cpg.extract.source import line_starts_of


def fragments_of(text: str) -> Fragments:
    data = text.encode()
    return Fragments(Scan(data, line_starts_of(data)))


def segments(text: str, pieces: list[Piece]) -> list[str | None]:
    found = fragments_of(text).parse(pieces)
    assert isinstance(found, list)
    module = ast.Module(found, [])
    placed = [each for each in ast.walk(module) if isinstance(each, ast.stmt | ast.expr)]
    return [ast.get_source_segment(text, each) for each in placed]


def test_a_piece_keeps_lines_and_columns() -> None:
    text = "$\né é; x = (a +\n  b) $\n"
    start = text.encode().index(b"x =")
    end = text.encode().index(b") $") + 1
    assert segments(text, [Piece(start, end)]) == ["x = (a +\n  b)", "x", "a +\n  b", "a", "b"]


def test_several_pieces_become_one_statement() -> None:
    text = "if a:\n    $\nelse:\n    $\n"
    pieces = [Piece(0, 5, b"", b" pass\n"), Piece(12, 17, b"", b" pass\n")]
    found = fragments_of(text).parse(pieces)
    assert isinstance(found, list)
    (statement,) = found
    assert isinstance(statement, ast.If)
    assert (statement.lineno, statement.orelse[0].lineno) == (1, 3)


def test_what_is_put_before_a_piece_takes_no_place() -> None:
    text = "$\n    y = 2\n"
    (block,) = fragments_of(text).parse([Piece(6, 11, b"if 1:\n    ")])  # type: ignore[misc]
    assert isinstance(block, ast.If)
    assert ast.get_source_segment(text, block.body[0]) == "y = 2"


def test_a_refusal_says_at_which_line() -> None:
    assert fragments_of("a\nb\nc c\nd\n").parse([Piece(2, 9)]) == Refusal(4)


def test_an_effort_that_is_used_up_is_a_refusal() -> None:
    fragments = fragments_of("a\n")
    fragments.effort = 2
    assert fragments.parse([Piece(0, 1)]) == Refusal(0)


def test_a_place_for_what_did_not_parse() -> None:
    node = fragments_of("a\nb $\n").unparsed(2, 5)
    assert (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset) == (2, 0, 2, 3)


def test_an_indent_is_all_blank() -> None:
    fragments = fragments_of("a\n\t b; c\n")
    assert [fragments.indent_of(offset) for offset in (0, 4, 7)] == [b"", b"\t ", None]
