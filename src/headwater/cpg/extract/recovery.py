"""What can still be read of a text that Python does not parse, as a module like any other.

tree-sitter tells where statements begin and end. Those that stand next to each other are parsed by `ast` as
they stand, as many at once as it takes; a compound statement that it does not take keeps its headers, and its
blocks are read in the same way. What stays is an `Error` in the place of a statement. Where tree-sitter loses
its way (a bracket that is never closed), the lines that are indented the least begin a statement each.

Each try costs time, so the sizes of the next tries follow from the last: after a failure as much as Python
had read, after a success twice as much. All tries together have a limit by the size of the text.
Not here: what is wrong with the text; Python says that when it refuses it.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

import tree_sitter_python
from tree_sitter import Language, Parser

from headwater.cpg.extract.easing import easy_view
from headwater.cpg.extract.fragments import Fragments, Piece, Refusal
from headwater.cpg.extract.kinds import Error
from headwater.cpg.extract.scanning import Scan
from headwater.cpg.extract.skeletons import clauses_of, read_skeleton, settle

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tree_sitter import Node

    from headwater.cpg.extract.skeletons import Block, Clause
    from headwater.cpg.extract.source import SourceText

# As deep as Python lets blocks be.
_DEEPEST = 100
_COMPOUND = frozenset(
    {
        *("if_statement", "for_statement", "while_statement", "try_statement", "with_statement"),
        *("match_statement", "function_definition", "class_definition", "decorated_definition"),
    }
)
_STATEMENT = ("_statement", "_definition")
_NO_STATEMENT = frozenset({"comment", "line_continuation", ";"})
_BLANKS = b" \t\r\n\f"
_LINE = re.compile(rb"[^\r\n]+")
_BLANK_LINE = re.compile(rb"[ \t\f]*(?:#|$)")
# A line that goes on with the statement before it, though it is not indented more.
_GOES_ON = re.compile(rb"[ \t\f]*(?:else|elif|except|finally)\b")
_DECORATOR = re.compile(rb"[ \t\f]*@")
_HEADING = re.compile(rb"(?:async|def|class|if|for|while|try|with|match|@)")
# What tree-sitter takes and Python 3 does not: no try is needed to know that. In a string it does no harm.
_OLD_PYTHON = re.compile(
    rb"^[ \t]*(?:print|exec)[ \t]+[\w'\"`%-]|^[ \t]*except[ \t][^:\r\n]*,[ \t]*\w+[ \t]*:|"
    rb"^[ \t]*raise[ \t]+[\w.]+[ \t]*,|<>|`|\b0[0-9]*[1-9]|[0-9]L\b",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class _Item:
    """A text that may be a statement: with its node, or without one where tree-sitter knows none."""

    start: int
    end: int
    node: Node | None = None
    base: int = 0

    @property
    def is_compound(self) -> bool:
        return self.node is not None and self.node.type in _COMPOUND


# Statements that stand on one line, with semicolons between.
_Line: TypeAlias = "list[_Item]"


def recover_module(source: SourceText) -> ast.Module | None:
    """A module with all that could be read; nothing if that is no statement at all."""
    recovery = _Recovery(Scan(source.data, source.starts))
    root = recovery.grow(0, len(source.data))
    body = recovery.read_all(root.children, 0, 0)
    if all(isinstance(each, Error) for each in body):
        return None
    return ast.Module(body, [])


@cache
def _language() -> Language:
    return Language(tree_sitter_python.language())


class _Recovery:
    """Reads one text."""

    def __init__(self, scan: Scan) -> None:
        self.data = scan.data
        self.starts = scan.starts
        self.fragments = Fragments(scan)
        self.old = [found.start() for found in _OLD_PYTHON.finditer(scan.data)]

    def grow(self, start: int, end: int) -> Node:
        """The tree that tree-sitter makes of a part of the text."""
        return Parser(_language()).parse(easy_view(self.data[start:end])).root_node

    def read_all(self, nodes: Iterable[Node], base: int, depth: int) -> list[ast.stmt]:
        """The statements of a block."""
        return self._read_items(self._items_of(nodes, base), depth)

    def _read_items(self, items: Sequence[_Item], depth: int) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        lines = self._lines_of(items)
        first, size = 0, len(lines)
        while first < len(lines):
            if self._is_doubtful(lines[first]):
                found += self._read_line(lines[first], depth)
                first += 1
                continue
            last = self._end_of_trust(lines, first, first + size)
            parsed = self._parse(lines[first][0].start, lines[last - 1][-1].end)
            if not isinstance(parsed, Refusal):
                found += parsed
                size = max(size, last - first) * 2
                first = last
            elif last == first + 1:
                line = lines[first]
                found += self._read_line(line, depth) if line[1:] else self._read_refused(line[0], depth)
                first, size = last, 1
            else:
                size = self._next_size(lines, first, last, parsed)
        return found

    def _end_of_trust(self, lines: Sequence[_Line], first: int, most: int) -> int:
        """How far lines go that may be parsed at once: up to the next that begins within a line."""
        last = first + 1
        while last < min(most, len(lines)):
            line = lines[last]
            if self._is_doubtful(line) or self.fragments.indent_of(line[0].start) is None:
                break
            last += 1
        return last

    def _next_size(self, lines: Sequence[_Line], first: int, last: int, refusal: Refusal) -> int:
        """How many lines to try after a failure: those before the one that Python gave up at."""
        starts = [line[0].start for line in lines[first:last]]
        good = bisect_right(starts, refusal.offset + len(self._indent(starts[0]))) - 1
        return good if 0 < good < last - first else max(1, (last - first) // 2)

    def _indent(self, start: int) -> bytes:
        return self.fragments.indent_of(start) or b""

    def _is_doubtful(self, line: _Line) -> bool:
        """Whether parsing this together with others would only spoil it for them."""
        old = bisect_left(self.old, line[0].start)
        if old < len(self.old) and self.old[old] < line[-1].end:
            return True
        return any(each.node is None or each.node.has_error for each in line)

    def _parse(self, start: int, end: int) -> list[ast.stmt] | Refusal:
        """The statements between two offsets, indented as they are."""
        indent = self.fragments.indent_of(start)
        if indent is None:
            indent = b" " * (start - self.starts[bisect_right(self.starts, start) - 1])
        parsed = self.fragments.parse([Piece(start, end, b"if 1:\n" + indent if indent else b"")])
        if isinstance(parsed, Refusal) or not indent:
            return parsed
        is_block = len(parsed) == 1 and isinstance(parsed[0], ast.If) and not parsed[0].orelse
        return parsed[0].body if is_block and isinstance(parsed[0], ast.If) else Refusal(start)

    # --- what does not parse with others -------------------------------------------------------------------

    def _read_line(self, line: _Line, depth: int) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for each in line:
            known_bad = each.is_compound and self._is_doubtful([each])
            parsed = Refusal(each.start) if known_bad else self._parse(each.start, each.end)
            found += self._read_refused(each, depth) if isinstance(parsed, Refusal) else parsed
        return found

    def _read_refused(self, item: _Item, depth: int) -> list[ast.stmt]:
        if depth >= _DEEPEST:
            return [self.fragments.unparsed(item.start, item.end)]
        if item.node is not None and item.is_compound:
            return self._read_compound(item.node, item.base, depth)
        return self._read_lost(item, depth)

    def _read_compound(self, node: Node, base: int, depth: int) -> list[ast.stmt]:
        """The statement with its blocks, and after it what did not become part of it."""
        skeleton = read_skeleton(self.fragments, node, base)
        if skeleton is None:
            inner = node.child_by_field_name("definition")
            clauses = clauses_of(node if inner is None else inner, base)
            clauses[0].start = node.start_byte + base
            return self._read_clauses(clauses, base, depth)
        found: list[ast.stmt] = []
        if skeleton.decorators is not None:
            found.append(self.fragments.unparsed(*skeleton.decorators))
        for block in skeleton.blocks:
            self._fill(block, base, depth)
        outside = self._take_outside(skeleton.blocks[-1], skeleton.statement)
        settle(skeleton.statement)
        return [*found, skeleton.statement, *outside, *self._read_clauses(skeleton.rest, base, depth)]

    def _take_outside(self, block: Block, statement: ast.stmt) -> list[ast.stmt]:
        """Take from a block what is not indented more than its statement: there, tree-sitter was misled."""
        statements = block.statements
        header = self.fragments.scan.start_of(statement)
        if self.fragments.indent_of(header) is None:
            return []
        for number, each in enumerate(statements):
            indent = self.fragments.indent_of(self.fragments.scan.start_of(each))
            is_out = indent is not None and b"\t" not in indent and each.col_offset <= statement.col_offset
            if is_out and each.lineno > statement.lineno:
                missing = self.fragments.unparsed(block.clause.end, block.clause.end)
                outside = statements[number:]
                statements[:] = statements[:number] or [missing]
                return outside
        return []

    def _fill(self, block: Block, base: int, depth: int) -> None:
        inside = self.read_all(block.clause.block, base, depth + 1)
        unparsed = None if block.unparsed is None else self._stripped(*block.unparsed)
        if unparsed is not None:
            inside.insert(0, self.fragments.unparsed(unparsed.start, unparsed.end))
        if not inside:  # a block is missing
            inside.append(self.fragments.unparsed(block.clause.end, block.clause.end))
        block.statements[:] = inside

    def _read_clauses(self, clauses: Iterable[Clause], base: int, depth: int) -> list[ast.stmt]:
        """What is in clauses whose headers do not parse."""
        found: list[ast.stmt] = []
        for clause in clauses:
            if clause.has_colon:
                found.append(self.fragments.unparsed(clause.start, clause.end))
                found += self.read_all(clause.block, base, depth + 1)
            else:
                found += self._read_lost(_Item(clause.start, clause.end), depth)
        return found

    def _read_lost(self, item: _Item, depth: int) -> list[ast.stmt]:
        """What begins with the lines that are indented the least, where there is more than one."""
        parts = self._split(item.start, item.end)
        if len(parts) == 1 and not self._is_new_to_tree(parts[0], item):
            return [self.fragments.unparsed(item.start, item.end)]
        found: list[ast.stmt] = []
        lost: tuple[int, int] | None = None
        for part in parts:
            read = self._read_part(part, item, depth)
            if read is None:
                lost = (part.start if lost is None else lost[0], part.end)
                continue
            if lost is not None:
                found.append(self.fragments.unparsed(*lost))
                lost = None
            found += read
        if lost is not None:
            found.append(self.fragments.unparsed(*lost))
        return found

    def _read_part(self, part: _Item, whole: _Item, depth: int) -> list[ast.stmt] | None:
        parsed = self._parse(part.start, part.end)
        if not isinstance(parsed, Refusal):
            return parsed
        if not self._is_new_to_tree(part, whole) or not self.fragments.spend(part.end - part.start):
            return None
        found = self.read_all(self.grow(part.start, part.end).children, part.start, depth + 1)
        return None if all(isinstance(each, Error) for each in found) else found

    def _is_new_to_tree(self, part: _Item, whole: _Item) -> bool:
        """Whether tree-sitter may see more in a part than it saw in the whole."""
        is_heading = _HEADING.match(self.data, part.start) is not None
        has_block = b"\n" in self.data[part.start : part.end] or b"\r" in self.data[part.start : part.end]
        return is_heading and has_block and (part.start, part.end) != (whole.start, whole.end)

    def _split(self, start: int, end: int) -> list[_Item]:
        """A text in parts, each of which begins with a line that is not indented more than the first."""
        parts: list[tuple[int, int]] = []
        indent, follows = len(self._indent(start)), False
        for line in _LINE.finditer(self.data, start, end):
            text = line[0]
            if _BLANK_LINE.fullmatch(text) or text.lstrip().startswith(b"#"):
                continue
            begin = line.start() + len(text) - len(text.lstrip())
            stop = line.start() + len(text.rstrip())
            own = begin - line.start() if parts or self._is_line_start(line.start()) else indent
            if parts and (own > indent or follows or _GOES_ON.match(text)):
                parts[-1] = (parts[-1][0], stop)
            else:
                parts.append((begin, stop))
                indent = own
            follows = own <= indent and _DECORATOR.match(text) is not None
        return [_Item(*part) for part in parts] or [_Item(start, end)]

    def _is_line_start(self, offset: int) -> bool:
        return self.starts[bisect_right(self.starts, offset) - 1] == offset

    # --- from nodes to texts -------------------------------------------------------------------------------

    def _items_of(self, nodes: Iterable[Node], base: int) -> list[_Item]:
        """The statements among nodes and in those that are errors; and the texts between, without a node."""
        items: list[_Item] = []
        stack = list(reversed(list(nodes)))
        while stack:
            node = stack.pop()
            start, end = node.start_byte + base, node.end_byte + base
            if node.type in _NO_STATEMENT or start == end:
                continue
            if node.type.endswith(_STATEMENT):
                self._add(items, _Item(start, end, node, base))
            elif node.type == "block" or (node.has_error and node.child_count):
                stack += reversed(node.children)
            else:
                self._add(items, _Item(start, end))
        return items

    def _add(self, items: list[_Item], item: _Item) -> None:
        """Add an item; one that is glued to a text without a node becomes part of it."""
        trimmed = self._stripped(item.start, item.end)
        if trimmed is None:
            return
        item = _Item(trimmed.start, trimmed.end, item.node, item.base)
        if items:
            before = items[-1]
            is_one = before.node is None and item.node is None
            is_glued = self._is_glued(before.end, item.start) and (before.node is None or item.node is None)
            if is_one or (is_glued and not before.is_compound and not item.is_compound):
                items[-1] = _Item(before.start, item.end)
                return
        items.append(item)

    def _is_glued(self, end: int, start: int) -> bool:
        between = self.data[end:start]
        return not any(each in between for each in (b"\n", b"\r", b";"))

    def _stripped(self, start: int, end: int) -> _Item | None:
        text = self.data[start:end]
        start += len(text) - len(text.lstrip(_BLANKS))
        end = start + len(text.strip(_BLANKS))
        return _Item(start, end) if start < end else None

    def _lines_of(self, items: Sequence[_Item]) -> list[_Line]:
        lines: list[_Line] = []
        for item in items:
            is_simple = not item.is_compound and item.node is not None
            if lines and is_simple and not lines[-1][-1].is_compound and lines[-1][-1].node is not None:
                before = lines[-1][-1]
                between = self.data[before.end : item.start]
                if b"\n" not in between and b"\r" not in between:
                    lines[-1].append(item)
                    continue
            lines.append([item])
        return lines
