"""Facts about types: what each source says, which wins, and how sure it is."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from resolve_sample import values_of
from type_sample import hinted, typed, types_by

from headwater.cpg.resolve import TypeFactRows, TypeRows, resolve_files
from headwater.cpg.resolve.typefacts import SOURCES, SURE

NOBODY: set[str] = set()
FOO = "class Foo:\n def m(self): return 1\nclass Bar(Foo): ...\n"


@pytest.mark.parametrize(
    ("source", "name", "inferred"),
    [
        ("def f(x): ...\nf(Foo())", "f(x)", "main.Foo"),
        ("def f(x): ...\nf(Foo())\nf(Bar())", "f(x)", "main.Foo"),
        ("def f(x): ...\nf(1)\nf('a')", "f(x)", "int | str"),
        ("def f(x): ...\nf(x=Foo)", "f(x)", "type[main.Foo]"),
        ("def f(x): ...\nf(len)\nf(f)", "f(x)", "Callable"),
        ("def f(x, y=None): ...\nf(1, Foo())", "f(y)", "main.Foo | None"),
        ("def f(): return Foo()", "f", "main.Foo"),
        ("def f(x): return x\nf([])", "f", "list"),
        ("def f():\n yield 1", "f", "collections.abc.Generator"),
        ("async def f():\n yield 1", "f", "collections.abc.AsyncGenerator"),
        ("x = Foo()", "x", "main.Foo"),
        ("x = {}\nx = None", "x", "dict | None"),
        ("def f():\n x = Foo()", "f.x", "main.Foo"),
        ("def f():\n x = None\n x = Foo().m()", "f.x", "int | None"),
        ("def f():\n for x in [Foo()]: ...", "f.x", "main.Foo"),
        ("class C:\n def __init__(self): self.a = Foo()", "C.a", "main.Foo"),
        ("class C:\n a = Foo()", "C.a", "main.Foo"),
        ("class C:\n def f(self): ...", "C.f(self)", "main.C"),
        ("class C:\n @classmethod\n def f(cls): ...", "C.f(cls)", "type[main.C]"),
        ("class C:\n def __new__(cls): ...", "C.__new__(cls)", "type[main.C]"),
        ("import m\nx = m", "x", "module[m]"),
        ("import io\nx = io.StringIO()", "x", "io.StringIO"),
        ("import io\nx = io.StringIO", "x", "type[io.StringIO]"),
        ("x = open('a')", "x", "typing.IO"),
        ("x = (i for i in [])", "x", "collections.abc.Generator"),
    ],
)
def test_values_tell_types(source: str, name: str, inferred: str) -> None:
    assert types_by({"main.py": FOO + source, "m.py": ""}, "inferred")[name] == inferred


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("def f(x): ...", "f(x)"),
        ("def f(x=1): ...\nf()", "f(x)"),
        ("import a\nx = a.b()", "x"),
        ("def f():\n x = y", "f.x"),
        ("class C:\n @staticmethod\n def f(x): ...", "C.f(x)"),
        ("def f(x: Foo): ...", "f(x)"),
        ("def f() -> Foo: ...", "f"),
        ("def f(x): ...\n" + "".join(f"class A{n}: ...\nf(A{n}())\n" for n in range(12)), "f(x)"),
        ("import a\ndef f(x): ...\nf(Foo())\nf(a.b)", "f(x)"),
    ],
)
def test_what_is_not_known_is_not_inferred(source: str, name: str) -> None:
    """What comes of a default or an annotation alone is said by those."""
    assert name not in types_by(FOO + source, "inferred")


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("def f(x=1): ...", "int"),
        ("def f(x=None): ...", "Unknown | None"),
        ("def f(x=Foo()): ...", "main.Foo"),
        ("def f(x=Foo): ...", "type[main.Foo]"),
        ("Y = 'a'\ndef f(x=Y): ...", "str"),
    ],
)
def test_defaults_tell_types(source: str, told: str) -> None:
    assert types_by(FOO + source, "default")["f(x)"] == told


def test_docstrings_tell_types_whose_names_are_known() -> None:
    said = ":type a: Foo or None\n :type b: thing\n :type c: m.Other\n :rtype: list of Foo"
    source = f'{FOO}def f(a, b, c):\n """F.\n\n {said}\n """'
    assert types_by({"main.py": source, "m.py": "class Other: ..."}, "docstring") == {
        "f(a)": "main.Foo | None",
        "f(c)": "m.Other",
        "f": "list[main.Foo]",
    }


ALL = 'def f(x: {}=1):\n """F.\n\n :type x: {}\n """\nf({})'


def test_the_first_source_wins_and_all_are_kept() -> None:
    files = {"main.py": ALL.format("bytes", "str", "[]"), "main.pyi": "def f(x: bool): ..."}
    _, found = typed(files)
    assert [(each.source, each.type, each.is_winner) for each in found["f(x)"]] == [
        ("annotation", "bytes", True),
        ("stub", "bool", False),
        ("docstring", "str", False),
        ("inferred", "int | list", False),
        ("default", "int", False),
    ]


@pytest.mark.parametrize(
    ("source", "agreed"),
    [
        ('def f(x: Foo):\n """F.\n\n :type x: Foo\n """', {"annotation", "docstring"}),
        ('def f(x: Foo):\n """F.\n\n :type x: int\n """', NOBODY),
        ("def f(x: Foo): ...\nf(Bar())", {"annotation", "inferred"}),
        ("def f(x: Bar): ...\nf(Foo())", {"annotation", "inferred"}),
        ("def f(x: Bar): ...\nf(1)", NOBODY),
        ("def f(x: list[int] | None): ...\nf([])", {"annotation", "inferred"}),
        ("from typing import Sequence\ndef f(x: Sequence[int]): ...\nf([])", {"annotation", "inferred"}),
        ("def f(x: float = 1): ...", {"annotation", "default"}),
        ("from typing import Any\ndef f(x: Any): ...\nf(1)", NOBODY),
        ("def f(x: Nowhere): ...\nf(1)", NOBODY),
        ("def f(x: type[Foo]): ...\nf(int)", NOBODY),
        ("def f(x=1): ...\nf(2)\nf('a')", NOBODY),
        ("def f(x: Foo = None): ...", NOBODY),
    ],
)
def test_sources_that_agree_are_surer(source: str, agreed: set[str]) -> None:
    _, found = typed(FOO + source)
    assert {each.source for each in found["f(x)"] if each.confidence == SURE[each.source][1]} == agreed


def test_a_source_is_never_as_sure_as_the_one_before_it() -> None:
    assert all(alone < agreed for alone, agreed in SURE.values())
    assert all(SURE[before][0] > SURE[after][1] for before, after in pairwise(SOURCES))


def test_what_is_inferred_is_less_sure_where_not_all_is_known() -> None:
    _, found = typed(FOO + "def f():\n x = Foo()\n x = unknown()\n y = Foo()\n z = 1\n z = 'a'.join([])")
    assert [found[f"f.{name}"][0].confidence for name in "xyz"] == [0.5, 0.6, 0.5]


def test_types_are_there_once_with_all_that_they_are_made_of() -> None:
    rows, _ = typed(FOO + "x: dict[str, list[Foo] | None]\ny: dict[str, list[Foo] | None]")
    types = rows.types
    assert types.repr == sorted(set(types.repr))
    assert types.args[types.repr.index("dict[str, list[main.Foo] | None]")] == [
        "str",
        "list[main.Foo] | None",
    ]
    assert {each for args in types.args for each in args} <= set(types.repr)
    assert types.form[types.repr.index("list[main.Foo] | None")] == "union"


STATEMENTS = (
    "def f(x: int = 1): ...\n",
    "def f(x=None): return x\n",
    "f(Foo())\n",
    "x = f(1)\n",
    "x: 'Foo' = None\n",
    'def g(y):\n """G.\n\n :rtype: Foo\n """\n return f(y)\n',
)


@given(st.lists(st.sampled_from(STATEMENTS), max_size=6), st.lists(st.sampled_from(STATEMENTS), max_size=3))
def test_each_node_has_one_winner_and_each_source_once(own: list[str], others: list[str]) -> None:
    sources = {"a.py": FOO + "".join(own), "a.pyi": FOO + "".join(others), "b.py": "from a import *\nf(2)"}
    files = [hinted(path, source)[0] for path, source in sources.items()]
    rows, again = resolve_files(files), resolve_files(files[::-1])
    assert (rows.types, rows.type_facts) == (again.types, again.type_facts)
    facts = rows.type_facts
    keys = [
        (path, node, SOURCES.index(source))
        for path, node, source in zip(facts.path, facts.node, facts.source, strict=True)
    ]
    assert keys == sorted(set(keys))
    winners = [key[:2] for key, is_winner in zip(keys, facts.is_winner, strict=True) if is_winner]
    assert winners == sorted({key[:2] for key in keys})
    assert all(0 <= each < len(rows.types.repr) for each in facts.type)


def test_files_without_hints_have_no_types() -> None:
    rows = resolve_files([values_of("main.py", FOO + "x: int = 1")])
    assert (rows.types, rows.type_facts) == (TypeRows(), TypeFactRows())
    mixed = resolve_files(
        [values_of("m.py", "def f(x): ..."), hinted("n.py", "from m import f\nf(1)\ny = 1")[0]]
    )
    assert set(mixed.type_facts.path) == {"n.py"}
