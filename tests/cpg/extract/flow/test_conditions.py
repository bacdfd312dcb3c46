"""Operands are tested one by one, and each outcome leads to what is evaluated next."""

from __future__ import annotations

import pytest
from flow_reading import read


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("a and b", "a T b, a F end, b N end"),
        ("a or b or c", "a T end, a F b, b T end, b F c, c N end"),
        ("(a or b) and c", "a T c, a F b, b T c, b F end, c N end"),
        ("a and (b or c)", "a T b, a F end, b T end, b F c, c N end"),
        ("not a and b", "a T end, a F b, b N end"),
        ("a if b else c", "b T a, b F c, a N end, c N end"),
        ("a if b and c else d", "b T c, b F d, c T a, c F d, a N end, d N end"),
        ("a if (b if c else d) else a", "c T b, c F d, b T a, b F a, d T a, d F a, a N end"),
        ("a < b < c", "b T c, b F end, c N end"),
        ("a if a < b < c else d", "b T c, b F d, c T a, c F d, a N end, d N end"),
        ("a and f(b or c)", "a T b, a F end, b T f(b or c), b F c, c N f(b or c), f(b or c) N end"),
        ("0 and a", "0 F end, a N end"),
        ("1 if __debug__ else a", "__debug__ T 1, 1 N end, a N end"),
    ],
)
def test_branches_lead_to_what_is_evaluated_next(expression: str, expected: str) -> None:
    short = {"true": "T", "false": "F", "next": "N"}
    found = {
        f"{source.partition(' ')[2]} {short[kind]} {target.partition(' ')[2]}"
        for source, kind, target in read(f"def f(a, b, c, d):\n return {expression}").edges()
        if kind != "exception" and not source.startswith(("entry", "stmt"))
    }
    assert found == {edge.replace(" end", f" return {expression}") for edge in expected.split(", ")}


def test_what_is_tested_leads_to_bodies_and_not_to_a_value() -> None:
    reading = read("def f(a, b, c):\n if a and not (b or c):\n  x = 1\n else:\n  y = 1")
    assert reading.leaving("branch a") >= {("true", "branch b"), ("false", "stmt y = 1")}
    assert reading.leaving("branch b") >= {("true", "stmt y = 1"), ("false", "branch c")}
    assert reading.leaving("branch c") >= {("true", "stmt y = 1"), ("false", "stmt x = 1")}


def test_a_sign_is_no_negation() -> None:
    assert read("def f(a):\n if -a: x = 1").leaving("branch -a") >= {
        ("true", "stmt x = 1"),
        ("false", "exit"),
    }
