"""What of a broken file is still in the graph: real files, broken at any place, are the witness."""

from __future__ import annotations

import ast
import sysconfig
import tokenize
import warnings
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
import tree_sitter_python
from hypothesis import given, settings
from hypothesis import strategies as st
from tree_sitter import Language, Parser

from headwater.cpg.extract import extract_syntax, fragments, syntax
from headwater.cpg.extract.fragments import Fragments
from headwater.cpg.extract.recovery import recover_module
from headwater.cpg.extract.source import SourceText, read_source

if TYPE_CHECKING:
    from headwater.cpg.extract import SyntaxEvidence

STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib"))
DEFINITIONS = ("function_definition", "class_definition")
BLOCKS = ("body", "handlers", "cases", "orelse", "finalbody")


def recovered(text: str) -> ast.Module:
    source = read_source(text.encode())
    assert isinstance(source, SourceText)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = recover_module(source)
    assert module is not None
    return module


def outline(text: str) -> list[str]:
    """Every statement's class and first line, indented by depth; headers without what is in them."""
    lines: list[str] = []

    def add(nodes: list[ast.AST], depth: int) -> None:
        for node in nodes:
            place = node.body[0] if isinstance(node, ast.match_case) else node
            segment = ast.get_source_segment(text, place) or ""
            lines.append(f"{'.' * depth}{type(node).__name__} {segment.partition(chr(10))[0]}".rstrip())
            for name in BLOCKS:
                inner: Any = getattr(node, name, None)
                if isinstance(inner, list):
                    add(cast("list[ast.AST]", inner), depth + 1)

    add(list(recovered(text).body), 0)
    return lines


