"""The rows of views that are not stored, kept while tables are made of them: in memory, or in staging.

    none             a view is a part of whatever reads it, and computed there
    memory           computed once in a run, and let go when the last table that reads it is done
    delta_staging    a Delta table of the warehouse's staging, which later runs read as long as it is current

Rows are made when the first task needs them, over tables that are counted as in a task; whoever needs them at
the same moment waits. A view without rows of its own is planned again over those that have them. Not here:
where staging is, and what is swept there; the tasks.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.artifacts import ViewCache
from headwater.delta import (
    Overwrite,
    commit_mutation,
    frame_in,
    reading_errors,
    register_delta,
)
from headwater.errors import CommitConflict, HeadwaterError
from headwater.plan import makes_fresh_rows
from headwater.run.staging import Staging, staged_path
from headwater.run.watching import WatchedView
from headwater.runtime import ENGINE_EXCEPTIONS, engine_errors

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence

    from pyspark.sql import DataFrame

    from headwater.names import TablePin
    from headwater.pipeline import Pipeline
    from headwater.plan import PlanBundle
    from headwater.policies import ViewCachePolicy
    from headwater.run.scheduled import ScheduledView
    from headwater.run.task_records import RunNotes
    from headwater.run.warehouse import Warehouse
    from headwater.run.watching import RowChecks
    from headwater.runtime import RunSession


@dataclass(kw_only=True)
class _Cache:
    """One view's rows: not made yet, in memory (`rows`), or in staging (`pin`)."""

    view: ScheduledView
    bundle: PlanBundle
    policy: ViewCachePolicy
    is_fresh: bool
    lock: threading.Lock = field(default_factory=threading.Lock)
    session: RunSession | None = None
    rows: DataFrame | None = None
    pin: TablePin | None = None
    hit: bool = False

    @property
    def is_made(self) -> bool:
        return self.rows is not None or self.pin is not None

    def let_go(self) -> None:
        """Memory is free again; whoever still needs the rows makes them anew."""
        with self.lock:
            if self.rows is not None:
                with suppress(*ENGINE_EXCEPTIONS):  # a JVM that is gone keeps nothing
                    self.rows.unpersist()
                self.rows = None
            if self.session is not None:
                self.session.release()
                self.session = None


