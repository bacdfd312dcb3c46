"""Control flow of one file: points and edges, dominators, control dependence, and what reaches which uses.

find_flow        the flow of all defs of a walked module
find_reaching    pairs of a definition's site and a use's site that it reaches
TooManyPairs     what find_reaching raises rather than to fill the memory
FlowEvidence     what find_flow gives back: the columns below
DefColumns       the defs, and where the points, edges and events of each begin
PointColumns     moments of a def, each at a node, with its block and its dominators
FlowEdgeColumns  which point may follow which
ControlColumns   which point decides whether another is met
EventColumns     the names that are used, defined and deleted at each point
HandlerColumns   from where to where handlers have a name for their exception
POINT_KINDS      the names of points' kinds, which are told by index
EDGE_KINDS       the names of edges' kinds
ACTIONS          the names of what is done to names
find_steps       steps of data from expression to expression
find_captures    steps from where a name gets a value to where other defs read it
StepColumns      what find_steps gives back
STEP_KINDS       what steps are in the graph, which are told by index
"""

from headwater.cpg.extract.flow.building import find_flow
from headwater.cpg.extract.flow.captures import find_captures
from headwater.cpg.extract.flow.points import (
    ACTIONS,
    EDGE_KINDS,
    POINT_KINDS,
    ControlColumns,
    DefColumns,
    EventColumns,
    FlowEdgeColumns,
    FlowEvidence,
    HandlerColumns,
    PointColumns,
)
from headwater.cpg.extract.flow.reaching import TooManyPairs, find_reaching
from headwater.cpg.extract.flow.steps import STEP_KINDS, StepColumns, find_steps

__all__ = [
    "ACTIONS",
    "EDGE_KINDS",
    "POINT_KINDS",
    "STEP_KINDS",
    "ControlColumns",
    "DefColumns",
    "EventColumns",
    "FlowEdgeColumns",
    "FlowEvidence",
    "HandlerColumns",
    "PointColumns",
    "StepColumns",
    "TooManyPairs",
    "find_captures",
    "find_flow",
    "find_reaching",
    "find_steps",
]
