"""Which def runs a node: not always the one that it is written in.

Decorators, defaults, annotations, base classes and type parameters stand in a def, and the def around runs
them, when it comes to the def's statement. Annotations are said to be run there, too, where Python puts them
off or never looks at them. Not here: ids, which go by where a node is written.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from headwater.cpg.extract.walk import end_of, row_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headwater.cpg.extract.walk import Walk


def runners_of(walk: Walk) -> list[int]:
    """For each row that of the module, class, function or lambda that runs it."""
    rows = walk.rows
    runners = [row[2].row for row in rows]
    for opened in walk.opened:  # outer before inner, so what runs the statement itself is known
        around = runners[opened]
        for root in _run_around(rows[opened][0]):
            first = row_of(root)
            for row in range(first, end_of(rows, first)):
                if runners[row] == opened:  # what a lambda runs is its own
                    runners[row] = around
    return runners


def _run_around(node: Any) -> Iterator[ast.AST]:
    """The nodes of a class, function or lambda that are run around it."""
    if node.__class__ is ast.ClassDef:
        yield from node.bases
        yield from node.keywords
    else:
        args: ast.arguments = node.args
        yield from args.defaults
        yield from filter(None, args.kw_defaults)
        if node.__class__ is ast.Lambda:
            return
        for each in (*args.posonlyargs, *args.args, args.vararg, *args.kwonlyargs, args.kwarg):
            if each is not None and each.annotation is not None:
                yield each.annotation
        if node.returns is not None:
            yield node.returns
    yield from node.decorator_list
    yield from getattr(node, "type_params", ())
