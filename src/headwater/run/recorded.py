"""A run as it was recorded, so that it can be read again: plans, sources, tables, and whether all is there.

Nothing of it comes from the project's definitions. Not here: running any of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, cast

from headwater.artifacts import read_schedule
from headwater.datasets import read_options_of
from headwater.delta import ChangePin, FilePin, ListedFile, missing_files, read_commit
from headwater.digest import digest_of_file
from headwater.errors import HeadwaterError, NotRecorded, PinsGone
from headwater.names import TablePin, near_hint, same_name
from headwater.origin import Origin
from headwater.pipeline import PlanBytes, SourceSpec
from headwater.plan import order_of
from headwater.run.history import find_run
from headwater.run.pins import PinnedSource, source_uri
from headwater.runtime import local_path_of, with_results

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from headwater.artifacts import Manifest, PlannedSource, SourceRecord, TableRecord
    from headwater.pipeline import SourceKind
    from headwater.plan import PlanBundle
    from headwater.run.warehouse import Warehouse
    from headwater.runtime import RunSession, RuntimeProfile, StorageProfile

_FROM_LOG = ("delta", "changes", "made")
_OLD = "it was recorded by a version of Headwater that did not keep how it is read"


def recorded_profile(profile: RuntimeProfile, run: Manifest) -> RuntimeProfile:
    """A profile under which results are what they were in a run, as far as a session can differ at all."""
    degraded = {each.provider_kind for each in run.registrations if each.degraded}
    return replace(
        with_results(profile, run.settings_results),
        disabled_families=(),  # what a plan calls is compared one by one
        allow_degraded=tuple(sorted({*profile.allow_degraded, *degraded})),
    )


@dataclass(frozen=True, kw_only=True)
class RecordedRun:
    """One run's record, with the places where its datasets are now."""

    manifest: Manifest
    bundles: Mapping[str, PlanBundle]
    planned: Mapping[str, PlannedSource]
    root: Path
    warehouse: Warehouse
    storage: StorageProfile

    @cached_property
    def order(self) -> tuple[str, ...]:
        """Every view, each after all that it reads: the order in which the run made them."""
        reads = dict.fromkeys((each.name for each in self.manifest.sources), ())
        views = {name: tuple(each.name for each in bundle.inputs) for name, bundle in self.bundles.items()}
        known = {same_name(name) for name in (*reads, *views)}
        others = {name for each in views.values() for name in each if same_name(name) not in known}
        everything = {**reads, **dict.fromkeys(others, ()), **views}
        ordered = order_of(everything, {name: origin_of(bundle) for name, bundle in self.bundles.items()})
        return tuple(name for name in ordered if name in self.bundles)

    @cached_property
    def tables(self) -> dict[str, TableRecord]:
        """The stored tables, by their names."""
        return {each.name: each for each in self.manifest.tables}

    def reached_by(self, names: Iterable[str]) -> tuple[str, ...]:
        """All that views read, themselves or through views that are not stored; those included. Sorted."""
        found: set[str] = set()
        waiting = list(names)
        while waiting:
            for each in self.bundles[waiting.pop()].inputs:
                bundle = self.bundles.get(each.name)
                if each.name not in found and bundle is not None and not bundle.stored:
                    waiting.append(each.name)
                found.add(each.name)
        return tuple(sorted(found))

    def read_by(self, view: str) -> tuple[str, ...]:
        """The same for one view, each after all that it reads itself."""
        reached = self.reached_by([view])
        sources = (each for each in reached if each not in self.bundles)
        return (*sources, *(each for each in self.order if each in reached))

    def table_pin(self, name: str) -> TablePin | None:
        """A stored table at the version that the run left; None if it left none."""
        record = self.tables.get(name)
        if record is None or record.pin is None:
            return None
        uri = self.storage.canonical_uri(str(self.warehouse.table_path(name)))
        return TablePin(name=name, uri=uri, version=record.pin.version, digest=record.pin.digest)

    def key_of(self, name: str) -> tuple[str, ...] | None:
        """Columns that are unique together in a view, as it was planned; None if none are known to be."""
        bundle = self.bundles.get(name)
        return bundle.keys[0] if bundle is not None and bundle.keys else None

    def source_record(self, name: str) -> SourceRecord | None:
        """What the run wrote down of a source; None if it has none of that name."""
        return next((each for each in self.manifest.sources if each.name == name), None)

    def source_pin(self, name: str) -> TablePin | None:
        """A source at the version that the run read; None if it has none of that name."""
        record = self.source_record(name)
        if record is None:
            return None
        uri = self._uri_of(record)
        return TablePin(name=name, uri=uri, version=record.pin.version, digest=record.pin.digest)

    def source(self, name: str) -> PinnedSource | None:
        """A source at its recorded pin; None if the run has none of that name."""
        record, pin = self.source_record(name), self.source_pin(name)
        if record is None or pin is None:
            return None
        start = record.starting_version
        return PinnedSource(
            spec=self._spec(record),
            pin=pin,
            files=FilePin(pin=pin, files=_listed(record)) if record.kind in {"listing", "files"} else None,
            changes=None if start is None else ChangePin(pin=pin, starting_version=start),
        )

    def _uri_of(self, record: SourceRecord) -> str:
        if record.kind == "memory":
            return f"memory:{record.name}"
        return source_uri(record, root=self.root, warehouse=self.warehouse, storage=self.storage)

    def _spec(self, record: SourceRecord) -> SourceSpec:
        planned = self.planned.get(record.name)
        return SourceSpec(
            name=record.name,
            origin=Origin(str(self.root), 0),
            kind=cast("SourceKind", record.kind),
            path=record.path,
            file_format=planned.file_format if planned else None,
            schema=planned.schema if planned else None,
            options=tuple(planned.options.items()) if planned else (),
            plan=_plan_bytes(planned.plan) if planned and planned.plan else None,
            read=read_options_of(record.options),
        )

    # --- whether it is all there ---

    def check_pins(self, session: RunSession | None, views: Iterable[str]) -> None:
        """Raises PinsGone, with all that is not there any more of what these views read and are.

        Without a session, the log of a table is looked at, and not its data files.
        """
        views = tuple(views)
        gone = [words for name in self.reached_by(views) for words in self._gone(session, name)]
        gone += [words for name in views for words in self._gone(session, name)]
        if gone:
            raise PinsGone(run_id=self.manifest.run_id, gone=tuple(dict.fromkeys(gone)))

    def _gone(self, session: RunSession | None, name: str) -> Iterator[str]:
        pin, source = self.table_pin(name), self.source(name)
        bundle = self.bundles.get(name)
        if pin is not None:
            yield from _gone_version(session, pin)
        elif source is not None:
            yield from self._gone_source(session, source)
        elif bundle is None or bundle.stored:
            yield f"{name}: the run has no version of it"

    def _gone_source(self, session: RunSession | None, source: PinnedSource) -> Iterator[str]:
        name, pin = source.spec.name, source.pin
        needs_plan = source.spec.kind == "memory" and source.spec.plan is None
        needs_format = source.spec.kind == "listing" and source.spec.file_format is None
        if needs_plan or needs_format:
            yield f"{name}: {_OLD}"
        elif source.files is not None:
            yield from _gone_files(source.files)
        elif source.changes is not None:
            yield from _gone_window(source.changes)
        elif pin is not None and source.spec.kind in _FROM_LOG:
            yield from _gone_version(session, pin)


