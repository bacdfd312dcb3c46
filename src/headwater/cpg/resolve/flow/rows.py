"""Rows of flow, and how they are gathered.

Not here: which there are.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from headwater.cpg.resolve.objects import BUILTIN, EXTERNAL, METHOD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.cpg.resolve.flow.sites import Sites
    from headwater.cpg.resolve.outcome import Outcome

NO_CALL = -1
# From which variable to which, kind, path, whether the value stays the same, the call, how sure.
Flow: TypeAlias = "tuple[int, int, str, str | None, bool, int | None, float]"


@dataclass(frozen=True, slots=True)
class FlowRows:
    """One entry per way of data from a node to another: `src` and `dst` are the variables that the nodes are.

    A variable's file is the last of `paths` that begins at or before it, by `bases`; its node is how far.
    `kind` is arg_param, return_call, yield, summary (through a call of what is not in the repository), store,
    load, global or exception. `access_path` is the attribute or item that it goes into or comes out of.
    `preserves_value` is false where another value is made of it. `call` is the index of the call that it goes
    through, or NO_CALL. `left_out` says by kind how many places have so many ways that none of them is there.
    """

    paths: Sequence[str] = ()
    bases: Sequence[int] = ()
    src: array[int] = field(default_factory=lambda: array("i"))
    dst: array[int] = field(default_factory=lambda: array("i"))
    kind: list[str] = field(default_factory=list[str])
    access_path: list[str | None] = field(default_factory=list["str | None"])
    preserves_value: list[bool] = field(default_factory=list[bool])
    call: array[int] = field(default_factory=lambda: array("i"))
    confidence: list[float] = field(default_factory=list[float])
    left_out: dict[str, int] = field(default_factory=dict[str, int])

    def place(self, variable: int) -> tuple[str, int]:
        """The path and the node of a variable."""
        file = bisect_right(self.bases, variable) - 1
        return self.paths[file], variable - self.bases[file]


@dataclass(slots=True)
class Flowing:
    """What is at hand while ways of data are found, and those found so far."""

    outcome: Outcome
    sites: Sites
    rows: FlowRows
    found: list[Flow] = field(default_factory=list["Flow"])
    items: frozenset[int] | None = None
    names: dict[int, str] | None = None

    def is_item(self, variable: int) -> bool:
        """Whether a variable is an item that is loaded or stored, and so the node of a subscript."""
        if self.items is None:
            stores = [each[0] for each in self.sites.item_stores]
            self.items = frozenset([*stores, *(each[0] for each in self.sites.item_loads)])
        return variable in self.items

    def called(self, site: int) -> str | None:
        """The name of what a written call most likely calls outside of the repository."""
        if self.names is None:
            kind, of = self.outcome.program.solver.objects.kind, self.outcome.program.solver.objects.of
            self.names = {
                call.site: of[thing][1] if kind[thing] == METHOD else of[thing]
                for call, thing in zip(self.outcome.order, self.outcome.winner, strict=True)
                if not call.dispatch and thing is not None and kind[thing] in {BUILTIN, METHOD, EXTERNAL}
            }
        return self.names.get(site)

    def leave_out(self, kind: str) -> None:
        """Count a place that has too many ways."""
        self.rows.left_out[kind] = self.rows.left_out.get(kind, 0) + 1

    def settle(self) -> None:
        """Put what was found since into rows, where both ends are nodes: they need less room."""
        file_of, rows = self.sites.file_of, self.rows
        found = [
            each
            for each in self.found
            if each[0] != each[1] and file_of[each[0]] >= 0 and file_of[each[1]] >= 0
        ]
        self.found.clear()
        if not found:
            return
        src, dst, kind, path, is_same, call, sure = zip(*found, strict=True)
        rows.src.extend(src)
        rows.dst.extend(dst)
        rows.kind.extend(kind)
        rows.access_path.extend(path)
        rows.preserves_value.extend(is_same)
        rows.call.extend([NO_CALL if each is None else each for each in call])
        rows.confidence.extend(sure)
