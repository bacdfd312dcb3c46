"""What a few nodes say beyond kind, name and place, as texts; most nodes say nothing.

ctx         Store or Del, of a name, attribute, subscript, list, tuple or star that is not loaded
type        the type of a constant: str, bytes, int, float, complex, bool, NoneType, ellipsis
is_async    true, of an async def, loop, `with` or clause of a comprehension
level       how many dots a relative import has
asname      the other name that an import gives
conversion  s, r or a, of a field of an f-string
names       what a global or nonlocal statement names, with commas between
simple      false, of an annotated target that is no plain name
Not here: values of constants, which the file has.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, TypeAlias, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Props: TypeAlias = "dict[str, str] | None"

_CONTEXTS: dict[type[ast.AST], Props] = {
    ast.Load: None,
    ast.Store: {"ctx": "Store"},
    ast.Del: {"ctx": "Del"},
}
_CONSTANTS: dict[type, Props] = {
    kind: {"type": kind.__name__}
    for kind in (str, bytes, int, float, complex, bool, type(None), type(Ellipsis))
}
_ASYNC: Props = {"is_async": "true"}
_NOT_SIMPLE: Props = {"simple": "false"}
_NO_CONVERSION = -1


def properties_of(nodes: Iterable[ast.AST]) -> list[Props]:
    """What each node has to say."""
    readers = _READERS
    return [None if (read := readers.get(node.__class__)) is None else read(node) for node in nodes]


def _context(node: ast.AST) -> Props:
    return _CONTEXTS[cast("ast.Name", node).ctx.__class__]


def _constant(node: ast.AST) -> Props:
    return _CONSTANTS[cast("ast.Constant", node).value.__class__]


def _always_async(node: ast.AST) -> Props:
    del node
    return _ASYNC


def _clause(node: ast.AST) -> Props:
    return _ASYNC if cast("ast.comprehension", node).is_async else None


def _relative(node: ast.AST) -> Props:
    level = cast("ast.ImportFrom", node).level
    return {"level": str(level)} if level else None


def _alias(node: ast.AST) -> Props:
    asname = cast("ast.alias", node).asname
    return {"asname": asname} if asname else None


def _conversion(node: ast.AST) -> Props:
    conversion = cast("ast.FormattedValue", node).conversion
    return None if conversion == _NO_CONVERSION else {"conversion": chr(conversion)}


def _declared(node: ast.AST) -> Props:
    return {"names": ",".join(cast("ast.Global", node).names)}


def _annotated(node: ast.AST) -> Props:
    return None if cast("ast.AnnAssign", node).simple else _NOT_SIMPLE


_READERS: dict[type[ast.AST], Callable[[ast.AST], Props]] = {
    ast.Name: _context,
    ast.Attribute: _context,
    ast.Subscript: _context,
    ast.Starred: _context,
    ast.List: _context,
    ast.Tuple: _context,
    ast.Constant: _constant,
    ast.AsyncFunctionDef: _always_async,
    ast.AsyncFor: _always_async,
    ast.AsyncWith: _always_async,
    ast.comprehension: _clause,
    ast.ImportFrom: _relative,
    ast.alias: _alias,
    ast.FormattedValue: _conversion,
    ast.Global: _declared,
    ast.Nonlocal: _declared,
    ast.AnnAssign: _annotated,
}
