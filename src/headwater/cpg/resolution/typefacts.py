"""The lists of types and of what has them. A type is a node, which the first file that speaks of it lists.

Not here: how types are found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.cpg.resolution.listed import Listed, thousandths
from headwater.digest import stable_id

if TYPE_CHECKING:
    from headwater.cpg.resolution.listed import Listing

TYPE = "TYPE"


def list_types(listing: Listing) -> Listed:
    """Every type once; what only other types speak of is in the first file."""
    types, facts, at = listing.found.types, listing.found.type_facts, listing.repository
    first = min(at.paths, default="")
    paths: list[str | None] = [None] * len(types.repr)
    for path, number in zip(facts.path, facts.type, strict=True):
        known = paths[number]
        if known is None or path < known:
            paths[number] = path
    columns = {
        "node_id": _type_ids(listing),
        "repr": types.repr,
        "form": types.form,
        "origin_symbol": types.origin_symbol,
        "args": types.args,
    }
    return Listed(at.rows([path or first for path in paths]), columns)


def list_type_facts(listing: Listing) -> Listed:
    """Which type each parameter, function and name has, by whose word."""
    facts, at = listing.found.type_facts, listing.repository
    ids = _type_ids(listing)
    columns = {
        "node_id": at.node_ids(facts.path, facts.node),
        "type_id": [ids[number] for number in facts.type],
        "source": facts.source,
        "confidence": thousandths(facts.confidence),
        "is_winner": facts.is_winner,
    }
    return Listed(at.rows(facts.path), columns)


def _type_ids(listing: Listing) -> list[str]:
    repo_id = listing.repo_id
    return [stable_id("node", repo_id, "", each, 0, TYPE, "") for each in listing.found.types.repr]
