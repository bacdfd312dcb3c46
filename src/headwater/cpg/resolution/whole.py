"""The rows of a repository, in one call. Not here: any list of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa

from headwater.cpg.evidence import sources_digest
from headwater.cpg.nested import structs_of
from headwater.cpg.resolution.aliases import Aliases
from headwater.cpg.resolution.columns import LINKS, LISTS
from headwater.cpg.resolution.counting import counted_in, counts_of
from headwater.cpg.resolution.links import list_links
from headwater.cpg.resolution.listed import Listed, Listing, written_out
from headwater.cpg.resolution.listing import list_all
from headwater.cpg.resolution.outside import Outside
from headwater.cpg.resolution.places import Places
from headwater.cpg.resolution.reading import Repository
from headwater.cpg.resolution.things import list_things
from headwater.cpg.resolve import Bound, resolve_files
from headwater.memory import give_back, without_collections

if TYPE_CHECKING:
    from typing import TypeAlias

    from headwater.cpg.resolve import Distributions

    Lists: TypeAlias = "dict[str, Listed]"

# Whoever takes the rows has so many in memory at a time.
_BATCH_ROWS = 128


def resolver_version() -> str:
    """What changes when any file that takes part in resolution does."""
    return sources_digest(
        "resolution", "nested.py", "resolve", "extract/values/facts.py", "extract/hints", "kinds.py"
    )


def resolve_rows(table: pa.Table, repo_id: str, names: Distributions) -> pa.Table:
    """One row per file of a repository, by the columns of RESOLUTION_COLUMNS, in small batches.

    Args:
        table: one row per file that was read, with the columns of RESOLVED_FROM
        repo_id: the repository, as a part of ids
        names: its distribution, and those of modules outside
    """
    with without_collections():
        return _rows(table, repo_id, names)


def _rows(table: pa.Table, repo_id: str, names: Distributions) -> pa.Table:
    repository = Repository(table)
    modules, lists = _lists(repository, repo_id, names)
    give_back()
    columns: dict[str, Any] = {
        "path": table.column("path"),
        "file_id": table.column("file_id"),
        "module": pa.array([modules.get(path) for path in repository.paths], pa.string()),
    }
    for name in LISTS:
        columns[name] = _nested(lists.pop(name), name, len(repository.paths))
    made = pa.table(columns)
    return pa.Table.from_batches(made.to_batches(max_chunksize=_BATCH_ROWS), made.schema)


def _lists(repository: Repository, repo_id: str, names: Distributions) -> tuple[dict[str, str], Lists]:
    """The names of modules by their paths, and all lists: packed, so that all else can be let go of."""
    found = resolve_files(
        repository.files(), names, Bound(defining=repository.defining(), attributes=repository.attributes())
    )
    give_back()
    outside = Outside(repository, repo_id)
    listing = Listing(
        repo_id=repo_id,
        repository=repository,
        outside=outside,
        places=Places(repository),
        aliases=Aliases(repository, found),
        found=found,
    )
    # Links need most room while they are made, and so come before there are lists.
    links = list_links(listing).packed(LINKS)
    lists = {name: listed.packed(LISTS[name]) for name, listed in list_all(listing)}
    lists["things"] = list_things(links, lists)
    counts = counts_of(each for name, listed in lists.items() for each in counted_in(name, listed))
    lists["counts"] = counts.packed(LISTS["counts"])
    return dict(zip(found.definitions.path, found.definitions.module, strict=True)), lists


def _nested(listed: Listed, name: str, count: int) -> pa.Array[Any]:
    """The entries of a list, in those of their files."""
    columns = {column: written_out(each) for column, each in listed.columns.items()}
    entries: Any = structs_of(columns, LISTS[name])
    ends = np.cumsum(np.bincount(listed.rows, minlength=count)) if count else np.array([], np.int64)
    offsets = pa.array(np.concatenate([[0], ends]), pa.int32())
    return cast("Any", pa.ListArray).from_arrays(offsets, entries)
