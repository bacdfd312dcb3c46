"""The course of one def while it is drawn: its points, edges and events, and the ways not yet led anywhere.

A way is an int, `point << 4 | kind`: a point that is left, and the kind of the edge that leaves it. Not here:
which statement or expression makes which points.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from headwater.cpg.extract.flow.points import (
    BACK,
    BREAK,
    CONTINUE,
    EDGE_KINDS,
    EXC_EXIT,
    EXCEPTION,
    EXIT,
    NEXT,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

WAY_BITS = 4
WAY_KIND = (1 << WAY_BITS) - 1
RAISED = len(EDGE_KINDS)  # an exception that is sure to leave its point, or to go on from there
SITE_BITS = 2
SITE_ACTION = (1 << SITE_BITS) - 1
RETURN = NEXT  # a return's edge has the kind `next`; breaks and continues have their own


@dataclass(slots=True)
class Loop:
    """A loop around what is drawn: where its head is, and the ways that break out of it."""

    head: int
    breaks: list[int] = field(default_factory=list[int])


@dataclass(slots=True)
class Cleanup:
    """A `finally` or the end of a `with` around what is drawn, which every way out passes.

    `raised` come in by exceptions, `jumped` by the jumps whose kinds are in `jumps`, as keys.
    """

    raised: list[int] = field(default_factory=list[int])
    jumped: list[int] = field(default_factory=list[int])
    jumps: dict[int, None] = field(default_factory=dict[int, None])


@dataclass(slots=True)
class Course:
    """What is drawn of a def so far.

    `front` are the ways that the next point continues, `raisers` takes the ways that exceptions go from here,
    `may_raise` tells whether what was evaluated since the last point can raise. Events are
    `site << 2 | action`; those beyond the last of `event_points` belong to the next point. `parameters` are
    names that are surely bound, as long as `unbinds_parameter` is false. `may_repeat` tells that two ways may
    be one edge. `handlers` are those with a name: from which event to which. `stack` and `results` are at
    work while an expression is evaluated.
    """

    parameters: frozenset[str]
    nodes: list[int | None] = field(default_factory=list["int | None"])
    kinds: list[int] = field(default_factory=list[int])
    ways: list[int] = field(default_factory=list[int])
    targets: list[int] = field(default_factory=list[int])
    events: list[int] = field(default_factory=list[int])
    event_points: list[int] = field(default_factory=list[int])
    inner: list[Any] = field(default_factory=list[Any])
    front: list[int] = field(default_factory=list[int])
    raisers: list[int] = field(default_factory=list[int])
    returns: list[int] = field(default_factory=list[int])
    around: list[Loop | Cleanup] = field(default_factory=list["Loop | Cleanup"])
    may_raise: bool = False
    unbinds_parameter: bool = False
    may_repeat: bool = False
    handlers: list[tuple[int, int]] = field(default_factory=list["tuple[int, int]"])
    stack: list[Any] = field(default_factory=list[Any])
    results: list[tuple[list[int], list[int]]] = field(default_factory=list["tuple[list[int], list[int]]"])

    def point(self, node: int | None, kind: int) -> int:
        """Add a point that all ways of the front lead to, and the events and exceptions since the last."""
        nodes, events, told = self.nodes, self.events, self.event_points
        here = len(nodes)
        nodes.append(node)
        self.kinds.append(kind)
        for way in self.front:
            self.ways.append(way)
            self.targets.append(here)
        if len(events) > len(told):
            told.extend([here] * (len(events) - len(told)))
        if self.may_raise:
            self.raisers.append(here << WAY_BITS | EXCEPTION)
            self.may_raise = False
        self.front = [here << WAY_BITS]
        return here

    def link(self, ways: Iterable[int], target: int) -> None:
        """Lead ways back to the head of a loop."""
        for way in ways:
            self.ways.append(way if way & WAY_KIND else way | BACK)
            self.targets.append(target)

    def jump(self, kind: int, ways: list[int]) -> None:
        """Lead ways out as a return, break or continue goes: to the nearest cleanup, or where it wants to."""
        for outer in reversed(self.around):
            if isinstance(outer, Cleanup):
                outer.jumped.extend(ways)
                outer.jumps[kind] = None
                return
            if kind == BREAK:
                outer.breaks.extend(ways)
                return
            if kind == CONTINUE:
                self.link(ways, outer.head)
                return
        self.returns.extend(ways)

    def end(self) -> list[int]:
        """Add the two exits; the points whose exceptions merely may leave the def, which are no ways yet.

        What is sure to leave by an exception is a way to the second exit, of the kind `exception`.
        """
        self.front = self.front + self.returns
        self.point(None, EXIT)
        raised = {way >> WAY_BITS for way in self.raisers if way & WAY_KIND == RAISED}
        self.front = [way for way in self.raisers if way & WAY_KIND != EXCEPTION]
        self.point(None, EXC_EXIT)
        if self.may_repeat:
            self._drop_repeated()
        return [
            point
            for way in self.raisers
            if way & WAY_KIND == EXCEPTION and (point := way >> WAY_BITS) not in raised
        ]

    def _drop_repeated(self) -> None:
        """Keep one of the ways that a cleanup or the last `except*` lets go on for more than one reason."""
        plain = [way & ~WAY_KIND | EXCEPTION if way & WAY_KIND == RAISED else way for way in self.ways]
        edges = dict.fromkeys(zip(plain, self.targets, strict=True))
        self.ways = [way for way, _ in edges]
        self.targets = [target for _, target in edges]


def led_on(ways: Iterable[int], kind: int) -> list[int]:
    """The same ways as edges of another kind, but for what a branch has decided or a jump has named."""
    return [way if way & WAY_KIND else way | kind for way in ways]
