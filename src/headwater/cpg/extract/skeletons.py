"""A compound statement without what is in its blocks: its headers, parsed, and where each block goes.

A header that does not parse is replaced where something of it is known: a function or class by its name, a
handler of exceptions by what it catches (in Python 2, a comma stands before its name). Any other ends the
statement before it. Not here: what the blocks contain.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.cpg.extract.fragments import Piece, Refusal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tree_sitter import Node

    from headwater.cpg.extract.fragments import Fragments

_PASS = b" pass\n"
# What must stand before a clause of a kind for it to be parsed alone.
_FRAMES = {
    "elif_clause": b"if 1: pass\n",
    "else_clause": b"if 1: pass\n",
    "except_clause": b"try: pass\n",
    "finally_clause": b"try: pass\n",
    "case_clause": b"match 0:\n ",
}
_FRAMES["except_group_clause"] = _FRAMES["except_clause"]
_CAUGHT_AND_NAME = 2
_BLOCK_FIELDS = ("body", "handlers", "cases", "orelse", "finalbody")


@dataclass(slots=True)
class Clause:
    """A header, from its first byte to behind its colon, and the nodes of its block."""

    node: Node
    start: int
    end: int
    has_colon: bool = False
    block: list[Node] = field(default_factory=list["Node"])


@dataclass(slots=True)
class Block:
    """A list of statements to be filled: with what did not parse of the header, and with these nodes."""

    statements: list[ast.stmt]
    clause: Clause
    unparsed: tuple[int, int] | None = None


@dataclass(slots=True)
class Skeleton:
    """A statement whose blocks are to be filled; `rest` are the clauses that are not in it."""

    statement: ast.stmt
    blocks: list[Block]
    rest: list[Clause]
    decorators: tuple[int, int] | None = None


def clauses_of(node: Node, base: int) -> list[Clause]:
    """The clauses of a compound statement in the order in which they are written."""
    clauses = [Clause(node, node.start_byte + base, node.end_byte + base)]
    for child in node.children:
        is_body_of_match = node.type == "match_statement" and child.type == "block"
        for each in child.children if is_body_of_match else (child,):
            current = clauses[-1]
            if each.type in _FRAMES:
                clauses += clauses_of(each, base)
            elif each.type == ":" and not current.has_colon:
                current.end, current.has_colon = each.end_byte + base, True
            elif current.has_colon:
                current.block.append(each)
    return clauses


def read_skeleton(fragments: Fragments, node: Node, base: int) -> Skeleton | None:
    """The headers of a compound statement, as far as they parse; nothing if not even its first does."""
    if node.type == "decorated_definition":
        return _read_decorated(fragments, node, base)
    clauses = clauses_of(node, base)
    if all(clause.has_colon for clause in clauses):
        found = _put_together(fragments, [_piece(clause) for clause in clauses], clauses)
        if found is not None:
            return found
    return _read_mended(fragments, clauses, base)


def settle(statement: ast.stmt) -> None:
    """Let a statement whose blocks are filled end where the last statement in it ends."""
    for node in reversed(_chain_of(statement)):
        for handler in getattr(node, "handlers", ()):
            _end_with(handler, handler.body[-1])
        parts: list[ast.AST] = [child for name in _BLOCK_FIELDS for child in getattr(node, name, ())]
        last = parts[-1]
        _end_with(node, last.body[-1] if isinstance(last, ast.match_case) else last)


def _end_with(node: ast.AST, last: ast.AST) -> None:
    place, end = vars(node), vars(last)
    place["end_lineno"], place["end_col_offset"] = end["end_lineno"], end["end_col_offset"]


def _chain_of(statement: ast.stmt) -> list[ast.stmt]:
    """A statement, and if it is an `if`, each `elif` of it."""
    chain = [statement]
    while isinstance(chain[-1], ast.If) and [type(each) for each in chain[-1].orelse] == [ast.If]:
        chain += chain[-1].orelse
    return chain


def _read_decorated(fragments: Fragments, node: Node, base: int) -> Skeleton | None:
    """A definition with its decorators; where these do not parse, without them."""
    definition = node.child_by_field_name("definition")
    if definition is None:
        return None
    found = read_skeleton(fragments, definition, base)
    lines = [
        Piece(each.start_byte + base, each.end_byte + base)
        for each in node.children
        if each.type in {"decorator", "ERROR"} and each.start_byte < definition.start_byte
    ]
    if found is None or not lines:
        return found
    decorated = fragments.parse([*lines, Piece(0, 0, after=b"def f(): pass\n")])
    if isinstance(decorated, Refusal) or len(decorated) != 1 or not isinstance(decorated[0], ast.FunctionDef):
        found.decorators = (lines[0].start, lines[-1].end)
    elif isinstance(found.statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        found.statement.decorator_list = decorated[0].decorator_list
    return found


def _read_mended(fragments: Fragments, clauses: list[Clause], base: int) -> Skeleton | None:
    """As many clauses as can be had, with headers replaced where they have to be."""
    pieces: list[Piece] = []
    unparsed: dict[int, tuple[int, int]] = {}
    caught: dict[int, tuple[ast.expr | None, str | None]] = {}
    for number, clause in enumerate(clauses):
        piece = _piece(clause)
        if not clause.has_colon or isinstance(fragments.parse([_framed(piece, clause)]), Refusal):
            caught_here = _caught_by(fragments, clause, base)
            if caught_here is not None:
                caught[number] = caught_here
            mended = _mended(clause, base)
            if mended is None:
                break
            piece = mended
            if caught_here is None:
                unparsed[number] = (mended.end, clause.end)
        pieces.append(piece)
    found = _put_together(fragments, pieces, clauses) if pieces else None
    if found is None:
        return None
    for number, block in enumerate(found.blocks):
        block.unparsed = unparsed.get(number)
    handlers = getattr(found.statement, "handlers", ())
    for number, (type_, name) in caught.items():
        handlers[number - 1].type, handlers[number - 1].name = type_, name
    return found


def _piece(clause: Clause) -> Piece:
    if clause.node.type == "match_statement":
        return Piece(clause.start, clause.end)
    before = b" " if clause.node.type == "case_clause" else b""
    return Piece(clause.start, clause.end, before, _PASS)


def _framed(piece: Piece, clause: Clause) -> Piece:
    frame = _FRAMES.get(clause.node.type, b"")
    after = b"\n case _: pass\n" if clause.node.type == "match_statement" else piece.after
    if clause.node.type == "try_statement":
        after += b"finally: pass\n"
    return Piece(piece.start, piece.end, frame, after)


def _mended(clause: Clause, base: int) -> Piece | None:
    """A header that parses in the place of one that does not: what is known by name."""
    name = clause.node.child_by_field_name("name")
    if clause.node.type == "except_clause":
        return Piece(clause.start, clause.start + len(b"except"), b"", b":" + _PASS)
    if name is None or name.has_error or name.start_byte == name.end_byte:
        return None
    after = {"function_definition": b"():", "class_definition": b":"}.get(clause.node.type)
    return None if after is None else Piece(clause.start, name.end_byte + base, b"", after + _PASS)


def _caught_by(fragments: Fragments, clause: Clause, base: int) -> tuple[ast.expr | None, str | None] | None:
    """What a handler written as in Python 2 catches, and the name it gives."""
    values = clause.node.children_by_field_name("value")
    is_old = any(child.type == "," for child in clause.node.children)
    if clause.node.type != "except_clause" or not is_old or len(values) != _CAUGHT_AND_NAME:
        return None
    caught, name = values
    found = fragments.parse([Piece(caught.start_byte + base, caught.end_byte + base, b"(", b")\n")])
    if isinstance(found, Refusal) or len(found) != 1 or not isinstance(found[0], ast.Expr):
        return None
    if name.type != "identifier":
        return None
    return found[0].value, fragments.scan.data[name.start_byte + base : name.end_byte + base].decode()


def _put_together(
    fragments: Fragments, pieces: Sequence[Piece], clauses: Sequence[Clause]
) -> Skeleton | None:
    """The statement that the first clauses are, if they are one."""
    found = fragments.parse(pieces)
    if isinstance(found, Refusal) or len(found) != 1:
        return None
    taken = [each for each in clauses[: len(pieces)] if each.node.type != "match_statement"]
    slots = list(_slots_of(found[0]))
    if len(slots) != len(taken):
        return None
    blocks = [Block(slot, clause) for slot, clause in zip(slots, taken, strict=True)]
    return Skeleton(found[0], blocks, list(clauses[len(pieces) :]))


def _slots_of(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The lists of statements in a skeleton, each of which is one `pass`, in the order of the text."""
    for node in _chain_of(statement):
        for name in _BLOCK_FIELDS:
            children = getattr(node, name, [])
            if name in {"handlers", "cases"}:
                yield from [child.body for child in children]
            elif children and isinstance(children[0], ast.Pass):
                yield children
