"""Annotations as texts: what is written, without quotes and without what says nothing of the type.

Not here: what the names in them mean.
"""

from __future__ import annotations

import ast
import warnings
from typing import TYPE_CHECKING, Any

from headwater.cpg.extract.hints.terms import EMPTY, NotAType

if TYPE_CHECKING:
    from collections.abc import Iterable

LONGEST = 400  # a type that is longer is not read by anybody
_DEEPEST = 40
_LITERAL = "Literal"
_ANNOTATED = "Annotated"
_LITERALS = frozenset({str, bytes, int, bool})


def written(node: ast.expr, names: dict[str, int]) -> str:
    """The text of an annotation; the first names in it are added with their rows, -1 inside of quotes.

    Raises:
        NotAType: it is no type, or too long for one.
    """
    text = _write(node, names, 0)
    if len(text) > LONGEST:
        raise NotAType(text)
    return text


def _write(node: Any, names: dict[str, int], depth: int) -> str:
    if depth > _DEEPEST:
        raise NotAType
    kind = node.__class__
    if kind is ast.Name or kind is ast.Attribute:
        return _dotted(node, names)
    if kind is ast.Subscript:
        return _subscript(node, names, depth)
    if kind is ast.Constant:
        return _constant(node.value, names, depth)
    if kind is ast.BinOp:
        return _bars(node, names, depth)
    if kind is ast.List:
        return f"[{_listed(node.elts, names, depth)}]"
    if kind is ast.Starred:
        return f"*{_write(node.value, names, depth + 1)}"
    if kind is ast.Tuple and not node.elts:
        return EMPTY
    raise NotAType


def _dotted(node: Any, names: dict[str, int]) -> str:
    parts: list[str] = []
    while node.__class__ is ast.Attribute:
        parts.append(node.attr)
        node = node.value
    if node.__class__ is not ast.Name:
        raise NotAType
    if names.get(node.id, -1) < 0:
        names[node.id] = getattr(node, "row", -1)
    parts.append(node.id)
    return ".".join(reversed(parts))


def _subscript(node: Any, names: dict[str, int], depth: int) -> str:
    head = _dotted(node.value, names)
    last = head.rpartition(".")[2]
    inside = node.slice.elts if node.slice.__class__ is ast.Tuple and node.slice.elts else [node.slice]
    if last == _LITERAL:
        return f"{head}[{', '.join(_literal(each, names) for each in inside)}]"
    if last == _ANNOTATED:
        inside = inside[:1]
    return f"{head}[{_listed(inside, names, depth)}]"


def _listed(nodes: Iterable[Any], names: dict[str, int], depth: int) -> str:
    return ", ".join([_write(each, names, depth + 1) for each in nodes])


def _literal(node: Any, names: dict[str, int]) -> str:
    if node.__class__ is ast.UnaryOp and node.op.__class__ is ast.USub:
        return f"-{_literal(node.operand, names)}"
    if node.__class__ is ast.Constant:
        if node.value is not None and node.value.__class__ not in _LITERALS:
            raise NotAType
        return repr(node.value)
    return _dotted(node, names)


def _constant(value: object, names: dict[str, int], depth: int) -> str:
    if value is None or value is ...:
        return "None" if value is None else "..."
    if value.__class__ is not str or len(str(value)) > LONGEST:
        raise NotAType
    return _write(quoted_type(str(value)), names, depth + 1)


def quoted_type(text: str) -> ast.expr:
    """The expression in a text.

    Raises:
        NotAType: there is none.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(f"({text.strip()})", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise NotAType(text) from error


def _bars(node: Any, names: dict[str, int], depth: int) -> str:
    members: list[str] = []
    while node.__class__ is ast.BinOp:
        if node.op.__class__ is not ast.BitOr:
            raise NotAType
        members.append(_write(node.right, names, depth + 1))
        node = node.left
    members.append(_write(node, names, depth + 1))
    return " | ".join(reversed(members))
