"""From a walked module to the flow of its defs, one def after the other.

Not here: what statements and expressions do, and which definitions reach which uses.
"""

from __future__ import annotations

import ast
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from headwater.cpg.extract.flow.blocks import find_blocks
from headwater.cpg.extract.flow.course import SITE_ACTION, SITE_BITS, WAY_BITS, WAY_KIND, Course
from headwater.cpg.extract.flow.definitions import parameters_of
from headwater.cpg.extract.flow.dominance import (
    find_control,
    find_dominators,
    find_post_dominators,
    meet_above,
)
from headwater.cpg.extract.flow.expressions import evaluate_arm
from headwater.cpg.extract.flow.points import (
    DEF,
    EDGE_KINDS,
    ENTRY,
    EXCEPTION,
    ControlColumns,
    DefColumns,
    EventColumns,
    FlowEdgeColumns,
    FlowEvidence,
    HandlerColumns,
    PointColumns,
)
from headwater.cpg.extract.flow.statements import draw_body

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.cpg.extract.flow.blocks import Blocks

_EDGE_KIND_OF = (*range(len(EDGE_KINDS)), EXCEPTION)  # one that is sure to leave is an exception as any other


def find_flow(module: ast.Module) -> FlowEvidence:
    """The flow of all defs of a module whose nodes a walk has told their rows."""
    flow = FlowEvidence(
        defs=DefColumns(row=[], points=[0], edges=[0], events=[0]),
        points=PointColumns(def_row=[], node=[], kind=[], block=[], ord=[], is_dead=[], idom=[], ipdom=[]),
        edges=FlowEdgeColumns(src=[], dst=[], kind=[]),
        control=ControlColumns(point=[], on=[], branch=[]),
        events=EventColumns(point=[], site=[], action=[]),
        handlers=HandlerColumns(first=[], end=[]),
    )
    defs: list[Any] = [module]
    while defs:
        node = defs.pop()
        course = _draw(node)
        defs.extend(reversed(course.inner))
        _add(flow, node.row, course)
    return flow


def _draw(node: Any) -> Course:
    """The course of a def; if it unbinds a parameter, no name in it is surely bound."""
    arguments = getattr(node, "args", None)
    parameters = [] if arguments is None else parameters_of(arguments)
    course = _draw_with(node, parameters, frozenset(each.arg for each in parameters))
    return _draw_with(node, parameters, frozenset()) if course.unbinds_parameter else course


def _draw_with(node: Any, parameters: Sequence[Any], bound: frozenset[str]) -> Course:
    course = Course(bound)
    course.events.extend(each.row << SITE_BITS | DEF for each in parameters)
    course.point(None, ENTRY)
    if node.__class__ is ast.Lambda:
        evaluate_arm(course, node.body)
    else:
        draw_body(course, node.body)
    return course


def _add(flow: FlowEvidence, row: int, course: Course) -> None:
    """Add the columns of one def."""
    leaving = course.end()
    count = len(course.nodes)
    blocks = find_blocks(count, course.ways, course.targets)
    offset = len(flow.points.node)
    _add_dominance(flow, blocks, leaving, offset)
    points, edges, events = flow.points, flow.edges, flow.events
    points.def_row.extend([row] * count)
    points.node.extend(course.nodes)
    points.kind.extend(course.kinds)
    points.block.extend(blocks.of)
    points.ord.extend(range(count))
    edges.src.extend([offset + (way >> WAY_BITS) for way in course.ways])
    edges.dst.extend([offset + target for target in course.targets])
    edges.kind.extend([_EDGE_KIND_OF[way & WAY_KIND] for way in course.ways])
    edges.src.extend([offset + point for point in leaving])
    edges.dst.extend([offset + count - 1] * len(leaving))
    edges.kind.extend([EXCEPTION] * len(leaving))
    before = len(events.site)
    flow.handlers.first.extend([before + first for first, _ in course.handlers])
    flow.handlers.end.extend([before + end for _, end in course.handlers])
    events.point.extend([offset + point for point in course.event_points])
    events.site.extend([event >> SITE_BITS for event in course.events])
    events.action.extend([event & SITE_ACTION for event in course.events])
    flow.defs.row.append(row)
    flow.defs.points.append(len(points.node))
    flow.defs.edges.append(len(edges.src))
    flow.defs.events.append(len(events.site))


def _add_dominance(flow: FlowEvidence, blocks: Blocks, leaving: Sequence[int], offset: int) -> None:
    """Add whether points are dead, their dominators and their control dependence."""
    of, members, successors = blocks.of, blocks.members, blocks.successors
    above = find_dominators(successors)
    first_leaving = {of[point]: point for point in reversed(leaving) if above[of[point]] >= 0}
    last = len(members) - 1
    if first_leaving:
        above[last] = meet_above([block for block in (*first_leaving, above[last]) if block >= 0], above)
    live = [block >= 0 for block in above]
    below, _ = find_post_dominators(successors, live, (of[-2], last))
    ends = [points[-1] + offset for points in members]
    starts: list[int | None] = [*[points[0] + offset for points in members], None]
    over: list[int | None] = [None] * len(of)
    under: list[int | None] = [None] * len(of)
    for block, points in enumerate(members):
        if live[block]:
            over[points[0]] = ends[above[block]] if block else None
            under[points[-1]] = starts[below[block]]
            for former, latter in pairwise(points):
                over[latter] = former + offset
                under[former] = latter + offset
    if above[last] in first_leaving:
        over[-1] = first_leaving[above[last]] + offset
    flow.points.is_dead.extend([not live[block] for block in of])
    flow.points.idom.extend(over)
    flow.points.ipdom.extend(under)
    control = flow.control
    for block, on, branch in find_control(successors, below):
        points = members[block]
        control.point.extend([point + offset for point in points])
        control.on.extend([ends[on]] * len(points))
        control.branch.extend([_EDGE_KIND_OF[branch]] * len(points))
