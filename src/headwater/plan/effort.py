"""How much there is to work out for a view's rows, by its operators: a rough number, the same on any data.

Not here: what is done about it.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.plan.tree import PlanTree

# What brings rows of all partitions together counts once, and twice if it sorts each group; what hands rows
# to Python is slower still.
_EFFORTS: Mapping[str, int] = MappingProxyType(
    {
        "Aggregate": 1,
        "Deduplicate": 1,
        "Distinct": 1,
        "Except": 1,
        "Intersect": 1,
        "Join": 1,
        "Sort": 1,
        "Window": 2,
        "PythonUDF": 3,
    }
)


def effort_of(tree: PlanTree) -> int:
    """The operators that cost more than a pass over rows, each with its weight; 0 for filters and the like.

    A tree that opens views counts theirs, too.
    """
    return sum(_EFFORTS.get(node.kind.rpartition(".")[2], 0) for node in tree.nodes())
