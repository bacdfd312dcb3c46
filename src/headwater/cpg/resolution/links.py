"""The list of edges between definitions: who calls, uses, imports, inherits, overrides or contains whom.

An edge goes from the def that something stands in, at the line where it stands. Not here: what is found.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import pyarrow as pa
import pyarrow.compute as pc

from headwater.cpg.resolution.listed import Listed, thousandths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.cpg.resolution.listed import Listing

_compute = cast("Any", pc)
# A candidate of a call that is not its best is an edge from here on.
SURE = 0.5
_REFERENCE = ("path", "node", "def_path", "def_node")
_NUMBERS = frozenset({"line", "confidence"})


class _Links(NamedTuple):
    """Links of one kind: the file, def and node of each, what it leads to, and how that is known."""

    kind: str
    paths: Sequence[str]
    sources: Sequence[int | None]
    sites: Sequence[int]
    targets: pa.Array[Any]
    labels: Sequence[str | None] | None = None
    resolutions: Sequence[str] | None = None
    confidences: Sequence[float] | None = None


def list_links(listing: Listing) -> Listed:
    """All edges between definitions; one whose end is not known is none."""
    found = [
        _calls(listing),
        _references(listing),
        _names(listing),
        _members(listing),
        *_imports(listing),
        *_written(listing),
        _bases(listing),
        _overrides(listing),
        _contained(listing),
    ]
    at = listing.repository
    paths = list(chain.from_iterable(each.paths for each in found))
    counts = [len(each.paths) for each in found]
    columns: dict[str, Any] = {
        "edge_kind": _repeated([each.kind for each in found], counts),
        "source_id": at.node_ids(paths, list(chain.from_iterable(each.sources for each in found))).array(),
        "target_id": pa.concat_arrays([each.targets for each in found]),
        "line": listing.places.lines(paths, list(chain.from_iterable(each.sites for each in found))),
        "label": _joined([each.labels for each in found], counts, None),
        "resolution": _joined([each.resolutions for each in found], counts, "exact"),
        "confidence": thousandths(_joined([each.confidences for each in found], counts, 1.0)),
    }
    has_ends = _compute.and_(columns["source_id"].is_valid(), columns["target_id"].is_valid())
    kept = _compute.indices_nonzero(has_ends)
    rows = at.rows(paths)[kept.to_numpy()]
    return Listed(rows, {name: _column(name, each).take(kept) for name, each in columns.items()})


def _calls(listing: Listing) -> _Links:
    calls, found = listing.found.calls, listing.found.targets
    kept = [
        place
        for place, (rank, sure) in enumerate(zip(found.rank, found.confidence, strict=True))
        if rank == 1 or sure >= SURE
    ]
    of = [found.call[each] for each in kept]
    paths = [calls.path[each] for each in of]
    targets = listing.outside.def_ids(
        paths,
        [found.symbol[each] for each in kept],
        [found.path[each] for each in kept],
        [found.node[each] for each in kept],
    ).array()
    return _Links(
        "CALLS",
        paths,
        [calls.caller[each] for each in of],
        [calls.node[each] for each in of],
        targets,
        [calls.dispatch[each] for each in of],
        [calls.resolution[each] for each in of],
        [found.confidence[each] for each in kept],
    )


def _references(listing: Listing) -> _Links:
    """Attributes that were found to be something."""
    found = listing.found.references
    return _Links(
        "REFERENCES_SYMBOL",
        found.path,
        listing.places.owners(found.path, found.node),
        found.node,
        listing.outside.def_ids(found.path, found.symbol, found.def_path, found.def_node).array(),
        resolutions=found.resolution,
        confidences=found.confidence,
    )


def _names(listing: Listing) -> _Links:
    """Names that are read, and stand for what has a symbol."""
    found, at = listing.found.bindings, listing.repository
    which, rows, nodes = listing.places.uses_of(found.path, found.binding)
    is_own = [name is not None for name in found.name]
    symbols = [None if own else symbol for own, symbol in zip(is_own, found.symbol, strict=True)]
    meant = listing.outside.def_ids(found.path, symbols, found.def_path, found.def_node).array()
    aliases = listing.aliases.of_bindings(found.path, found.binding)
    targets = _compute.coalesce(meant, aliases, at.binding_ids(found.path, found.binding).array()).take(
        pa.array(which, pa.int64())
    )
    paths = [at.paths[row] for row in rows]
    return _Links("REFERENCES_SYMBOL", paths, listing.places.owners(paths, nodes), nodes, targets)


def _members(listing: Listing) -> _Links:
    """What is read of modules: their variables, and functions and classes as they are written there."""
    found, at, bindings = listing.found.members, listing.repository, listing.found.bindings
    own = {
        place
        for place, name in zip(zip(bindings.path, bindings.binding, strict=True), bindings.name, strict=True)
        if name is not None
    }
    places = list(zip(found.member_path, found.member_binding, strict=True))
    written = listing.aliases.written_at(places)
    known = set(zip(*(getattr(listing.found.references, each) for each in _REFERENCE), strict=True))
    new = [
        (*site, *place) not in known if place is not None else False
        for site, place in zip(zip(found.path, found.node, strict=True), written, strict=True)
    ]
    definitions = at.node_ids(
        [
            place[0] if place is not None and is_new else None
            for place, is_new in zip(written, new, strict=True)
        ],
        [
            place[1] if place is not None and is_new else None
            for place, is_new in zip(written, new, strict=True)
        ],
    ).array()
    variables = at.binding_ids(
        [path if (path, binding) in own else None for path, binding in places],
        [binding if (path, binding) in own else None for path, binding in places],
    ).array()
    aliases = listing.aliases.of_bindings(found.member_path, found.member_binding)
    return _Links(
        "REFERENCES_SYMBOL",
        found.path,
        listing.places.owners(found.path, found.node),
        found.node,
        _compute.coalesce(definitions, aliases, variables),
    )


def _imports(listing: Listing) -> tuple[_Links, _Links]:
    """What imports mean, and the modules that they load for that."""
    found, at = listing.found.imports, listing.repository
    owners = listing.places.owners(found.path, found.node)
    how = at.how_imported()
    labels = [how.get((path, node)) for path, node in zip(found.path, found.node, strict=True)]
    meant = _compute.coalesce(
        listing.outside.def_ids(found.path, found.symbol, found.def_path, found.def_node).array(),
        listing.aliases.of_imports(found.path, found.node),
    )
    modules = {
        path: node
        for path, node, kind in zip(
            listing.found.definitions.path,
            listing.found.definitions.node,
            listing.found.definitions.kind,
            strict=True,
        )
        if kind == "module"
    }
    loaded = [None if path is None else modules.get(path) for path in found.resolved_path]
    is_itself = _compute.fill_null(
        _compute.equal(at.node_ids(found.resolved_path, loaded).array(), meant), False
    )
    kept = [place for place, same in enumerate(is_itself.to_pylist()) if not same]
    of_names = _Links("IMPORTS", found.path, owners, found.node, meant, labels, found.resolution)
    of_modules = _Links(
        "IMPORTS",
        [found.path[each] for each in kept],
        [owners[each] for each in kept],
        [found.node[each] for each in kept],
        at.node_ids([found.resolved_path[each] for each in kept], [loaded[each] for each in kept]).array(),
        [labels[each] for each in kept],
    )
    return of_names, of_modules


def _written(listing: Listing) -> tuple[_Links, _Links]:
    """Imports and uses of what a decorator made something else of: what was written is used as well."""
    at = listing.repository
    imports, meant = listing.aliases.written()
    paths, nodes = [each[0] for each in imports], [each[1] for each in imports]
    ids = at.node_ids([each[0] for each in meant], [each[1] for each in meant]).array()
    imported = _Links("IMPORTS", paths, listing.places.owners(paths, nodes), nodes, ids)
    bindings, meant = listing.aliases.written_for_bindings()
    which, rows, sites = listing.places.uses_of(
        [each[0] for each in bindings], [each[1] for each in bindings]
    )
    used_in = [at.paths[row] for row in rows]
    ends = [meant[each] for each in which]
    targets = at.node_ids([each[0] for each in ends], [each[1] for each in ends]).array()
    owners = listing.places.owners(used_in, sites)
    return imported, _Links("REFERENCES_SYMBOL", used_in, owners, sites, targets)


def _bases(listing: Listing) -> _Links:
    found = listing.found.bases
    targets = listing.outside.def_ids(found.path, found.symbol, found.base_path, found.base_node).array()
    return _Links("INHERITS", found.path, found.node, found.node, targets)


def _overrides(listing: Listing) -> _Links:
    found = listing.found.overrides
    targets = listing.repository.node_ids(found.overridden_path, found.overridden_node).array()
    labels = ["further" if each else None for each in found.is_transitive]
    return _Links("OVERRIDES", found.path, found.node, found.node, targets, labels)


def _contained(listing: Listing) -> _Links:
    found = listing.found.definitions
    owners = listing.places.owners(found.path, found.node)
    return _Links(
        "CONTAINS",
        found.path,
        owners,
        found.node,
        listing.repository.node_ids(found.path, found.node).array(),
    )


def _joined(parts: Sequence[Sequence[Any] | None], counts: Sequence[int], instead: Any) -> list[Any]:
    """The values of all parts; of one that has none, the same for each of its links."""
    filled = ([instead] * count if part is None else part for part, count in zip(parts, counts, strict=True))
    return list(chain.from_iterable(filled))


def _repeated(values: Sequence[str], counts: Sequence[int]) -> list[str]:
    return [value for value, count in zip(values, counts, strict=True) for _ in range(count)]


def _column(name: str, values: Any) -> pa.Array[Any]:
    kind = pa.int32() if name in _NUMBERS else pa.string()
    return cast("pa.Array[Any]", values if isinstance(values, pa.Array) else pa.array(values, kind))
