"""Imports, and circles of them."""

from __future__ import annotations

import pytest
from code_sample import arrows, code_of, lines, small_repo

from headwater.cpg.questions import cycles, imports

CIRCLE = {
    "a.py": "import b\nx = 1\n",
    "b.py": "from c import y\n",
    "c.py": "import a\ny = 2\n",
    "late.py": "def f():\n    import later\n",
    "later.py": "from late import f\n",
}


def test_a_module_imports_and_is_imported() -> None:
    found = lines(imports(small_repo(), "library.text"))
    assert "[imported by] library/books.py:7 library.books imports library.text.normalised" in found
    assert "library.books -> library.text" in arrows(imports(small_repo(), "library.text"))
    of_books = lines(imports(small_repo(), "library.books"))
    assert "[imports] library/books.py:5 dataclasses.field imported" in of_books


def test_what_is_outside_is_imported_by_modules() -> None:
    assert lines(imports(small_repo(), "json")) == [
        "[imported by] library/store.py:3 library.store imports json"
    ]


def test_all_modules_are_told_once_for_each_pair() -> None:
    code = code_of(CIRCLE)
    assert arrows(imports(code)) == ["a -> b", "b -> c", "c -> a", "late -> later", "later -> late"]
    assert "late.py:2 late imports (lazy) later" in lines(imports(code))


def test_a_circle_is_told_by_the_imports_that_close_it() -> None:
    answer = cycles(code_of(CIRCLE))
    assert lines(answer) == [
        "[cycle 1, 3 modules] a.py:1 a imports b",
        "[cycle 1, 3 modules] b.py:1 b imports c",
        "[cycle 1, 3 modules] c.py:1 c imports a",
    ]
    assert answer.notes == (
        "1 cycle when modules are loaded.",
        "1 cycle more by imports in functions or for type checkers.",
    )


@pytest.mark.parametrize("files", [{"a.py": ""}, {"a.py": "import b\n", "b.py": ""}, {"a.py": "import a\n"}])
def test_most_repositories_have_none(files: dict[str, str]) -> None:
    answer = cycles(code_of(files))
    assert answer.findings == ()
    assert answer.notes == ("0 cycles when modules are loaded.",)


def test_a_group_of_modules_has_one_shortest_circle() -> None:
    files = {"a.py": "import b, c\n", "b.py": "import c\n", "c.py": "import a\n"}
    assert arrows(cycles(code_of(files))) == ["a -> c", "c -> a"]
