"""Files and functions that fit a screen or two, with names that say what is inside."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = tuple(sorted((ROOT / "src").rglob("*.py")))
TESTS = tuple(sorted((ROOT / "tests").rglob("*.py")))
SCRIPTS = tuple(sorted(path for folder in ("scripts", "bench") for path in (ROOT / folder).rglob("*.py")))

SOURCE_LINES = 400
TEST_LINES = 600
FUNCTION_LINES = 50
# A file over the limit, and why it is one file all the same.
LONG_FILES = {"src/headwater/errors.py": "one class per failure, in one drawing; the tree is read as a whole"}
FORBIDDEN = frozenset(
    {"utils", "util", "helpers", "helper", "common", "core", "misc", "base", "types"}
    | {"models", "model", "manager", "handler", "service"}
)


def shown(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def length_of(path: Path) -> int:
    return len(path.read_text("utf-8").splitlines())


def test_source_files_have_at_most_400_lines() -> None:
    long = {shown(path): length_of(path) for path in (*SOURCES, *SCRIPTS) if length_of(path) > SOURCE_LINES}
    assert set(long) <= set(LONG_FILES), long


def test_the_list_of_long_files_is_not_stale() -> None:
    assert [name for name in LONG_FILES if length_of(ROOT / name) <= SOURCE_LINES] == []


def test_test_files_have_at_most_600_lines() -> None:
    assert {shown(path): length_of(path) for path in TESTS if length_of(path) > TEST_LINES} == {}


def test_functions_have_at_most_50_lines() -> None:
    long: dict[str, int] = {}
    for path in (*SOURCES, *SCRIPTS, *TESTS):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > FUNCTION_LINES:
                    long[f"{shown(path)}:{node.lineno} {node.name}"] = lines
    assert long == {}


@pytest.mark.parametrize("path", [*SOURCES, *SCRIPTS], ids=shown)
def test_a_module_says_what_it_is(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text("utf-8")))


def test_no_file_or_folder_has_a_name_that_says_nothing() -> None:
    named = {
        part for path in (*SOURCES, *SCRIPTS) for part in (path.stem, *path.relative_to(ROOT).parts[:-1])
    }
    assert not named & FORBIDDEN
