"""The flow of whole files: laws of every def, and what of it Python's own compiler reaches."""

from __future__ import annotations

import ast
import dis
from collections import defaultdict
from itertools import pairwise
from types import CodeType
from typing import TYPE_CHECKING, Any

import pytest
from flow_programs import programs
from flow_reading import Reading, read, standard_library
from hypothesis import given, settings

from headwater.cpg.extract.flow import POINT_KINDS

if TYPE_CHECKING:
    from pathlib import Path

# No line follows on these but where they jump to.
ENDS = frozenset(
    {"JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT", "RETURN_VALUE", "RETURN_CONST"}
    | {"RAISE_VARARGS", "RERAISE"}
)
BEGINNINGS = frozenset({"RESUME", "COPY_FREE_VARS", "MAKE_CELL", "RETURN_GENERATOR"})
COMPREHENSIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})
# What surely has code, so that its line is there if it is met.
COMPILED = (ast.Assign, ast.AugAssign, ast.Return, ast.Raise, ast.Import, ast.ImportFrom, ast.FunctionDef)

Key = tuple[str, int]


def lines_reached(code: CodeType) -> set[int]:
    """The lines of the instructions that the first one leads to, by jumps and by the table of exceptions."""
    instructions = list(dis.get_instructions(code))
    index_at = {each.offset: index for index, each in enumerate(instructions)}
    table: list[Any] = vars(dis)["_parse_exception_table"](code)
    todo, seen = [0], set[int]()
    while todo:
        index = todo.pop()
        if index in seen:
            continue
        seen.add(index)
        each = instructions[index]
        if each.opcode in dis.hasjrel or each.opcode in dis.hasjabs:
            todo.append(index_at[each.argval])
        if each.opname not in ENDS:
            todo.append(index + 1)
        todo += [index_at[entry.target] for entry in table if entry.start <= each.offset < entry.end]
    found = [instructions[index] for index in seen]
    return {
        each.positions.lineno
        for each in found
        if each.positions and each.positions.lineno and each.opname not in BEGINNINGS
    }


def compiled_lines(code: CodeType, key: Key, found: dict[Key, set[int]]) -> dict[Key, set[int]]:
    """By def, the lines that its code reaches; a comprehension's belong to the def around it."""
    found[key] |= lines_reached(code)
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            is_part = inner.co_name in COMPREHENSIONS
            compiled_lines(inner, key if is_part else (inner.co_name, inner.co_firstlineno), found)
    return found


def key_of(node: Any) -> Key:
    if isinstance(node, ast.Module):
        return "<module>", 0
    lines = [node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))]
    return getattr(node, "name", "<lambda>"), min(lines)


def lines_by_life(reading: Reading) -> tuple[dict[Key, set[int]], dict[Key, set[int]]]:
    """By def, the lines of points that are not dead, and of those that are.

    A statement without a point of its own, such as a try, is met with the first point in it.
    """
    points = reading.flow.points
    first_in: dict[int, int] = {}
    for point, row in enumerate(points.node):
        above = row
        while above is not None and (above == row or reading.nodes[above].__class__ not in OWN_FLOW):
            first_in.setdefault(above, point)
            above = reading.parents[above] if above else None
    live: dict[Key, set[int]] = defaultdict(set)
    dead: dict[Key, set[int]] = defaultdict(set)
    for row, point in first_in.items():
        if points.node[point] is not None and isinstance(reading.nodes[row], PLACED):
            some = dead if points.is_dead[point] else live
            some[key_of(reading.nodes[points.def_row[point]])].update(reading.lines_of(row))
    for point, row in enumerate(points.node):
        if row is not None and not points.is_dead[point]:
            live[key_of(reading.nodes[points.def_row[point]])].update(reading.lines_of(row))
    return live, dead


OWN_FLOW = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
PLACED = (ast.stmt, ast.expr, ast.ExceptHandler, ast.match_case)


def is_folded(node: Any) -> bool:
    """Whether a body comes to no instructions, so that Python drops its handlers."""
    empty = ast.Pass | ast.Continue | ast.Break | ast.Global | ast.Nonlocal
    return isinstance(node, empty) or (isinstance(node, ast.If) and isinstance(node.test, ast.Constant))


def handled_nothing(reading: Reading) -> set[int]:
    """The lines of handlers whose body comes to nothing: signals may be met there, so ours are alive."""
    return {
        line
        for node in reading.nodes
        if isinstance(node, ast.Try) and is_folded(node.body[0])
        for handler in node.handlers
        for line in range(handler.lineno, (handler.end_lineno or 0) + 1)
    }


def test_what_the_compiler_reaches_is_alive_and_what_is_alive_it_reaches() -> None:
    for path in standard_library(12):
        content = path.read_bytes()
        try:
            code = compile(content, str(path), "exec", dont_inherit=True)
        except SyntaxError:
            continue  # it parses, but does not compile
        reading = read(content)
        compiled = compiled_lines(code, ("<module>", 0), defaultdict(set))
        live, dead = lines_by_life(reading)
        for key, lines in compiled.items():
            assert not lines & (dead[key] - live[key]), (path, key)
            assert lines - {0, key[1]} <= live[key], (path, key)
        points, passed = reading.flow.points, handled_nothing(reading)
        for row, def_row, is_dead in zip(points.node, points.def_row, points.is_dead, strict=True):
            key = key_of(reading.nodes[def_row])
            if row is not None and not is_dead and key in compiled:
                node = reading.nodes[row]
                if isinstance(node, COMPILED) and node.lineno not in passed:
                    assert compiled[key] & set(reading.lines_of(row)), (path, node.lineno)


