"""The value facts of what is raised, tried and caught.

Not here: all other statements.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from headwater.cpg.extract.values.facts import CATCH, INSTANCE, NOTHING, RAISE, RAISED, TRY
from headwater.cpg.extract.walk import end_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.cpg.extract.values.gathering import Gathering


def _raise(found: Gathering, row: int, node: Any) -> None:
    if node.exc is None:
        return
    is_made = node.exc.__class__ is ast.Call
    source = found.variable(node.exc.func if is_made else node.exc)
    if source != NOTHING:
        found.enter(row)
        found.facts.append((RAISED, row, source, None))
        if not is_made:
            found.facts.append((RAISE, row, source, None))


def _try(found: Gathering, row: int, node: Any) -> None:
    """Which nodes are tried, and what is caught; a handler that raises the same again catches nothing."""
    if not node.handlers:
        return
    found.enter(row)
    found.facts.append((TRY, node.body[0].row, node.handlers[0].row, None))
    for handler in node.handlers:
        text = "again" if _is_raised_again(found, handler.row) else None
        kinds = handler.type.elts if handler.type.__class__ is ast.Tuple else (handler.type,)
        for each in kinds:
            source = NOTHING if each is None else found.variable(each)
            if each is None or source != NOTHING:
                found.facts.append((CATCH, handler.row, source, text))


def _is_raised_again(found: Gathering, row: int) -> bool:
    rows = found.rows
    for at in range(row + 1, end_of(rows, row)):
        node: Any = rows[at][0]
        if node.__class__ is ast.Raise and node.exc is None:
            return True
    return False


def _handler(found: Gathering, row: int, node: Any) -> None:
    if node.type is None or node.name is None:
        return
    for each in node.type.elts if node.type.__class__ is ast.Tuple else (node.type,):
        source = found.variable(each)
        if source != NOTHING:
            found.facts.append((INSTANCE, row, source, None))


EXCEPTIONS: dict[type[ast.AST], Callable[[Gathering, int, Any], None]] = {
    ast.Raise: _raise,
    **dict.fromkeys((ast.Try, ast.TryStar), _try),
    ast.ExceptHandler: _handler,
}
