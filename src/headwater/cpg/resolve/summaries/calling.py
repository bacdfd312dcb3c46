"""Who surely calls whom, and from where: what spreads from functions to those that call them.

Only the best candidate of a call counts, and only if it is sure enough. Not here: what spreads.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from headwater.cpg.resolve.confidence import EXPORT_THRESHOLD
from headwater.cpg.resolve.objects import FUNCTION

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.cpg.resolve.outcome import Outcome

# The index of a call, its site and the def that makes it.
Site: TypeAlias = "tuple[int, int, int]"


@dataclass(slots=True)
class Callers:
    """By the variable of a function the calls that reach it; and calls of what is outside, with that."""

    of: dict[int, list[Site]] = field(default_factory=dict[int, "list[Site]"])
    outside: list[tuple[Site, int]] = field(default_factory=list["tuple[Site, int]"])


def callers_of(outcome: Outcome) -> Callers:
    """The calls whose best candidate is sure enough."""
    found, objects = Callers(), outcome.program.solver.objects
    targets = outcome.targets
    for number, thing, sure, is_winner in zip(
        targets.call, outcome.things, targets.confidence, targets.is_winner, strict=True
    ):
        if not is_winner or sure < EXPORT_THRESHOLD:
            continue
        call = outcome.order[number]
        site = (number, call.site, call.caller)
        if objects.kind[thing] == FUNCTION:
            found.of.setdefault(objects.of[thing], []).append(site)
        elif call.dispatch != "decorator":
            found.outside.append((site, thing))
    return found


def spread(masks: dict[int, int], callers: Callers, let_through: Callable[[int, Site], int]) -> None:
    """Hand on the bits of each function to those that call it, until nothing changes.

    Args:
        masks: the bits of each def, which grow
        callers: who calls whom
        let_through: what of some bits a call lets through
    """
    queue = deque(sorted(each for each in masks if masks[each]))
    waiting = set(queue)
    while queue:
        callee = queue.popleft()
        waiting.discard(callee)
        bits = masks[callee]
        for site in callers.of.get(callee, ()):
            caller = site[2]
            before = masks.get(caller, 0)
            after = before | let_through(bits, site)
            if after != before:
                masks[caller] = after
                if caller not in waiting:
                    waiting.add(caller)
                    queue.append(caller)
