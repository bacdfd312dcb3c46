"""Dominance is what its definition says: on graphs that hypothesis makes, and on the flow of programs."""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import TYPE_CHECKING

import pytest
from flow_programs import programs
from flow_reading import Reading, read, standard_library
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.cpg.extract.flow import EDGE_KINDS, POINT_KINDS
from headwater.cpg.extract.flow.dominance import (
    find_control,
    find_dominators,
    find_post_dominators,
    meet_above,
)
from headwater.cpg.extract.flow.points import EXCEPTION

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Edges = set[tuple[int, int, int]]


def reached(starts: Iterable[int], following: Mapping[int, set[int]], without: int = -1) -> set[int]:
    todo = [each for each in starts if each != without]
    seen = set(todo)
    while todo:
        for each in following.get(todo.pop(), ()):
            if each not in seen and each != without:
                seen.add(each)
                todo.append(each)
    return seen


def dominators(start: int, edges: Iterable[tuple[int, int]]) -> dict[int, set[int]]:
    """By definition: what a point cannot be reached without, itself left out."""
    following: dict[int, set[int]] = defaultdict(set)
    for source, target in edges:
        following[source].add(target)
    everything = reached([start], following)
    found: dict[int, set[int]] = {each: set() for each in everything}
    for one in everything:
        for other in everything - reached([start], following, without=one) - {one}:
            found[other].add(one)
    return found


def nearest_of(found: Mapping[int, set[int]]) -> dict[int, int]:
    """The dominator of each that all its others dominate."""
    return {
        each: next(one for one in above if above - {one} == found[one])
        for each, above in found.items()
        if above
    }


def controlled(edges: Edges, after: Mapping[int, set[int]]) -> set[tuple[int, int, int]]:
    """By definition: what surely follows on a branch, and not surely on what branches."""
    return {
        (each, source, kind)
        for source, target, kind in edges
        if source in after and target in after
        for each in {target, *after[target]}
        if each not in after[source] and each >= 0
    }


@st.composite
def graphs(draw: st.DrawFn) -> list[list[tuple[int, int]]]:
    count = draw(st.integers(1, 9))
    edges = st.lists(st.tuples(st.integers(0, count - 1), st.integers(0, 2)), max_size=3, unique=True)
    return [draw(edges) for _ in range(count)]


@settings(max_examples=300, deadline=None)
@given(graphs())
def test_dominators_are_what_no_way_avoids(graph: list[list[tuple[int, int]]]) -> None:
    """Edges that lead back are kept only if they lead to a dominator, as loops do."""
    forward = [[edge for edge in edges if edge[0] > block] for block, edges in enumerate(graph)]
    above = dominators(0, {(block, target) for block, edges in enumerate(forward) for target, _ in edges})
    whole = [
        [edge for edge in edges if edge[0] > block or edge[0] in {block, *above.get(block, ())}]
        for block, edges in enumerate(graph)
    ]
    expected = nearest_of(above)
    found = find_dominators(whole)
    assert found == [0, *(expected.get(block, -1) for block in range(1, len(graph)))]
    live = [block for block, each in enumerate(found) if each >= 0]
    common = set(range(len(graph))).intersection(*({block, *above[block]} for block in live))
    assert meet_above(live, found) == max(common)


@settings(max_examples=500, deadline=None)
@given(graphs(), st.sets(st.integers(0, 8), max_size=2))
def test_post_dominators_are_what_no_way_to_the_end_avoids(
    graph: list[list[tuple[int, int]]], asked: set[int]
) -> None:
    count = len(graph)
    ends = [block for block in range(count) if block in asked or not graph[block]]
    graph = [[] if block in ends else edges for block, edges in enumerate(graph)]
    edges = {(block, *edge) for block, following in enumerate(graph) for edge in following}
    nearest, left = find_post_dominators(graph, [True] * count, ends)
    back = {(target, source) for source, target, _ in edges} | {(count, end) for end in (*ends, *left)}
    after = dominators(count, back)
    assert set(after) == set(range(count + 1))
    expected = nearest_of(after)
    assert nearest == [expected[block] for block in range(count)]
    del after[count]
    after = {block: above - {count} for block, above in after.items()}
    branching = {edge for edge in edges if len(graph[edge[0]]) > 1}
    assert set(find_control(graph, nearest)) == controlled(branching, after)