def open_recorded(
    text: str, *, root: Path, warehouse: Warehouse, profile: RuntimeProfile
) -> tuple[RecordedRun, RuntimeProfile]:
    """The run that a text names, and the profile under which its results come out as they did.

    Raises:
        RunNotFound, RunAmbiguous: there is no such run, or several.
        NotRecorded: its plans were not kept.
        ManifestUnreadable: it, or its plans, cannot be read.
    """
    manifest = find_run(warehouse.root, text)
    own = recorded_profile(profile, manifest)
    return read_recorded(manifest, root=root, warehouse=warehouse, storage=own.storage), own


def read_recorded(
    manifest: Manifest, *, root: Path, warehouse: Warehouse, storage: StorageProfile
) -> RecordedRun:
    """A run with its plans.

    Raises:
        NotRecorded: its plans were not kept.
        ManifestUnreadable: they were, and cannot be read.
    """
    schedule = read_schedule(warehouse.root, manifest.run_id)
    if not schedule.plans and manifest.views:
        hint = f"{warehouse.root / 'runs' / manifest.run_id / 'plans.json'} is not there. Build with --full."
        raise NotRecorded(what="plan of run", name=manifest.run_id, hint=hint)
    return RecordedRun(
        manifest=manifest,
        bundles={each.view: each for each in schedule.plans},
        planned={each.name: each for each in schedule.sources},
        root=root,
        warehouse=warehouse,
        storage=storage,
    )


