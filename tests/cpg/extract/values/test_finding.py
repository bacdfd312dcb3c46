"""Value facts of one file: what they say, one example per rule, and that no file is too much for them."""

from __future__ import annotations

import ast
import sysconfig
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.cpg.extract.assembly import find_facts
from headwater.cpg.extract.syntax import walk_file
from headwater.cpg.extract.values import OPS, ValueColumns, find_values

LIBRARY = Path(sysconfig.get_path("stdlib"))
# What says nothing of its own: who runs what, and what names of the module are.
FRAME = {"in", "member", "async_function", "builtin", "function", "class", "const", "export", "field"}
# And which nodes are returned, tried and raised, of which values say nothing.
NODES = {"formatted", "returned", "yielded", "raised", "try", "catch"}

IMPORTS = {"from", "star", "import", "import_as"}


def value_columns(source: str) -> tuple[ValueColumns, int, int]:
    """The value facts of a file, and how many nodes and bindings it has."""
    walked = walk_file("repo", "main.py", source.encode())
    assert walked.module is not None
    found = find_facts(walked.module, walked.walk, walked.source, walked.syntax.nodes, [])
    bindings = found.scopes.bindings.resolves_to
    meant = [number if there is None else there for number, there in enumerate(bindings)]
    nodes = walked.syntax.nodes
    values = find_values(walked.walk.rows, nodes.owner, found.scopes, meant, (found.defined, found.used))
    return values, len(nodes.node_id), len(bindings)


def facts(source: str, *ops: str) -> list[tuple[object, ...]]:
    """The facts of these ops, or all that are no frame, with nodes as they are written."""
    columns, _, _ = value_columns(source)
    rows = walk_file("repo", "main.py", source.encode()).walk.rows

    def told(variable: int) -> str | None:
        if variable == -1:
            return None
        if variable < 0:
            return f"b{-2 - variable}"
        node = rows[variable][0]
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            return node.name
        return "module" if isinstance(node, ast.Module) else ast.unparse(node).partition("\n")[0]

    found = zip(columns.op, columns.target, columns.source, columns.text, strict=True)
    return [
        (OPS[op], told(target), told(origin) if OPS[op] not in IMPORTS else origin, text)
        for op, target, origin, text in found
        if (OPS[op] in ops if ops else OPS[op] not in FRAME | NODES)
    ]


def test_a_name_stands_for_the_definition_that_reaches_it() -> None:
    source = "def f(): ...\ndef g(): ...\na = f\na()\na = g\na()"
    assert facts(source, "call") == [("call", "a()", "f", None), ("call", "a()", "g", None)]


def test_names_that_definitions_meet_at_share_one_variable() -> None:
    source = "def h(c, f, g):\n if c:\n  a = f\n else:\n  a = g\n a()\n a()"
    calls = facts(source, "call")
    assert calls[0][2] == calls[1][2] == "a"
    assert [fact[2] for fact in facts(source, "copy")[:2]] == ["a", "a"]


def test_a_name_of_another_scope_stands_for_all_its_definitions() -> None:
    ((_, _, source, _),) = facts("x = 1\ndef f():\n x()\nx = 2", "call")
    assert source == "b0"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x.a", [("attr", "x.a", "b0", "a")]),
        ("def f(x, y):\n x.a = y", [("copy", "x.a", "y", None), ("set_attr", "x.a", "x", "a")]),
        ("def f(x):\n x['k']", [("item", "x['k']", "x", "sk")]),
        ("def f(x, k):\n x[k]", [("item_by", "x[k]", "x", None), ("key", None, "k", None)]),
        ("def f(x):\n x[1:-1]", [("item", "x[1:-1]", "x", ":1:-1")]),
        ("def f(x, y):\n x[0] = y", [("copy", "x[0]", "y", None), ("set_item", "x[0]", "x", "i0")]),
        (
            "def f(x):\n a, *b, c = x",
            [
                ("unpack", "a", "x", "i0"),
                ("unpack", "*b", "x", ":1:1"),
                ("unpack", "c", "x", "-1"),
                ("copy", "b", "*b", None),
            ],
        ),
        ("def f(x):\n for a in x: ...", [("iterate", "for a in x:", "x", None)]),
        ("def f(x):\n with x as a: ...", [("enter", "x as a", "x", None)]),
        ("def f(x):\n return x", [("returns", "f", "x", None)]),
        ("def f(x):\n yield x", [("yields", "f", "x", None)]),
        ("async def f(x):\n await x", [("await", "await x", "x", None)]),
        ("def f(x):\n -x", [("operator", "-x", "x", "__neg__")]),
        ("def f(x, y):\n x + y", [("operator", "x + y", "x", "__add__"), ("arg", "y", "y", None)]),
        ("def f(x, y):\n y in x", [("operator", "", "x", "__contains__"), ("arg", "y", "y", None)]),
        ("def f(x, y):\n x or y", [("copy", "x or y", "x", None), ("copy", "x or y", "y", None)]),
        ("def f(x):\n raise x", [("raise", "raise x", "x", None)]),
        ("def f(x):\n try: ...\n except x as e: ...", [("instance", "except x as e:", "x", None)]),
        ("import a.b", [("import", "a.b", 0, "a.b")]),
        ("import a.b as c", [("import_as", "a.b as c", 0, "a.b")]),
        ("from ..a import b", [("from", "b", 2, "a b")]),
        ("from a import *", [("star", "*", 0, "a")]),
    ],
)
def test_each_kind_of_node_says_its_own(source: str, expected: list[tuple[object, ...]]) -> None:
    found = [fact for fact in facts(source) if fact[0] != "param"]
    assert [fact for fact in found if fact[:2] != ("copy", "b0")] == expected


