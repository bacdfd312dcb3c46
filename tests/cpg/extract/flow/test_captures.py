"""Steps from where a name gets a value to where other defs read it."""

from __future__ import annotations

from typing import Any

import pytest

from headwater.cpg.extract.assembly import find_facts
from headwater.cpg.extract.flow import STEP_KINDS, find_captures
from headwater.cpg.extract.flow.captures import MOST_DEFINITIONS
from headwater.cpg.extract.syntax import walk_file


def captures(source: str) -> list[tuple[str, int, int]]:
    """The steps of a file: their kind, the line of the definition, and the line of the use."""
    walked = walk_file("repo", "main.py", source.encode())
    assert walked.module is not None
    facts = find_facts(walked.module, walked.walk, walked.source, walked.syntax.nodes, [])
    bindings = facts.scopes.bindings.resolves_to
    meant = [number if there is None else there for number, there in enumerate(bindings)]
    found = find_captures(facts.scopes, meant, walked.syntax.nodes.owner, set(facts.used))

    def line(row: int) -> int:
        node: Any = walked.walk.rows[row][0]
        return node.lineno

    return [(STEP_KINDS[kind][0], line(one), line(other)) for one, other, kind, _ in found]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = 1\ndef f():\n x", [("global", 1, 3)]),
        ("def f(a):\n def g():\n  a", [("capture", 1, 3)]),
        ("def f():\n x = 1\n return lambda: x", [("capture", 2, 3)]),
        ("x = 1\nx", []),
        ("def f():\n x = 1\n x", []),
        ("def f():\n x = 1\n [x for y in x]", []),
        ("def f():\n print(1)", []),
        ("x = 1\ndef f():\n global x\n x = 2\n x", [("global", 1, 5)]),
        ("def f():\n x = 1\n def g():\n  nonlocal x\n  x = 2\n x", [("capture", 5, 6)]),
        ("class C:\n x = 1\n def f(self):\n  x", []),
    ],
)
def test_a_name_comes_from_where_other_defs_give_it_its_value(
    source: str, expected: list[tuple[str, int, int]]
) -> None:
    assert captures(source) == expected


@pytest.mark.parametrize("more", [0, 1])
def test_a_name_with_too_many_values_is_left_out(more: int) -> None:
    source = "x = 1\n" * (MOST_DEFINITIONS + more) + "def f():\n x\n"
    assert len(captures(source)) == (0 if more else MOST_DEFINITIONS)
