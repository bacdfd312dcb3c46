"""Definitions reach the uses that see them: what runs of programs saw, and cases told one by one."""

from __future__ import annotations

import ast
from contextlib import suppress
from typing import Any

import pytest
from flow_corpus import TOOLS, corpus
from flow_programs import Tape, programs
from flow_reading import Reading, read
from flow_tracing import FILE, Paths, trace
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.cpg.extract.flow import TooManyPairs, find_reaching
from headwater.cpg.extract.flow.points import BIND, DEF, EXCEPTION, FALSE, USE

CORPUS = corpus()
DEFS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
TAPES = st.lists(st.lists(st.integers(0, 5), max_size=40), min_size=3, max_size=6)


@settings(max_examples=250, deadline=None)
@given(programs(), TAPES)
def test_what_a_use_saw_reaches_it_and_what_was_run_is_a_way(text: str, tapes: list[list[int]]) -> None:
    reading = read(text)
    paths, pairs = Paths(reading), set(reading.reaching_lines())
    space: dict[str, Any] = {}
    exec(compile(text, FILE, "exec"), space)  # noqa: S102
    for numbers in tapes:
        tape = Tape(list(numbers))

        def run(tape: Tape = tape) -> None:
            with suppress(Exception):
                space["f"](*tape.arguments())

        assert [why for each in trace(run) if (why := paths.why_not(each))] == []
        assert set(tape.seen) <= pairs


def handler_of(reading: Reading, site: int) -> int | None:
    """The nearest handler of the def that gives the site's name to its exception, if it is in one."""
    row = site
    while reading.nodes[row].__class__ not in DEFS:
        if getattr(reading.nodes[row], "name", None) == reading.name_of(site) and is_handler(reading, row):
            return row
        row = reading.parents[row]
    return None


def is_handler(reading: Reading, row: int) -> bool:
    return isinstance(reading.nodes[row], ast.ExceptHandler)


def is_inside(reading: Reading, row: int | None, handler: int) -> bool:
    """Whether a row is in the body of a handler."""
    while row and reading.parents[row] != handler:
        row = reading.parents[row]
    return bool(row) and reading.nodes[row] in reading.nodes[handler].body


def reached_by(reading: Reading, made: int) -> set[int]:
    """By definition: the uses that a walk from one definition meets before another takes its place."""
    flow, variables = reading.flow, reading.variables
    rows = list(zip(flow.events.point, flow.events.site, flow.events.action, strict=True))
    ways = list(zip(flow.edges.src, flow.edges.dst, flow.edges.kind, strict=True))
    start, site, how = rows[made]
    handler = handler_of(reading, site)
    uses, seen, todo = set[int](), set[tuple[int, bool]](), [(start, False)]
    while todo:
        point, is_before = todo.pop()
        if (point, is_before) in seen:
            continue
        seen.add((point, is_before))
        here = [
            (index, each, action)
            for index, (at, each, action) in enumerate(rows)
            if at == point and variables[each] == variables[site] and (is_before or index > made)
        ]
        is_kept = True
        for _, each, action in here:
            if action == USE and is_kept:
                uses.add(each)
            is_kept &= action == USE or (not is_before and how == action == BIND)
        binds = any(at == point and action == BIND for at, _, action in rows)
        for source, target, kind in ways:
            if source == point and (flow.points.is_dead[target] or not flow.points.is_dead[point]):
                fails = kind == FALSE and binds
                if handler is not None and not is_inside(reading, flow.points.node[target], handler):
                    continue  # where the handler ends, its name is unbound
                if kind == EXCEPTION or (is_before or how != BIND if fails else is_kept):
                    todo.append((target, True))
    return uses


@settings(max_examples=100, deadline=None)
@given(programs())
def test_a_pair_of_programs_is_what_its_definition_says(text: str) -> None:
    check_pairs(read(text))


@pytest.mark.parametrize("text", [text.removeprefix(TOOLS) for text, _ in CORPUS], ids=range(len(CORPUS)))
def test_a_pair_of_the_corpus_is_what_its_definition_says(text: str) -> None:
    check_pairs(read(text))


