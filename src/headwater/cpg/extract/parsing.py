"""A syntax tree from a text, or a diagnostic that says where Python gave up; and what its compiler refuses.

Not here: recovery of what can still be read from a file that does not parse.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Literal

from headwater.cpg.extract.evidence import Diagnostic

if TYPE_CHECKING:
    from types import CodeType

    from headwater.cpg.extract.source import SourceText

# What Python's own message begins with, and what we call it; the first that fits.
_CODES: tuple[tuple[str, str], ...] = (
    ("Missing parentheses in call to", "python2"),
    ("multiple exception types must be parenthesized", "python2"),
    ("leading zeros in decimal integer literals", "python2"),
    ("too many nested parentheses", "too-deep"),
    ("too many statically nested blocks", "too-deep"),
    ("too many levels of indentation", "too-deep"),
    ("source code string cannot contain null bytes", "null-bytes"),
)


def parse_source(source: SourceText) -> ast.Module | Diagnostic:
    """The module, or why it has none; Python may warn on the way."""
    try:
        return ast.parse(source.text)
    except SyntaxError as error:
        start, end = _span_of(error, source)
        return _unparsed(_code_of(error), error.msg, start, end)
    except (RecursionError, MemoryError) as error:
        return _unparsed("too-deep", str(error) or "nested too deeply for Python's parser", None, None)
    except ValueError as error:
        return _unparsed("syntax-error", str(error), None, None)


def compile_module(
    source: SourceText, module: ast.Module, *, may_await: bool = False
) -> CodeType | Diagnostic:
    """The code of a tree, or what is wrong with it though it parses, such as `return` outside of a function.

    Nothing is run.

    Args:
        source: the text of the tree
        module: the tree
        may_await: whether `await` may stand outside of functions, as it may in a notebook
    """
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT if may_await else 0
    try:
        code: CodeType = compile(module, "<source>", "exec", flags, dont_inherit=True, optimize=0)
    except SyntaxError as error:
        start, end = _bytes_of(error, source)
        return _refused("compile", "compile-error", error.msg, start, end)
    except (RecursionError, MemoryError) as error:
        return _refused("compile", "too-deep", str(error) or "nested too deeply for Python's compiler")
    except (ValueError, OverflowError, SystemError) as error:
        return _refused("compile", "compile-error", str(error))
    return code


def _code_of(error: SyntaxError) -> str:
    default = "indentation-error" if isinstance(error, IndentationError) else "syntax-error"
    return next((code for begin, code in _CODES if error.msg.startswith(begin)), default)


def _span_of(error: SyntaxError, source: SourceText) -> tuple[int | None, int | None]:
    """The bytes that Python points at: nothing is taken on trust, for its end may lie before its start."""
    if error.lineno is None:
        return None, None
    start = _offset_of(source, error.lineno, error.offset)
    end = _offset_of(source, error.end_lineno or error.lineno, error.end_offset)
    bstart, bend = source.original([start, max(start, end)])
    return bstart, bend


def _offset_of(source: SourceText, line: int, character: int | None) -> int:
    """Where a character of a line stands in the text's bytes; both count from 1 and may be out of bounds."""
    starts = [*source.starts, len(source.data)]
    row = min(max(line, 1), len(source.starts)) - 1
    before = source.data[starts[row] : starts[row + 1]].decode()[: max((character or 1) - 1, 0)]
    return starts[row] + len(before.encode())


def _bytes_of(error: SyntaxError, source: SourceText) -> tuple[int | None, int | None]:
    """The bytes that the compiler points at; it knows no text, so its columns are those of the tree."""
    if error.lineno is None:
        return None, None
    starts, size = source.starts, len(source.data)

    def offset(line: int, column: int | None) -> int:
        return min(starts[min(max(line, 1), len(starts)) - 1] + max((column or 1) - 1, 0), size)

    start = offset(error.lineno, error.offset)
    end = offset(error.end_lineno or error.lineno, error.end_offset)
    bstart, bend = source.original([start, max(start, end)])
    return bstart, bend


def _unparsed(code: str, message: str, bstart: int | None, bend: int | None) -> Diagnostic:
    return _refused("parse", code, message, bstart, bend)


def _refused(
    stage: Literal["parse", "compile"],
    code: str,
    message: str,
    bstart: int | None = None,
    bend: int | None = None,
) -> Diagnostic:
    return Diagnostic(stage=stage, code=code, message=message, bstart=bstart, bend=bend)
