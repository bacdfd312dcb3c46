"""A notebook is one text of Python, with blanks where it is not Python."""

from __future__ import annotations

import ast
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.cpg.extract import extract_syntax
from headwater.cpg.extract.evidence import Diagnostic
from headwater.cpg.extract.notebooks import Notebook, masked, read_notebook

if TYPE_CHECKING:
    from headwater.cpg.extract import SyntaxEvidence

PYTHON = {"language_info": {"name": "python"}}


def code(source: str | list[str]) -> dict[str, Any]:
    return {"cell_type": "code", "source": source, "outputs": [], "metadata": {}}


def notebook(*cells: dict[str, Any], metadata: Any = PYTHON) -> bytes:
    return json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4}).encode()


def read(content: bytes) -> Notebook:
    found = read_notebook(content)
    assert isinstance(found, Notebook)
    return found


def extracted(content: bytes) -> SyntaxEvidence:
    return extract_syntax("repo", "a/study.ipynb", content)


WORDS: dict[str, Any] = {"cell_type": "markdown", "source": ["# A title\n"], "metadata": {}}


def test_code_cells_are_one_text() -> None:
    found = read(notebook(WORDS, code(["x = 1\n", "y = 2"]), WORDS, code("z = 'é'"), code([])))
    assert found.source.text == "x = 1\ny = 2\nz = 'é'\n\n"
    assert found.cells == [(1, 0, 11), (3, 12, 20), (4, 21, 21)]


def test_the_third_format_is_read() -> None:
    sheets: list[dict[str, Any]] = [
        {"cells": [{"cell_type": "code", "input": "x = 1", "language": "python"}, WORDS]},
        {
            "cells": [
                {"cell_type": "code", "input": ["y"]},
                {"cell_type": "code", "input": "z", "language": "R"},
            ]
        },
    ]
    found = read(json.dumps({"worksheets": sheets, "metadata": {"name": ""}, "nbformat": 3}).encode())
    assert (found.source.text, found.cells) == ("x = 1\ny\n", [(0, 0, 5), (2, 6, 7)])


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        pytest.param("%matplotlib inline\nx", "                  \nx", id="line magic"),
        pytest.param("x\n  !ls 'a\ny", "x\n        \ny", id="shell"),
        pytest.param("!pip install \\\n  a\nx", "              \n   \nx", id="shell on two lines"),
        pytest.param("files = !ls\nx", "           \nx", id="assigned shell"),
        pytest.param("a, b = %time f()\nx", "                \nx", id="assigned magic"),
        pytest.param("x?\ny.z??\n?w\nv", "  \n     \n  \nv", id="help"),
        pytest.param("%%bash\nls\n", "      \n  \n", id="cell magic"),
        pytest.param("\n%%time\nx = 1", "\n      \nx = 1", id="cell magic around Python"),
        pytest.param("x = (a\n  % b)\n%c", "x = (a\n  % b)\n  ", id="modulo in brackets"),
        pytest.param("x = a \\\n  % b\n%c", "x = a \\\n  % b\n  ", id="modulo on another line"),
        pytest.param("x = '''\n%c\n'''\n!d", "x = '''\n%c\n'''\n  ", id="in a string"),
        pytest.param("x = '(' # [\n!d", "x = '(' # [\n  ", id="brackets in strings and comments"),
        pytest.param("x = 'a\n!d", "x = 'a\n  ", id="open string"),
        pytest.param("x = )\n!d", "x = )\n  ", id="closed too often"),
        pytest.param("x != y; x %= 2; z = x != y\nx == 1", "x != y; x %= 2; z = x != y\nx == 1", id="Python"),
        pytest.param("%é\r\nx", "   \r\nx", id="bytes and line ends"),
    ],
)
def test_what_is_not_python_is_blank(cell: str, expected: str) -> None:
    assert masked(cell.encode()) == expected.encode()


@given(st.text("%!?x='\"\\([])#é \n\r", max_size=40).map(str.encode))
def test_a_mask_keeps_every_place(cell: bytes) -> None:
    found = masked(cell)
    assert len(found) == len(cell)
    assert all(now in {was, ord(" ")} for was, now in zip(cell, found, strict=True))
    assert [was in b"\r\n" for was in cell] == [now in b"\r\n" for now in found]


@given(st.from_regex(r"(x = (\(a\n% b\)|'''\n!c\n'''|\[1,\n\n%2\])\n)*", fullmatch=True).map(str.encode))
def test_python_itself_is_not_masked(cell: bytes) -> None:
    assert masked(cell) == cell


def test_spans_are_in_the_joined_cells() -> None:
    evidence = extracted(notebook(WORDS, code("%load_ext é\nx = 'é'"), code("def f():\n    return x")))
    text = "%load_ext é\nx = 'é'\ndef f():\n    return x\n".encode()
    nodes, file = evidence.nodes, evidence.file
    row = nodes.ast_kind.index("FunctionDef")
    assert text[nodes.bstart[row] : nodes.bend[row]] == b"def f():\n    return x"
    assert (nodes.bend[0], nodes.bend[1], file.text_bytes) == (len(text),) * 3
    assert (file.language, file.encoding, file.newline, file.parse_status) == (
        "notebook",
        "utf-8",
        "\n",
        "ok",
    )
    assert file.line_starts == [0, 13, 22, 31]
    assert file.notebook_cell_map == [(1, 0, 21), (2, 22, 43)]
    assert (file.module_fqn, nodes.name[:2]) == (None, ["study.ipynb", None])


