"""Attributes and items that are read right after they were stored: then they are what was stored, no less.

    d = {"a": f}
    d["a"] = g
    d["a"]()        # g, and not f

Right after means: among the statements that follow in the same body, as long as nothing is called, no branch
is met, and nothing is stored that may be the same place by another name. A display that a name is given
stores its items, and so does `update` with one. Not here: what other functions store.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, TypeAlias

from headwater.cpg.extract.values.gathering import key_text, written_key
from headwater.cpg.extract.walk import end_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.cpg.extract.values.gathering import Gathering

Path: TypeAlias = "tuple[str, ...]"

_SIMPLE = (ast.Assign, ast.Expr, ast.Return, ast.AnnAssign, ast.AugAssign, ast.Raise, ast.Assert)
_CALLING = (ast.Call, ast.Await, ast.Yield, ast.YieldFrom)
_MOST_ITEMS = 100


def note_updates(found: Gathering, body: Sequence[Any]) -> None:
    """Note for each attribute and item in a body that is read right after it was stored what it is."""
    known: dict[Path, Any] = {}
    for statement in body:
        if known and (not isinstance(statement, _SIMPLE) or _read(found, statement, known)):
            known.clear()
        if isinstance(statement, ast.Assign):
            _store(statement, known)
        elif isinstance(statement, ast.Expr):
            _update(statement.value, known)


def _read(found: Gathering, statement: Any, known: dict[Path, Any]) -> bool:
    """Note what a statement reads; whether it calls anything, behind which nothing is known any more."""
    rows = found.rows
    first_call = calls = 0
    for row in range(statement.row, end_of(rows, statement.row)):
        node: Any = rows[row][0]
        if isinstance(node, _CALLING):
            calls += 1
            first_call = first_call or row
        elif isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Load):
            path = path_of(node)
            if path is None or path not in known:
                continue
            if not first_call or _is_in_all(rows, row, statement.row, calls):
                found.updated[row] = known[path]
    return bool(calls)


def _is_in_all(rows: Sequence[Any], row: int, top: int, calls: int) -> bool:
    """Whether a node is in all calls that begin before it, so that it is read before any of them is made."""
    around = 0
    while row > top:
        row = rows[row][1]
        around += isinstance(rows[row][0], _CALLING)
    return around == calls


def _store(statement: ast.Assign, known: dict[Path, Any]) -> None:
    for target in statement.targets:
        if isinstance(target, ast.Name):
            _forget(known, (target.id,))
            _store_items(known, (target.id,), statement.value)
        elif isinstance(target, ast.Attribute | ast.Subscript):
            path = path_of(target)
            last = None if path is None else path[-1]
            for each in [each for each in known if _may_be(each, last)]:
                del known[each]
            if path is not None:
                known[path] = statement.value
                _store_items(known, path, statement.value)
        else:
            known.clear()


def _may_be(path: Path, last: str | None) -> bool:
    """Whether a store to something with this last step may change what a path leads to."""
    return last is None or last in path[1:]


def _forget(known: dict[Path, Any], path: Path) -> None:
    for each in [each for each in known if each[: len(path)] == path]:
        del known[each]


def _store_items(known: dict[Path, Any], path: Path, value: ast.expr) -> None:
    """What a display that is given to a path has at each of its keys."""
    todo: list[tuple[Path, ast.expr]] = [(path, value)]
    while todo and len(known) < _MOST_ITEMS:
        path, value = todo.pop()
        items: list[tuple[str | None, ast.expr]] = []
        if isinstance(value, ast.Dict) and None not in value.keys:
            items = [
                (written_key(key), each) for key, each in zip(value.keys, value.values, strict=True) if key
            ]
        elif isinstance(value, ast.List | ast.Tuple) and not any(
            isinstance(each, ast.Starred) for each in value.elts
        ):
            items = [(key_text(index), each) for index, each in enumerate(value.elts)]
        for key, each in items[:_MOST_ITEMS]:
            if key is not None:
                inner = (*path, f"[{key}")
                known[inner] = each
                todo.append((inner, each))


def _update(node: ast.expr, known: dict[Path, Any]) -> None:
    match node:
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id=name), attr="update"),
            args=[ast.Dict() as items],
            keywords=[],
        ):
            _store_items(known, (name,), items)
        case _:
            pass


def path_of(node: ast.expr) -> Path | None:
    """A name and the attributes and known keys that follow it; nothing for what is not made of these."""
    steps: list[str] = []
    while True:
        match node:
            case ast.Name():
                return (node.id, *reversed(steps))
            case ast.Attribute():
                steps.append(f".{node.attr}")
            case ast.Subscript():
                key = written_key(node.slice)
                if key is None or key.startswith(":"):
                    return None
                steps.append(f"[{key}")
            case _:
                return None
        node = node.value
