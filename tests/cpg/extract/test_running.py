"""A node is run by the def whose flow has it, which is not always the one that it is written in."""

from __future__ import annotations

import ast
import sys
import sysconfig
from pathlib import Path

import pytest

from headwater.cpg.extract import extract_file
from headwater.cpg.extract.running import runners_of
from headwater.cpg.extract.syntax import walk_file

STANDARD = Path(sysconfig.get_path("stdlib"))
TYPE_PARAMETERS: list[tuple[str, dict[str, str]]] = [
    ("class C:\n  def f[T: b](a: T): c", {"T": "C", "b": "C", ":a": "f", "c": "f"}),
    ("class C:\n  class D[T: b](T): c", {"T": "C", "b": "C", "c": "D"}),
]
OF_THIS_PYTHON: list[tuple[str, dict[str, str]]] = TYPE_PARAMETERS if sys.version_info >= (3, 12) else []


def runners(source: str) -> dict[str, str]:
    """For each name that is written the def that runs it; parameters are told with a colon."""
    walk = walk_file("repo", "a.py", source.encode()).walk
    nodes = [row[0] for row in walk.rows]
    found: dict[str, str] = {}
    for node, runner in zip(nodes, runners_of(walk), strict=True):
        name = getattr(node, "id", None) or (f":{node.arg}" if isinstance(node, ast.arg) else None)
        kind = nodes[runner].__class__.__name__.lower()
        if name is not None:
            found[name] = getattr(nodes[runner], "name", kind)
    return found


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("@a\ndef f(): b", {"a": "module", "b": "f"}),
        ("@a(b)\nclass C: c", {"a": "module", "b": "module", "c": "C"}),
        ("class C(a, b=c): d", {"a": "module", "c": "module", "d": "C"}),
        (
            "def f(a=b, /, *c, d=e, **g): h",
            {**dict.fromkeys((":a", ":c", ":d", ":g", "h"), "f"), **dict.fromkeys("be", "module")},
        ),
        (
            "def f(a: b, /, c: d, *e: g, h: i, **j: k) -> l: m",
            {**dict.fromkeys((":a", ":c", ":e", ":h", ":j", "m"), "f"), **dict.fromkeys("bdgikl", "module")},
        ),
        (
            "from __future__ import annotations\ndef f(a: b): c",
            {":a": "f", "b": "module", "c": "f"},
        ),
        ("lambda a=b: c", {":a": "lambda", "b": "module", "c": "lambda"}),
        ("async def f(a=b): c", {":a": "f", "b": "module", "c": "f"}),
        ("class C:\n  def f(a=b): c", {":a": "f", "b": "C", "c": "f"}),
        ("def f():\n  def g(a=b): c", {":a": "g", "b": "f", "c": "g"}),
        ("@(lambda a=b: c)\ndef f(): pass", {":a": "lambda", "b": "module", "c": "lambda"}),
        (
            "def f(a=lambda b=lambda c=d: e: g): h",
            {
                **dict.fromkeys((":a", "h"), "f"),
                **dict.fromkeys((":b", ":c", "e", "g"), "lambda"),
                "d": "module",
            },
        ),
        (
            "def f(a=[b for b in c]): [d for d in e]",
            {":a": "f", **dict.fromkeys("bc", "module"), "d": "f", "e": "f"},
        ),
        ("@a\n@b\ndef f(): c\nd", {"a": "module", "b": "module", "c": "f", "d": "module"}),
        *OF_THIS_PYTHON,
    ],
    ids=[
        *("decorator", "decorator-of-class", "base", "default", "annotation", "annotation-not-evaluated"),
        *("lambda", "async", "method", "inner", "lambda-in-decorator", "lambda-in-lambda", "comprehension"),
        "decorators",
        *("type-parameter", "type-parameter-of-class")[: len(OF_THIS_PYTHON)],
    ],
)
def test_a_name_is_run_by(source: str, expected: dict[str, str]) -> None:
    assert runners(source) == expected


def test_over_the_standard_library_a_node_is_run_by_the_def_whose_flow_has_it() -> None:
    files = sorted(each for each in STANDARD.rglob("*.py") if "site-packages" not in each.parts)[::20]
    assert len(files) > 60
    for file in files:
        found = extract_file("repo", file.name, file.read_bytes())
        owners, flow = found.syntax.nodes.owner, found.facts.flow
        of_point = flow.points.def_row
        for point, node in enumerate(flow.points.node):
            assert node is None or owners[node] == of_point[point], (file, node)
        for point, site in zip(flow.events.point, flow.events.site, strict=True):
            assert owners[site] == of_point[point], (file, site)
