"""Which definitions reach which uses along the control flow of a def, as pairs of sites.

Inside a block that is read off the events; between blocks, sets of definitions flow along the edges until
nothing changes. Only names that a block uses before it defines them take part in that. Not here: which sites
speak of the same variable, which is asked of the caller.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from headwater.cpg.extract.flow.points import BIND, DEL, EXCEPTION, FALSE, USE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from headwater.cpg.extract.flow.points import FlowEvidence


# A name that is changed on thousands of branches in a row has as many definitions at each of its uses. All
# files of the standard library together have a quarter of it.
MOST_PAIRS = 2_000_000


class TooManyPairs(Exception):
    """A file has more pairs than one file's share of a worker's memory has room for."""


@dataclass(slots=True)
class _Block:
    """What a block does to variables: the definitions it ends with, by variable, none where one is deleted.

    `before` is the same before the block's last point, if that has definitions; they are in `made`, each with
    its variable, unless it makes them only where it does not fail, and then in `bound`.
    """

    after: dict[int, list[int]] = field(default_factory=dict[int, list[int]])
    before: dict[int, list[int]] | None = None
    made: list[tuple[int, int]] = field(default_factory=list["tuple[int, int]"])
    bound: list[tuple[int, int]] = field(default_factory=list["tuple[int, int]"])


@dataclass(slots=True)
class _Search:
    """The pairs found so far in one def, and the uses that see definitions from before their block."""

    blocks: dict[int, _Block] = field(default_factory=dict[int, _Block])
    exposed: list[tuple[int, int, int]] = field(default_factory=list["tuple[int, int, int]"])
    defined: list[int] = field(default_factory=list[int])
    used: list[int] = field(default_factory=list[int])


def find_reaching(flow: FlowEvidence, binding_of: Mapping[int, int]) -> tuple[list[int], list[int]]:
    """The sites of definitions and the sites of uses they reach, pair by pair.

    A pair is of one variable and inside one def. Nothing flows from a dead point to one that is not. Where an
    exception leaves a point, its definitions may have been made or not. What a handler's name is in the
    handler reaches nothing outside of it.

    Args:
        flow: what `find_flow` gives
        binding_of: the variable that each site belongs to, by row; sites that are missing are left out

    Raises:
        TooManyPairs: there are more than MOST_PAIRS.
    """
    defined: list[int] = []
    used: list[int] = []
    events = flow.events
    variable_of = binding_of.get
    for index, (first, end) in enumerate(pairwise(flow.defs.events)):
        actions = events.action[first:end]
        variables = [variable_of(site) for site in events.site[first:end]]
        changed = {variable for variable, action in zip(variables, actions, strict=True) if action}
        changed.discard(None)
        read = {variable for variable, action in zip(variables, actions, strict=True) if not action}
        if changed.isdisjoint(read):
            continue
        changed &= read
        search = _Search()
        rows = zip(events.point[first:end], events.site[first:end], actions, variables, strict=True)
        _read_blocks(flow, index, [row for row in rows if row[3] in changed], search)
        if search.exposed:
            _reach_between(flow, index, search)
        if len(defined) + len(search.defined) > MOST_PAIRS:
            raise TooManyPairs
        defined += search.defined
        used += search.used
    return _inside_handlers(defined, used, _ends_of(flow, variable_of))


def _ends_of(flow: FlowEvidence, variable_of: Callable[[int], int | None]) -> dict[int, range]:
    """For each definition of a handler's name by or in the handler, where sites of the handler's body are."""
    ends: dict[int, range] = {}
    events = flow.events
    for first, end in zip(flow.handlers.first, flow.handlers.end, strict=True):
        sites = events.site[first:end]
        name, body = variable_of(sites[0]), sites[1:]
        inside = range(min(body), max(body) + 1) if body else range(0)
        for site, action in zip(sites, events.action[first:end], strict=True):
            if action != USE and variable_of(site) == name:
                ends[site] = inside
    return ends


def _inside_handlers(
    defined: list[int], used: list[int], ends: Mapping[int, range]
) -> tuple[list[int], list[int]]:
    """The pairs without those that would pass the end of a handler."""
    if ends.keys().isdisjoint(defined):
        return defined, used
    kept = [
        (made, use)
        for made, use in zip(defined, used, strict=True)
        if (inside := ends.get(made)) is None or use in inside
    ]
    return [made for made, _ in kept], [use for _, use in kept]


def _read_blocks(
    flow: FlowEvidence, index: int, rows: Sequence[tuple[int, int, int, Any]], search: _Search
) -> None:
    """Find the pairs inside blocks, and what each block does."""
    first, end = flow.defs.points[index : index + 2]
    block_of = flow.points.block
    last_of = dict(zip(block_of[first:end], range(first, end), strict=True))
    blocks = search.blocks
    bound_at: dict[int, int] = {}
    for point, site, action, variable in rows:
        number = block_of[point]
        block = blocks.get(number)
        if block is None:
            block = blocks[number] = _Block()
        after = block.after
        if action == USE:
            seen = after.get(variable)
            if seen is None:
                search.exposed.append((number, variable, site))
            else:
                search.defined += seen
                search.used += [site] * len(seen)
            continue
        if point == last_of[number]:
            if block.before is None:
                block.before = after.copy()
            if action != DEL:
                (block.bound if action == BIND else block.made).append((variable, site))
        if action == BIND and bound_at.get(variable) == point:  # the other side of an or-pattern
            after[variable].append(site)
            continue
        after[variable] = [] if action == DEL else [site]
        bound_at[variable] = point


def _reach_between(flow: FlowEvidence, index: int, search: _Search) -> None:
    """Find the pairs whose definition comes from another block, or from the same one last time round."""
    wanted = {variable for _, variable, _ in search.exposed}
    sites, bit_of = list[int](), dict[int, int]()
    mask_of = dict.fromkeys(wanted, 0)
    for block in search.blocks.values():
        states = [each for state in (block.after, block.before or {}) for each in state.items()]
        single = [(variable, [site]) for variable, site in (*block.made, *block.bound)]
        for variable, some in (*states, *single):
            if variable in wanted:
                for site in some:
                    if site not in bit_of:
                        bit_of[site] = 1 << len(sites)
                        sites.append(site)
                    mask_of[variable] |= bit_of[site]
    effects = {number: _effects_of(block, wanted, bit_of, mask_of) for number, block in search.blocks.items()}
    into = _flow_in(_edges_of(flow, index), effects)
    for number, variable, use in search.exposed:
        reaching = into[number] & mask_of[variable]
        if len(search.defined) + reaching.bit_count() > MOST_PAIRS:
            raise TooManyPairs
        while reaching:
            bit = reaching & -reaching
            search.defined.append(sites[bit.bit_length() - 1])
            search.used.append(use)
            reaching ^= bit


def _effects_of(
    block: _Block, wanted: set[int], bit_of: Mapping[int, int], mask_of: Mapping[int, int]
) -> tuple[tuple[int, int], ...]:
    """What a block keeps and adds, by the ways it is left: as it goes on, by an exception, by a failure."""

    def bits(sites: Iterable[int]) -> int:
        found = 0
        for site in sites:
            found |= bit_of.get(site, 0)
        return found

    def effect(state: Mapping[int, list[int]]) -> tuple[int, int]:
        lost = added = 0
        for variable in wanted.intersection(state):
            lost |= mask_of[variable]
            added |= bits(state[variable])
        return ~lost, added

    after = effect(block.after)
    if block.before is None:
        return after, after, after
    keeps, adds = effect(block.before)
    made = adds | bits(site for _, site in block.made)
    failed = (keeps, made) if block.bound else after
    return after, (keeps, made | bits(site for _, site in block.bound)), failed


def _edges_of(flow: FlowEvidence, index: int) -> list[list[tuple[int, int]]]:
    """By block, the blocks that may follow, each with the index of the effect that flows there."""
    first, end = flow.defs.points[index : index + 2]
    blocks, dead, edges = flow.points.block, flow.points.is_dead, flow.edges
    start_of = dict(zip(reversed(blocks[first:end]), range(end - 1, first - 1, -1), strict=True))
    following: list[list[tuple[int, int]]] = [[] for _ in start_of]
    some = slice(*flow.defs.edges[index : index + 2])
    for source, target, kind in zip(edges.src[some], edges.dst[some], edges.kind[some], strict=True):
        if (
            target < end - 2  # nothing is used at the exits
            and start_of[blocks[target]] == target
            and (dead[target] or not dead[source])
        ):
            flavour = 1 if kind == EXCEPTION else 2 if kind == FALSE else 0
            following[blocks[source]].append((blocks[target], flavour))
    return following


def _flow_in(
    following: Sequence[Sequence[tuple[int, int]]], effects: Mapping[int, tuple[tuple[int, int], ...]]
) -> list[int]:
    """The definitions that reach the beginning of each block, as bits.

    Blocks come in an order in which only loops lead back, so there are about as many rounds as loops inside
    each other.
    """
    into = [0] * len(following)
    again = True
    while again:
        again = False
        for number, targets in enumerate(following):
            reaching = into[number]
            effect = effects.get(number)
            for target, flavour in targets:
                if effect is None:
                    flowing = reaching
                else:
                    keeps, adds = effect[flavour]
                    flowing = reaching & keeps | adds
                if flowing & ~into[target]:
                    into[target] |= flowing
                    again |= target <= number
    return into
