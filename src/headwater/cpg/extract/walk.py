"""The nodes of a tree in pre-order, each with its place in the tree; the tree's missing places are filled in.

It goes without recursion, so no tree that Python can make is too deep. Not here: what each node says.
"""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from headwater.cpg.extract.fstrings import place_joined
from headwater.cpg.extract.identity import Owner, inner_owner, lambda_owner, module_owner
from headwater.cpg.extract.kinds import Error
from headwater.cpg.extract.placement import PLACERS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from headwater.cpg.extract.identity import Digest
    from headwater.cpg.extract.placement import Placer
    from headwater.cpg.extract.scanning import Scan

# The node, its parent's row, its owner, the parent's field and the index there, the steps from the owner.
Row: TypeAlias = "tuple[ast.AST, int, Owner, str, int | None, str]"
Definition: TypeAlias = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef

# Fields without nodes, which need no look; contexts are told as a property of their node.
_PLAIN_FIELDS = frozenset(
    {"ctx", "id", "attr", "arg", "asname", "kind", "type_comment", "conversion", "simple", "level", "module"}
)
_LEAVES = ("Name", "Constant", "Global", "Nonlocal", "MatchSingleton")
_ROW = "row"
_PLACES_IN_FSTRINGS_ARE_RIGHT = sys.version_info >= (3, 12)


@dataclass(slots=True)
class Walk:
    """What a walk has found: the rows, and by row the owners that module, classes and functions are.

    `opened` are the rows of classes, functions and lambdas, outer before inner.
    """

    file: Digest
    scan: Scan
    rows: list[Row] = field(default_factory=list["Row"])
    owners: dict[int, Owner] = field(default_factory=dict[int, Owner])
    opened: list[int] = field(default_factory=list[int])


# Some 2 kB of a worker's memory each, at the peak. The largest files that people write have a third of it.
MOST_NODES = 300_000


class TooManyNodes(Exception):
    """A file has more nodes than one file's share of a worker's memory has room for."""


def walk_module(module: ast.Module, walk: Walk) -> None:  # noqa: C901  one loop, run for every node
    """Add all nodes of a module to the rows, which already hold its file.

    Raises:
        TooManyNodes: there are more than MOST_NODES.
    """
    rows, scan = walk.rows, walk.scan
    stack: list[Row] = [(module, 0, walk.rows[0][2], "module", None, "")]
    pop, push, append = stack.pop, stack.append, rows.append
    while stack:
        row = pop()
        here = len(rows)
        append(row)
        if here >= MOST_NODES:
            raise TooManyNodes
        node, _, owner, _, _, local = row
        node.__dict__[_ROW] = here
        placer, opener, fields = SHAPES[node.__class__]
        if placer is not None:
            placer(node, scan)
        if opener is not None:
            owner, local = opener(node, owner, local, walk)
        if not fields:
            continue
        steps = f"{local}." if local else ""
        for name in fields:
            value: Any = getattr(node, name, None)
            if value.__class__ is list:
                index = len(value)
                for child in reversed(value):
                    index -= 1
                    if isinstance(child, ast.AST):
                        push((child, here, owner, name, index, f"{steps}{name}.{index}"))
            elif isinstance(value, ast.AST):
                push((value, here, owner, name, None, f"{steps}{name}"))


def row_of(node: ast.AST) -> int:
    """The row of a node that a walk has seen."""
    return node.__dict__[_ROW]


def end_of(rows: Sequence[Row], row: int) -> int:
    """The row behind the last one below a row: pre-order has all below a node side by side."""
    end, count = row + 1, len(rows)
    while end < count and rows[end][1] >= row:
        end += 1
    return end


def _open_module(node: ast.AST, owner: Owner, local: str, walk: Walk) -> tuple[Owner, str]:
    del node, owner
    opened = walk.owners[len(walk.rows) - 1] = module_owner(len(walk.rows) - 1, walk.file)
    return opened, local


def _open_definition(node: ast.AST, owner: Owner, local: str, walk: Walk) -> tuple[Owner, str]:
    del local
    row = len(walk.rows) - 1
    name = cast("Definition", node).name
    opened = inner_owner(row, name, owner, walk.file, is_class=isinstance(node, ast.ClassDef))
    walk.owners[row] = opened
    walk.opened.append(row)
    return opened, ""


def _open_lambda(node: ast.AST, owner: Owner, local: str, walk: Walk) -> tuple[Owner, str]:
    del node
    row = len(walk.rows) - 1
    walk.opened.append(row)
    return lambda_owner(row, owner), local


_OPENERS: dict[type[ast.AST], Callable[[ast.AST, Owner, str, Walk], tuple[Owner, str]]] = {
    ast.Module: _open_module,
    ast.ClassDef: _open_definition,
    ast.FunctionDef: _open_definition,
    ast.AsyncFunctionDef: _open_definition,
    ast.Lambda: _open_lambda,
}
Shape: TypeAlias = (
    "tuple[Placer | None, Callable[[ast.AST, Owner, str, Walk], tuple[Owner, str]] | None, tuple[str, ...]]"
)


def _shape_of(kind: type[ast.AST]) -> Shape:
    """How to walk on from a node: what places its children, what it opens, its fields from last to first."""
    placer = PLACERS.get(kind)
    if kind is ast.JoinedStr and not _PLACES_IN_FSTRINGS_ARE_RIGHT:
        placer = place_joined
    names = () if kind.__name__ in _LEAVES else kind._fields
    return placer, _OPENERS.get(kind), tuple(name for name in reversed(names) if name not in _PLAIN_FIELDS)


AST_CLASSES: tuple[type[ast.AST], ...] = (
    *(each for each in vars(ast).values() if isinstance(each, type) and issubclass(each, ast.AST)),
    Error,
)
SHAPES: dict[type[ast.AST], Shape] = {kind: _shape_of(kind) for kind in AST_CLASSES}
