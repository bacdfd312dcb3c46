"""What an author wrote is told from what became of it: comments and spaces are no change, texts are."""

from __future__ import annotations

import threading

import pytest

from headwater.pipeline.written import written_function, written_sql


@pytest.mark.parametrize(
    "other",
    [
        "SELECT a, 'x -- y' FROM t",
        "SELECT a,   'x -- y'\n FROM t -- all of it",
        "/* once */ SELECT a, 'x -- y' /* and\nagain */ FROM t\n",
    ],
)
def test_comments_and_spaces_are_no_change(other: str) -> None:
    assert written_sql(other) == written_sql("SELECT a, 'x -- y' FROM t")


@pytest.mark.parametrize(
    "other",
    [
        "SELECT a, 'x --  y' FROM t",
        "SELECT a, 'x' -- y' FROM t",
        "SELECT b, 'x -- y' FROM t",
        "SELECT /*+ BROADCAST(t) */ a, 'x -- y' FROM t",
        'SELECT a, "x -- y" FROM t',
        "SELECT `a `, 'x -- y' FROM t",
    ],
)
def test_words_texts_and_hints_are(other: str) -> None:
    assert written_sql(other) != written_sql("SELECT a, 'x -- y' FROM t")


def test_a_function_is_what_it_does() -> None:
    lock = threading.Lock()

    def one(x: int) -> int:
        return x + 1

    def same(x: int) -> int:
        return x + 1

    def locked(x: int) -> int:
        with lock:
            return x

    same.__qualname__, same.__name__ = one.__qualname__, one.__name__
    assert written_function(one) == written_function(same)
    assert written_function(one) != written_function(abs)
    assert written_function(locked) is None
