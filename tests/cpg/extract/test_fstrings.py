"""What is inside an f-string stands where it is written."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.cpg.extract import extract_syntax
from headwater.cpg.extract.fstrings import place_joined
from headwater.cpg.extract.scanning import Scan
from headwater.cpg.extract.source import line_starts_of


def inside(source: str) -> list[tuple[str | None, str]]:
    """Class and text of all nodes below the one f-string that a source is."""
    content = source.encode()
    evidence = extract_syntax("repo", "a.py", content)
    nodes = evidence.nodes
    assert evidence.diagnostics == ()
    rows = range(nodes.ast_kind.index("JoinedStr") + 1, len(nodes.node_id))
    return [(nodes.ast_kind[row], content[nodes.bstart[row] : nodes.bend[row]].decode()) for row in rows]


def name(text: str = "x") -> list[tuple[str | None, str]]:
    return [("FormattedValue", f"{{{text}}}"), ("Name", text.strip())]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param('f""', [], id="empty"),
        pytest.param('f"a"', [("Constant", "a")], id="text"),
        pytest.param('f"{x}"', name(), id="field"),
        pytest.param('f"{x}{x}"', name() + name(), id="the same twice"),
        pytest.param('f"{ x }"', name(" x "), id="blanks"),
        pytest.param('f"{{{x}}}"', [("Constant", "{{"), *name(), ("Constant", "}}")], id="doubled brackets"),
        pytest.param('f"é{ä}ü"', [("Constant", "é"), *name("ä"), ("Constant", "ü")], id="wide characters"),
        pytest.param('f"{x!r}"', [("FormattedValue", "{x!r}"), ("Name", "x")], id="conversion"),
        pytest.param(
            'f"{x:>9}"',
            [("FormattedValue", "{x:>9}"), ("Name", "x"), ("JoinedStr", ":>9"), ("Constant", ">9")],
            id="format spec",
        ),
        pytest.param(
            'f"{x!s:{y}.{z}}"',
            [
                ("FormattedValue", "{x!s:{y}.{z}}"),
                ("Name", "x"),
                ("JoinedStr", ":{y}.{z}"),
                *name("y"),
                ("Constant", "."),
                *name("z"),
            ],
            id="fields in a format spec",
        ),
        pytest.param(
            'f"a {x = }"',
            [("Constant", "a {x = "), ("FormattedValue", "{x = }"), ("Name", "x")],
            id="an expression that shows itself",
        ),
        pytest.param(
            'f"{x != y}"',
            [
                ("FormattedValue", "{x != y}"),
                ("Compare", "x != y"),
                ("Name", "x"),
                ("NotEq", "!="),
                ("Name", "y"),
            ],
            id="no conversion",
        ),
        pytest.param(
            "f\"{x['}'] + ':'}\"",
            [
                ("FormattedValue", "{x['}'] + ':'}"),
                ("BinOp", "x['}'] + ':'"),
                ("Subscript", "x['}']"),
                ("Name", "x"),
                ("Constant", "'}'"),
                ("Add", "+"),
                ("Constant", "':'"),
            ],
            id="brackets and colons in strings",
        ),
        pytest.param(
            "f\"{f'{x}' + ''}\"",
            [
                ("FormattedValue", "{f'{x}' + ''}"),
                ("BinOp", "f'{x}' + ''"),
                ("JoinedStr", "f'{x}'"),
                *name(),
                ("Add", "+"),
                ("Constant", "''"),
            ],
            id="nested",
        ),
        pytest.param('f"\\N{BULLET}{x}"', [("Constant", "\\N{BULLET}"), *name()], id="a named character"),
        pytest.param('f"\\\\{x}"', [("Constant", "\\\\"), *name()], id="a backslash"),
        pytest.param('rf"\\N{x}"', [("Constant", "\\N"), *name()], id="raw"),
        pytest.param('Fr"\\{x}"', [("Constant", "\\"), *name()], id="raw, before a field"),
        pytest.param(
            '"a" f"b{x}c" "d"', [("Constant", 'a" f"b'), *name(), ("Constant", 'c" "d')], id="pieces"
        ),
        pytest.param(
            "(f'''\n{x}''' # {no}\n  f\"{y}\")", [("Constant", "\n"), *name(), *name("y")], id="lines"
        ),
        pytest.param(
            "f'''{\n x,\r\n y}'''",
            [("FormattedValue", "{\n x,\r\n y}"), ("Tuple", "x,\r\n y"), ("Name", "x"), ("Name", "y")],
            id="a tuple over lines",
        ),
    ],
)
def test_all_that_is_inside_has_its_text(source: str, expected: list[tuple[str, str]]) -> None:
    assert inside(source) == expected


def test_an_empty_format_spec_stands_at_its_colon() -> None:
    assert inside('f"{x:}"') == [("FormattedValue", "{x:}"), ("Name", "x"), ("JoinedStr", ":")]


def test_a_text_of_nothing_between_fields_is_no_node() -> None:
    assert inside("f'''{x}\\\n{y}'''") == [*name(), *name("y")]


@given(st.lists(st.sampled_from(["a", "{{", "{x}", "{y!r}", "{z:>{w}}", "{x=}", "é", "\\n", "{'q'}"])))
def test_names_inside_are_found_whatever_stands_around_them(parts: list[str]) -> None:
    found = [text for kind, text in inside(f'f"{"".join(parts)}"') if kind == "Name"]
    expected = {"{x}": "x", "{y!r}": "y", "{z:>{w}}": "zw", "{x=}": "x"}
    assert found == [each for part in parts for each in expected.get(part, "")]


@pytest.mark.parametrize("text", ["abcdefghij", 'f"{x:{y}a"', 'f"aaaaaaa"', 'f"{x{aaa}"', 'f"{x:{y}}}'])
def test_a_text_that_does_not_fit_the_tree_gives_its_own_place_to_all(text: str) -> None:
    joined = ast.parse('f"{x:{y}}"', mode="eval").body
    data = text.encode()
    place_joined(joined, Scan(data, line_starts_of(data)))
    nodes = [node for node in ast.walk(joined) if isinstance(node, ast.expr)]
    assert {(node.col_offset, node.end_col_offset) for node in nodes} == {(0, 10)}
    assert len(nodes) == 6


def test_what_all_operators_share_is_left_alone() -> None:
    place_joined(ast.parse('f"{x+y}"', mode="eval").body, Scan(b"abcdefgh", [0]))
    shared = [node for node in ast.walk(ast.parse("x + y")) if isinstance(node, ast.Add | ast.Load)]
    assert shared
    assert not [node for node in shared if vars(node)]
