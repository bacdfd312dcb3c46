"""Which names a module exports: those that its `__all__` lists, if it is written out, else the public ones.

Not here: what a star import takes from another module.
"""

from __future__ import annotations

import ast

_BLOCKS = ("body", "orelse", "finalbody", "handlers")
_NOT_OF_THE_MODULE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def listed_names(module: ast.Module) -> frozenset[str] | None:
    """The names in a module's `__all__`, or nothing if there is no literal one.

    A literal is a list or tuple of strings, or a sum of such; `+=`, `.extend` and `.append` add to it. What
    is added and is no literal is passed over.
    """
    listed: set[str] = set()
    is_literal = False
    stack: list[ast.AST] = list(reversed(module.body))
    while stack:
        node = stack.pop()
        names, is_first = _names_in(node)
        if names is not None:
            listed.update(names)
            is_literal = is_literal or is_first
        if not isinstance(node, _NOT_OF_THE_MODULE):
            for block in _BLOCKS:
                stack.extend(reversed(getattr(node, block, ())))
    return frozenset(listed) if is_literal else None


def _names_in(node: ast.AST) -> tuple[list[str] | None, bool]:
    """What a statement puts into `__all__`, and whether it makes it."""
    match node:
        case ast.Assign(targets=[ast.Name(id="__all__")], value=value):
            return _strings(value), True
        case ast.AnnAssign(target=ast.Name(id="__all__"), value=ast.expr() as value):
            return _strings(value), True
        case ast.AugAssign(target=ast.Name(id="__all__"), op=ast.Add(), value=value):
            return _strings(value), False
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(value=ast.Name(id="__all__"), attr="extend"), args=[value])
        ):
            return _strings(value), False
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(value=ast.Name(id="__all__"), attr="append"), args=[value])
        ):
            return _strings(ast.List([value])), False
        case _:
            return None, False


def _strings(value: ast.expr) -> list[str] | None:
    """The strings of a literal; of a sum those of its literal parts, and nothing if there is none."""
    found: list[str] | None = None
    stack = [value]
    while stack:
        match stack.pop():
            case ast.List(elts=elements) | ast.Tuple(elts=elements):
                texts = [each.value for each in elements if isinstance(each, ast.Constant)]
                found = [*(found or ()), *(text for text in texts if isinstance(text, str))]
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                stack += [right, left]
            case _:
                pass
    return found
