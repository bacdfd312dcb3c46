"""The sources of a pipeline at the versions that this run will read, or that a run on record has read.

Not here: reading them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.datasets import ReadOptions, read_options_of
from headwater.delta import (
    CdfWindow,
    ChangePin,
    FilePin,
    ListedFile,
    ScanOptions,
    find_commit,
    find_content,
    find_head,
    newest_with_same_rows,
    note_of,
    pin_changes,
    pin_files,
    rows_commit,
    rows_made_by,
    scan_files,
)
from headwater.digest import digest_of
from headwater.errors import HeadwaterError, NothingToRead, VersionNotFound
from headwater.names import TablePin
from headwater.runtime import is_remote, local_path_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from headwater.artifacts import Manifest, SourceRecord
    from headwater.delta import LatestVersions
    from headwater.pipeline import SourceSpec
    from headwater.run.warehouse import Warehouse
    from headwater.runtime import StorageProfile

# Of twice as much, all in all, a build takes the same time with lightly compiled code as with optimised.
_LITTLE_BYTES = 3_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedSource:
    """A source as this run sees it.

    `pin` is None for rows that have still to be made; `as_made` says that what is there, or will be, is just
    what the source's function makes. `rows` is the commit that made the rows of the pin, `content` the digest
    of rows that the source made.
    """

    spec: SourceSpec
    pin: TablePin | None
    files: FilePin | None = None
    changes: ChangePin | None = None
    as_made: bool = False
    rows: TablePin | None = None
    content: str | None = None

    @property
    def identity(self) -> list[str | int | None]:
        """What changes when the declaration or the data does."""
        rows = self.rows or self.pin
        known = [rows.version, rows.digest] if rows else [None]
        window = [self.changes.starting_version] if self.changes else []
        return [self.spec.digest, *known, *window]

    @property
    def content_identity(self) -> list[str | int | None]:
        """The same, but rows that the source itself has made are known by what they are, on any machine."""
        return self.identity if self.content is None else [self.spec.digest, self.content]

    @property
    def schema_identity(self) -> list[str | int | None]:
        """What changes when the schema could; making rows changes nothing about it."""
        return [self.spec.digest] if self.as_made else self.identity


class SourcePins:
    """Pins each source once, when it is first asked for."""

    def __init__(
        self,
        *,
        root: Path,
        warehouse: Warehouse,
        storage: StorageProfile,
        latest: LatestVersions,
        last: Manifest | None,
        held: Iterable[SourceRecord] = (),
    ) -> None:
        self._root = root
        self._warehouse = warehouse
        self._storage = storage
        self._latest = latest
        self._known = {source.name: source for source in last.sources} if last else {}
        self._pinned: dict[str, PinnedSource] = {}
        self._held = {source.name: source for source in held}

    def pinned(self, spec: SourceSpec) -> PinnedSource:
        """The source at its version; raises the typed error of a source that is not there."""
        if spec.name not in self._pinned:
            try:
                self._pinned[spec.name] = self._pin(spec)
            except HeadwaterError as error:
                error.origin = error.origin or spec.origin
                raise
        return self._pinned[spec.name]

    def schema_identity_of(self, spec: SourceSpec) -> list[str | int | None]:
        """What changes when the schema of a source could; files have the same, whatever is in them now."""
        return [spec.digest] if spec.kind == "files" else self.pinned(spec).schema_identity

    def made(self, spec: SourceSpec, pin: TablePin, content: str | None) -> None:
        """Remembers rows that this run has made."""
        self._latest.remember(pin)
        self._pinned[spec.name] = PinnedSource(spec=spec, pin=pin, as_made=True, content=content)

    def uri_of(self, source: SourceSpec | SourceRecord) -> str:
        """The one address of a source."""
        return source_uri(source, root=self._root, warehouse=self._warehouse, storage=self._storage)

    def _pin(self, spec: SourceSpec) -> PinnedSource:
        match spec.kind:
            case "memory":
                pin = TablePin(name=spec.name, uri=f"memory:{spec.name}", version=0, digest=spec.digest)
                return PinnedSource(spec=spec, pin=pin)
            case "listing":
                files = pin_files(spec.name, self.uri_of(spec), self._before(spec), spec.origin)
                return PinnedSource(spec=spec, pin=files.pin, files=files)
            case "files":
                options = ScanOptions.of(dict(spec.options), spec.origin)
                files = scan_files(spec.name, self.uri_of(spec), options, self._before(spec), spec.origin)
                return PinnedSource(spec=spec, pin=files.pin, files=files)
            case "made":
                return self._pin_made(spec)
            case "delta":
                pin = self._held_pin(spec) or self._latest.pin(spec.name, self.uri_of(spec), spec.read)
                # What is asked of particular files is another thing after they were rearranged.
                by_file = spec.read.files is not None or spec.read.file_column is not None
                return PinnedSource(spec=spec, pin=pin, rows=None if by_file else rows_made_by(pin))
            case "changes":
                return self._pin_changes(spec)

    def _pin_changes(self, spec: SourceSpec) -> PinnedSource:
        uri = self.uri_of(spec)
        window = spec.read.changes or CdfWindow(starting_version=0)
        newest = (self._held_pin(spec) or self._latest.pin(spec.name, uri)).version
        pinned = pin_changes(spec.name, uri, window, newest=newest)
        return PinnedSource(spec=spec, pin=pinned.pin, changes=pinned, rows=rows_made_by(pinned.pin))

    def _held_pin(self, spec: SourceSpec) -> TablePin | None:
        """The version that a run had which this one goes on with; not that of another declaration.

        Raises:
            VersionNotFound: it is not there any more.
        """
        held = self._held.get(spec.name)
        if held is None or held.digest != spec.digest:
            return None
        uri, version = self.uri_of(spec), held.pin.version
        commit = find_commit(uri, version)
        if commit is None or commit.digest != held.pin.digest:
            raise VersionNotFound(path=str(local_path_of(uri)), version=version, origin=spec.origin)
        return commit.pin(spec.name)

    def _before(self, spec: SourceSpec) -> list[ListedFile]:
        """The files that the last run saw."""
        known = self._known.get(spec.name)
        return [
            ListedFile(
                path=each.path,
                size=each.size,
                changed_ns=each.changed_ns,
                sha256=each.sha256,
                skip_reason=each.skip_reason,
            )
            for each in (known.files if known else ())
        ]

    def _pin_made(self, spec: SourceSpec) -> PinnedSource:
        """What is there counts, unless our own older definition made it and nobody has touched it since."""
        uri = self.uri_of(spec)
        head = find_head(uri)
        made = rows_commit(head) if head else None
        note = note_of(made.user_metadata) if made else None
        is_ours = note is not None and note.table == spec.name
        is_stale = note is not None and note.task_key != made_key(spec)
        if head is None or (is_ours and is_stale):
            return PinnedSource(spec=spec, pin=None, as_made=True)
        pin = self._latest.pin(spec.name, uri)
        is_newest = made is not None and pin == head.pin(spec.name)
        rows = made.pin(spec.name) if made and is_newest else rows_made_by(pin)
        content = find_content(rows) if is_ours else None
        return PinnedSource(
            spec=spec, pin=pin, as_made=is_ours, rows=rows, content=content.text if content else None
        )


class RecordedPins(SourcePins):
    """Sources at the pins of a run on record, and at no other."""

    def __init__(
        self,
        *,
        root: Path,
        warehouse: Warehouse,
        storage: StorageProfile,
        latest: LatestVersions,
        last: Manifest | None,
    ) -> None:
        super().__init__(root=root, warehouse=warehouse, storage=storage, latest=latest, last=last)
        self._last = last

    def recorded(self) -> Iterator[tuple[TablePin, ReadOptions, int | None]]:
        """Every stored table and Delta source that the run left at a version, and how it is read.

        The last part is the first version of a change feed.
        """
        if self._last is None:
            return
        for source in self._last.sources:
            if source.kind in {"delta", "changes", "made"}:
                start = source.starting_version
                pin = self._recorded_pin(source)
                # What was asked for in particular, such as some files, is a matter of that very version.
                newest = pin if source.options else newest_with_same_rows(pin)
                yield newest, read_options_of(source.options), start
        for table in self._last.tables:
            if table.pin is not None:
                uri = self._storage.canonical_uri(str(self._warehouse.table_path(table.name)))
                pin = TablePin(name=table.name, uri=uri, version=table.pin.version, digest=table.pin.digest)
                yield newest_with_same_rows(pin), ReadOptions(), None

    def pinned(self, spec: SourceSpec) -> PinnedSource:
        """The source as the run saw it; rows in memory as their definition has them now."""
        if spec.kind == "memory":
            return super().pinned(spec)
        sources = self._last.sources if self._last else ()
        record = next((each for each in sources if each.name == spec.name), None)
        if record is None or record.kind != spec.kind:
            reason = "it is new since the last run"
            raise NothingToRead(name=spec.name, reason=reason, path=str(self._root), origin=spec.origin)
        if spec.kind in {"listing", "files"}:
            found = super().pinned(spec)
            if found.pin is None or found.pin.digest != record.pin.digest:
                raise VersionNotFound(path=self.uri_of(spec), version=record.pin.version, origin=spec.origin)
            return found
        pin, start = self._recorded_pin(record), record.starting_version
        changes = None if start is None else ChangePin(pin=pin, starting_version=start)
        return PinnedSource(spec=spec, pin=pin, changes=changes)

    def _recorded_pin(self, record: SourceRecord) -> TablePin:
        pin = record.pin
        return TablePin(name=record.name, uri=self.uri_of(record), version=pin.version, digest=pin.digest)


def are_small(sources: Iterable[PinnedSource]) -> bool:
    """Whether all that sources have is known, and so little that hardly any code of a run gets hot.

    Without files nothing is known: views that make their rows out of nothing may make many.
    """
    sizes: list[int] = []
    for each in sources:
        if each.files is not None:
            sizes += [file.size for file in each.files.files if file.skip_reason is None]
        elif each.spec.kind != "memory":
            return False
    return bool(sizes) and sum(sizes) <= _LITTLE_BYTES


def source_uri(
    source: SourceSpec | SourceRecord, *, root: Path, warehouse: Warehouse, storage: StorageProfile
) -> str:
    """The one address of a source: what it says, from the project's folder; or its place in the warehouse."""
    if source.path is None:
        return storage.canonical_uri(str(warehouse.table_path(source.name)))
    return storage.canonical_uri(source.path if is_address(source.path) else str(root / source.path))


def is_address(text: str) -> bool:
    """Whether a text has a scheme, and so does not depend on the folder that one is in."""
    return is_remote(text) or text.lower().startswith("file:")


def made_key(spec: SourceSpec) -> str:
    """The task key of rows that a source's function makes."""
    return digest_of(["made", spec.digest])
