"""What flow needs of value facts, gathered in one pass: arguments, receivers, stores, what comes back.

Pre-order has the first child of a node right behind it: what a call calls is the node after the call, and
what an attribute or item is of is the node after that attribute or item. Not here: what is made of it.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from headwater.cpg.extract.values.expressions import METHODS
from headwater.cpg.extract.values.facts import (
    ARG,
    ATTR,
    CALL,
    CATCH,
    COPY,
    IN,
    ITEM,
    ITEM_BY,
    OPERATOR,
    RAISED,
    RETURNED,
    SET_ATTR,
    SET_ITEM,
    SET_ITEM_BY,
    TRY,
    YIELDED,
)
from headwater.cpg.resolve.defining import variables_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from headwater.cpg.resolve.resolution import Program

NO_NODE = -1
_MODULE_ROW = 1

# An argument: its node, its text, and the variable of its value.
Argument: TypeAlias = "tuple[int, str | None, int]"


@dataclass(slots=True)
class Guard:
    """What is tried in a def, from a node up to another, and what is caught: handler, class, is it let go."""

    owner: int
    begin: int
    end: int
    catches: list[tuple[int, int, bool]] = field(default_factory=list["tuple[int, int, bool]"])


@dataclass(slots=True)
class Sites:
    """What facts say, by variable; `file_of` has the file of each variable that is a node.

    `arguments` are those of calls and operators, `receivers` what attributes are read of with their name and
    the def that reads them; `stored`, `item_stores` and `item_loads` have target, source and key.
    `operators` has the methods of operators, `again` what augmented assignments load before they store.
    `copies` has the sources of variables that get what others have, one without a list; `recalled` has what
    was stored just before.
    """

    file_of: array[int]
    arguments: dict[int, list[Argument]] = field(default_factory=dict[int, "list[Argument]"])
    receivers: dict[int, tuple[int, str, int]] = field(default_factory=dict[int, "tuple[int, str, int]"])
    operators: dict[int, str] = field(default_factory=dict[int, str])
    again: set[int] = field(default_factory=set[int])
    returned: dict[int, list[int]] = field(default_factory=dict[int, "list[int]"])
    yielded: dict[int, list[tuple[int, bool]]] = field(default_factory=dict[int, "list[tuple[int, bool]]"])
    copies: dict[int, int | list[int]] = field(default_factory=dict[int, "int | list[int]"])
    stored: list[tuple[int, int, str]] = field(default_factory=list["tuple[int, int, str]"])
    item_stores: list[tuple[int, int, str | None]] = field(
        default_factory=list["tuple[int, int, str | None]"]
    )
    item_loads: list[tuple[int, int, str | None, int]] = field(
        default_factory=list["tuple[int, int, str | None, int]"]
    )
    recalled: list[tuple[int, int, str]] = field(default_factory=list["tuple[int, int, str]"])
    raised: list[tuple[int, int, int]] = field(default_factory=list["tuple[int, int, int]"])
    guards: list[Guard] = field(default_factory=list["Guard"])

    def copied(self, variable: int) -> Sequence[int]:
        """The sources of a variable that gets what others have."""
        found = self.copies.get(variable, ())
        return (found,) if isinstance(found, int) else found

    def is_node(self, variable: int) -> bool:
        """Whether a variable is a node."""
        return 0 <= variable < len(self.file_of) and self.file_of[variable] >= 0


def gather_sites(program: Program) -> Sites:
    """Go through the value facts of all files once."""
    file_of = array("i", [NO_NODE]) * len(program.solver.has)
    sites = Sites(file_of)
    for number, (file, base) in enumerate(zip(program.files, program.bases, strict=True)):
        file_of[base : base + file.nodes] = array("i", [number]) * file.nodes
        variable = variables_of(file, base).__getitem__
        targets, sources = map(variable, file.target), map(variable, file.source)
        _gather(sites, base + _MODULE_ROW, zip(file.op, targets, sources, file.text, strict=True))
    return sites


def _gather(sites: Sites, owner: int, facts: Iterable[tuple[int, int, int, str | None]]) -> None:  # noqa: C901, PLR0912  one loop, run for every fact
    arguments: list[Argument] = []
    copies = sites.copies
    for op, to, of, text in facts:
        if op not in _WANTED:
            continue
        if op == ARG:
            arguments.append((to, text, of))
        elif op == CALL:
            sites.arguments[to] = arguments = []
        elif op == OPERATOR:
            sites.arguments[to] = arguments = []
            sites.operators[to] = text or ""
            if of > to + 1 and text in _AUGMENTED:
                sites.again.add(of)
        elif op == ATTR:
            sites.receivers[to] = (of, text or "", owner)
        elif op == COPY:
            known: Any = copies.get(to)
            if known is None:
                copies[to] = of
            elif known.__class__ is int:
                copies[to] = [known, of]
            else:
                known.append(of)
            if text is not None:
                sites.recalled.append((to, of, text))
        elif op == IN:
            owner = to
        elif op == SET_ATTR:
            sites.stored.append((to, of, text or ""))
        elif op in _LOADING:
            sites.item_loads.append((to, of, text, owner))
        elif op in _STORING:
            sites.item_stores.append((to, of, text))
        elif op == RETURNED:
            sites.returned.setdefault(to, []).append(of)
        elif op == YIELDED:
            sites.yielded.setdefault(to, []).append((of, text is not None))
        elif op == RAISED:
            sites.raised.append((to, of, owner))
        elif op == TRY:
            sites.guards.append(Guard(owner, to, of))
        elif op == CATCH:
            sites.guards[-1].catches.append((to, of, text is not None))


_AUGMENTED = frozenset(f"__i{each}__" for each in METHODS.values())
_LOADING = frozenset({ITEM, ITEM_BY})
_STORING = frozenset({SET_ITEM, SET_ITEM_BY})
_WANTED = frozenset(
    {ARG, CALL, OPERATOR, ATTR, COPY, IN, SET_ATTR, ITEM, ITEM_BY, SET_ITEM, SET_ITEM_BY}
    | {RETURNED, YIELDED, RAISED, TRY, CATCH}
)
