"""What annotations say of values: which classes something is an instance of.

`Optional[C]`, `C | None` and the members of a union count one by one, a text is a name if it looks like one.
Not here: what is inside of containers, and functions as types.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from headwater.cpg.extract.values.facts import ANNOTATION, ATTR, NOTHING

if TYPE_CHECKING:
    from headwater.cpg.extract.values.gathering import Gathering

_SEVERAL = frozenset({"Optional", "Union"})
_ONE = frozenset({"Annotated", "Final", "ClassVar", "Required", "NotRequired"})
_CLASS_OF = frozenset({"type", "Type"})


def annotate(found: Gathering, target: int, annotation: Any) -> None:
    """Add for each class that an annotation names that a variable, or what a function returns, is of it."""
    todo = [annotation]
    while todo:
        node = todo.pop()
        match node:
            case ast.Name() | ast.Attribute():
                source = _class_variable(found, node)
                if source != NOTHING:
                    found.facts.append((ANNOTATION, target, source, None))
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                todo += [right, left]
            case ast.Subscript(value=value, slice=inside):
                todo += _inside(value, inside)
            case ast.Constant(value=str() as text):
                name = text.strip()
                if name.isidentifier():
                    found.facts.append((ANNOTATION, target, NOTHING, name))
            case _:
                pass


def _inside(value: ast.expr, inside: ast.expr) -> list[ast.expr]:
    name = value.attr if isinstance(value, ast.Attribute) else getattr(value, "id", None)
    parts = inside.elts if isinstance(inside, ast.Tuple) else [inside]
    if name in _SEVERAL:
        return parts[::-1]
    if name in _ONE:
        return parts[:1]
    return [] if name in _CLASS_OF else [value]


def _class_variable(found: Gathering, node: Any) -> int:
    """The variable of a name with its dots; its attributes are not gone through with those of expressions."""
    chain: list[Any] = []
    while node.__class__ is ast.Attribute:
        chain.append(node)
        node = node.value
    if node.__class__ is not ast.Name:
        return NOTHING
    source = found.name(node.row)
    for each in reversed(chain):
        if source == NOTHING:
            return NOTHING
        found.facts.append((ATTR, each.row, source, each.attr))
        source = each.row
    return source