# --- examples ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("x = 1\ny = = 2\nz = 3\n", ["Assign x = 1", "Error y = = 2", "Assign z = 3"], id="line"),
        pytest.param(
            "x = 1; print x; y = 2\n", ["Assign x = 1", "Error print x", "Assign y = 2"], id="semicolons"
        ),
        pytest.param("  x = 1\n", ["Assign x = 1"], id="indented too far"),
        pytest.param(
            "if x:\n\ta = 1\n        b = 2\nc = 3\n",
            ["If if x:", ".Assign a = 1", ".Assign b = 2", "Assign c = 3"],
            id="tabs and blanks",
        ),
        pytest.param(
            "def f():\n    x = g(1,\n    y = 2\n\ndef h():\n    return 1\n",
            [
                *("FunctionDef def f():", ".Error x = g(1,", ".Assign y = 2"),
                *("FunctionDef def h():", ".Return return 1"),
            ],
            id="open bracket in a function",
        ),
        pytest.param(
            "x = {'a': 1\n\ndef g():\n    return 2\n\ndef h():\n    return {1}\n",
            [
                *("Error x = {'a': 1", "FunctionDef def g():", ".Return return 2"),
                *("FunctionDef def h():", ".Return return {1}"),
            ],
            id="open bracket before functions",
        ),
        pytest.param(
            "x = (\n@d\ndef g():\n    return (\n\ny = (1)\n",
            ["Error x = (", "FunctionDef def g():", ".Error return (", "Assign y = (1)"],
            id="open brackets outside and inside",
        ),
        pytest.param(
            "s = 'abc\ny = 2\ndef f():\n    return 1\n",
            ["Error s = 'abc", "Assign y = 2", "FunctionDef def f():", ".Return return 1"],
            id="open string",
        ),
        pytest.param(
            "<<<<<<< HEAD\nx = 1\n=======\nx = 2\n>>>>>>> other\ny = 3\n",
            [
                *("Error <<<<<<< HEAD", "Assign x = 1", "Error ======="),
                *("Assign x = 2", "Error >>>>>>> other", "Assign y = 3"),
            ],
            id="merge conflict",
        ),
        pytest.param(
            "class A:\n    def f(self):\n        self.\n\n    def g(self): pass\n",
            [
                *("ClassDef class A:", ".FunctionDef def f(self):", "..Error self."),
                *(".FunctionDef def g(self): pass", "..Pass pass"),
            ],
            id="half typed",
        ),
        pytest.param(
            "def f():\n\ndef g():\n    return 2\n",
            ["FunctionDef def f():", ".Error", "FunctionDef def g():", ".Return return 2"],
            id="no block",
        ),
        pytest.param(
            "try:\n    a = 1\nb = 2\n", ["Error try:", "Assign a = 1", "Assign b = 2"], id="no handler"
        ),
    ],
)
def test_what_is_around_an_error_is_read(text: str, expected: list[str]) -> None:
    assert outline(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "def f(a b):\n    return 1\n",
            ["FunctionDef def f(a b):", ".Error (a b):", ".Return return 1"],
            id="parameters",
        ),
        pytest.param(
            "class A(b c): x\n", ["ClassDef class A(b c): x", ".Error (b c):", ".Expr x"], id="bases"
        ),
        pytest.param(
            "@a b\n@c\ndef f(): x\n", ["Error @a b", "FunctionDef def f(): x", ".Expr x"], id="decorators"
        ),
        pytest.param(
            "@a\ndef f():\n    x y\n", ["FunctionDef def f():", ".Error x y"], id="in a decorated function"
        ),
        pytest.param(
            "if a b:\n    x\nelse:\n    y\n", ["Error if a b:", "Expr x", "Error else:", "Expr y"], id="if"
        ),
        pytest.param(
            "if a:\n    x y\nelif b:\n    z\nelif c d:\n    v\nelse:\n    w\n",
            [
                *("If if a:", ".Error x y", ".If elif b:", "..Expr z"),
                *("Error elif c d:", "Expr v", "Error else:", "Expr w"),
            ],
            id="elif",
        ),
        pytest.param(
            "for a in b:\n    x y\nelse:\n    z\n", ["For for a in b:", ".Error x y", ".Expr z"], id="for"
        ),
        pytest.param("while a:\n    x y\n    z\n", ["While while a:", ".Error x y", ".Expr z"], id="while"),
        pytest.param(
            "async def f():\n    async with a as b:\n        x y\n    z\n",
            ["AsyncFunctionDef async def f():", ".AsyncWith async with a as b:", "..Error x y", ".Expr z"],
            id="async",
        ),
        pytest.param(
            "try:\n    x\nexcept a b:\n    y\nfinally:\n    z z\n",
            ["Try try:", ".Expr x", ".ExceptHandler except a b:", "..Error  a b:", "..Expr y", ".Error z z"],
            id="handler",
        ),
        pytest.param(
            "match a:\n    case 1:\n        x\n    case b c:\n        y\n",
            ["Match match a:", ".match_case x", "..Expr x", "Error case b c:", "Expr y"],
            id="case",
        ),
    ],
)
def test_a_compound_statement_keeps_what_parses_of_it(text: str, expected: list[str]) -> None:
    assert outline(text) == [each.replace("  ", " ") for each in expected]


PYTHON_2 = """\
import os
def f(a, (b, c)):
    print a
    exec 'x' in d
    try:
        y = `x`
    except (A, B), e:
        raise B, 'c'
    except C, e:
        print e
    if a <> b: return ur'x'
    return os.path.join(a, b)
z = 0777L
"""


def test_python_2_is_read_but_for_what_python_3_does_not_know() -> None:
    assert outline(PYTHON_2) == [
        "Import import os",
        "FunctionDef def f(a, (b, c)):",
        ".Error (a, (b, c)):",
        ".Error print a",
        ".Error exec 'x' in d",
        ".Try try:",
        "..Error y = `x`",
        "..ExceptHandler except (A, B), e:",
        "...Error raise B, 'c'",
        "..ExceptHandler except C, e:",
        "...Error print e",
        ".Error if a <> b:",
        ".Error return ur'x'",
        ".Return return os.path.join(a, b)",
        "Error z = 0777L",
    ]


