"""What recorded runs still need of a table: every version and every window of changes that a manifest names.

The runs of the project that is open count, in whichever of its usual warehouses, and those of the warehouse
that the table lies in. A run whose folder was removed needs nothing. Not here: what an operation would take.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.artifacts import read_manifests
from headwater.datasets import read_options_of
from headwater.delta import Hold, find_head, merged_holds
from headwater.names import TablePin, same_name
from headwater.run.pins import source_uri
from headwater.run.warehouse import Warehouse
from headwater.runtime import local_path_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from headwater.artifacts import Manifest, PinRecord, SnapshotRecord, SourceRecord
    from headwater.run.project import Project
    from headwater.runtime import StorageProfile

_TABLES = "tables"
_RUNS = "runs"
# Where a project and its code graph keep runs, unless somebody says otherwise.
_USUAL = (".headwater", ".headwater/graph")


def holds_on(
    uri: str, storage: StorageProfile, project: Project | None = None, *, pass_over: bool = False
) -> tuple[Hold, ...]:
    """Every version of a table that a recorded run names, with the ids of those runs.

    Args:
        uri: the table.
        storage: the rules for addresses.
        project: whose runs count, beside those of the warehouse that the table lies in.
        pass_over: leave out runs whose records cannot be read.

    Raises:
        ManifestUnreadable: a run's record cannot be read, so nobody knows what it needs.
    """
    found: list[Hold] = []
    for warehouse, root in _warehouses(uri, project).items():
        named = _Named(uri=uri, warehouse=warehouse, root=root, storage=storage)
        manifests = list(read_manifests(warehouse.root, pass_over=pass_over))
        for manifest in manifests:
            found += named.by(manifest)
        found += named.next_windows(manifests)
    return merged_holds(found)


def _warehouses(uri: str, project: Project | None) -> dict[Warehouse, Path]:
    """The warehouses whose runs count, each with the folder that paths in them start from."""
    found: dict[Warehouse, Path] = {}
    folder = local_path_of(uri).parent
    if folder.name == _TABLES and (folder.parent / _RUNS).is_dir():
        found[Warehouse(folder.parent)] = folder.parent.parent
    if project is not None:
        root = project.config.root
        found |= {Warehouse(root / each): root for each in _USUAL if (root / each / _RUNS).is_dir()}
        found[project.warehouse] = root
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Named:
    """What the runs of one warehouse name of one table."""

    uri: str
    warehouse: Warehouse
    root: Path
    storage: StorageProfile

    def by(self, manifest: Manifest) -> Iterator[Hold]:
        """What one run read and made of the table."""
        holders, names = (manifest.run_id,), set[str]()
        for table in manifest.tables:
            place = self.storage.canonical_uri(str(self.warehouse.table_path(table.name)))
            if place == self.uri:
                names.add(same_name(table.name))
                if table.pin is not None:
                    yield Hold(pin=self._pin(table.pin), holders=holders)
        for source in self._sources(manifest):
            names.add(same_name(source.name))
            for each in (source.pin, source.rows):
                if each is not None:
                    yield Hold(pin=self._pin(each), holders=holders)
            if source.starting_version is not None:
                pin = self._pin(source.pin)
                yield Hold(pin=pin, starting_version=source.starting_version, holders=holders)
        for each in manifest.registrations:
            if each.snapshot is not None and same_name(each.name) in names:
                yield Hold(pin=self._pin(each.snapshot), holders=holders)

    def next_windows(self, manifests: Sequence[Manifest]) -> Iterator[Hold]:
        """The windows of changes that the next run will read: the last of each name, up to now."""
        head, seen = find_head(self.uri), set[str]()
        for manifest in reversed(manifests if head else ()):
            for source in self._sources(manifest):
                window = read_options_of(source.options).changes
                is_open = window and window.ending_version is None and window.ending_timestamp is None
                if source.name in seen:
                    continue
                seen.add(source.name)
                if head and is_open and source.starting_version is not None:
                    yield Hold(
                        pin=head.pin(local_path_of(self.uri).name),
                        starting_version=source.starting_version,
                        holders=(f"the next run after {manifest.run_id}",),
                    )

    def _sources(self, manifest: Manifest) -> Iterator[SourceRecord]:
        for source in manifest.sources:
            if source.kind in {"delta", "made", "changes"}:
                place = source_uri(source, root=self.root, warehouse=self.warehouse, storage=self.storage)
                if place == self.uri:
                    yield source

    def _pin(self, record: PinRecord | SnapshotRecord) -> TablePin:
        """A version under the folder's name: two runs may have known the table by two others."""
        name = local_path_of(self.uri).name
        return TablePin(name=name, uri=self.uri, version=record.version, digest=record.digest)