@dataclass(kw_only=True)
class ViewCaches:
    """What a run keeps of views that are not stored.

    `policies` has every such view, `needs` what each name reads itself, and `tables` are those of this run.
    Names are as they are defined. `used` are the views whose rows were read, and whether they were there.
    """

    session: RunSession
    notes: RunNotes
    checks: RowChecks
    staging: Staging
    policies: Mapping[str, ViewCachePolicy]
    needs: Mapping[str, tuple[str, ...]]
    tables: Collection[str]
    used: dict[str, bool] = field(default_factory=dict[str, bool])
    _readers: dict[str, set[str]] = field(default_factory=dict[str, "set[str]"])
    _views: dict[str, ScheduledView] = field(default_factory=dict[str, "ScheduledView"])
    _bundles: dict[str, PlanBundle] = field(default_factory=dict[str, "PlanBundle"])
    _caches: dict[str, _Cache] = field(default_factory=dict[str, _Cache])
    _counting: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._readers = {view: set[str]() for view, policy in self.policies.items() if policy != "none"}
        for table in self.tables if self._readers else ():
            for view in self._reached(table) & self._readers.keys():
                self._readers[view].add(table)

    def planned(self, view: ScheduledView, bundle: PlanBundle) -> None:
        """A view that is not stored has come up: all that it reads is there. Nothing is run yet."""
        self._views[view.name] = view
        self._bundles[view.name] = bundle
        policy = self.policies[view.name]
        if policy != "none":
            is_fresh = makes_fresh_rows(bundle, self._bundles)
            self._caches[view.name] = _Cache(view=view, bundle=bundle, policy=policy, is_fresh=is_fresh)

    def open_in(
        self, session: RunSession, name: str, between: Sequence[ScheduledView]
    ) -> Sequence[ScheduledView]:
        """Makes the cached rows that a view reads readable in its session, and those that are missing first.

        Args:
            session: the view's own.
            name: the view.
            between: the views that are not stored and that it reads through, each after what it reads.

        Returns:
            Those of `between` that have no rows of their own and are still a part of the view.
        """
        near = self._near(name)
        if not any(each in self._readers for each in near):
            return between
        left: list[ScheduledView] = []
        for each in between:
            cache = self._caches.get(each.name)
            if each.name not in near:
                continue  # it is behind rows that are there
            if cache is not None:
                self._open(cache, session)
                continue
            with engine_errors(each.origin):
                each.rows(session).createOrReplaceTempView(each.name)
            left.append(each)
        return left

    @contextmanager
    def reading(self, name: str) -> Generator[None]:
        """Within it a task is done. Rows that it was the last to read are let go after it.

        If it fails, tables that wait for it read nothing either.
        """
        ended = [name]
        try:
            yield
        except HeadwaterError:
            ended += self._behind(name)
            raise
        finally:
            self._ended(ended)

    def close(self) -> None:
        """Lets everything go that is still in memory; staging may be swept."""
        for each in self._caches.values():
            each.let_go()
        self.staging.close()

    # --- who reads what ---

    def _near(self, name: str) -> set[str]:
        """What a view reads, itself or through views that are neither stored nor cached."""
        return self._walk(name, lambda each: self.policies.get(each) == "none")

    def _reached(self, name: str) -> set[str]:
        """What a view reads, itself or through views that are not stored."""
        return self._walk(name, lambda each: each in self.policies)

    def _walk(self, name: str, goes_on: Callable[[str], bool]) -> set[str]:
        found: set[str] = set()
        waiting = list(self.needs[name])
        while waiting:
            each = waiting.pop()
            if each not in found:
                found.add(each)
                waiting += self.needs[each] if goes_on(each) else ()
        return found

    def _behind(self, name: str) -> set[str]:
        """Everything that needs a name, directly or not."""
        found = {name}
        while more := {each for each, reads in self.needs.items() if found.intersection(reads)} - found:
            found |= more
        return found

    def _ended(self, names: Iterable[str]) -> None:
        gone = set(names)
        with self._counting:
            done = [view for view, readers in self._readers.items() if readers and readers <= gone]
            for each in self._readers.values():
                each.difference_update(gone)
        for view in done:
            if view in self._caches:
                self._caches[view].let_go()

    # --- making rows ---

    def _open(self, cache: _Cache, session: RunSession) -> None:
        with cache.lock:
            if not cache.is_made:
                if cache.policy == "memory":
                    self._keep_in_memory(cache)
                else:
                    self._stage(cache)
                self.used[cache.view.name] = cache.hit
        with engine_errors(cache.view.origin):
            if cache.rows is not None:
                frame_in(session, cache.rows).createOrReplaceTempView(cache.view.name)
            elif cache.pin is not None:
                register_delta(session, cache.pin, origin=cache.view.origin)

    def _watched(self, own: RunSession, view: ScheduledView) -> WatchedView:
        """A view's rows over what is there now, with every table that is read whole counted."""
        reached = self._reached(view.name)
        inner = [each for each in tuple(self._views.values()) if each.name in reached]
        return WatchedView(own, view, self.open_in(own, view.name, inner), self.checks, reached)

    def _keep_in_memory(self, cache: _Cache) -> None:
        cache.session = own = self.session.copy()
        try:
            with own.active(), reading_errors(cache.view.origin):
                watched = self._watched(own, cache.view)
                cache.rows = watched.rows.persist()
                cache.rows.count()  # all of them, before anybody reads: nobody sees rows that are not checked
                watched.check()
        except BaseException:
            if cache.rows is not None:
                with suppress(*ENGINE_EXCEPTIONS):
                    cache.rows.unpersist()
            cache.rows = cache.session = None
            own.release()
            raise

    def _stage(self, cache: _Cache) -> None:
        name, key = cache.view.name, cache.bundle.fingerprint.digest
        place = self.staging.place(name, key)
        uri = self.session.runtime.profile.storage.canonical_uri(str(place))
        found = None if cache.is_fresh else self.staging.find(uri, name, key)
        if found is not None:
            cache.hit, cache.pin = True, found.pin(name)
            return
        own = self.session.copy()
        try:
            with own.active(), engine_errors(cache.view.origin):
                watched = self._watched(own, cache.view)
                pin = self._write(cache, uri, watched.rows)
                watched.check()
        except CommitConflict:
            # Another run of the project puts the same rows aside at this moment.
            found = None if cache.is_fresh else self.staging.find(uri, name, key)
            if found is None:
                raise
            cache.pin = found.pin(name)
            return
        finally:
            own.release()
        self.staging.keep(pin)
        cache.pin = pin

    def _write(self, cache: _Cache, uri: str, rows: DataFrame) -> TablePin:
        name, key = cache.view.name, cache.bundle.fingerprint.digest
        head = self.staging.base(uri)
        base = head.version if head else -1
        inputs = {each.name: each.version for each in cache.bundle.inputs}
        note = self.notes.note(name, key, base, inputs)
        mutation = Overwrite(uri=uri, base_version=base, note=note, exact=True, schema_mode="overwrite")
        return commit_mutation(self.session, mutation, rows, cache.view.origin).pin


def sweep_staging(
    warehouse: Warehouse, pipeline: Pipeline, bundles: Mapping[str, PlanBundle]
) -> tuple[str, ...]:
    """Throws away staged rows that no view of the project would read again; the names of their folders.

    `bundles` are the views that a run has come to, as they were read. Of a view that it has not come to,
    nobody knows what is current: all stays.
    """
    staged = {each.name for each in pipeline.views if each.cache == "delta_staging" and not each.stored}
    current = {name: bundles[name].fingerprint.digest for name in staged if name in bundles}
    fresh = {name for name in current if makes_fresh_rows(bundles[name], bundles)}
    return Staging(warehouse).sweep(
        lambda view, digest: view in staged - fresh and current.get(view, digest) == digest
    )


def cache_records(
    pipeline: Pipeline, bundles: Mapping[str, PlanBundle], used: Mapping[str, bool]
) -> tuple[ViewCache, ...]:
    """How each view that is not stored was kept, for the manifest; `used` are those whose rows were read."""
    passing = [each for each in pipeline.views if not each.stored]
    prints = {each.name: bundles[each.name].fingerprint.digest for each in passing}
    return tuple(
        ViewCache(
            view_name=each.name,
            cache_policy=each.cache,
            cache_path=staged_path(each.name, prints[each.name]) if each.cache == "delta_staging" else None,
            plan_fingerprint=prints[each.name],
            hit=used.get(each.name, False),
            used=each.name in used,
        )
        for each in sorted(passing, key=lambda each: each.name)
    )
