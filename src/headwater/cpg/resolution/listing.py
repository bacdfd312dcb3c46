"""Every list of what is resolved: from the rows that the solver gives to entries with ids, row by row.

Not here: the solver, and how lists become rows of a table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.compute as pc

from headwater.cpg.resolution.flowing import list_effects, list_flows, list_summaries
from headwater.cpg.resolution.listed import Listed, numbers_within, thousandths
from headwater.cpg.resolution.typefacts import list_type_facts, list_types

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from headwater.cpg.resolution.listed import Listing
    from headwater.cpg.resolve import TargetRows

_NOT_FOLLOWED = "it stands in an annotation, which is not run"


def list_all(listing: Listing) -> Iterator[tuple[str, Listed]]:
    """Every list with its name, one after the other, so that none needs room when the next is made.

    What is outside comes last, since the others speak of it.
    """
    for name, make in _MAKERS.items():
        yield name, make(listing)


def _definitions(listing: Listing) -> Listed:
    found, at = listing.found.definitions, listing.repository
    columns = {
        "node_id": at.node_ids(found.path, found.node),
        "kind": found.kind,
        "name": found.name,
        "symbol": found.symbol,
        "line": listing.places.lines(found.path, found.node),
        "end_line": listing.places.ends(found.path, found.node),
        "is_test": [bool(at.is_test[at.row_of[path]]) for path in found.path],
    }
    return Listed(at.rows(found.path), columns)


def _names(listing: Listing) -> Listed:
    found, at = listing.found.bindings, listing.repository
    is_own = [name is not None for name in found.name]
    symbols = [None if own else symbol for own, symbol in zip(is_own, found.symbol, strict=True)]
    columns = {
        "binding_id": at.binding_ids(found.path, found.binding),
        "name": found.name,
        "symbol": found.symbol,
        "def_id": pc.coalesce(
            listing.outside.def_ids(found.path, symbols, found.def_path, found.def_node).array(),
            listing.aliases.of_bindings(found.path, found.binding),
        ),
        "line": listing.places.first_lines(found.path, found.binding),
    }
    return Listed(at.rows(found.path), columns)


def _references(listing: Listing) -> Listed:
    found, at = listing.found.references, listing.repository
    columns = {
        "node_id": at.node_ids(found.path, found.node),
        "symbol": found.symbol,
        "def_id": listing.outside.def_ids(found.path, found.symbol, found.def_path, found.def_node),
        "resolver": found.resolver,
        "resolution": found.resolution,
        "confidence": thousandths(found.confidence),
    }
    return Listed(at.rows(found.path), columns)


def _imports(listing: Listing) -> Listed:
    found, at = listing.found.imports, listing.repository
    file_ids = at.file_ids()
    columns = {
        "node_id": at.node_ids(found.path, found.node),
        "resolved_module": found.module,
        "resolved_file_id": [
            None if path is None else file_ids[at.row_of[path]] for path in found.resolved_path
        ],
        "symbol": found.symbol,
        "def_id": listing.outside.def_ids(found.path, found.symbol, found.def_path, found.def_node),
        "dist": found.dist,
        "resolution": found.resolution,
        "chain": found.chain,
    }
    return Listed(at.rows(found.path), columns)


def _exports(listing: Listing) -> Listed:
    found = listing.found.exports
    columns = {
        "name": found.name,
        "symbol": found.symbol,
        "def_id": listing.outside.def_ids(found.path, found.symbol, found.def_path, found.def_node),
        "via": found.via,
    }
    return Listed(listing.repository.rows(found.path), columns)


def _bases(listing: Listing) -> Listed:
    found, at = listing.found.bases, listing.repository
    columns = {
        "class_id": at.node_ids(found.path, found.node),
        "base_idx": found.base_idx,
        "symbol": found.symbol,
        "def_id": listing.outside.def_ids(found.path, found.symbol, found.base_path, found.base_node),
    }
    return Listed(at.rows(found.path), columns)


def _orders(listing: Listing) -> Listed:
    found, at = listing.found.orders, listing.repository
    columns = {
        "class_id": at.node_ids(found.path, found.node),
        "pos": found.pos,
        "symbol": found.symbol,
        "def_id": listing.outside.def_ids(found.path, found.symbol, found.base_path, found.base_node),
    }
    return Listed(at.rows(found.path), columns)


def _overrides(listing: Listing) -> Listed:
    found, at = listing.found.overrides, listing.repository
    columns = {
        "node_id": at.node_ids(found.path, found.node),
        "overridden_id": at.node_ids(found.overridden_path, found.overridden_node),
        "is_transitive": found.is_transitive,
    }
    return Listed(at.rows(found.path), columns)


def _calls(listing: Listing) -> Listed:
    """The calls that were followed, then those that are written and were not, since nothing runs them."""
    found, at = listing.found.calls, listing.repository
    followed = {
        (path, node)
        for path, node, how in zip(found.path, found.node, found.dispatch, strict=True)
        if how == "call"
    }
    more = [
        (path, node, owner)
        for path, written in zip(at.paths, at.written(), strict=True)
        for node, owner in written
        if (path, node) not in followed
    ]
    paths = found.path + [path for path, _, _ in more]
    count = len(more)
    columns = {
        "node_id": at.node_ids(paths, found.node + [node for _, node, _ in more]),
        "caller_id": at.node_ids(paths, found.caller + [owner for _, _, owner in more]),
        "dispatch": found.dispatch + ["call"] * count,
        "slot": found.slot + [""] * count,
        "resolution": found.resolution + ["unresolved"] * count,
        "reason": found.reason + [_NOT_FOLLOWED] * count,
        "confidence": _best(listing.found.targets, len(found.path)) + [None] * count,
    }
    return Listed(at.rows(paths), columns)


def _targets(listing: Listing) -> Listed:
    found, calls, at = listing.found.targets, listing.found.calls, listing.repository
    paths = [calls.path[call] for call in found.call]
    numbers = numbers_within(calls.path)
    seen: dict[tuple[str, int, str, str | None, int | None, str], int] = {}
    ordinals: list[int] = []
    for call, symbol, path, node in zip(found.call, found.symbol, found.path, found.node, strict=True):
        key = (calls.path[call], calls.caller[call], symbol, path, node, calls.dispatch[call])
        ordinals.append(seen.get(key, 0))
        seen[key] = ordinals[-1] + 1
    columns = {
        "call": [numbers[call] for call in found.call],
        "symbol": found.symbol,
        "def_id": listing.outside.def_ids(paths, found.symbol, found.path, found.node),
        "name": listing.found.target_names,
        "resolver": found.resolver,
        "confidence": thousandths(found.confidence),
        "rank": found.rank,
        "ordinal": ordinals,
    }
    return Listed(at.rows(paths), columns)


def _arguments(listing: Listing) -> Listed:
    found, calls, at = listing.found.arguments, listing.found.calls, listing.repository
    paths = [calls.path[call] for call in found.call]
    numbers = numbers_within(calls.path)
    columns = {
        "call": [numbers[call] for call in found.call],
        "idx": found.idx,
        "node_id": at.node_ids(paths, found.node),
        "keyword": found.keyword,
        "star": found.star,
        "param_id": at.node_ids(found.param_path, found.param_node),
        "status": found.status,
    }
    return Listed(at.rows(paths), columns)


def _stubs(listing: Listing) -> Listed:
    """Definitions of stubs, and those of the source beside them that have the same name."""
    found, at = listing.found.definitions, listing.repository
    sources = {
        (path, name): node
        for path, name, node in zip(found.path, found.name, found.node, strict=True)
        if path.endswith(".py")
    }
    pairs = [
        (path, node, path[:-1], sources[path[:-1], name])
        for path, name, node in zip(found.path, found.name, found.node, strict=True)
        if path.endswith(".pyi") and (path[:-1], name) in sources
    ]
    paths = [each[0] for each in pairs]
    columns = {
        "node_id": at.node_ids(paths, [each[1] for each in pairs]),
        "source_id": at.node_ids([each[2] for each in pairs], [each[3] for each in pairs]),
    }
    return Listed(at.rows(paths), columns)


def _tests(listing: Listing) -> Listed:
    """Which def of a test most likely calls which def that is no test."""
    found, calls, at = listing.found.targets, listing.found.calls, listing.repository
    is_test = {path for path, test in zip(at.paths, at.is_test, strict=True) if test}
    pairs: dict[tuple[str, int, str, int], None] = {}
    for call, path, node, rank in zip(found.call, found.path, found.node, found.rank, strict=True):
        if rank != 1 or path is None or node is None or path in is_test:
            continue
        if calls.path[call] in is_test:
            pairs[calls.path[call], calls.caller[call], path, node] = None
    paths = [each[0] for each in pairs]
    columns = {
        "node_id": at.node_ids(paths, [each[1] for each in pairs]),
        "tested_id": at.node_ids([each[2] for each in pairs], [each[3] for each in pairs]),
    }
    return Listed(at.rows(paths), columns)


def _externals(listing: Listing) -> Listed:
    return Listed(*listing.outside.listed())


_MAKERS: Mapping[str, Callable[[Listing], Listed]] = {
    "definitions": _definitions,
    "names": _names,
    "references": _references,
    "imports": _imports,
    "exports": _exports,
    "bases": _bases,
    "orders": _orders,
    "overrides": _overrides,
    "calls": _calls,
    "targets": _targets,
    "arguments": _arguments,
    "types": list_types,
    "type_facts": list_type_facts,
    "flows": list_flows,
    "summaries": list_summaries,
    "effects": list_effects,
    "stubs": _stubs,
    "tests": _tests,
    "externals": _externals,
}


def _best(targets: TargetRows, count: int) -> list[int | None]:
    """How sure the best candidate of each call is."""
    best: list[int | None] = [None] * count
    for call, sure, rank in zip(targets.call, thousandths(targets.confidence), targets.rank, strict=True):
        if rank == 1:
            best[call] = sure
    return best
