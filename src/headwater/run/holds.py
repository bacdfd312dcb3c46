"""What recorded runs still need of a table: every version and every window of changes that a manifest names.

The runs of the project that is open count, and those of the warehouse that the table lies in. A run whose
folder was removed needs nothing. Not here: what an operation would take of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.artifacts import read_manifests
from headwater.datasets import read_options_of
from headwater.delta import Hold, find_head, merged_holds
from headwater.names import TablePin
from headwater.run.pins import source_uri
from headwater.run.warehouse import Warehouse
from headwater.runtime import local_path_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from headwater.artifacts import Manifest, SourceRecord
    from headwater.run.project import Project
    from headwater.runtime import StorageProfile

_TABLES = "tables"
_RUNS = "runs"


def holds_on(uri: str, storage: StorageProfile, project: Project | None = None) -> tuple[Hold, ...]:
    """Every version of a table that a recorded run names, with the ids of those runs.

    Raises:
        ManifestUnreadable: a run's record cannot be read, so nobody knows what it needs.
    """
    found: list[Hold] = []
    for warehouse, root in _warehouses(uri, project).items():
        manifests = list(read_manifests(warehouse.root))
        for manifest in manifests:
            found += _named(manifest, uri, warehouse, root, storage)
        if manifests:
            found += _next_windows(manifests[-1], uri, warehouse, root, storage)
    return merged_holds(found)


def _warehouses(uri: str, project: Project | None) -> dict[Warehouse, Path]:
    """The warehouses whose runs count, each with the folder that paths in them start from."""
    found: dict[Warehouse, Path] = {}
    folder = local_path_of(uri).parent
    if folder.name == _TABLES and (folder.parent / _RUNS).is_dir():
        found[Warehouse(folder.parent)] = folder.parent.parent
    if project is not None:
        found[project.warehouse] = project.config.root
    return found


def _named(
    manifest: Manifest, uri: str, warehouse: Warehouse, root: Path, storage: StorageProfile
) -> Iterator[Hold]:
    """What one run read and made of the table."""
    holders = (manifest.run_id,)
    for table in manifest.tables:
        place = storage.canonical_uri(str(warehouse.table_path(table.name)))
        if table.pin is not None and place == uri:
            pin = TablePin(name=table.name, uri=uri, version=table.pin.version, digest=table.pin.digest)
            yield Hold(pin=pin, holders=holders)
    for source in _sources(manifest, uri, warehouse, root, storage):
        pin = TablePin(name=source.name, uri=uri, version=source.pin.version, digest=source.pin.digest)
        yield Hold(pin=pin, starting_version=source.starting_version, holders=holders)


def _next_windows(
    manifest: Manifest, uri: str, warehouse: Warehouse, root: Path, storage: StorageProfile
) -> Iterator[Hold]:
    """The windows of changes that the next run will read: those of the last one, up to the newest version."""
    head = find_head(uri)
    for source in _sources(manifest, uri, warehouse, root, storage):
        window = read_options_of(source.options).changes
        is_open = window is not None and window.ending_version is None and window.ending_timestamp is None
        if head is not None and is_open and source.starting_version is not None:
            yield Hold(
                pin=head.pin(source.name),
                starting_version=source.starting_version,
                holders=(f"the next run after {manifest.run_id}",),
            )


def _sources(
    manifest: Manifest, uri: str, warehouse: Warehouse, root: Path, storage: StorageProfile
) -> Iterator[SourceRecord]:
    for source in manifest.sources:
        if source.kind in {"delta", "made", "changes"}:
            place = source_uri(source, root=root, warehouse=warehouse, storage=storage)
            if place == uri:
                yield source
