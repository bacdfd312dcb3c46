"""Runs of a text as Python itself traces them, and whether they are ways through its flow.

A step from one traced line to the next is a way through the flow if a path leads from a point of the former
to a point of the latter, and all points in between are of one of the two lines, or silent. The lines of a
point are those of its node, without the statements in it, and the first lines of the expressions and the
statement around it: Python has the jump after an operand there. Silent is what Python gives no line:
statements and conditions that it folds away, and comprehensions, which run in a frame of their own in some
versions. Lines without any point, such as `try:`, are passed over, and so is what raises again at the end of
a handler or a `finally`: Python gives it the line of whatever it has compiled before.
"""

from __future__ import annotations

import ast
import dis
import sys
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from headwater.cpg.extract.flow import POINT_KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import CodeType, FrameType

    from flow_reading import Reading

FILE = "<traced>"
_RAISES_AGAIN = (("RERAISE", 0), ("RERAISE", 1), ("COPY", 3))  # the last begins what cleans up before
_SUSPENDS = frozenset({"YIELD_VALUE", "SEND", "RETURN_GENERATOR"})
_SILENT = (ast.Pass, ast.Break, ast.Continue, ast.Global, ast.Nonlocal, ast.Constant)
_COMPREHENSION_FRAMES = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

# What a frame did: the lines of its code, and at last whether it returned, raised or was never finished.
Trace = tuple[str, list[int], str]


def trace(run: Callable[[], object]) -> list[Trace]:
    """All frames of traced code that a run has, each with its def's name and first line."""
    frames: dict[FrameType, tuple[list[int], list[str]]] = {}

    def local(frame: FrameType, event: str, __: object) -> Callable[..., Any]:
        lines, ends = frames[frame]
        if event == "line" and operation_at(frame.f_code, frame.f_lasti) not in _RAISES_AGAIN:
            lines.append(frame.f_lineno)
        if event == "return":
            name, _ = operation_at(frame.f_code, frame.f_lasti)
            if ends[-1] == "exception":
                ends.append("exc_exit")
            else:
                ends.append("" if name in _SUSPENDS else "exit" if name.startswith("RETURN") else "exc_exit")
        else:
            ends.append(event)
        return local

    def every(frame: FrameType, _: str, __: object) -> Callable[..., Any] | None:
        if frame.f_code.co_filename != FILE or frame.f_code.co_name in _COMPREHENSION_FRAMES:
            return None
        frames.setdefault(frame, ([], ["call"]))[1].append("call")
        return local

    before = sys.gettrace()
    sys.settrace(every)
    try:
        run()
    finally:
        sys.settrace(before)
    return [
        (f"{frame.f_code.co_name}:{frame.f_code.co_firstlineno}", lines, ends[-1])
        for frame, (lines, ends) in frames.items()
    ]


def operation_at(code: CodeType, offset: int) -> tuple[str, int]:
    return (dis.opname[code.co_code[offset]], code.co_code[offset + 1]) if offset >= 0 else ("", 0)


class Paths:
    """The flow of a text, to be asked whether traces are ways through it."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        points, edges = reading.flow.points, reading.flow.edges
        self.following: dict[int, list[int]] = defaultdict(list)
        for source, target in zip(edges.src, edges.dst, strict=True):
            self.following[source].append(target)
        inside = rows_in_comprehensions(reading)
        self.silent = {
            point
            for point, row in enumerate(points.node)
            if row is not None and (row in inside or is_silent(reading.nodes[row]))
        }
        self.lines = [set[int]() if row is None else self._lines_of(row) for row in points.node]

    def _lines_of(self, row: int) -> set[int]:
        nodes, lines = self.reading.nodes, set(self.reading.lines_of(row))
        while not isinstance(nodes[row], ast.stmt | ast.ExceptHandler | ast.match_case | ast.Lambda):
            row = self.reading.parents[row]
            lines.add(nodes[row].lineno)
        return lines

    def why_not(self, trace: Trace) -> str:
        """What is not a way through the flow; nothing, if all is."""
        name, lines, end = trace
        first, last = self._def_of(name)
        known = set[int]().union(*self.lines[first:last])
        at, line = {first}, 0
        for following in (each for each in lines if each in known):
            reached = self._reached(at, {line, following})
            at = {point for point in reached if following in self.lines[point]}
            if not at:
                return f"{name}: no way from line {line} to line {following} in {lines}"
            line = following
        if end in {"exit", "exc_exit"}:
            target = last - 2 if end == "exit" else last - 1
            assert POINT_KINDS[self.reading.flow.points.kind[target]] == end
            if target not in self._reached(at, {line}):
                return f"{name}: no way from line {line} to {end} in {lines}"
        return ""

    def _def_of(self, name: str) -> tuple[int, int]:
        defs = self.reading.flow.defs
        for index, row in enumerate(defs.row):
            node = self.reading.nodes[row]
            own = "<module>:1" if isinstance(node, ast.Module) else f"{getattr(node, 'name', '<lambda>')}:"
            lines = [
                getattr(node, "lineno", 1),
                *(each.lineno for each in getattr(node, "decorator_list", ())),
            ]
            if name in {own, f"{own}{min(lines)}"}:
                return defs.points[index], defs.points[index + 1]
        raise KeyError(name)

    def _reached(self, start: Iterable[int], lines: set[int]) -> set[int]:
        """The points that paths over points of some lines lead to, the starts among them."""
        seen, todo = set(start), list(start)
        while todo:
            for point in self.following[todo.pop()]:
                if point in seen:
                    continue
                seen.add(point)
                if point in self.silent or lines & self.lines[point]:
                    todo.append(point)
        return seen


def is_silent(node: ast.AST) -> bool:
    return isinstance(node.value if isinstance(node, ast.Expr) else node, _SILENT)


def rows_in_comprehensions(reading: Reading) -> set[int]:
    return {
        inner.__dict__["row"]
        for node in reading.nodes
        if isinstance(node, _COMPREHENSIONS)
        for inner in ast.walk(node)
        if "row" in inner.__dict__
    }