def test_a_handler_of_python_2_has_its_type_and_its_name() -> None:
    content = b"try: x\nexcept (A, B), e: print e\n"
    nodes = extract_syntax("repo", "a.py", content).nodes
    row = nodes.ast_kind.index("ExceptHandler")
    assert (nodes.name[row], content[nodes.name_bstart[row] : nodes.name_bend[row]]) == ("e", b"e")
    assert content[nodes.bstart[row + 1] : nodes.bend[row + 1]] == b"(A, B)"


def test_syntax_of_a_newer_python_costs_one_statement() -> None:
    """What this Python knows is read whole; what it does not know leaves the rest as it is."""
    text = "def f():\n    t = t'{x}' t''\n    return 1\nx = f'{a['b']!r:{c}}' $\ny = 2\n"
    expected = ["FunctionDef def f():", ".Error t = t'{x}' t''", ".Return return 1"]
    assert outline(text) == [*expected, "Error x = f'{a['b']!r:{c}}' $", "Assign y = 2"]


def test_blocks_deeper_than_python_allows_are_read_as_deep_as_it_allows() -> None:
    text = "".join(f"{' ' * depth}if x:\n" for depth in range(120)) + " " * 120 + "y = 1\nz = 2\n"
    lines = outline(text)
    assert sum(line.lstrip(".").startswith("If") for line in lines) >= 100
    assert lines[-1] == "Assign z = 2"


def test_an_expression_too_deep_is_one_error() -> None:
    assert outline("x = 1\ny = " + "(" * 1000 + ")" * 1000 + "\nz = 2\n")[::2] == [
        "Assign x = 1",
        "Assign z = 2",
    ]


def test_each_error_is_a_node_with_a_diagnostic_at_its_place() -> None:
    content = b"\xef\xbb\xbfx = 1\nif x:\n    print 'a'\n    y = 2\n"
    evidence = extract_syntax("repo", "a.py", content)
    row = evidence.nodes.ast_kind.index("Error")
    assert (evidence.nodes.node_kind[row], evidence.nodes.field[row], evidence.nodes.idx[row]) == (
        "ERROR",
        "body",
        0,
    )
    assert content[evidence.nodes.bstart[row] : evidence.nodes.bend[row]] == b"print 'a'"
    own, ours = evidence.diagnostics
    assert (own.code, own.source, own.severity) == ("python2", "python", "error")
    assert (ours.code, ours.source, ours.severity) == ("not-parsed", "headwater", "warning")
    assert (ours.bstart, ours.bend) == (evidence.nodes.bstart[row], evidence.nodes.bend[row])
    assert evidence.file.parse_status == "recovered"


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
def test_a_statement_is_what_it_would_be_in_a_good_file(newline: str) -> None:
    good = "class C:\n    def f(self):\n        '''a\n    b'''\n        return f'{self!r:>{x}}é', (\n y)\n"
    before, after = f"x = 'é' +\n{good}", f"\ny y\n{good}"
    for text in (before, after):
        broken = text.replace("\n", newline)
        whole = broken.replace(f"x = 'é' +{newline}", f"x = 'é'  {newline}").replace("y y", "y  ")
        expected = extract_syntax("repo", "a.py", whole.encode()).nodes
        nodes = extract_syntax("repo", "a.py", broken.encode()).nodes
        first = nodes.ast_kind.index("ClassDef")
        there = expected.ast_kind.index("ClassDef")
        for column in (
            "node_id",
            "ast_kind",
            "bstart",
            "bend",
            "line",
            "col",
            "end_line",
            "end_col",
            "name_bstart",
        ):
            mine = getattr(nodes, column)[first:]
            assert mine[: len(expected.node_id) - there] == getattr(expected, column)[there:], column
        assert "Error" in nodes.ast_kind