def test_a_call_has_its_arguments_behind_it() -> None:
    assert facts("def g(f, a, b, c, d):\n f(a, *b, k=c, **d)", "call", "arg") == [
        ("call", "f(a, *b, k=c, **d)", "f", None),
        ("arg", "a", "a", None),
        ("arg", "*b", "b", "*"),
        ("arg", "k=c", "c", "k"),
        ("arg", "**d", "d", "**"),
    ]


def test_decorators_come_before_their_def_and_the_nearest_first() -> None:
    found = facts("def a(f): ...\ndef b(f): ...\n@a\n@b\ndef g(): ...", "decorator", "function")
    assert [fact[:3] for fact in found[2:]] == [
        ("decorator", "b", "b"),
        ("decorator", "a", "a"),
        ("function", "g", "module"),
    ]


def test_parameters_have_their_kinds_and_defaults() -> None:
    found = facts("def f(a, /, b, *c, d=1, **e): ...", "param", "default")
    assert [fact[3] for fact in found if fact[0] == "param"] == ["/a", "ab", "*c", "kd", "&e"]
    assert [fact[1] for fact in found if fact[0] == "default"] == ["d"]


@pytest.mark.parametrize(
    ("annotation", "classes"),
    [("C", ["b0"]), ("C | None", ["b0"]), ("'C'", [None]), ("list[C]", ["b1"]), ("type[C]", [])],
)
def test_annotations_name_classes(annotation: str, classes: list[str | None]) -> None:
    found = facts(f"class C: ...\ndef f(a: {annotation}): ...", "annotation")
    assert len([fact for fact in found if fact[1] == f"a: {annotation}"]) == len(classes)


@pytest.mark.parametrize(
    ("source", "is_known"),
    [
        ("d = {'a': f}\nd['a']()", True),
        ("d['a'] = f\nd['a']()", True),
        ("d.x = f\nd.x()", True),
        ("d.update({'a': f})\nd['a']()", True),
        ("d['a'] = f\nf()\nd['a']()", False),
        ("d['a'] = f\nd = g\nd['a']()", False),
        ("d['a'] = f\ne['a'] = g\nd['a']()", False),
        ("d['a'] = f\nif g: ...\nd['a']()", False),
        ("d['a'] = f\nd['b']()", False),
        ("d['a'] = f\nf(g(), d['a'])()", False),
        ("d['a'] = f\nx = d['a']", True),
    ],
)
def test_what_was_just_stored_is_what_is_read(source: str, is_known: bool) -> None:
    lines = "\n ".join(source.split("\n"))
    found = facts(f"def h(d, e, f, g):\n {lines}", "item", "attr")
    reads = [fact for fact in found if str(fact[1]) in {"d['a']", "d.x", "d['b']"}]
    assert not reads if is_known else len(reads) == 1


def test_private_names_are_those_that_python_knows() -> None:
    source = "class _C:\n def m(self):\n  self.__a"
    assert [fact[3] for fact in facts(source, "attr")] == ["_C__a"]


@given(
    st.lists(st.sampled_from(["a = b", "b = a", "if a: a = b", "while b: b = a", "a()", "b()"]), max_size=9)
)
def test_names_of_names_come_to_an_end(lines: list[str]) -> None:
    columns, nodes, bindings = value_columns("\n".join(["a = b = None", *lines]))
    for target in columns.target:
        assert -2 - bindings < target < nodes


def test_thousands_of_branches_are_no_matter() -> None:
    source = "a = b = f\n" + "if a: a = b\nif b: b = a\n" * 2000
    assert len(value_columns(source)[0].op) < 100_000


@pytest.mark.parametrize("path", sorted(LIBRARY.glob("*.py"))[:60], ids=lambda path: path.name)
def test_files_of_the_standard_library_have_facts(path: Path) -> None:
    found = value_columns(path.read_text(encoding="utf-8"))[0]
    assert len(found.op) == len(found.target) == len(found.source) == len(found.text)


def test_what_is_returned_and_yielded_is_told_by_its_node() -> None:
    source = "def f(a):\n b = a\n return b\ndef g(c):\n yield c\n yield from c\nh = lambda: 1"
    assert facts(source, "returned", "yielded") == [
        ("returned", "f", "b", None),
        ("yielded", "g", "c", None),
        ("yielded", "g", "c", "from"),
        ("returned", "lambda: 1", "1", None),
    ]


def test_what_is_put_into_a_text_is_told() -> None:
    source = "def f(a):\n return f'x{a}'"
    assert [each[0] for each in facts(source, "formatted")] == ["formatted"]


def test_what_is_tried_is_told_with_what_is_caught() -> None:
    source = "class E(Exception): ...\ntry:\n f()\n g()\nexcept (E, KeyError):\n pass\nexcept:\n raise"
    found = facts(source, "try", "catch")
    assert found[0][:2] == ("try", "f()")
    assert [(op, text) for op, _, _, text in found[1:]] == [
        ("catch", None),
        ("catch", None),
        ("catch", "again"),
    ]
    assert found[1][2] == "E"
    assert found[3][2] is None


def test_what_is_raised_is_told_by_its_class_or_its_value() -> None:
    source = "class E(Exception): ...\ndef f(e):\n if e:\n  raise E('a')\n"
    source += " if e.a:\n  raise E\n if e.b:\n  raise\n raise e"
    found = [(op, source) for op, _, source, _ in facts(source, "raised")]
    assert [op for op, _ in found] == ["raised"] * 3
    assert found[2][1] == "e"
