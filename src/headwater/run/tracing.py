"""Which causes reach a stored table: what changed in its views and in what they read, table by table upwards.

A table that came out with the same rows in both runs stops whatever lies behind it. Not here: the rows.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from headwater.plan import CHANCES, changes_between
from headwater.run.causes import Cause, Traced
from headwater.run.moves import input_causes, outside_writes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headwater.plan import PlanBundle, PlanChange
    from headwater.run.recorded import RecordedRun


@dataclass(frozen=True, kw_only=True)
class Tracing:
    """What lies between two recorded runs."""

    before: RecordedRun
    after: RecordedRun
    _known: dict[str, tuple[Traced, ...]] = field(default_factory=dict[str, tuple[Traced, ...]])
    _read: dict[tuple[str, str], tuple[Cause, ...]] = field(
        default_factory=dict[tuple[str, str], tuple[Cause, ...]]
    )

    def causes_of(self, table: str) -> tuple[Traced, ...]:
        """All that changed between the runs and reaches a stored table, the nearest first."""
        if table not in self._known:
            found: dict[Cause, tuple[str, ...]] = {}
            for cause, path in self._reaching(table):
                found.setdefault(cause, path)
            self._known[table] = tuple(Traced(cause=cause, path=path) for cause, path in found.items())
        return self._known[table]

    def is_same_table(self, name: str) -> bool:
        """Whether both runs left a stored table with the same rows, as far as their records tell."""
        one, two = self.before.tables.get(name), self.after.tables.get(name)
        if one is None or two is None or one.pin is None or two.pin is None:
            return False
        if one.pin == two.pin:
            return True
        bundles = self._bundles(name)
        if any(each is None or each.approximate for each in bundles):
            return False
        ours, theirs = ([(each.name, each.type) for each in bundle.columns] for bundle in bundles if bundle)
        return one.digest is not None and one.digest == two.digest and ours == theirs

    @cached_property
    def order(self) -> tuple[str, ...]:
        """The stored tables of either run, each after all that it reads."""
        names = dict.fromkeys((*self.after.order, *self.before.order))
        stored = {
            name for run in (self.before, self.after) for name, each in run.bundles.items() if each.stored
        }
        return tuple(name for name in names if name in stored)

    def _bundles(self, name: str) -> tuple[PlanBundle | None, PlanBundle | None]:
        return self.before.bundles.get(name), self.after.bundles.get(name)

    def _reaching(self, table: str) -> Iterator[tuple[Cause, tuple[str, ...]]]:
        """Causes with their paths: through the views that are a part of the table's, then through tables."""
        waiting: deque[tuple[str, tuple[str, ...]]] = deque([(table, (table,))])
        seen = {table}
        while waiting:
            view, path = waiting.popleft()
            yield from ((cause, path) for cause in self._own(view))
            for name in self._inputs(view):
                yield from ((cause, (name, *path)) for cause in self._input(view, name))
                if self._is_table(name):
                    behind = () if self.is_same_table(name) else self.causes_of(name)
                    yield from ((each.cause, (*each.path, *path)) for each in behind)
                elif name not in seen and any(self._bundles(name)):
                    seen.add(name)
                    waiting.append((name, (name, *path)))
        one, two = self.before.table_pin(table), self.after.table_pin(table)
        if one is not None and two is not None:
            yield from ((cause, (table,)) for cause in outside_writes(one, two))

    def _is_table(self, name: str) -> bool:
        """Whether both runs have a name as a table of its own."""
        one, two = self._bundles(name)
        return one is not None and two is not None and one.stored and two.stored

    def _inputs(self, view: str) -> list[str]:
        bundles = [each for each in self._bundles(view) if each is not None]
        return list(dict.fromkeys(each.name for bundle in bundles for each in bundle.inputs))

    def _input(self, view: str, name: str) -> tuple[Cause, ...]:
        """What changed about a source that a view reads; logs are read once."""
        if (view, name) not in self._read:
            self._read[view, name] = input_causes(self.before, self.after, view, name)
        return self._read[view, name]

    def _own(self, view: str) -> Iterator[Cause]:
        """What a view says otherwise, what its functions and settings do otherwise, and its chances."""
        one, two = self._bundles(view)
        for each in changes_between(one, two):
            cause = self._cause(each, two or one)
            if cause is not None:
                yield cause
        if one is not None and two is not None and one.stored != two.stored:
            words = "is a table of its own now" if two.stored else "is no table of its own any more"
            yield _in_code(two, words)
        for finding in two.findings if two is not None else ():
            if finding.rule in CHANCES:
                words = f"has {CHANCES[finding.rule]} ({finding.code}), so that every run differs"
                yield Cause(kind="chance", view=view, name=finding.rule, detail=words)

    def _cause(self, change: PlanChange, bundle: PlanBundle | None) -> Cause | None:
        if bundle is None or change.kind == "input":
            return None  # an input is looked at by itself
        if change.kind == "schema":
            return self._columns(change, bundle)
        if change.kind in {"new", "gone", "code"}:
            words = change.words if change.kind == "code" else f"is {change.kind}"
            return _in_code(bundle, words, change)
        if change.name == "fixpoint":
            return _in_code(bundle, f"declares other columns: {change.after}", change)
        return Cause(
            kind="function" if change.kind == "function" else "setting",
            view=None if change.kind == "setting" else change.view,
            name=change.name,
            before=change.before or None,
            after=change.after or None,
            detail=_said(change),
        )

    def _columns(self, change: PlanChange, bundle: PlanBundle) -> Cause | None:
        """Other columns of an input, if nothing else tells of them: files that have them inside."""
        for each in bundle.inputs:
            one, two = (run.bundles.get(each.name) for run in (self.before, self.after))
            if one is not None and two is not None and one.columns != two.columns:
                return None
            found = self._input(bundle.view, each.name)
            if any(cause.kind in {"schema", "code"} for cause in found):
                return None
        return Cause(
            kind="schema",
            view=bundle.view,
            name=change.name,
            before=change.before,
            after=change.after,
            detail=change.words,
        )


def _in_code(bundle: PlanBundle, words: str, change: PlanChange | None = None) -> Cause:
    return Cause(
        kind="code",
        view=bundle.view,
        name=change.name if change else "",
        before=(change.before or None) if change else None,
        after=(change.after or None) if change else None,
        file=bundle.file,
        line=bundle.line,
        detail=words,
    )


def _said(change: PlanChange) -> str:
    if change.kind == "function" and change.before and change.after:
        return f"function '{change.name}' computes something else"
    return change.words