# --- laws ----------------------------------------------------------------------------------------------


def without_token(content: str, number: int) -> str:
    """The text without one of its tokens, by its number among the tokens with a text."""
    tokens = [each for each in token_spans(content) if each[0] < each[1]]
    start, end = tokens[number % len(tokens)]
    return content[:start] + content[end:]


@cache
def token_spans(content: str) -> list[tuple[int, int]]:
    lines = content.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    read = iter([*lines, ""]).__next__
    return [
        (starts[each.start[0] - 1] + each.start[1], starts[each.end[0] - 1] + each.end[1])
        for each in tokenize.generate_tokens(read)
        if each.string.strip() and each.end[0] < len(starts)
    ]


def with_bracket(content: str, number: int) -> str:
    place = number % (len(content) + 1)
    return content[:place] + "([{)]}"[number % 6] + content[place:]


def with_cut_line(content: str, number: int) -> str:
    """The text without the end of one of its lines."""
    lines = content.split("\n")
    row = number % len(lines)
    lines[row] = lines[row][: number // len(lines) % (len(lines[row]) + 1)]
    return "\n".join(lines)


BREAKS = {"token": without_token, "bracket": with_bracket, "line": with_cut_line}


@cache
def good_files() -> list[tuple[str, str]]:
    """Files of the standard library that are not large, in UTF-8, with line feeds only."""
    paths = [path for path in sorted(STANDARD_LIBRARY.glob("*.py")) if 1000 < path.stat().st_size < 40_000]
    return [(path.name, path.read_text("utf-8")) for path in paths if b"\r" not in path.read_bytes()]


def definitions_seen(content: bytes) -> dict[str, bytes]:
    """The text of each top-level definition with a name of its own in which tree-sitter sees no error."""
    root = Parser(Language(tree_sitter_python.language())).parse(content).root_node
    found: dict[str, list[bytes]] = {}
    for child in root.children:
        inner = child.child_by_field_name("definition") if child.type == "decorated_definition" else child
        if inner is not None and inner.type in DEFINITIONS:
            name = inner.child_by_field_name("name")
            text = b"" if child.has_error else content[inner.start_byte : inner.end_byte]
            found.setdefault(((name and name.text) or b"").decode(), []).append(text)
    return {name: texts[0] for name, texts in found.items() if len(texts) == 1 and texts[0]}


def top_level(
    evidence: SyntaxEvidence, kinds: tuple[str, ...] = ("CLASS", "FUNCTION")
) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for row, kind in enumerate(evidence.nodes.node_kind):
        qualname = evidence.nodes.qualname[row]
        if kind in kinds and qualname is not None and "." not in qualname:
            found.setdefault(qualname, []).append(evidence.nodes.node_id[row])
    return found


def assert_well_formed(evidence: SyntaxEvidence, size: int) -> None:
    nodes = evidence.nodes
    assert len(set(nodes.node_id)) == len(nodes.node_id), "an id twice"
    for row in range(1, len(nodes.node_id)):
        start, end, parent = nodes.bstart[row], nodes.bend[row], nodes.parent[row] or 0
        assert 0 <= start <= end <= size
        is_inside = nodes.bstart[parent] <= start and end <= nodes.bend[parent]
        assert is_inside or nodes.field[row] == "decorator_list", (nodes.ast_kind[row], start, end)
    previous: dict[tuple[int | None, str | None], int] = {}
    for row in range(2, len(nodes.node_id)):
        if nodes.field[row] in {"body", "orelse", "finalbody", "handlers"} and nodes.idx[row] is not None:
            key = (nodes.parent[row], nodes.field[row])
            assert previous.get(key, 0) <= nodes.bstart[row], "not in the order of the text"
            previous[key] = nodes.bend[row]


@settings(max_examples=150, deadline=None)
@given(st.data(), st.sampled_from(sorted(BREAKS)), st.integers(0, 10_000_000))
def test_a_file_broken_anywhere_keeps_what_is_whole(data: st.DataObject, how: str, number: int) -> None:
    name, content = data.draw(st.sampled_from(good_files()))
    check_break(name, content, how, number)


def check_break(name: str, content: str, how: str, number: int) -> None:
    broken = BREAKS[how](content, number).encode()
    evidence = extract_syntax("python", name, broken)
    assert_well_formed(evidence, len(broken))
    before, after = top_level(extract_syntax("python", name, content.encode())), top_level(evidence)
    seen, whole = definitions_seen(broken), definitions_seen(content.encode())
    for each, text in seen.items():
        if whole.get(each) == text and len(before.get(each, ())) == 1:
            assert after.get(each) == before[each], each


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "def f(",
                "def g():",
                "class A:",
                "if x:",
                "elif y:",
                "else:",
                "try:",
                "except A, e:",
                "finally:",
                "@d",
                "match x:",
                "case 1:",
                "with a as b:",
                "x = (",
                "y = 1",
                "print 'a'",
                ")",
                "'''",
                "return [",
                "f'{x",
                ";",
                "async",
                "for a in b:",
                "\\",
                "lambda:",
                "# c",
                "é",
                "\t",
                "\r",
                "\f",
                "$",
            ]
        ).flatmap(
            lambda word: st.sampled_from(["", "\n", "\n    ", "\n        ", "\n\t", " "]).map(
                lambda end: word + end
            )
        ),
        max_size=25,
    ).map("".join)
)
def test_no_text_is_an_error_or_gives_spans_outside_of_it(text: str) -> None:
    content = text.encode()
    assert_well_formed(extract_syntax("repo", "a.py", content), len(content))


