"""Nodes to which `ast` gives no place have the one that a reader would give them."""

from __future__ import annotations

import pytest

from headwater.cpg.extract import extract_syntax


def places(source: str, kind: str) -> list[str]:
    """The texts of all nodes of a class."""
    content = source.encode()
    evidence = extract_syntax("repo", "a.py", content)
    nodes = evidence.nodes
    assert evidence.diagnostics == ()
    rows = [row for row, each in enumerate(nodes.ast_kind) if each == kind]
    return [content[nodes.bstart[row] : nodes.bend[row]].decode() for row in rows]


@pytest.mark.parametrize(
    ("source", "kind", "expected"),
    [
        ("a + b", "Add", ["+"]),
        ("((a) # + )\n ** (b))", "Pow", ["**"]),
        ("a \\\n // b", "FloorDiv", ["//"]),
        ("a >>= b", "RShift", [">>="]),
        ("a [0] += b", "Add", ["+="]),
        ("a and (b) and c", "And", ["and"]),
        ("(a)or(b)", "Or", ["or"]),
        ("not a", "Not", ["not"]),
        ("-(~a)", "Invert", ["~"]),
        ("a < b < c", "Lt", ["<", "<"]),
        ("a is  not b", "IsNot", ["is  not"]),
        ("(a not # in\n in b)", "NotIn", ["not # in\n in"]),
        ("a in b", "In", ["in"]),
    ],
)
def test_an_operator_is_its_token(source: str, kind: str, expected: list[str]) -> None:
    assert places(source, kind) == expected


def test_operators_that_are_alike_are_nodes_of_their_own() -> None:
    nodes = extract_syntax("repo", "a.py", b"a + b + c").nodes
    assert [nodes.bstart[row] for row, kind in enumerate(nodes.ast_kind) if kind == "Add"] == [2, 6]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("[a for a in b]", ["for a in b"]),
        ("[(a) for a in (b)]", ["for a in (b)"]),
        ("[a for (a) in b if (c) if ((d)) ]", ["for (a) in b if (c) if ((d))"]),
        ("{a: (b) for a in c for b in (d)}", ["for a in c", "for b in (d)"]),
        ("f(a for a in b)", ["for a in b"]),
        ("async def f(): {a async for a in b}", ["async for a in b"]),
        ("(a # for (\n for a in (b # )\n ))", ["for a in (b # )\n )"]),
    ],
)
def test_a_clause_runs_from_its_for_to_its_last_part(source: str, expected: list[str]) -> None:
    assert places(source, "comprehension") == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("with a: pass", ["a"]),
        ("with a as b, c: pass", ["a as b", "c"]),
        ("with (a as b, c as d,): pass", ["a as b", "c as d"]),
        ("with (a) as (b): pass", ["(a) as (b)"]),
        ("with ((a) as b): pass", ["(a) as b"]),
        ("with ( # (\n a) as b: pass", ["( # (\n a) as b"]),
        ("with a() as (b, c): pass", ["a() as (b, c)"]),
        ("async def f():\n async with a as b: pass", ["a as b"]),
    ],
)
def test_an_item_runs_from_its_first_to_its_last_part(source: str, expected: list[str]) -> None:
    assert places(source, "withitem") == expected


def test_a_case_runs_to_the_end_of_its_body() -> None:
    source = "match (a), :\n  # case\n  case (1): pass;\n  case [b] if b:\n    c\n    d\n"
    assert places(source, "match_case") == ["case (1): pass", "case [b] if b:\n    c\n    d"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(): pass", ""),
        ("def f( a ): pass", "a"),
        ("def f(a, b=1,): pass", "a, b=1"),
        ("def f(a=(1), ): pass", "a=(1)"),
        ("def f(a, /): pass", "a, /"),
        ("def f(a=(1) , # x\n / ,): pass", "a=(1) , # x\n /"),
        ("def f(a, /, b): pass", "a, /, b"),
        ("def f(*, a, b: (c) = (d)): pass", "*, a, b: (c) = (d)"),
        ("def f(*a: b): pass", "*a: b"),
        ("def f(a, ** b): pass", "a, ** b"),
        ("async def  f \\\n (a): pass", "a"),
        ("lambda: 0", ""),
        ("lambda a, *b: 0", "a, *b"),
        ("lambda *, a=(1): 0", "*, a=(1)"),
    ],
)
def test_parameters_run_from_the_first_token_to_the_last(source: str, expected: str) -> None:
    assert places(source, "arguments") == [expected]


@pytest.mark.parametrize(("source", "start"), [("def f( ): pass", 6), ("x = lambda : 0", 10)])
def test_no_parameters_stand_right_behind_what_opens_them(source: str, start: int) -> None:
    nodes = extract_syntax("repo", "a.py", source.encode()).nodes
    row = nodes.ast_kind.index("arguments")
    assert (nodes.bstart[row], nodes.bend[row]) == (start, start)
