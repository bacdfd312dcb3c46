"""Ways through the text between nodes."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.cpg.extract.scanning import BETWEEN_CASES, GAP, TRIVIA, Scan
from headwater.cpg.extract.source import line_starts_of


def scan_of(text: str) -> Scan:
    return Scan(text.encode(), line_starts_of(text.encode()))


@given(st.text("a\n\r é"), st.data())
def test_a_place_that_was_given_is_there(text: str, data: st.DataObject) -> None:
    scan = scan_of(text)
    end = data.draw(st.integers(0, len(scan.data)))
    start = data.draw(st.integers(0, end))
    node = ast.Name("x")
    scan.place(node, start, end)
    assert (scan.start_of(node), scan.end_of(node)) == (start, end)


def test_a_place_is_never_beyond_the_text() -> None:
    scan = scan_of("ab")
    node = ast.Name("x")
    scan.place(node, 5, 9)
    assert (scan.start_of(node), scan.end_of(node)) == (2, 2)


@pytest.mark.parametrize(
    ("text", "trivia", "gap", "between"),
    [
        ("x", 0, 0, 0),
        (" \t\f\r\n\\\n x", 8, 8, 8),
        (" # (\n (x", 6, 7, 7),
        (" )x", 1, 2, 2),
        (" ;:,x", 1, 1, 4),
        ("", 0, 0, 0),
    ],
)
def test_blanks_comments_and_brackets_are_passed_over(text: str, trivia: int, gap: int, between: int) -> None:
    scan = scan_of(text)
    assert [scan.after(blank, 0) for blank in (TRIVIA, GAP, BETWEEN_CASES)] == [trivia, gap, between]


def test_long_blanks_take_no_long_time() -> None:
    scan = scan_of(" # x\n" * 50_000 + "x")
    assert scan.after(TRIVIA, 0) == 250_000


def test_brackets_in_comments_open_nothing() -> None:
    scan = scan_of("( # (\n ( x")
    assert [scan.opened(0, 9, depth) for depth in (0, 1, 2, 3)] == [9, 7, 0, 9]