OLD_CLASS = """\
class C:
    def m(self, x):
        print 'a', x
        if x <> 1:
            y = '%r' % `x`
        try:
            return foo(x, 1, [z for z in x])
        except A, e:
            raise B, 'c'
        mode = 0777
        for a in b:
            while c:
                call(a, b, c)
"""


@pytest.mark.parametrize(
    ("text", "times"),
    [
        pytest.param(OLD_CLASS * 500, 6, id="Python 2"),
        pytest.param("x = = 1\n" * 5000, 4, id="errors"),
        pytest.param("x = 0777\n" * 5000, 4, id="errors that only Python sees"),
        pytest.param("x = 0777\ny = 1\n" * 5000, 6, id="every other line"),
        pytest.param("x = (\n" * 5000, 6, id="open brackets"),
        pytest.param("def f(a:\n    return (\n" * 5000, 8, id="open functions"),
        pytest.param("x = 1\n" * 5000 + "x = (\n" + "y = 1\n" * 5000, 6, id="one error"),
        pytest.param("if x: y = 0777\n" + "elif x: y = 1\n" * 2000, 8, id="clauses"),
    ],
)
def test_what_is_tried_grows_with_the_text(text: str, times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []
    spend = Fragments.spend

    def counted(fragments: Fragments, size: int) -> bool:
        tried.append(size)
        return spend(fragments, size)

    monkeypatch.setattr(Fragments, "spend", counted)
    extract_syntax("repo", "a.py", text.encode())
    assert sum(tried) < times * len(text)


def test_what_is_tried_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fragments, "_EFFORT", 0)
    monkeypatch.setattr(fragments, "_EFFORT_FOR_ANY", 0)
    evidence = extract_syntax("repo", "a.py", b"x = 1\nprint 2\n")
    assert [each.code for each in evidence.diagnostics] == ["python2"]
    assert evidence.file.parse_status == "failed"


def test_a_file_that_parses_is_not_recovered(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[SourceText] = []
    monkeypatch.setattr(syntax, "recover_module", asked.append)
    assert extract_syntax("repo", "a.py", b"x = 1\n").file.parse_status == "ok"
    assert not asked
