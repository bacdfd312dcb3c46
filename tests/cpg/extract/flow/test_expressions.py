"""What branches or suspends in an expression has points; all else happens at the statement's."""

from __future__ import annotations

import pytest
from flow_reading import read


def edges(expression: str, parameters: str = "a, b, c, d") -> set[tuple[str, str, str]]:
    """The edges of `return expression`, without those of exceptions."""
    prefix = "async " if "await" in expression or "async" in expression else ""
    found = read(f"{prefix}def f({parameters}):\n return {expression}").edges()
    return {edge for edge in found if edge[1] != "exception"}


def test_what_does_not_branch_is_one_point() -> None:
    assert edges("f(a, b.c[d], -a, *b, **c) < {a: b, **c}[f'{a!r:>{b}}']") == {
        ("entry", "next", "stmt return f(a, b.c[d], -a, *b, **c) < {a: b, **c}[f'{a!r:>{b}}']"),
        ("stmt return f(a, b.c[d], -a, *b, **c) < {a: b, **c}[f'{a!r:>{b}}']", "next", "exit"),
    }


def test_a_comprehension_is_loops_in_the_def_it_is_written_in() -> None:
    assert edges("[a for b in c if b for d in b]") - {
        ("stmt return [a for b in c if b for d in b]", "next", "exit")
    } == {
        ("entry", "next", "expr c"),
        ("expr c", "next", "loop for b in c if b"),
        ("loop for b in c if b", "true", "branch b"),
        ("loop for b in c if b", "false", "stmt return [a for b in c if b for d in b]"),
        ("branch b", "false", "loop for b in c if b"),
        ("branch b", "true", "expr b"),
        ("expr b", "next", "loop for d in b"),
        ("loop for d in b", "true", "expr a"),
        ("loop for d in b", "false", "loop for b in c if b"),
        ("expr a", "back", "loop for d in b"),
    }


@pytest.mark.parametrize(
    ("expression", "kind"),
    [("yield a", "yield"), ("yield", "yield"), ("yield from a", "yield"), ("await a", "await")],
)
def test_what_suspends_is_a_point_that_can_raise(expression: str, kind: str) -> None:
    reading = read(f"async def f(a): {expression}" if kind == "await" else f"def f(a): {expression}")
    point = f"{kind} {expression}" if kind == "await" else f"{kind} ({expression})"
    assert reading.leaving(point) == {("next", f"stmt {expression}"), ("exception", "exc_exit")}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("x = f(a, b)", "use f, use a, use b, def x"),
        ("x += a", "use x, use a, def x"),
        ("x.y += a", "use x, use a"),
        ("x, (y, *z) = a", "use a, def x, def y, def z"),
        ("x: int = a", "use a, def x, use int"),
        ("x: int", "use int"),
        ("x.y: int", "use x, use int"),
        ("(x := a) + x", "use a, def x, use x"),
        ("{a: b, c: d, **x}", "use a, use b, use c, use d, use x"),
        ("del a, b.c", "del a, use b"),
        ("import x.y, z as w", "def x, def w"),
        ("from x import y, z as w", "def y, def w"),
        ("from x import *", ""),
        ("[x for y in a if y]", "use a, bind y, use y, use x"),
        ("{x: y for x in a}", "use a, bind x, use x, use y"),
        ("lambda x, y=a: b", "use a"),
        ("f(a, b and c)", "use f, use a, use b, use c"),
        ("def x(p: a = b, *q, r=c) -> d: y", "use b, use c, use a, use d, def x"),
        ("@a\nclass x(b, k=c): y", "use a, use b, use c, def x"),
        ("for x, y in a: z", "use a, bind x, bind y, use z"),
        ("for x[a and b] in c: d", "use c, use x, use a, use b, use d"),
        ("with a as x, b: c", "use a, def x, use b, use c"),
        ("with a as (x, y): c", "use a, def x, def y, use c"),
        ("global x\nx = a", "use a, def x"),
        ("try: a\nexcept b as x: c", "use a, use b, bind x, use c"),
    ],
)
def test_events_are_in_the_order_of_evaluation(body: str, expected: str) -> None:
    indented = body.replace("\n", "\n ")
    found = read(f"def f():\n {indented}").events()
    assert ", ".join(f"{action} {name}" for _, action, name in found) == expected


def test_patterns_bind_after_they_are_tried() -> None:
    text = "def f(s):\n match s:\n  case [a.b, *c] | {'k': d.e as g, **h} | C(i, j=k) as l if l: pass"
    names = [f"{action} {name}" for _, action, name in read(text).events()]
    assert names == [
        *("def s", "use s", "use a", "bind c", "use d", "bind g", "bind h", "use C", "bind i", "bind k"),
        *("bind l", "use l"),
    ]


def test_parameters_are_bound_at_the_entry() -> None:
    found = read("def f(a, /, b, *c, d, **e): pass").events()
    assert found == [("entry", "def", name) for name in "abcde"]


def test_a_load_before_a_branch_is_at_the_branch() -> None:
    assert read("def f(a, b, c): g(a, b and c, a)").events()[3:] == [
        ("branch b", "use", "g"),
        ("branch b", "use", "a"),
        ("branch b", "use", "b"),
        ("expr c", "use", "c"),
        ("stmt g(a, b and c, a)", "use", "a"),
    ]


@pytest.mark.parametrize(
    ("body", "raises"),
    [
        ("a", False),
        ("1", False),
        ("x = 1", False),
        ("x = a", False),
        ("return a", False),
        ("return", False),
        ("pass", False),
        ("global x", False),
        ("x = lambda: y", False),
        ("def g(): pass", False),
        ("x", True),
        ("x = y", True),
        ("x, y = a", True),
        ("a.b", True),
        ("a()", True),
        ("a + 1", True),
        ("a += 1", True),
        ("del b", True),
        ("import x", True),
        ("class C: pass", True),
        ("if a: pass", True),
        ("if 1: pass", False),
    ],
)
def test_what_can_raise_has_a_way_out(body: str, raises: bool) -> None:
    text = f"def f(a, b):\n {body}"
    assert any(kind == "exception" for _, kind, _ in read(text).edges()) is raises


@pytest.mark.parametrize("body", ["del a\n a", "try: pass\n except E as a: pass\n a"], ids=["del", "handler"])
def test_a_parameter_that_is_unbound_can_raise(body: str) -> None:
    assert ("exception", "exc_exit") in read(f"def f(a):\n {body}").leaving("stmt a")
