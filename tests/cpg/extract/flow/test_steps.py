"""Steps of data inside of a def: what goes where, one example per rule, and that no file is too much."""

from __future__ import annotations

import ast
import sysconfig
from pathlib import Path

import pytest

from headwater.cpg.extract.flow import STEP_KINDS, find_steps
from headwater.cpg.extract.syntax import walk_file

LIBRARY = Path(sysconfig.get_path("stdlib"))


def steps(source: str) -> list[tuple[str, str, str, str | None, bool]]:
    """The steps of a file, with nodes as they are written."""
    rows = walk_file("repo", "main.py", source.encode()).walk.rows
    found = find_steps(rows)
    return [
        (
            ast.unparse(rows[one][0]),
            ast.unparse(rows[other][0]),
            STEP_KINDS[kind][0],
            path,
            STEP_KINDS[kind][1],
        )
        for one, other, kind, path in zip(found.source, found.target, found.kind, found.path, strict=True)
    ]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a = b", [("b", "a", "expr", None, True)]),
        ("a = b = c", [("c", "a", "expr", None, True), ("c", "b", "expr", None, True)]),
        ("a: int = b", [("b", "a", "expr", None, True)]),
        ("a: x.y", []),
        ("def f(a: x.y) -> x.y: ...", []),
        ("def f(a, b=c, *, d=e): ...", [("c", "b", "expr", None, True), ("e", "d", "expr", None, True)]),
        ("a, b = c, d", [("c", "(c, d)", "store", "[0]", False), ("d", "(c, d)", "store", "[1]", False)]),
        (
            "a if c else b",
            [("a", "a if c else b", "expr", None, True), ("b", "a if c else b", "expr", None, True)],
        ),
        ("a + b", [("a", "a + b", "expr", None, False), ("b", "a + b", "expr", None, False)]),
        ("-a", [("a", "-a", "expr", None, False)]),
        ("not a", []),
        ("a == b", []),
        ("a[b]", [("a", "a[b]", "load", "[*]", False)]),
        ("a[1:2]", [("a", "a[1:2]", "expr", None, False)]),
        ("a[-1]", [("a", "a[-1]", "load", "[-1]", False), ("1", "-1", "expr", None, False)]),
        ("del a.b, a[0]", []),
        ("f(*a)", [("a", "*a", "expr", None, True)]),
        ("{**a}", [("a", "{**a}", "expr", None, False)]),
        (
            "[*a, b]",
            [
                ("*a", "[*a, b]", "expr", None, False),
                ("b", "[*a, b]", "store", "[*]", False),
                ("a", "*a", "expr", None, True),
            ],
        ),
    ],
)
def test_what_goes_where(source: str, expected: list[tuple[str, str, str, str | None, bool]]) -> None:
    found = steps(source)
    assert [each for each in expected if each not in found] == []
    if "=" not in source or len(expected) < 2:
        assert len(found) == len(expected)


def test_parts_of_tuples_go_to_their_names() -> None:
    found = {each[:2] for each in steps("a, (b, c) = d, (e, f)")}
    assert {("d", "a"), ("e", "b"), ("f", "c")} <= found
    assert ("d", "(b, c)", "load", "[1]", False) in steps("a, (b, c) = d")


def test_a_nested_tuple_is_unpacked_from_its_part() -> None:
    found = steps("a, (b, *c) = d")
    assert ("(b, *c)", "b", "load", "[0]", False) in found
    assert ("(b, *c)", "*c", "load", "[*]", False) in found
    assert ("*c", "c", "expr", None, True) in found


def test_patterns_get_parts_of_the_subject() -> None:
    found = steps("match a:\n case {'k': [b, *c]} | D(e=f): ...\n case g: ...")
    assert {path for _, _, kind, path, _ in found if kind == "load"} == {"['k']", "[0]", "[*]", ".e"}


@pytest.mark.parametrize("name", ["argparse.py", "dataclasses.py", "inspect.py", "typing.py"])
def test_every_step_is_between_nodes_of_the_file(name: str) -> None:
    rows = walk_file("repo", name, (LIBRARY / name).read_bytes()).walk.rows
    found = find_steps(rows)
    assert found.kind
    assert all(0 < each < len(rows) for each in (*found.source, *found.target))
    assert len(set(zip(found.source, found.target, found.kind, found.path, strict=True))) == len(found.kind)
