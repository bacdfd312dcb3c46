"""All ways of data between defs, call by call, then through what is stored, then through imports.

Not here: what each of them is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.cpg.resolve.confidence import EXPORT_THRESHOLD
from headwater.cpg.resolve.flow.calls import flow_through_call
from headwater.cpg.resolve.flow.heap import (
    flow_at_once,
    flow_through_attributes,
    flow_through_imports,
    flow_through_items,
)
from headwater.cpg.resolve.flow.outside import flow_outside
from headwater.cpg.resolve.flow.rows import Flowing, FlowRows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.cpg.resolve.flow.rows import Flow
    from headwater.cpg.resolve.flow.sites import Sites
    from headwater.cpg.resolve.outcome import Outcome

_MOST_UNSETTLED = 10_000


def flow_rows(outcome: Outcome, sites: Sites, more: Sequence[Flow] = ()) -> FlowRows:
    """All ways of data across defs, in a fixed order; `more` are those that others have found."""
    program = outcome.program
    flowing = Flowing(outcome, sites, FlowRows([each.path for each in program.files], program.bases))
    for number, things in enumerate(candidates_of(outcome)):
        is_own = flow_through_call(flowing, number, things)
        if not is_own or things[0][1] < EXPORT_THRESHOLD:
            flow_outside(flowing, number, [] if is_own else things)
        if len(flowing.found) > _MOST_UNSETTLED:
            flowing.settle()
    for find in (flow_at_once, flow_through_attributes, flow_through_items, flow_through_imports):
        find(flowing)
        flowing.settle()
    flowing.found += more
    flowing.settle()
    return flowing.rows


def candidates_of(outcome: Outcome) -> list[list[tuple[int, float]]]:
    """For each call its candidates, the surest first, and how sure each is."""
    found: list[list[tuple[int, float]]] = [[] for _ in outcome.order]
    targets = outcome.targets
    for call, thing, sure in zip(targets.call, outcome.things, targets.confidence, strict=True):
        found[call].append((thing, sure))
    return found
