"""A code object is told of the node that it was made of: the standard library's own code is the witness."""

from __future__ import annotations

import ast
import sysconfig
from pathlib import Path
from types import CodeType
from typing import Any, cast

import pytest

from headwater.cpg.extract import extract_file
from headwater.cpg.extract.codes import find_codes
from headwater.cpg.extract.scopes import find_scopes
from headwater.cpg.extract.syntax import walk_file

STANDARD = Path(sysconfig.get_path("stdlib"))
SUSPENDING = (ast.Yield, ast.YieldFrom, ast.Await)


def codes_of(source: str) -> list[tuple[str, str]]:
    """The text that each code object was made of, and its kind; of the module only its kind."""
    content = source.encode()
    found = extract_file("repo", "a.py", content)
    nodes = found.syntax.nodes
    texts = [content[nodes.bstart[each] : nodes.bend[each]].decode() for each in found.codes.node]
    return list(zip(["", *texts[1:]][: len(texts)], found.codes.kind, strict=True))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = 1", [("", "plain")]),
        ("@d\ndef f(): yield", [("", "plain"), ("def f(): yield", "generator")]),
        ("async def f(): yield", [("", "plain"), ("async def f(): yield", "async_generator")]),
        ("async def f(): await x", [("", "plain"), ("async def f(): await x", "coroutine")]),
        ("(x for x in y)", [("", "plain"), ("(x for x in y)", "generator")]),
        ("return", []),
        ("def f(:\n  pass", []),
    ],
    ids=["module", "generator", "async-generator", "coroutine", "genexpr", "refused", "broken"],
)
def test_code_of(source: str, expected: list[tuple[str, str]]) -> None:
    assert codes_of(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a[lambda: 1] = lambda: 2", ["lambda: 2", "lambda: 1"]),
        ("lambda a=lambda: 1: 2", ["lambda: 1", "lambda a=lambda: 1: 2"]),
        ("lambda: lambda: 1", ["lambda: lambda: 1", "lambda: 1"]),
        ("list(x for x in (y for y in z))", ["(x for x in (y for y in z))", "(y for y in z)"]),
    ],
    ids=["value-first", "default", "nested", "first-iterable"],
)
def test_of_several_on_one_line_each_has_its_own(source: str, expected: list[str]) -> None:
    assert sorted(text for text, _ in codes_of(source)[1:]) == sorted(expected)


def test_sizes_are_those_of_the_compiler() -> None:
    source = b"def f(a, *b, c, **d):\n    e = a\n    return lambda: e\n    a\n"
    columns = extract_file("repo", "a.py", source).codes
    sizes = zip(columns.arg_count, columns.local_count, columns.cell_count, columns.free_count, strict=True)
    assert list(sizes) == [(0, 0, 0, 0), (4, 4, 1, 0), (0, 0, 0, 1)]
    assert columns.line_count == [1, 3, 1], "the last line is never reached"
    assert all(each > 0 for each in (*columns.stack_size, *columns.instructions))


def all_codes(code: CodeType) -> list[CodeType]:
    inner = [const for const in code.co_consts if isinstance(const, CodeType)]
    return [code, *(each for one in inner for each in all_codes(one))]


def own_nodes(node: Any) -> list[ast.AST]:
    """What a def runs itself, without what is in defs, lambdas and comprehensions inside."""
    inner = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.GeneratorExp)
    pending = cast("list[ast.AST]", node.body if isinstance(node.body, list) else [node.body])
    found: list[ast.AST] = []
    while pending:
        found += pending
        kept = [
            each
            for each in pending
            if not isinstance(each, (*inner, ast.ListComp, ast.SetComp, ast.DictComp))
        ]
        pending = [child for each in kept for child in ast.iter_child_nodes(each)]
    return found


def parameters_of(args: ast.arguments) -> int:
    """How many names a function is called with."""
    named = (*args.posonlyargs, *args.args, *args.kwonlyargs)
    return len(named) + (args.vararg is not None) + (args.kwarg is not None)


def test_every_code_object_of_the_standard_library_is_told_of_its_node() -> None:
    met, wrong = 0, list[str]()
    files = [each for each in sorted(STANDARD.rglob("*.py")) if "site-packages" not in each.parts]
    for path in files[::12]:
        walked = walk_file("repo", path.name, path.read_bytes())
        if walked.module is None or walked.code is None:
            continue
        found = find_codes(walked.code, walked.walk, find_scopes(walked.module).scopes)
        named = [each for each in all_codes(walked.code) if not each.co_name.startswith("<generic")]
        nodes: list[Any] = [walked.walk.rows[row][0] for row in found.node]
        met += len(nodes)
        if len(nodes) != len(named) or len(set(found.node)) != len(nodes):
            wrong.append(f"{path}: {len(nodes)} of {len(named)}")
        for node, kind, count in zip(nodes, found.kind, found.arg_count, strict=True):
            args: ast.arguments | None = getattr(node, "args", None)
            if args is not None and count != parameters_of(args):
                wrong.append(f"{path}:{node.lineno}: {count} arguments")
            if isinstance(node, (ast.FunctionDef, ast.Lambda)):
                suspends = any(isinstance(each, SUSPENDING) for each in own_nodes(node))
                if kind == "plain" and suspends:
                    wrong.append(f"{path}:{node.lineno}: {kind}")
    assert not wrong
    assert met > 1_000
