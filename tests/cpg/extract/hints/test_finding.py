"""Hints of one file: what they say, one example per rule, and that no file is too much for them."""

from __future__ import annotations

import ast
import sys
import sysconfig
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.cpg.extract.assembly import find_facts
from headwater.cpg.extract.hints import HINTS, HintColumns, NotAType, find_hints, parse_term
from headwater.cpg.extract.hints.writing import written
from headwater.cpg.extract.syntax import walk_file

LIBRARY = Path(sysconfig.get_path("stdlib"))
TYPE_PARAMETERS: list[tuple[str, set[str]]] = [
    ("def f[T](x: T) -> T: ...", {"T"}),
    ("class C[U]: ...", {"U"}),
    ("type A[V] = list[V]", {"V", "list[V]"}),
]
OF_THIS_PYTHON: list[tuple[str, set[str]]] = TYPE_PARAMETERS if sys.version_info >= (3, 12) else []
NAMES = {"name", "alias", "typevar"}  # hints whose target is a variable


def hint_columns(source: str) -> tuple[HintColumns, list[str | None], int, int]:
    """The hints of a file, the names of its nodes, and how many of the tree and bindings there are."""
    walked = walk_file("repo", "main.py", source.encode())
    assert walked.module is not None
    nodes = walked.syntax.nodes
    facts = find_facts(walked.module, walked.walk, walked.source, nodes, [])
    names = [*nodes.name, *facts.added.name]
    count = len(nodes.node_id)
    return find_hints(walked.walk, facts.scopes, count), names, count, len(facts.scopes.bindings.name)


def hints(source: str, *ops: str) -> list[tuple[str, str | None, str | None]]:
    """The hints of these ops, with nodes as they are called."""
    columns, names, _, _ = hint_columns(source)
    return [
        (HINTS[op], None if HINTS[op] in NAMES else names[target], text)
        for op, target, text in zip(columns.op, columns.target, columns.text, strict=True)
        if HINTS[op] in ops
    ]


def annotation(text: str) -> str:
    return written(ast.parse(text, mode="eval").body, {})


@pytest.mark.parametrize(
    ("annotated", "text"),
    [
        ("int", "int"),
        ("a.b.C", "a.b.C"),
        ("'C'", "C"),
        ("list['C']", "list[C]"),
        ("'list[C] | None'", "list[C] | None"),
        ("Optional['C']", "Optional[C]"),
        ("int | str | None", "int | str | None"),
        ("Callable[[int, str], bool]", "Callable[[int, str], bool]"),
        ("Callable[..., T]", "Callable[..., T]"),
        ("Literal['a', 1, -1, None, E.A]", "Literal['a', 1, -1, None, E.A]"),
        ("Annotated[int, Meta(1), 'x']", "Annotated[int]"),
        ("tuple[()]", "tuple[()]"),
        ("tuple[int, *Ts]", "tuple[int, *Ts]"),
        ("dict[str, int,]", "dict[str, int]"),
    ],
)
def test_an_annotation_is_written_without_quotes_and_data(annotated: str, text: str) -> None:
    assert annotation(annotated) == text
    parse_term(text)


@pytest.mark.parametrize(
    "annotated",
    ["f(x)", "1", "'a b'", "'('", "x if y else z", "int & str", "(int, str)", "f().x", "Literal[1.5]"],
)
def test_what_is_no_type_is_not_written(annotated: str) -> None:
    with pytest.raises(NotAType):
        annotation(annotated)


def test_what_is_too_long_or_too_deep_is_not_written() -> None:
    for annotated in ("x" * 500, "list[" * 60 + "int" + "]" * 60, f"'{'x' * 500}'"):
        with pytest.raises(NotAType):
            annotation(annotated)


def test_parameters_returns_and_names_are_annotated() -> None:
    source = "def f(a: int, /, b: str, *c: A, d: B, **e: C) -> D: ...\nx: int\nclass K:\n y: str = ''\n"
    source += " def __init__(self):\n  self.z: bytes = b''\n"
    assert set(hints(source, "annotation")) == {
        ("annotation", "a", "int"),
        ("annotation", "b", "str"),
        ("annotation", "c", "*A"),
        ("annotation", "d", "B"),
        ("annotation", "e", "**C"),
        ("annotation", "f", "D"),
        ("annotation", "x", "int"),
        ("annotation", "y", "str"),
        ("annotation", "z", "bytes"),
    }


def test_all_arguments_together_are_a_tuple() -> None:
    assert hints("def f(*a: *Ts): ...", "annotation") == [("annotation", "a", "tuple[*Ts]")]


def test_self_is_the_class_around() -> None:
    columns, names, _, _ = hint_columns("class C:\n def f(self) -> Self:\n  x: Self")
    sources = [names[each] for each, op in zip(columns.source, columns.op, strict=True) if op == 1]
    assert sources == ["C", "C"]


def test_literals_and_displays_are_defaults() -> None:
    source = "def f(a=1, b=None, c='', *, d=[], e=g(), h=-1.5, i=..., j=True): ...\nlambda k={}: k"
    assert hints(source, "default") == [
        ("default", "a", "int"),
        ("default", "b", "None"),
        ("default", "c", "str"),
        ("default", "d", "list"),
        ("default", "h", "float"),
        ("default", "j", "bool"),
        ("default", "k", "dict"),
    ]


