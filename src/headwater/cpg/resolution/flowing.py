"""The lists of where data goes across defs, and of what defs do with their parameters and to the world.

Not here: how any of it is found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.cpg.resolution.listed import Listed, numbers_within, thousandths

if TYPE_CHECKING:
    from headwater.cpg.resolution.listed import Listing
    from headwater.cpg.resolve import FlowRows


def list_flows(listing: Listing) -> Listed:
    """Ways of data from node to node; one through a call is in the file of the call."""
    found, calls, at = listing.found.flows, listing.found.calls, listing.repository
    numbers = numbers_within(calls.path)
    paths = [
        path if call is None else calls.path[call]
        for path, call in zip(found.src_path, found.call, strict=True)
    ]
    columns = {
        "src_id": at.node_ids(found.src_path, found.src_node),
        "dst_id": at.node_ids(found.dst_path, found.dst_node),
        "kind": found.kind,
        "access_path": found.access_path,
        "preserves_value": found.preserves_value,
        "call": [None if call is None else numbers[call] for call in found.call],
        "confidence": thousandths(found.confidence),
        "ordinal": _ordinals(found),
    }
    return Listed(at.rows(paths), columns)


def _ordinals(found: FlowRows) -> list[int]:
    """How many ways before each have the same ends, kind and path, and another call."""
    ends = (found.src_path, found.src_node, found.dst_path, found.dst_node, found.kind, found.access_path)
    seen: dict[tuple[object, ...], int] = {}
    ordinals: list[int] = []
    for key in zip(*ends, strict=True):
        number = seen[key] = seen.get(key, -1) + 1
        ordinals.append(number)
    return ordinals


def list_summaries(listing: Listing) -> Listed:
    """Where parameters of functions go."""
    found, at = listing.found.summaries, listing.repository
    columns = {
        "def_id": at.node_ids(found.path, found.node),
        "param_idx": found.param_idx,
        "access_path": found.access_path,
        "to": found.to,
        "to_path": found.to_path,
        "preserves_value": found.preserves_value,
    }
    return Listed(at.rows(found.path), columns)


def list_effects(listing: Listing) -> Listed:
    """What defs do to the world, and which exceptions leave them."""
    found, at = listing.found.effects, listing.repository
    columns = {
        "def_id": at.node_ids(found.path, found.node),
        "own_effects": found.own_effects,
        "effects": found.effects,
        "raises": found.raises,
    }
    return Listed(at.rows(found.path), columns)
