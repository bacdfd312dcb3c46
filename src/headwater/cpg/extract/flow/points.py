"""What the flow of one file is told in: points, edges, control dependence and events, as columns of ints.

A point is a moment of a def; nodes are told by their rows of a walk, points by their index, and kinds by
their index in the tuples here. Not here: how any of it is found.
"""

from __future__ import annotations

from dataclasses import dataclass

POINT_KINDS = (
    *("entry", "exit", "exc_exit", "stmt", "expr", "branch", "loop", "with_enter", "with_exit"),
    *("yield", "await"),
)
ENTRY, EXIT, EXC_EXIT, STMT, EXPR, BRANCH, LOOP, WITH_ENTER, WITH_EXIT, YIELD, AWAIT = range(len(POINT_KINDS))

# What a branch decides keeps its kind wherever it leads; of the others, `next` becomes `back` where it leads
# to the head of a loop, and `finally` where the end of a `finally` or of a `with` lets a way go on.
EDGE_KINDS = ("next", "true", "false", "exception", "finally", "case", "break", "continue", "back")
NEXT, TRUE, FALSE, EXCEPTION, FINALLY, CASE, BREAK, CONTINUE, BACK = range(len(EDGE_KINDS))

# A `bind` is a def that is made only where the point does not fail: a loop's next item, the name of a handler
# and the captures of a case, of which or-patterns have several for one name.
ACTIONS = ("use", "def", "del", "bind")
USE, DEF, DEL, BIND = range(len(ACTIONS))


@dataclass(frozen=True, slots=True, kw_only=True)
class DefColumns:
    """The defs of a file in source order: the row of each, and where its points, edges and events begin.

    The three columns of beginnings have one entry more than there are defs: where the last def's end.
    """

    row: list[int]
    points: list[int]
    edges: list[int]
    events: list[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class PointColumns:
    """The points of all defs of a file; those of one def stand together, in the order of evaluation.

    `def_row` is the row of the module, class, function or lambda. `node` is missing for the entry and the two
    exits of a def. `block` counts the basic blocks of a def, the entry's is 0: an exception that leaves the
    def does not end a block, one that is met inside the def does. `ord` counts the points of a def. No way
    from the entry leads to a point that `is_dead`. `idom` is the nearest point that every way from the entry
    passes (over all edges), `ipdom` the nearest that every way to the end passes; both are missing for dead
    points, and where there is none. For `ipdom`, exceptions that merely may happen and leave the def are
    looked away from: of the exception edges to `exc_exit` only those count that a raise, an assert, the end
    of a with or the last handler of a try has. A loop that nothing leaves counts as left at the end of the
    block that its head is in; nothing depends on that.
    """

    def_row: list[int]
    node: list[int | None]
    kind: list[int]
    block: list[int]
    ord: list[int]
    is_dead: list[bool]
    idom: list[int | None]
    ipdom: list[int | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowEdgeColumns:
    """From which point to which, and the edge's kind."""

    src: list[int]
    dst: list[int]
    kind: list[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlColumns:
    """Control dependence: a point, the point that decides whether it is met, and by which kind of edge."""

    point: list[int]
    on: list[int]
    branch: list[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class EventColumns:
    """What happens to names, in the order of evaluation: at which point, the row of the site, the action."""

    point: list[int]
    site: list[int]
    action: list[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class HandlerColumns:
    """Handlers that name their exception, outer before inner: from which event to which they are at work.

    The first event gives the name its exception; behind the last the name is unbound, whatever it was.
    """

    first: list[int]
    end: list[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowEvidence:
    """All that one file says of its flow."""

    defs: DefColumns
    points: PointColumns
    edges: FlowEdgeColumns
    control: ControlColumns
    events: EventColumns
    handlers: HandlerColumns
