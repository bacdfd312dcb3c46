"""Rows of flow, and how they are gathered.

Not here: which there are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from headwater.cpg.resolve.objects import BUILTIN, EXTERNAL, METHOD

if TYPE_CHECKING:
    from headwater.cpg.resolve.flow.sites import Sites
    from headwater.cpg.resolve.outcome import Outcome

# From which variable to which, kind, path, whether the value stays the same, the call, how sure.
Flow: TypeAlias = "tuple[int, int, str, str | None, bool, int | None, float]"


@dataclass(frozen=True, slots=True)
class FlowRows:
    """One entry per way of data from a node to another.

    `kind` is arg_param, return_call, yield, summary (through a call of what is not in the repository), store,
    load, global or exception. `access_path` is the attribute or item that it goes into or comes out of.
    `preserves_value` is false where another value is made of it. `call` is the index of the call that it goes
    through. `left_out` says by kind how many places have so many ways that none of them is there.
    """

    src_path: list[str] = field(default_factory=list[str])
    src_node: list[int] = field(default_factory=list[int])
    dst_path: list[str] = field(default_factory=list[str])
    dst_node: list[int] = field(default_factory=list[int])
    kind: list[str] = field(default_factory=list[str])
    access_path: list[str | None] = field(default_factory=list["str | None"])
    preserves_value: list[bool] = field(default_factory=list[bool])
    call: list[int | None] = field(default_factory=list["int | None"])
    confidence: list[float] = field(default_factory=list[float])
    left_out: dict[str, int] = field(default_factory=dict[str, int])


@dataclass(slots=True)
class Flowing:
    """What is at hand while ways of data are found, and those found so far."""

    outcome: Outcome
    sites: Sites
    found: list[Flow] = field(default_factory=list["Flow"])
    left_out: dict[str, int] = field(default_factory=dict[str, int])

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
        self.left_out[kind] = self.left_out.get(kind, 0) + 1

    def rows(self) -> FlowRows:
        """All that was found, where both ends are nodes."""
        file_of, bases = self.sites.file_of, self.outcome.program.bases
        paths = [each.path for each in self.outcome.program.files]
        found = [
            each
            for each in self.found
            if each[0] != each[1] and file_of[each[0]] >= 0 and file_of[each[1]] >= 0
        ]
        self.found.clear()
        return FlowRows(
            src_path=[paths[file_of[each[0]]] for each in found],
            src_node=[each[0] - bases[file_of[each[0]]] for each in found],
            dst_path=[paths[file_of[each[1]]] for each in found],
            dst_node=[each[1] - bases[file_of[each[1]]] for each in found],
            kind=[each[2] for each in found],
            access_path=[each[3] for each in found],
            preserves_value=[each[4] for each in found],
            call=[each[5] for each in found],
            confidence=[each[6] for each in found],
            left_out=self.left_out,
        )
