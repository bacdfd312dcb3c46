"""What Python says of a text that does not parse, and where."""

from __future__ import annotations

import ast
from types import CodeType

import pytest

from headwater.cpg.extract.evidence import Diagnostic
from headwater.cpg.extract.parsing import compile_module, parse_source
from headwater.cpg.extract.source import SourceText, read_source


def parsed(content: bytes) -> ast.Module | Diagnostic:
    source = read_source(content)
    assert isinstance(source, SourceText)
    return parse_source(source)


@pytest.mark.parametrize(
    ("content", "code", "pointed_at"),
    [
        (b"x = = 1\n", "syntax-error", b"="),
        (b"x = 1\ny = z z\n", "syntax-error", b"z"),
        ("x = 'é' 1\n".encode(), "syntax-error", b"1"),
        (b"\xef\xbb\xbfx = = 1\n", "syntax-error", b"="),
        ("# coding: latin-1\nx = é; x = = 1\n".encode("latin-1"), "syntax-error", b"="),
        (b"print 'a'\n", "python2", b"print 'a'"),
        (b"try: pass\nexcept A, e: pass\n", "python2", b"A, e"),
        (b"x = 0777\n", "python2", b"0"),
        (b"  x\n", "indentation-error", b""),
        (b"if x:\n\ta\n        b\n", "indentation-error", b""),
        (b"'a", "syntax-error", b""),
        (b"9" * 5000, "syntax-error", b""),
    ],
)
def test_a_diagnostic_points_at_bytes_of_the_file(content: bytes, code: str, pointed_at: bytes) -> None:
    found = parsed(content)
    assert isinstance(found, Diagnostic)
    assert (found.stage, found.source, found.severity, found.code) == ("parse", "python", "error", code)
    assert found.message
    assert found.bstart is not None
    assert content[found.bstart : found.bend] == pointed_at


def test_what_is_nested_too_deeply_has_no_place() -> None:
    found = parsed(b"-" * 100_000 + b"1")
    assert isinstance(found, Diagnostic)
    assert (found.code, found.bstart, found.bend) == ("too-deep", None, None)


def test_a_text_that_parses_is_a_module() -> None:
    assert isinstance(parsed(b"x = 1"), ast.Module)


@pytest.mark.parametrize(
    ("content", "pointed_at"),
    [
        pytest.param(b"x = 1\nreturn x\n", b"return x", id="return"),
        pytest.param("é; nonlocal y\n".encode(), b"nonlocal y", id="nonlocal"),
        pytest.param(b"\xef\xbb\xbfdef f(a, a): pass\n", b"a", id="argument twice"),
        pytest.param("# coding: latin-1\né; break\n".encode("latin-1"), b"break", id="break"),
        pytest.param(b"x = 1\nfrom __future__ import annotations\n", None, id="future"),
    ],
)
def test_what_parses_may_not_compile(content: bytes, pointed_at: bytes | None) -> None:
    source = read_source(content)
    assert isinstance(source, SourceText)
    module = parse_source(source)
    assert isinstance(module, ast.Module)
    found = compile_module(source, module)
    assert isinstance(found, Diagnostic)
    assert (found.stage, found.source, found.severity, found.code) == (
        *("compile", "python", "error"),
        "compile-error",
    )
    assert found.message
    assert found.bstart is not None
    assert pointed_at is None or content[found.bstart : found.bend] == pointed_at


def test_what_compiles_has_no_diagnostic_and_is_not_run() -> None:
    source = read_source(b"raise SystemExit")
    assert isinstance(source, SourceText)
    module = parse_source(source)
    assert isinstance(module, ast.Module)
    code = compile_module(source, module)
    assert isinstance(code, CodeType)
    assert code.co_names == ("SystemExit",)