def test_docstrings_speak_of_parameters_and_returns() -> None:
    source = 'def f(a, *b):\n """F.\n\n :type a: int\n :type b: str\n :type z: int\n :rtype: A\n """'
    assert hints(source, "docstring") == [
        ("docstring", "a", "int"),
        ("docstring", "b", "*str"),
        ("docstring", "f", "A"),
    ]


def test_the_docstring_of_a_class_speaks_of_its_constructor() -> None:
    source = 'class C:\n """C.\n\n :type a: int\n :rtype: int\n """\n'
    source += " def __init__(self, a): ...\n def f(self, a): ..."
    assert hints(source, "docstring") == [("docstring", "a", "int")]


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("class A: ...\nx: A", ["A"]),
        ("class A: ...\nx: 'A'", ["A"]),
        ("class A: ...\ndef f():\n class B: ...\n def g(x: A, y: 'B'): ...", ["A", "B"]),
        ("from __future__ import annotations\nclass A: ...\ndef f(x: A, y: A): ...", ["A"]),
        ("class A: ...\ndef f():\n x: A\n class A: ...\n y: A", ["A"]),
        ("class A: ...\ndef f(x: A): ...\ndef g():\n class A: ...\n def h(x: A): ...\n", ["A", "A"]),
    ],
)
def test_names_are_told_once_for_all_that_follow(source: str, told: list[str]) -> None:
    assert [text for _, _, text in hints(source, "name")] == told


def test_a_class_hides_its_names_from_functions_in_its_methods() -> None:
    source = "class A: ...\nclass C:\n class A: ...\n def f(self, x: 'A'):\n  def g(y: 'A'): ..."
    columns, _, count, _ = hint_columns(source)
    told = [target for op, target in zip(columns.op, columns.target, strict=True) if HINTS[op] == "name"]
    assert len(set(told)) == 2
    assert count > 0


def test_aliases_and_type_variables_are_told() -> None:
    source = """
from typing import Optional, TypeVar, TypeAlias, NewType
T = TypeVar("T")
A: TypeAlias = "dict[str, B]"
B = Optional[int]
Id = NewType("Id", int)
C = D | None
x = B[0]
E = F = list[int]
"""
    assert hints(source, "alias", "typevar") == [
        ("alias", None, "dict[str, B]"),
        ("typevar", None, "T"),
        ("alias", None, "Optional[int]"),
        ("alias", None, "int"),
        ("alias", None, "D | None"),
        ("alias", None, "list[int]"),
        ("alias", None, "list[int]"),
    ]


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("x = f()", ["x"]),
        ("x = None", [None]),
        ("x = f()\n x = None", ["x", None]),
        ("x = y", []),
        ("x = f()\n x = y", []),
        ("x, y = f()", ["x", "y"]),
        ("x, y = a, b", []),
        ("for x in f(): ...", ["x"]),
        ("with f() as x: ...", ["x"]),
        ("try: ...\n except E as x: ...", ["x"]),
        ("(x := f())", ["x"]),
        ("import x\n x = f()", []),
    ],
)
def test_values_of_local_names_are_told_if_all_are_known(body: str, names: list[str | None]) -> None:
    columns, called, _, _ = hint_columns(f"def g():\n {body}\n")
    found = [
        None if source == -1 else called[target]
        for op, target, source in zip(columns.op, columns.target, columns.source, strict=True)
        if HINTS[op] == "variable"
    ]
    assert found == names


def test_attributes_of_instances_are_told_with_their_class() -> None:
    source = "class C:\n def __init__(self):\n  self.a = f()\n  self.__b = None"
    assert hints(source, "attribute", "variable") == [
        ("attribute", "a", "a"),
        ("attribute", "__b", "_C__b"),
        ("variable", "__b", None),
    ]


@pytest.mark.parametrize(("source", "told"), [("def f(x): ...", set[str]()), *OF_THIS_PYTHON])
def test_type_parameters_and_type_statements(source: str, told: set[str]) -> None:
    assert {str(text) for _, _, text in hints(source, "typevar", "alias")} == told


def _ok(source: str) -> None:
    columns, names, count, bindings = hint_columns(source)
    for op, target, origin, text in zip(
        columns.op, columns.target, columns.source, columns.text, strict=True
    ):
        kind = HINTS[op]
        assert -2 - bindings < target < len(names)
        assert -2 - bindings < origin < count
        assert target >= 0 or kind in NAMES
        if text is not None and kind not in {"name", "typevar", "attribute"}:
            parse_term(text)


@pytest.mark.parametrize(
    "path",
    ["typing.py", "dataclasses.py", "asyncio/base_events.py", "concurrent/futures/thread.py", "ast.py"],
)
def test_files_of_the_library_say_what_can_be_read(path: str) -> None:
    _ok((LIBRARY / path).read_text("utf-8"))


@given(st.lists(st.sampled_from(["x: int\n", "x = None\n", "def f(x: 'x', *y: f) -> x: ...\n", "x = f\n"])))
def test_any_order_of_statements_says_what_can_be_read(lines: list[str]) -> None:
    _ok("".join(lines))