def test_a_file_that_is_no_notebook_is_its_own_text() -> None:
    file = extract_syntax("repo", "a.py", "# coding: latin-1\n'é'".encode("latin-1")).file
    assert (file.text_bytes, file.notebook_cell_map) == (21, None)


def test_a_broken_cell_leaves_the_others() -> None:
    evidence = extracted(notebook(code("x = ("), code("def f(): pass"), code("print 'a'")))
    assert evidence.file.parse_status == "recovered"
    assert "f" in evidence.nodes.qualname
    assert [each.code for each in evidence.diagnostics[1:]] == ["not-parsed", "not-parsed"]


def test_a_block_of_magics_is_an_error_without_a_text() -> None:
    evidence = extracted(notebook(code("if x:\n    !ls\ny = 1")))
    assert evidence.file.parse_status == "recovered"
    assert evidence.nodes.ast_kind[2:5] == ["If", "Name", "Error"]
    assert (evidence.nodes.bstart[4], evidence.nodes.bend[4]) == (5, 5)


def test_await_may_stand_in_a_cell() -> None:
    assert extracted(notebook(code("await x"))).diagnostics == ()
    assert [each.stage for each in extracted(notebook(code("return x"))).diagnostics] == ["compile"]


@pytest.mark.parametrize(
    ("content", "code_", "place"),
    [
        pytest.param(b'{"a": "\xc3\xa9", }', "broken-notebook", 12, id="no JSON"),
        pytest.param(b"", "broken-notebook", 0, id="empty"),
        pytest.param(b'{"a": "\xff"}', "broken-notebook", None, id="no UTF-8"),
        pytest.param(b"[" * 100_000, "broken-notebook", None, id="too deep"),
        pytest.param(b"[]", "broken-notebook", None, id="a list"),
        pytest.param(b"1", "broken-notebook", None, id="a number"),
        pytest.param(b"{}", "broken-notebook", None, id="no cells"),
        pytest.param(b'{"cells": {"a": 1}}', "broken-notebook", None, id="cells of another form"),
        pytest.param(
            notebook(code("x"), metadata=[]), "broken-notebook", None, id="metadata of another form"
        ),
        pytest.param(notebook(code("x\0")), "null-bytes", None, id="null bytes"),
        pytest.param(notebook(code("'\ud800'")), "undecodable", None, id="no character"),
    ],
)
def test_what_is_no_notebook_says_why(content: bytes, code_: str, place: int | None) -> None:
    found = read_notebook(content)
    assert isinstance(found, Diagnostic)
    assert (found.stage, found.source, found.severity, found.code) == ("read", "headwater", "error", code_)
    assert (found.bstart, found.bend) == (place, place)
    evidence = extracted(content)
    assert (evidence.file.parse_status, evidence.nodes.node_kind) == ("failed", ["FILE"])
    assert (evidence.file.text_bytes, evidence.file.notebook_cell_map) == (len(content), None)


@pytest.mark.parametrize(
    "metadata", [{"language_info": {"name": "R"}}, {"kernelspec": {"name": "ir", "language": "R"}}]
)
def test_another_language_is_left_out(metadata: dict[str, Any]) -> None:
    evidence = extracted(notebook(code("x <- 1"), metadata=metadata))
    assert [(each.code, each.severity) for each in evidence.diagnostics] == [("other-language", "warning")]
    assert (evidence.file.parse_status, evidence.nodes.node_kind) == ("skipped", ["FILE"])


@pytest.mark.parametrize("metadata", [{}, {"kernelspec": {"language": "python3"}}])
def test_python_is_the_language_of_a_notebook_that_names_no_other(metadata: dict[str, Any]) -> None:
    assert extracted(notebook(code("x"), metadata=metadata)).file.parse_status == "ok"


def test_a_notebook_without_code_is_an_empty_module() -> None:
    evidence = extracted(notebook(WORDS))
    assert (evidence.file.parse_status, evidence.file.line_count) == ("ok", 0)
    assert evidence.nodes.node_kind == ["FILE", "MODULE"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["cells", "worksheets", "cell_type", "source", "input", "metadata", "kernelspec"]
            ),
            inner | st.just("code"),
            max_size=4,
        )
    ),
)


@given(JSON)
def test_no_json_is_an_error(document: object) -> None:
    evidence = extracted(json.dumps(document).encode())
    assert evidence.nodes.bend[0] == evidence.file.text_bytes


def test_each_statement_of_joined_cells_parses_as_in_its_cell() -> None:
    cells = ["import a\n%b\nx = a.f(1)", "for y in x:\n    print(y)", "class C:\n    z = 1"]
    found = read(notebook(*[code(cell) for cell in cells]))
    alone = [ast.dump(each) for cell in cells for each in ast.parse(cell.replace("%b", "")).body]
    assert [ast.dump(each) for each in ast.parse(found.source.text).body] == alone
