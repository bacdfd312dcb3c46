"""Habits of the source that no linter knows."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "headwater"
SOURCES = tuple(path for path in sorted(SOURCE.rglob("*.py")) if "template" not in path.parts)

READS_A_DIRECTORY = frozenset({"iterdir", "glob", "rglob", "listdir", "scandir", "walk", "iglob"})
SETTLES_THE_ORDER = frozenset({"sorted", "any", "next"})  # `any` and `next` ask whether there is one at all
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|NotImplementedError)\b")


def shown(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def parents_of(tree: ast.AST) -> dict[ast.AST, ast.AST]:
    return {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}


def called_name(node: ast.AST) -> str:
    if not isinstance(node, ast.Call):
        return ""
    name = ast.unparse(node.func)
    return name if name == "ast.walk" else name.rpartition(".")[2]


def unsorted_reads(text: str) -> list[int]:
    """The lines that read a directory in whatever order the file system likes."""
    tree = ast.parse(text)
    parents = parents_of(tree)
    lines: list[int] = []
    for node in ast.walk(tree):
        if called_name(node) not in READS_A_DIRECTORY or not isinstance(node, ast.Call):
            continue
        above: ast.AST | None = node
        while above is not None and not isinstance(above, ast.stmt):
            if called_name(above) in SETTLES_THE_ORDER:
                break
            above = parents.get(above)
        if above is None or isinstance(above, ast.stmt):
            lines.append(node.lineno)
    return lines


def imports_inside_functions(text: str) -> list[int]:
    return [
        inner.lineno
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for inner in ast.walk(node)
        if isinstance(inner, ast.Import | ast.ImportFrom)
    ]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("for p in folder.iterdir(): pass", [1]),
        ("for p in sorted(folder.iterdir()): pass", []),
        ("names = sorted(p.name for p in folder.glob('*') if p.is_file())", []),
        ("names = [p.name for p in folder.glob('*')]\nnames.sort()", [1]),
        ("empty = not any(folder.iterdir())", []),
        ("first = next(os.scandir(folder), None)", []),
        ("for _, _, files in os.walk(folder): pass", [1]),
        ("for node in ast.walk(tree): pass", []),
    ],
)
def test_the_search_for_unsorted_reads_finds_them(text: str, lines: list[int]) -> None:
    assert unsorted_reads(text) == lines


def test_every_directory_is_read_in_sorted_order() -> None:
    found = [f"{shown(path)}:{line}" for path in SOURCES for line in unsorted_reads(path.read_text("utf-8"))]
    assert not found, "sort on the statement that reads the directory"


# Who asks a server waits for the import of all that is at the top, and needs nothing of the engine.
LATE = frozenset({"cli/ask.py", "cli/sharing.py"})


def test_imports_stand_at_the_top() -> None:
    found = [
        f"{shown(path)}:{line}"
        for path in SOURCES
        if path.relative_to(SOURCE).as_posix() not in LATE
        for line in imports_inside_functions(path.read_text("utf-8"))
    ]
    assert not found


def test_only_the_command_line_prints() -> None:
    found = [
        f"{shown(path)}:{node.lineno}"
        for path in SOURCES
        if path.relative_to(SOURCE).parts[0] != "cli"
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert not found


def test_nothing_is_left_unfinished() -> None:
    found = [
        f"{shown(path)}:{number}"
        for path in SOURCES
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if UNFINISHED.search(line)
    ]
    assert not found
