"""Steps from where a name gets a value to where other defs read it: of a def around them, or of the module.

Which value that is depends on when it is read; so all that any def gives the name count, but for those of the
reading def itself, which reaching definitions tell more exactly. Not here: names inside one def.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.cpg.extract.flow.steps import CAPTURED, SHARED

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from headwater.cpg.extract.flow.steps import Step
    from headwater.cpg.extract.scopes import ScopeEvidence

MOST_DEFINITIONS = 16  # of one name; those of one that gets its value at more places are left out


def find_captures(
    scopes: ScopeEvidence, meant: Sequence[int], runners: Sequence[int | None], used: AbstractSet[int]
) -> list[Step]:
    """The steps to names that are read in another def than the one that gives them their value.

    Args:
        scopes: the file's scopes
        meant: for each binding the one that it stands for
        runners: for each node the def that runs it
        used: sites of uses that definitions of their own def reach
    """
    sites, kinds = scopes.sites, scopes.scopes.kind
    homes = scopes.bindings.scope
    made: dict[int, list[int]] = {}
    outer: set[int] = set()  # bindings that another scope gives a value
    for binding, node, role in zip(sites.binding, sites.node, sites.role, strict=True):
        if role == "def":
            made.setdefault(meant[binding], []).append(node)
            if meant[binding] != binding:
                outer.add(meant[binding])
    steps: list[Step] = []
    for binding, node, role in zip(sites.binding, sites.node, sites.role, strict=True):
        if role != "use":
            continue
        of = meant[binding]
        if node in used and of not in outer:
            continue
        definitions = made.get(of, ())
        if len(definitions) > MOST_DEFINITIONS:
            continue
        kind = SHARED if kinds[homes[of]] == "module" else CAPTURED
        steps += [(each, node, kind, None) for each in definitions if runners[each] != runners[node]]
    return steps