def test_a_loop_that_nothing_leaves_is_left_at_its_last_head() -> None:
    assert find_post_dominators([[(1, 0)], [(2, 0)], [(1, 0), (2, 0)]], [True] * 3, []) == ([1, 2, 3], [2])


def check_def(reading: Reading, index: int) -> None:
    """Compare one def's points with the definitions."""
    defs, columns, flow = reading.flow.defs, reading.flow.points, reading.flow
    points = range(defs.points[index], defs.points[index + 1])
    some = range(defs.edges[index], defs.edges[index + 1])
    edges = {(flow.edges.src[each], flow.edges.dst[each], flow.edges.kind[each]) for each in some}
    above = dominators(points[0], {edge[:2] for edge in edges})
    assert [point for point in points if columns.is_dead[point]] == [
        point for point in points if point not in above
    ]
    expected = nearest_of(above)
    assert [columns.idom[point] for point in points] == [expected.get(point) for point in points]
    counting = {edge for edge in edges if edge[0] in above and counts(reading, edge, points[-1])}
    end = -1
    back = {(target, source) for source, target, _ in counting} | {(end, points[-1]), (end, points[-2])}
    after = dominators(end, {edge for edge in back if edge[1] in above})
    if any(point not in after for point in above):
        return  # a loop that nothing leaves, of which the test of graphs takes care
    expected = nearest_of(after)
    assert [columns.ipdom[point] for point in above] == [
        None if expected[point] == end else expected[point] for point in above
    ]
    del after[end]
    several = {source for source, _, _ in counting if len([1 for edge in counting if edge[0] == source]) > 1}
    control = flow.control
    found = {
        (point, on, kind)
        for point, on, kind in zip(control.point, control.on, control.branch, strict=True)
        if point in points
    }
    assert found == controlled({edge for edge in counting if edge[0] in several}, after)


def counts(reading: Reading, edge: tuple[int, int, int], exc_exit: int) -> bool:
    """Whether an edge is not that of an exception which merely may leave the def."""
    source, target, kind = edge
    row = reading.flow.points.node[source]
    if kind != EXCEPTION or target != exc_exit or row is None:
        return True
    node, parent = reading.nodes[row], reading.nodes[reading.parents[row]]
    return (
        POINT_KINDS[reading.flow.points.kind[source]] == "with_exit"
        or isinstance(node, ast.Raise | ast.Assert)
        or (isinstance(node, ast.ExceptHandler) and node is parent.handlers[-1])
    )


@settings(max_examples=150, deadline=None)
@given(programs())
def test_the_points_of_programs_are_dominated_by_definition(text: str) -> None:
    check_def(read(text), 1)


def test_the_points_of_the_standard_library_are_dominated_by_definition() -> None:
    checked = 0
    for path in standard_library(60):
        content = path.read_bytes()
        if b"except*" in content:
            continue  # what its last handler leaves over is raised at the end of its body
        reading = read(content)
        starts = reading.flow.defs.points
        for index in range(len(reading.flow.defs.row)):
            if starts[index + 1] - starts[index] <= 60:
                check_def(reading, index)
                checked += 1
    assert checked > 500


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("if a: x", {("stmt x", "branch a", "true")}),
        ("if a:\n  return\n x", {("stmt return", "branch a", "true"), ("stmt x", "branch a", "false")}),
        ("while a: x", {("stmt x", "branch a", "true"), ("branch a", "branch a", "true")}),
        ("while 1: x", set[tuple[str, str, str]]()),
        ("x\n y", set[tuple[str, str, str]]()),
        (
            "try: x\n except E: y",
            {
                ("branch except E:", "stmt x", "exception"),
                ("exit", "stmt x", "next"),
                ("exit", "branch except E:", "true"),
                ("stmt y", "branch except E:", "true"),
                ("exc_exit", "branch except E:", "exception"),
            },
        ),
    ],
    ids=["if", "return", "while", "forever", "straight", "try"],
)
def test_a_point_depends_on_the_branch_that_decides(body: str, expected: set[tuple[str, str, str]]) -> None:
    reading = read(f"def f(a):\n {body}")
    control = reading.flow.control
    assert {
        (reading.label(point), reading.label(on), EDGE_KINDS[branch])
        for point, on, branch in zip(control.point, control.on, control.branch, strict=True)
    } == expected