@pytest.mark.parametrize("path", standard_library(25), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_def_keeps_the_laws(path: Path) -> None:
    reading = read(path.read_bytes())
    flow = reading.flow
    points, edges, events, defs = flow.points, flow.edges, flow.events, flow.defs
    assert {
        len(column) for column in (points.node, points.kind, points.block, points.idom, points.ipdom)
    } == {len(points.def_row)}
    assert defs.points[-1] == len(points.def_row)
    assert (defs.edges[-1], defs.events[-1]) == (len(edges.src), len(events.site))
    for first, end in zip(flow.handlers.first, flow.handlers.end, strict=True):
        assert isinstance(reading.nodes[events.site[first]], ast.ExceptHandler)
        assert len({points.def_row[point] for point in events.point[first:end]}) == 1
    for index, (first, end) in enumerate(pairwise(defs.points)):
        kinds = [POINT_KINDS[kind] for kind in points.kind[first:end]]
        assert [kinds[0], *kinds[-2:]] == ["entry", "exit", "exc_exit"]
        assert [node is None for node in points.node[first:end]] == [
            kind in {"entry", "exit", "exc_exit"} for kind in kinds
        ]
        assert points.ord[first:end] == list(range(end - first))
        assert set(points.def_row[first:end]) == {defs.row[index]}
        blocks = points.block[first:end]
        assert (blocks[0], sorted(set(blocks))) == (0, list(range(max(blocks) + 1)))
        some = slice(defs.edges[index], defs.edges[index + 1])
        triples = list(zip(edges.src[some], edges.dst[some], edges.kind[some], strict=True))
        assert len(set(triples)) == len(triples)
        assert all(first <= source < end and first < target < end for source, target, _ in triples)
        alive = {first}
        for source, target, _ in sorted(triples):
            if source in alive and target > source:
                alive.add(target)
        assert [not is_dead for is_dead in points.is_dead[first:end]] == [
            point in alive for point in range(first, end)
        ]
        told = slice(defs.events[index], defs.events[index + 1])
        assert all(first <= point < end for point in events.point[told])
        assert events.point[told] == sorted(events.point[told])


def ways(text: str) -> list[tuple[int, int, int]]:
    edges = read(text).flow.edges
    return list(zip(edges.src, edges.dst, edges.kind, strict=True))


@settings(max_examples=150, deadline=None)
@given(programs())
def test_a_way_of_programs_is_told_once(text: str) -> None:
    found = ways(text)
    assert len(set(found)) == len(found)


@pytest.mark.parametrize(
    "text",
    [
        "while a:\n try:\n  if b: continue\n  if c: break\n finally: d",
        "def f():\n try:\n  if a: return b\n finally: c",
        "try:\n try: a\n except* B: c\nexcept D: e",
        "try:\n with a as (b, c), d: e\nexcept F: g",
        "while a:\n with b:\n  if c: continue\n  d",
        "try:\n try: a\n finally:\n  if b: c\nfinally: d",
        "while a and b or c: continue",
        "[a for b in c if d if e for f in g if h]",
    ],
    ids=["loop", "return", "except-star", "with", "with-in-loop", "finally-twice", "while", "comprehension"],
)
def test_a_way_that_is_taken_for_two_reasons_is_told_once(text: str) -> None:
    found = ways(text)
    assert len(set(found)) == len(found)


@pytest.mark.parametrize(
    "text",
    [
        "x = " + " + ".join(["a"] * 2_500),
        "x = " + "not " * 500 + "a",
        "if " + "not " * 500 + "a: b",
        "x = " + " if a else ".join(["b"] * 500),
        "if " + " if a else ".join(["b"] * 500) + ": c",
        "x = " + "lambda: " * 200 + "a",
        "x = a" + ".b" * 2_000,
        "x = a" + "()" * 2_000,
        "if a: b\n" + "elif a: b\n" * 1_000,
        "".join(" " * depth + "if a:\n" for depth in range(90)) + " " * 90 + "b",
        "".join(" " * depth + "try:\n" for depth in range(45))
        + " " * 45
        + "b\n"
        + "".join(" " * depth + "finally: c\n" for depth in reversed(range(45))),
        "match a:\n case " + "[" * 90 + "b" + "]" * 90 + ": c",
    ],
    ids=[
        "sum",
        "not",
        "tested not",
        "choice",
        "tested choice",
        "lambda",
        "attribute",
        "call",
        "elif",
        "if",
        "finally",
        "pattern",
    ],
)
def test_deep_code_is_no_deeper_than_flow(text: str) -> None:
    reading = read(text)
    assert not any(reading.flow.points.is_dead[: reading.flow.defs.points[1] - 1])
