"""The lists of where data goes across defs, and of what defs do with their parameters and to the world.

Not here: how any of it is found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from headwater.cpg.resolution.ids import IdColumn
from headwater.cpg.resolution.listed import Listed, encoded, numbers_within, thousandths

if TYPE_CHECKING:
    from headwater.cpg.resolution.ids import Numbers
    from headwater.cpg.resolution.listed import Listing


def list_flows(listing: Listing) -> Listed:
    """Ways of data from node to node; one through a call is in the file of the call."""
    found, calls, at = listing.found.flows, listing.found.calls, listing.repository
    rows, bases = at.rows(found.paths), np.array(found.bases, np.int64)
    source, target = np.asarray(found.src), np.asarray(found.dst)
    files = np.searchsorted(bases, source, side="right") - 1
    first = at.first_nodes[rows] - bases
    call = np.asarray(found.call)
    is_through = call >= 0
    numbers = np.array([*numbers_within(calls.path), 0], np.int32)
    kind, path = encoded(found.kind), encoded(found.access_path)
    columns = {
        "src_id": IdColumn(at.nodes, source + first[files]),
        "dst_id": IdColumn(at.nodes, target + first[np.searchsorted(bases, target, side="right") - 1]),
        "kind": kind,
        "access_path": path,
        "preserves_value": found.preserves_value,
        "call": pa.array(numbers[call], mask=~is_through),
        "confidence": thousandths(found.confidence),
        "ordinal": _ordinals(source, target, kind, path),
    }
    return Listed(np.where(is_through, np.append(at.rows(calls.path), 0)[call], rows[files]), columns)


def _ordinals(source: Numbers, target: Numbers, kind: Any, path: Any) -> Numbers:
    """How many ways before each have the same ends, kind and path, and another call."""
    codes = [each.indices.fill_null(-1).to_numpy().astype(np.int64) for each in (kind, path)]
    ends, ways = (source.astype(np.int64) << 32) | target, (codes[0] << 32) | (codes[1] + 1)
    order = np.lexsort((ways, ends))
    is_first = np.ones(len(order), np.bool_)
    is_first[1:] = (np.diff(ends[order]) != 0) | (np.diff(ways[order]) != 0)
    place = np.arange(len(order))
    ordinals = np.empty(len(order), np.int64)
    ordinals[order] = place - np.maximum.accumulate(np.where(is_first, place, 0))
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