def check_pairs(reading: Reading) -> None:
    events = reading.flow.events
    expected = {
        (events.site[index], use)
        for index, action in enumerate(events.action)
        if action in {DEF, BIND}
        for use in reached_by(reading, index)
    }
    assert set(reading.reaching()) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f(a):\n a\n a = 2\n a", [(1, 2), (3, 4)]),
        ("def f(a):\n if a:\n  a = 3\n return a", [(1, 2), (1, 4), (3, 4)]),
        ("def f(a):\n while a:\n  a = 3", [(1, 2), (3, 2)]),
        ("def f(a):\n while a:\n  a\n  a = 4", [(1, 2), (1, 3), (4, 2), (4, 3)]),
        ("x = 1\nfor x in y:\n pass\nx", [(1, 4), (2, 4)]),
        ("x = 1\nfor x in y:\n break\nx", [(1, 4), (2, 4)]),
        ("x = 1\nfor x in y:\n x", [(2, 3)]),
        ("x = 1\ndel x\nx", []),
        ("x = 1\nif y:\n del x\nx", [(1, 4)]),
        ("x = 1\nif (x := y):\n x\nelse:\n x", [(2, 3), (2, 5)]),
        ("x = 1\ntry:\n x = f()\n x = g()\nexcept E:\n x", [(1, 6), (3, 6), (4, 6)]),
        ("x = 1\ntry:\n x = 3\n g()\nexcept E:\n x", [(3, 6)]),
        ("try:\n (x := 1) + (\n  x := f())\nexcept E:\n x", [(2, 5), (3, 5)]),
        ("try:\n f()\nexcept E as x:\n x\nexcept F:\n x", [(3, 4)]),
        ("x = 1\ntry:\n f()\nexcept E as x:\n pass\nexcept F:\n x", [(1, 7)]),
        ("try:\n f()\nexcept E as x:\n x\nx", [(3, 4)]),
        ("try:\n f()\nexcept E as x:\n x = x\n x\nx", [(3, 4), (4, 5)]),
        ("x = 1\ntry:\n f()\nexcept E as x:\n pass\nx", [(1, 6)]),
        ("try:\n raise E\nexcept BaseException as x:\n y = x\nx, y", [(3, 4), (4, 5)]),
        ("for x in y:\n try: f()\n except E as x:\n  if x: continue\n x", [(1, 5), (3, 4)]),
        ("while y:\n try: f()\n except (\n   x) as x:\n  x", [(3, 5)]),
        ("try:\n f()\nexcept E as x:\n try: g(x)\n except F as x: x\n x\nx", [(3, 4), (3, 6), (5, 5)]),
        ("try:\n try: f()\n except E as x: raise\nexcept F:\n x", []),
        ("try:\n f()\nexcept* E as x:\n x\nexcept* F:\n x", [(3, 4)]),
        ("x = 1\nwith y as x:\n x\nx", [(2, 3), (2, 4)]),
        ("x = 1\nmatch y:\n case [x] | (x, _):\n  x\n case _:\n  x", [(1, 6), (3, 4), (3, 4)]),
        ("x = 1\nx += 2\nx", [(1, 2), (2, 3)]),
        ("for i in y:\n x += 2", [(2, 2)]),
        ("x = 1\nif False:\n x = 3\nx", [(1, 4)]),
        ("raise E\nx = 2\nx\nif y:\n x", [(2, 3), (2, 5)]),
        ("[x for x in y]\n", [(1, 1)]),
        ("x: int\nx", []),
        ("try:\n x = 2\n f()\nfinally:\n x", [(2, 5)]),
        ("def g(): pass\nclass C: pass\nimport a.b\ng, C, a", [(1, 4), (2, 4), (3, 4)]),
        ("def f():\n return x\nx = 3", []),
    ],
)
def test_pairs_of_lines(text: str, expected: list[tuple[int, int]]) -> None:
    assert read(text).reaching_lines() == expected


def test_only_sites_of_one_variable_make_pairs() -> None:
    reading = read("x = 1\nx\ny = 1\ny")
    assert find_reaching(reading.flow, {}) == ([], [])
    known = {site: 0 for site in reading.variables if reading.name_of(site) == "y"}
    made, used = find_reaching(reading.flow, known)
    assert [reading.nodes[site].lineno for site in (*made, *used)] == [3, 4]


def test_no_pair_is_told_twice() -> None:
    pairs = read("for i in y:\n try:\n  x = i\n  f(x)\n finally:\n  x; x = 6").reaching()
    assert len(pairs) == len(set(pairs))


def test_the_other_side_of_an_or_pattern_is_a_definition_too() -> None:
    assert len(set(read("match y:\n case [x] | (x, _):\n  x").reaching())) == 2


def test_a_long_module_takes_time_in_proportion() -> None:
    """A quadratic search would not end within the test's time."""
    lines = [f"if a{number}: a{number + 1} = a{number}" for number in range(20_000)]
    assert len(read("\n".join(lines)).reaching()) == 2 * 19_999


def test_pairs_beyond_all_measure_are_refused() -> None:
    reading = read("x = 1\n" + "if a: x = x\n" * 2_500)
    with pytest.raises(TooManyPairs):
        find_reaching(reading.flow, reading.variables)
