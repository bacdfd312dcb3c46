"""Rows of what defs do: to the world, with exceptions, and with what they are given.

Not here: how any of it is found.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.cpg.resolve.summaries.calling import callers_of
from headwater.cpg.resolve.summaries.effects import effect_names, find_effects
from headwater.cpg.resolve.summaries.parameters import find_summaries
from headwater.cpg.resolve.summaries.raising import find_raised

if TYPE_CHECKING:
    from headwater.cpg.resolve.flow import Sites
    from headwater.cpg.resolve.flow.rows import Flow
    from headwater.cpg.resolve.outcome import Outcome


@dataclass(frozen=True, slots=True)
class EffectRows:
    """One entry per module, class or function that has any, by path and node.

    `own_effects` are by what it calls itself outside of the repository, `effects` also through the functions
    that it calls; `raises` are the symbols of exceptions that leave it.
    """

    path: list[str] = field(default_factory=list[str])
    node: list[int] = field(default_factory=list[int])
    own_effects: list[list[str]] = field(default_factory=list["list[str]"])
    effects: list[list[str]] = field(default_factory=list["list[str]"])
    raises: list[list[str]] = field(default_factory=list["list[str]"])


@dataclass(frozen=True, slots=True)
class SummaryRows:
    """One entry per parameter of a function and place that it, or something of it, goes to.

    `param_idx` counts all parameters as they are written. `access_path` is the part of the parameter that
    goes there, `to` is return, self, global or `param k`, and `to_path` the attribute or item there.
    """

    path: list[str] = field(default_factory=list[str])
    node: list[int] = field(default_factory=list[int])
    param_idx: list[int] = field(default_factory=list[int])
    access_path: list[str | None] = field(default_factory=list["str | None"])
    to: list[str] = field(default_factory=list[str])
    to_path: list[str | None] = field(default_factory=list["str | None"])
    preserves_value: list[bool] = field(default_factory=list[bool])


def summary_rows(outcome: Outcome, sites: Sites) -> tuple[SummaryRows, EffectRows, list[Flow]]:
    """What all defs do, by path and node; and the ways of exceptions to those who catch them."""
    callers = callers_of(outcome)
    own, everything = find_effects(outcome, sites, callers)
    raising, flows = find_raised(outcome, sites, callers)
    effects, place = EffectRows(), outcome.program.place
    names: dict[int, list[str]] = {}
    for variable in sorted(everything.keys() | raising.masks.keys()):
        path, node = place(variable)
        bits = raising.masks.get(variable, 0)
        if bits not in names:
            names[bits] = raising.names(bits)
        effects.path.append(path)
        effects.node.append(node)
        effects.own_effects.append(effect_names(own.get(variable, 0)))
        effects.effects.append(effect_names(everything.get(variable, 0)))
        effects.raises.append(names[bits])
    summaries = SummaryRows()
    for function, param, access, to, to_path, is_same in find_summaries(outcome, sites, callers):
        path, node = place(function)
        summaries.path.append(path)
        summaries.node.append(node)
        summaries.param_idx.append(param)
        summaries.access_path.append(access)
        summaries.to.append(to)
        summaries.to_path.append(to_path)
        summaries.preserves_value.append(is_same)
    return summaries, effects, flows
