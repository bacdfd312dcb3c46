"""What Python's compiler made of each scope of a module: one entry for each code object. None of it is run.

A code object says neither which node it was made of nor where it begins to the byte, so it is found again by
the code around it, by its name and by its first line; of several that share those, by where its first
instruction with a place stands. Not here: instructions one by one.
"""

from __future__ import annotations

import ast
import inspect
from dataclasses import dataclass, field, fields
from types import CodeType
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from headwater.cpg.extract.scopes import ScopeColumns
    from headwater.cpg.extract.walk import Walk

Place: TypeAlias = tuple[int, int]  # a line and a column, as the tree counts them

_NAMES: dict[type[ast.AST], str] = {
    ast.Module: "<module>",
    ast.Lambda: "<lambda>",
    ast.ListComp: "<listcomp>",
    ast.SetComp: "<setcomp>",
    ast.DictComp: "<dictcomp>",
    ast.GeneratorExp: "<genexpr>",
}
# Scopes for which Python has code of its own only now and then; what is inside belongs to the scope around.
_BETWEEN = frozenset({"annotation", "type_params", "type_alias"})
_KINDS = (
    (inspect.CO_ASYNC_GENERATOR, "async_generator"),
    (inspect.CO_COROUTINE, "coroutine"),
    (inspect.CO_GENERATOR, "generator"),
)
_INSTRUCTION = 2  # bytes


@dataclass(frozen=True, slots=True)
class CodeColumns:
    """The code objects of a module, outer before inner: entry `i` of every list belongs to code object `i`.

    `node` is the row of the module, class, function, lambda or comprehension that it was made of. `kind` is
    what a call of it gives: plain, generator, coroutine or async_generator. `local_count` leaves out names
    that are cells. `instructions` counts two bytes for one, caches of the interpreter included, and
    `line_count` the lines to which they belong: the compiler leaves out what can never be reached.
    """

    node: list[int] = field(default_factory=list[int])
    kind: list[str] = field(default_factory=list[str])
    arg_count: list[int] = field(default_factory=list[int])
    local_count: list[int] = field(default_factory=list[int])
    cell_count: list[int] = field(default_factory=list[int])
    free_count: list[int] = field(default_factory=list[int])
    stack_size: list[int] = field(default_factory=list[int])
    instructions: list[int] = field(default_factory=list[int])
    line_count: list[int] = field(default_factory=list[int])


def find_codes(code: CodeType | None, walk: Walk, scopes: ScopeColumns) -> CodeColumns:
    """The code objects of a walked module with these scopes; none of one that does not compile."""
    found = CodeColumns()
    if code is not None:
        inside = _inside(scopes)
        pending = [(code, 0)]
        while pending:
            each, scope = pending.pop()
            _add(found, scopes.node[scope], each)
            pending += reversed(_matched(each, inside.get(scope, []), walk, scopes.node))
    return found


def _add(found: CodeColumns, row: int, code: CodeType) -> None:
    star = bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    values = (
        row,
        next((kind for flag, kind in _KINDS if code.co_flags & flag), "plain"),
        code.co_argcount + code.co_kwonlyargcount + star,
        code.co_nlocals,
        len(code.co_cellvars),
        len(code.co_freevars),
        code.co_stacksize,
        len(code.co_code) // _INSTRUCTION,
        len({line for _, _, line in code.co_lines() if line}),
    )
    for column, value in zip(fields(found), values, strict=True):
        getattr(found, column.name).append(value)


def _inside(scopes: ScopeColumns) -> dict[int, list[int]]:
    """For each scope those right inside, as the compiler nests code."""
    inside: dict[int, list[int]] = {}
    for scope, (parent, kind) in enumerate(zip(scopes.parent, scopes.kind, strict=True)):
        around = parent
        while around is not None and scopes.kind[around] in _BETWEEN:
            around = scopes.parent[around]
        if around is not None and kind not in _BETWEEN:
            inside.setdefault(around, []).append(scope)
    return inside


def _matched(
    code: CodeType, scopes: Sequence[int], walk: Walk, rows: Sequence[int]
) -> list[tuple[CodeType, int]]:
    """The code objects inside of another, each with its scope; what fits none of the scopes is left out."""
    waiting: dict[str, list[int]] = {}
    for scope in scopes:
        waiting.setdefault(_name_of(walk.rows[rows[scope]][0]), []).append(scope)
    matched: list[tuple[CodeType, int]] = []
    for inner in _codes_in(code, waiting):
        same_name = waiting[inner.co_name]
        if same_name:
            nodes = {scope: walk.rows[rows[scope]][0] for scope in same_name}
            scope = _of_several(inner, nodes)
            same_name.remove(scope)
            matched.append((inner, scope))
    return matched


def _codes_in(code: CodeType, names: dict[str, list[int]]) -> Iterator[CodeType]:
    """The code objects right inside, and those in what Python puts between: type parameters, annotations."""
    for const in code.co_consts:
        if isinstance(const, CodeType):
            if const.co_name in names:
                yield const
            else:
                yield from _codes_in(const, names)


def _of_several(code: CodeType, nodes: dict[int, Any]) -> int:
    """Of scopes of one name the one whose node this code was made of.

    Before Python 3.12 the places inside f-strings are not those of the tree; there it is the next one.
    """
    at_line = [scope for scope, node in nodes.items() if _first_line_of(node) == code.co_firstlineno]
    if len(at_line) > 1:
        first = _first_place_of(code)
        around = [scope for scope in at_line if _start_of(nodes[scope]) <= first < _end_of(nodes[scope])]
        at_line = sorted(around or at_line, key=lambda scope: _start_of(nodes[scope]), reverse=bool(around))
    return at_line[0] if at_line else next(iter(nodes))


def _name_of(node: Any) -> str:
    return _NAMES.get(node.__class__) or node.name


def _first_line_of(node: Any) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return decorators[0].lineno if decorators else node.lineno


def _first_place_of(code: CodeType) -> Place:
    """Where the first instruction stands that says so; a few stand for the whole, at column 0."""
    for line, _, column, end in code.co_positions():
        if line is not None and column is not None and end:
            return line, column
    return code.co_firstlineno, 0


def _start_of(node: ast.expr) -> Place:
    return node.lineno, node.col_offset


def _end_of(node: ast.expr) -> Place:
    return node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
