"""What syntax alone says of calls, classes, imports, and of nodes that belong to each other."""

from __future__ import annotations

import ast
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import pytest

from headwater.cpg.extract.relations import RelationEvidence, find_relations, written
from headwater.cpg.extract.syntax import walk_file

if TYPE_CHECKING:
    from headwater.cpg.extract.walk import Walk


def walked(source: str) -> Walk:
    return walk_file("repo", "a.py", source.encode()).walk


def found(source: str) -> tuple[Walk, RelationEvidence]:
    walk = walked(source)
    return walk, find_relations(walk.rows)


def related(source: str, kind: str) -> list[tuple[object, ...]]:
    """The edges of a kind, with nodes as they are written."""
    walk, evidence = found(source)
    columns = evidence.relations
    rows = zip(columns.kind, columns.src, columns.dst, columns.label, columns.ordinal, strict=True)
    return [
        (text(walk, src), text(walk, dst), label, ordinal)
        for each, src, dst, label, ordinal in rows
        if each == kind
    ]


def text(walk: Walk, row: int) -> str:
    node = walk.rows[row][0]
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return node.name
    if isinstance(node, ast.Module):
        return "<module>"
    return ast.unparse(node).partition("\n")[0]


def rows_of(columns: Any) -> list[dict[str, object]]:
    names = [each.name for each in fields(columns)]
    return [
        dict(zip(names, row, strict=True)) for row in zip(*(getattr(columns, n) for n in names), strict=True)
    ]


@pytest.mark.parametrize(
    ("source", "kind", "edges"),
    [
        (
            "f(a, *b, c=d, **e)",
            "ARGUMENT",
            [
                ("f(a, *b, c=d, **e)", "a", None, 0),
                ("f(a, *b, c=d, **e)", "*b", "*", 1),
                ("f(a, *b, c=d, **e)", "c=d", "c", 2),
                ("f(a, *b, c=d, **e)", "**e", "**", 3),
            ],
        ),
        ("a.b.c()", "RECEIVER", [("a.b.c()", "a.b", None, None)]),
        ("f()", "RECEIVER", []),
        ("@a\n@b.c(1)\ndef f(): ...", "DECORATES", [("a", "f", None, 0), ("b.c(1)", "f", None, 1)]),
        ("@a\nclass C: ...", "DECORATES", [("a", "C", None, 0)]),
        (
            "def f():\n raise E(1) from e\n raise x.F\n raise",
            "RAISES",
            [("f", "E", None, None), ("f", "x.F", None, None)],
        ),
        ("raise E", "RAISES", [("<module>", "E", None, None)]),
        (
            "try: ...\nexcept (A, b.C): ...\nexcept D as d: ...\nexcept: ...",
            "CATCHES",
            [
                ("except (A, b.C):", "A", None, 0),
                ("except (A, b.C):", "b.C", None, 1),
                ("except D as d:", "D", None, 0),
            ],
        ),
        ("async def f(): await g()", "AWAITS", [("await g()", "g()", None, None)]),
        (
            "def f():\n yield\n yield a\n yield from b",
            "YIELDS",
            [("(yield a)", "a", None, None), ("(yield from b)", "b", "from", None)],
        ),
        (
            "def f(a: int, *b: str) -> bool: ...\nx: list[int] = []\ny.z: int",
            "ANNOTATED_WITH",
            [
                ("f", "bool", "return", None),
                ("a: int", "int", None, None),
                ("b: str", "str", None, None),
                ("x", "list[int]", None, None),
                ("y.z", "int", None, None),
            ],
        ),
    ],
    ids=lambda each: each if isinstance(each, str) and each.isupper() else "",
)
def test_nodes_that_belong_together(source: str, kind: str, edges: list[tuple[object, ...]]) -> None:
    assert related(source, kind) == edges


def test_calls_say_how_they_look() -> None:
    walk, evidence = found("f(1)\na.b(*x)\nsuper().m(**k)\n(lambda: 1)()\nd[0](a, b=1)")
    calls = rows_of(evidence.calls)
    told = [
        tuple(each[name] for name in ("callee_text", "dispatch", "arg_count", "has_star", "has_kwstar"))
        for each in calls
    ]
    assert told == [
        ("f", "direct", 1, False, False),
        ("a.b", "method", 1, True, False),
        ("super().m", "super", 1, False, True),
        ("super", "direct", 0, False, False),
        (None, "dynamic", 0, False, False),
        ("d[]", "dynamic", 2, False, False),
    ]
    assert [text(walk, each["callee"]) for each in calls][:2] == ["f", "a.b"]  # type: ignore[arg-type]
    arguments = rows_of(evidence.arguments)
    last = [(each["idx"], each["keyword"], each["star"]) for each in arguments if each["call"] == 5]
    assert last == [(0, None, None), (1, "b", None)]


def test_classes_with_their_bases_and_what_is_written_about_them() -> None:
    source = (
        "class A: ...\n"
        "@dataclass(frozen=True)\nclass B(A, m.Protocol[T], metaclass=abc.ABCMeta): ...\n"
        "class E(enum.Enum): ...\nclass F(ABC): ..."
    )
    walk, evidence = found(source)
    told = [
        (text(walk, each["node"]), each["base_idx"], each["base_text"], each["metaclass"])  # type: ignore[arg-type]
        for each in rows_of(evidence.classes)
    ]
    assert told == [
        ("A", None, None, None),
        ("B", 0, "A", "abc.ABCMeta"),
        ("B", 1, "m.Protocol[]", "abc.ABCMeta"),
        ("E", 0, "enum.Enum", None),
        ("F", 0, "ABC", None),
    ]
    columns = evidence.classes
    assert columns.is_dataclass == [False, True, True, False, False]
    assert columns.is_protocol == [False, True, True, False, False]
    assert columns.is_enum == [False, False, False, True, False]
    assert columns.is_abstract == [False, True, True, False, True]


def test_imports_and_the_circumstances_they_stand_in() -> None:
    source = (
        "import a.b as c, d\n"
        "from ..e import f as g\nfrom . import h\nfrom i import *\n"
        "if TYPE_CHECKING:\n import j\nelse:\n import k\n"
        "try: import l\nexcept ImportError: import m\n"
        "def n():\n import o\n if x:\n  import p\n"
        "if typing.TYPE_CHECKING:\n if y:\n  import q\n"
    )
    _, evidence = found(source)
    told = [
        tuple(each[name] for name in ("kind", "module", "name", "asname", "level"))
        for each in rows_of(evidence.imports)
    ]
    assert told[:5] == [
        ("import", "a.b", None, "c", 0),
        ("import", "d", None, None, 0),
        ("from", "e", "f", "g", 2),
        ("from", None, "h", None, 1),
        ("star", "i", None, None, 0),
    ]
    flags = {
        each["module"]: [name for name in ("is_type_checking", "is_conditional", "is_lazy") if each[name]]
        for each in rows_of(evidence.imports)[5:]
    }
    assert flags == {
        "j": ["is_type_checking"],
        "k": ["is_conditional"],
        "l": ["is_conditional"],
        "m": ["is_conditional"],
        "o": ["is_lazy"],
        "p": ["is_conditional", "is_lazy"],
        "q": ["is_type_checking", "is_conditional"],
    }


def test_names_as_people_write_them() -> None:
    texts = ["a", "a.b.c", "a().b", "a[0].c", "(1).real", "1", "x" * 300]
    assert [written(ast.parse(each, mode="eval").body) for each in texts] == [
        *("a", "a.b.c", "a().b", "a[].c", "….real", None),
        "x" * 200,
    ]
