"""Which changes of a signature break its callers."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.cpg.questions.signature import Signature, breaks, eases, signature_of, text_of, words_of

LISTS = (
    "",
    "a",
    "a, b",
    "b, a",
    "a, b=1",
    "a, *, b",
    "a, *, b=1",
    "a, /, b",
    "*a",
    "**a",
    "a, *b, **c",
    "a, c, b=2",
)


def signature(parameters: str, *, is_bound: bool = False, prefix: str = "") -> Signature:
    function = ast.parse(f"{prefix}def f({parameters}): ...").body[0]
    assert isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
    return signature_of(function, is_bound=is_bound)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("a", "a, b", ["b is new and required"]),
        ("a", "a, *, b", ["b is new and required"]),
        ("a", "a, b=1", []),
        ("a", "a, *b, **c", []),
        ("a, b", "a", ["b is gone"]),
        ("a, b", "a, *b", ["b takes something else"]),
        ("a, b", "a, *c, **d", []),
        ("a, /", "*c", []),
        ("*, a", "**c", []),
        ("a, b", "a, c", ["b is called c"]),
        ("a, b, /", "a, c, /", []),
        ("a, b", "b, a", ["a is at place 2, was at 1"]),
        ("a", "b=1, a=2", ["a is at place 2, was at 1"]),
        ("a, b=1", "a, *, b=1", ["b can only be given by name"]),
        ("a, *, b", "a, b", []),
        ("a", "a, /", ["a can no longer be given by name"]),
        ("a, /", "a", []),
        ("a=1", "a", ["a is required"]),
        ("a", "a=1", []),
        ("a=1", "a=2", []),
        ("*a", "", ["*a is gone"]),
        ("**a", "", ["**a is gone"]),
        ("*a", "*b", []),
        ("a: int", "a: str", []),
    ],
)
def test_calls_that_were_right_are_wrong_for_these_reasons(
    before: str, after: str, expected: list[str]
) -> None:
    assert breaks(signature(before), signature(after)) == expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("a", "a, b=1", ["b is new"]),
        ("a", "a=1", ["a has a default"]),
        ("a=1", "a=2", ["the default of a was 1, is 2"]),
        ("a", "a, b", []),
    ],
)
def test_what_breaks_nothing_is_told_apart(before: str, after: str, expected: list[str]) -> None:
    assert eases(signature(before), signature(after)) == expected


def test_what_has_to_be_awaited_is_another_call() -> None:
    one, other = signature("a"), signature("a", prefix="async ")
    assert breaks(one, other) == ["it has to be awaited"]
    assert breaks(other, one) == ["it can no longer be awaited"]


def test_nobody_gives_the_object_of_a_method() -> None:
    assert breaks(signature("self, a", is_bound=True), signature("this, a", is_bound=True)) == []


@given(st.sampled_from(LISTS))
def test_a_signature_breaks_nothing_of_itself(parameters: str) -> None:
    own = signature(parameters)
    assert breaks(own, own) == eases(own, own) == []


def test_a_text_that_is_too_deep_is_dots() -> None:
    assert words_of(ast.parse("-" * 10 + "a", mode="eval").body) == "-" * 10 + "a"
    function = ast.parse("async def f(a=1, *, b): ...").body[0]
    assert isinstance(function, ast.AsyncFunctionDef)
    assert text_of(function) == "async (a=1, *, b)"
    node: ast.expr = ast.Name(id="a")
    for _ in range(5000):
        node = ast.UnaryOp(op=ast.USub(), operand=node)
    assert words_of(node) == "..."