def stored_view(run: RecordedRun, name: str) -> str:
    """The stored view that a name means, without regard to case.

    Raises:
        NotRecorded: the run has none of that name, or did not make it.
    """
    stored = [each for each in run.order if run.bundles[each].stored]
    found = next((each for each in stored if same_name(each) == same_name(name)), None)
    where = f"stored view of run {run.manifest.run_id}"
    if found is None:
        hint = near_hint(name, stored) or f"It has {', '.join(stored) or 'none'}."
        raise NotRecorded(what=where, name=name, hint=hint)
    if run.table_pin(found) is None:
        record = run.tables.get(found)
        hint = f"The run did not make it: {record.reason if record else 'it was not asked for'}."
        raise NotRecorded(what=where, name=name, hint=hint)
    return found


def origin_of(bundle: PlanBundle) -> Origin:
    """Where a view stood when it was planned."""
    return Origin(bundle.file, bundle.line)


def _listed(record: SourceRecord) -> tuple[ListedFile, ...]:
    return tuple(
        ListedFile(
            path=each.path,
            size=each.size,
            changed_ns=each.changed_ns,
            sha256=each.sha256,
            skip_reason=each.skip_reason,
        )
        for each in record.files
    )


def _plan_bytes(plan: bytes) -> PlanBytes:
    return PlanBytes(executable=plan, canonical=b"", digest="", reads=(), sql=(), functions=())


def _gone_version(session: RunSession | None, pin: TablePin) -> Iterator[str]:
    if session is None:
        yield from _gone_window(ChangePin(pin=pin, starting_version=pin.version))
        return
    try:
        missing = missing_files(session, pin)
    except HeadwaterError as error:
        yield f"{pin.name} version {pin.version}: {error.message}"
        return
    for first in missing[:1]:
        more = f" and {len(missing) - 1} more data files are" if len(missing) > 1 else " is"
        yield f"{pin.name} version {pin.version}: {first}{more} missing"


def _gone_window(changes: ChangePin) -> Iterator[str]:
    pin = changes.pin
    version = changes.starting_version
    try:
        while version < pin.version:
            read_commit(pin.uri, version)
            version += 1
        if read_commit(pin.uri, version).digest != pin.digest:
            yield f"{pin.name} version {version}: the table was made anew since"
    except HeadwaterError as error:
        yield f"{pin.name} version {version}: {error.message}"


def _gone_files(files: FilePin) -> Iterator[str]:
    """Each file that is not what it was; what was left out then is not read now."""
    root = local_path_of(files.pin.uri)
    for each in files.files:
        if each.skip_reason is not None:
            continue
        place = root / each.path if each.path else root
        try:
            is_same = digest_of_file(place) == each.sha256
        except OSError as error:
            yield f"{files.pin.name}: {each.path or place.name}: {(error.strerror or str(error)).lower()}"
            continue
        if not is_same:
            yield f"{files.pin.name}: {each.path or place.name} has another content"
