"""What defs do to the world: by themselves, and through the functions that they call.

Not here: which functions outside do what.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.cpg.resolve.objects import BUILTIN, EXTERNAL, METHOD
from headwater.cpg.resolve.summaries.calling import spread
from headwater.cpg.resolve.summaries.effect_names import BUILTINS, EFFECTS, FILE_METHODS, effects_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.cpg.resolve.flow import Sites
    from headwater.cpg.resolve.outcome import Outcome
    from headwater.cpg.resolve.summaries.calling import Callers, Site

_BITS = {name: 1 << place for place, name in enumerate(EFFECTS)}
_ENVIRON = "environ"


def find_effects(outcome: Outcome, sites: Sites, callers: Callers) -> tuple[dict[int, int], dict[int, int]]:
    """The effects of each def as bits: its own, and all of them."""
    own: dict[int, int] = {}
    for (_, _, caller), thing in callers.outside:
        bits = _bits_of_object(outcome, thing)
        if bits:
            own[caller] = own.get(caller, 0) | bits
    for owner in _readers_of_environment(outcome, sites):
        own[owner] = own.get(owner, 0) | _BITS["env"]
    everything = dict(own)
    spread(everything, callers, _all)
    return own, everything


def effect_names(bits: int) -> list[str]:
    """The names of effects, in order."""
    return [name for name in EFFECTS if bits & _BITS[name]]


def _all(bits: int, site: Site) -> int:
    del site
    return bits


def _bits_of_object(outcome: Outcome, thing: int) -> int:
    objects = outcome.program.solver.objects
    kind, of = objects.kind[thing], objects.of[thing]
    names: Sequence[str] = ()
    if kind == EXTERNAL:
        names = effects_of(of)
    elif kind == BUILTIN:
        names = BUILTINS.get(of, ())
    elif kind == METHOD and of[0] == "file":
        names = FILE_METHODS
    return sum(_BITS[name] for name in names)


def _readers_of_environment(outcome: Outcome, sites: Sites) -> list[int]:
    """Defs that read the environment without a call."""
    solver = outcome.program.solver
    environment = solver.objects.known.get((EXTERNAL, "os.environ", None))
    if environment is None:
        return []
    found = [
        owner
        for load, (_, name, owner) in sites.receivers.items()
        if name == _ENVIRON and environment in (solver.has[load] or ())
    ]
    return found + [
        owner
        for _, source, _, owner in sites.item_loads
        if source >= 0 and environment in (solver.has[source] or ())
    ]
