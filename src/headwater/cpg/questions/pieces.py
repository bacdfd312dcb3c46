"""The definitions that a source is made of, each with what is written in it alone.

A piece of a class has its heading and its other statements, but neither its methods nor its variables: they
are pieces of their own. Comments, layout and docstrings are in none. Not here: what names mean.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

Measures: TypeAlias = "tuple[tuple[str, str, int, int], ...]"
Function: TypeAlias = "ast.FunctionDef | ast.AsyncFunctionDef"
_BODIES = ("body", "orelse", "handlers", "cases", "finalbody")
# Stands where a block of statements ends, so that what is in it is told from what comes after.
_END = ast.Module(body=[], type_ignores=[])
_BRANCHES = (ast.If, ast.IfExp, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.match_case)


@dataclass(slots=True)
class Piece:
    """A definition: its kind, the lines of `def` and of what comes first, and the nodes written in it."""

    kind: str
    line: int
    first: int
    nodes: list[ast.AST] = field(default_factory=list["ast.AST"])


def pieces_of(tree: ast.Module) -> dict[str, Piece]:
    r"""The pieces of a module by their names in it; the module's own has the name of nothing.

    >>> sorted(pieces_of(ast.parse("class A:\n    b = 1\n    def c(self): ...")))
    ['', 'A', 'A.b', 'A.c']
    """
    found = {"": Piece("module", 1, 1)}
    _split(tree.body, "", found)
    return found


def measures_of(tree: ast.Module) -> Measures:
    """Of each function and method of a module its name in it, kind, line and number of branches."""
    return tuple(
        (own, piece.kind, piece.line, branches_of(piece))
        for own, piece in pieces_of(tree).items()
        if piece.kind in {"function", "method"}
    )


def written(piece: Piece) -> list[object]:
    """What is written in a piece; equal for pieces that do the same in the same words."""
    return [word for node in piece.nodes for word in _words(node)]


def branches_of(piece: Piece) -> int:
    """How many ways a piece has to go on besides the first: its conditions, loops, handlers and cases."""
    return sum(_branches(each) for node in piece.nodes for each in ast.walk(node))


def without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements after a docstring."""
    first = body[0] if body else None
    is_text = (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    )
    return body[1:] if is_text else body


def targets_of(statement: ast.stmt) -> Iterator[ast.Name]:
    """The plain names that a statement assigns to."""
    match statement:
        case ast.Assign(targets=targets):
            waiting: list[ast.expr] = list(targets)
        case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
            waiting = [target]
        case _:
            return
    while waiting:
        match waiting.pop(0):
            case ast.Name() as name:
                yield name
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                waiting = [*parts, *waiting]
            case ast.Starred(value=value):
                waiting.insert(0, value)
            case _:
                pass


def _split(body: list[ast.stmt], owner: str, found: dict[str, Piece]) -> None:
    """Give each statement to the piece that it belongs to; blocks wait on a stack, however deep they are."""
    waiting: list[tuple[Any, str]] = [(each, owner) for each in reversed(without_docstring(body))]
    while waiting:
        node, owner = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = f"{owner}.{node.name}" if owner else node.name
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            is_new = name not in found
            piece = found.setdefault(name, Piece(_kind(node, found[owner]), node.lineno, first))
            piece.nodes.extend([_heading(node)] if is_new else [_END, _heading(node)])
            waiting.extend((each, name) for each in reversed(without_docstring(node.body)))
        elif isinstance(node, ast.stmt) and _is_variable(node, found[owner]):
            for target in targets_of(node):
                name = f"{owner}.{target.id}" if owner else target.id
                found.setdefault(name, Piece("variable", node.lineno, node.lineno)).nodes.append(node)
        elif any(hasattr(node, each) for each in _BODIES) and node is not _END:
            found[owner].nodes.append(_heading(node))
            parts = (each for each in _BODIES if getattr(node, each, None))
            inside = [(each, owner) for part in parts for each in (*getattr(node, part), _END)]
            waiting.extend(reversed(inside))
        else:
            found[owner].nodes.append(node)


def _is_variable(node: ast.stmt, owner: Piece) -> bool:
    return owner.kind in {"module", "class"} and next(targets_of(node), None) is not None


def _kind(node: Function | ast.ClassDef, owner: Piece) -> str:
    if isinstance(node, ast.ClassDef):
        return "class"
    return "method" if owner.kind == "class" else "function"


def _heading(node: ast.AST) -> ast.AST:
    """A node without the statements in it."""
    heading = copy.copy(node)
    for each in _BODIES:
        if hasattr(node, each):
            setattr(heading, each, [])
    return heading


def _words(node: ast.AST) -> Iterator[object]:
    """A tree as a row of words, however deep it is."""
    waiting: list[object] = [node]
    while waiting:
        each = waiting.pop()
        if isinstance(each, ast.AST):
            yield each.__class__.__name__
            if not isinstance(each, ast.expr_context):
                waiting.extend(getattr(each, name, None) for name in reversed(each._fields))
        elif isinstance(each, list):
            yield len(each)  # pyright: ignore[reportUnknownArgumentType]  a list of a tree
            waiting.extend(reversed(each))  # pyright: ignore[reportUnknownArgumentType]
        else:
            yield each.__class__.__name__, each


def _branches(node: ast.AST) -> int:
    if isinstance(node, ast.BoolOp):
        return len(node.values) - 1
    if isinstance(node, ast.comprehension):
        return 1 + len(node.ifs)
    return int(isinstance(node, _BRANCHES))
