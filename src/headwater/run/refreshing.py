"""Whether a stored table is refreshed key by key or made in full, and why; plans say it, builds do it.

The rows of a table are those of the run that committed them last. If nothing of its view is another since but
the rows of some inputs, and the plan proves that a key goes back to columns of each of these, the rows of
affected keys are enough. Not here: doing it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from headwater.artifacts import read_manifest, read_plans
from headwater.datasets import FeatureGate
from headwater.delta import (
    complaint_of_keys,
    describe_pin,
    find_head,
    note_of,
    rows_commit,
    table_bytes,
    window_between,
)
from headwater.errors import DeltaError, ManifestUnreadable
from headwater.names import TablePin, same_name
from headwater.pipeline import ViewSpec
from headwater.plan import KeyProof, NoProof, effort_of, parts_of, prove, prove_fixpoint
from headwater.run.refreshes import ChangedInput, Refresh, full
from headwater.run.task_records import STOPPED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from headwater.artifacts import FileRecord, Manifest
    from headwater.delta import ListedFile, LogHead
    from headwater.pipeline import Pipeline, SourceSpec
    from headwater.plan import PlanBundle, PlannedInput, PlanTree
    from headwater.run.pins import PinnedSource
    from headwater.runtime import RunSession

_CHANGED_PART = {
    "code": "view-changed",
    "functions": "function-changed",
    "settings": "setting-changed",
    "policies": "policy-changed",
}
# Rules whose findings give a row another value when it is made among others.
_BY_PLACE = frozenset(
    {"partition-id", "row-id", "file-metadata", "limit-without-order", "reflect", "session"}
)
# Below this everything is over in a moment, and a small change leaves a small trace.
_SMALL_BYTES = 32 * 1024 * 1024
# Below this even if all files of an input are others.
_TINY_BYTES = 4 * 1024 * 1024
# Beyond this part of an input, or of the table, what is left alone does not pay for finding it.
MOST = 0.2
# So much must there be to work out, by `effort_of`.
_WORTH = 2
_PATH = ("path",)


class _Full(Exception):
    """A table is made in full."""

    def __init__(self, code: str, detail: str = "") -> None:
        super().__init__(code)
        self.refresh = full(code, detail)


@dataclass(frozen=True, kw_only=True)
class RefreshQuestion:
    """One stored view that has to be made.

    Attributes:
        view: The view.
        bundle: Its plan, with its inputs as they are now.
        bundles: The plans of the views that are a part of it, by name.
        keys: What is known to be unique of its rows.
        head: The newest commit of its table; None if there is none.
        full: All of it is asked for.
        is_fresh: Every run makes other rows.
        tree: Its analysed plan, which opens views.
    """

    view: ViewSpec
    bundle: PlanBundle
    bundles: Mapping[str, PlanBundle]
    keys: tuple[tuple[str, ...], ...]
    head: LogHead | None
    full: bool
    is_fresh: bool
    tree: Callable[[], PlanTree]

    @cached_property
    def analysed(self) -> PlanTree:
        """The tree, once."""
        return self.tree()


@dataclass(frozen=True, kw_only=True)
class Refreshing:
    """Decides for the tables of one run; `pin_of` tells at which version a name is read, if that is known."""

    session: RunSession
    warehouse: Path
    pipeline: Pipeline
    source_of: Callable[[SourceSpec], PinnedSource]
    pin_of: Callable[[str], TablePin | None]
    uri_of: Callable[[str], str | None]
    _runs: dict[str, tuple[Manifest, Mapping[str, PlanBundle]] | None] = field(
        default_factory=dict[str, "tuple[Manifest, Mapping[str, PlanBundle]] | None"]
    )

    def decide(self, question: RefreshQuestion) -> Refresh:
        """How a table is brought up to date; nothing is run to find out."""
        try:
            return self._decide(question)
        except _Full as decided:
            return decided.refresh
        except DeltaError as error:
            return full("history-gone", str(error))

    def _decide(self, question: RefreshQuestion) -> Refresh:
        if question.full:
            raise _Full("asked")
        if question.is_fresh:
            raise _Full("every-run")
        if question.view.policy.refresh == "full":
            raise _Full("told")
        if question.head is None:
            raise _Full("no-table")
        manifest, plans = self._made_by(question, question.head)
        parts = parts_of(question.bundle, question.bundles)
        for each in parts:
            _check_repeatable(each)
        for each in parts:
            _check_definition(plans.get(each.view), each)
        old = _read_by(parts_of(plans[question.bundle.view], plans))
        now = _read_by(parts)
        names = [name for name in sorted(now) if name not in old or now[name].identity != old[name].identity]
        if not names:
            raise _Full("no-record")
        before = {name: self._before(name, manifest, old.get(name)) for name in names}
        proof = _proof(question, names)
        complaint = complaint_of_keys(
            describe_pin(self.session, question.head.pin(question.view.name)), proof.key
        )
        if complaint is not None:
            raise _Full("key-not-comparable", complaint)
        changed = tuple(
            self._changed(name, proof.traces[name], before[name], manifest)
            for name in names
            if name in proof.traces
        )
        is_large = self._check_cost(question, changed)
        detail = "; ".join(_words(each) for each in changed)
        return Refresh(
            mode="incremental",
            code="proven",
            detail=detail,
            key=proof.key,
            changed=changed,
            is_large=is_large,
        )

    def _made_by(self, question: RefreshQuestion, head: LogHead) -> tuple[Manifest, Mapping[str, PlanBundle]]:
        """The run that committed the table's rows, having seen their sources whole, with its plans."""
        rows = rows_commit(head)
        note = note_of(rows.user_metadata)
        if note is None or note.table != question.view.name:
            raise _Full("table-changed")
        run = self._run(note.run_id)
        made = run[1].get(question.view.name) if run else None
        if run is None or made is None or made.fingerprint.digest != note.task_key:
            raise _Full("no-record")
        left = next((each for each in run[0].tables if each.name == question.view.name), None)
        is_sure = run[0].error != STOPPED and left is not None and left.action in {"built", "incremental"}
        if not is_sure or left is None or left.pin is None or left.pin.digest != rows.digest:
            raise _Full("no-record")
        return run

    def _run(self, run_id: str) -> tuple[Manifest, Mapping[str, PlanBundle]] | None:
        if run_id not in self._runs:
            try:
                manifest = read_manifest(self.warehouse / "runs" / run_id / "manifest.json")
                self._runs[run_id] = manifest, read_plans(self.warehouse, run_id)
            except ManifestUnreadable:
                self._runs[run_id] = None
        return self._runs[run_id]

    def _before(self, name: str, manifest: Manifest, old: PlannedInput | None) -> TablePin:
        """The pin that a changed input had; it must be one whose changes can be told."""
        spec = self.pipeline.spec(name)
        sources = {same_name(each.name): each for each in manifest.sources}
        tables = {same_name(each.name): each for each in manifest.tables}
        if spec is None or old is None:
            raise _Full("view-changed")
        if isinstance(spec, ViewSpec):
            table = tables.get(same_name(name))
            recorded, uri = table.pin if table else None, self.uri_of(spec.name)
        else:
            source = sources.get(same_name(name))
            if source is None or source.digest != spec.digest:
                raise _Full("source-changed", f"{spec.name} is declared otherwise")
            _check_told(spec)
            recorded, uri = source.pin, self.source_of(spec).pin
            uri = uri.uri if uri else None
        if recorded is None or uri is None or recorded.version != old.version:
            raise _Full("no-record")
        return TablePin(name=spec.name, uri=uri, version=recorded.version, digest=recorded.digest)

    def _changed(
        self, name: str, columns: tuple[str, ...], before: TablePin, manifest: Manifest
    ) -> ChangedInput:
        spec = self.pipeline.spec(name)
        if spec is not None and not isinstance(spec, ViewSpec) and spec.kind == "files":
            files = self.source_of(spec).files
            known = next((each.files for each in manifest.sources if each.name == spec.name), ())
            paths = _differing(known, files.files if files else ())
            return ChangedInput(name=name, columns=columns, before=before, paths=paths)
        pin = self.pin_of(name)
        feed = pin is not None and describe_pin(self.session, pin).keeps_changes
        return ChangedInput(name=name, columns=columns, before=before, pin=pin, feed=feed)

    def _check_cost(self, question: RefreshQuestion, changed: tuple[ChangedInput, ...]) -> bool:
        """Whether there is much to read at all; raises if it is too much, or too little is worked out."""
        total = 0
        read: list[tuple[float, str]] = []
        written: list[tuple[float, str]] = []
        for each in changed:
            if each.pin is None:
                # A build makes it first; until then its size is what it is now.
                uri = self.uri_of(each.name)
                newest = find_head(uri) if uri else None
                total += _bytes(self.session, newest.pin(each.name)) if newest else 0
                continue
            window = window_between(each.before, each.pin, feed=each.feed)
            if window is None or window.missing is not None:
                lost = f"commits after version {each.before.version}" if window is None else window.missing
                raise _Full("history-gone", f"{each.name}: {lost}")
            size = _bytes(self.session, each.pin)
            total += size
            read.append((window.bytes / max(size, 1), each.name))
            written.append((window.written / max(size, 1), each.name))
        head = question.head
        total += _bytes(self.session, head.pin(question.view.name)) if head else 0
        if total < _TINY_BYTES or question.view.policy.refresh == "incremental":
            return False
        is_small = total < _SMALL_BYTES
        most, name = max(written if is_small else read, default=(0.0, ""))
        if most > MOST:
            raise _Full("most-changed", f"files with {most:.0%} of the bytes of {name} changed")
        if is_small:
            return False
        if effort_of(question.analysed) < _WORTH:
            raise _Full("cheaper-in-full")
        return True


def _check_repeatable(bundle: PlanBundle) -> None:
    """Nothing that is allowed in may depend on which other rows there are, or on where they lie."""
    found = [each for each in bundle.findings if each.rule in _BY_PLACE]
    if found:
        raise _Full("by-place", f"{bundle.view}: {found[0].detail}")


def _check_definition(before: PlanBundle | None, bundle: PlanBundle) -> None:
    """A view must be what it was but for its inputs."""
    if before is None:
        raise _Full("view-changed", f"{bundle.view} is new")
    if before.approximate != bundle.approximate:
        raise _Full("view-changed", f"{bundle.view} has other approximate columns")
    for part in before.fingerprint.differing(bundle.fingerprint):
        if part in _CHANGED_PART:
            code = _CHANGED_PART[part]
            raise _Full(code, bundle.view)


def _read_by(parts: Sequence[PlanBundle]) -> dict[str, PlannedInput]:
    """Every dataset that a view and its parts read, by name."""
    inner = {each.view for each in parts}
    return {each.name: each for part in parts for each in part.inputs if each.name not in inner}


def _check_told(spec: SourceSpec) -> None:
    """A source must tell which of its rows changed."""
    if spec.kind == "files":
        return
    if spec.kind not in {"delta", "made"}:
        raise _Full("no-history", f"{spec.name} is a source of the kind {spec.kind}")
    plain = replace(spec.read, gate=FeatureGate(), require_change_feed=False, pushdown=True)
    if not plain.is_plain:
        raise _Full("no-history", f"{spec.name} is not read as it is, but with {', '.join(plain.identity())}")


def _proof(question: RefreshQuestion, changed: list[str]) -> KeyProof:
    """The first key that the plan proves, or a part of it; what stopped the first, if none is proven."""
    view = question.view
    if view.files is not None and {same_name(each) for each in changed} == {same_name(view.files)}:
        return KeyProof(_PATH, {changed[0]: _PATH})  # one row for each file is what an extractor is
    keys = [view.policy.refresh_by] if view.policy.refresh_by else [each for each in question.keys if each]
    stopped: NoProof | None = None
    for key in keys:
        # A part of a key is one, too: it tells rows apart into fewer groups.
        found = {column: _proven(question, (column,), changed) for column in key}
        part = tuple(column for column, each in found.items() if isinstance(each, KeyProof))
        proof = _proven(question, part, changed) if part else next(iter(found.values()))
        if isinstance(proof, KeyProof):
            return proof
        stopped = stopped or proof
    if stopped is None:
        raise _Full("no-key")
    raise _Full(stopped.code, f"{stopped.detail}{f' ({stopped.operator})' if stopped.operator else ''}")


def _proven(question: RefreshQuestion, key: tuple[str, ...], changed: list[str]) -> KeyProof | NoProof:
    if question.view.fixpoint is None:
        return prove(question.analysed, key, changed)
    return prove_fixpoint(question.analysed, question.view.name, key, changed)


def _differing(before: tuple[FileRecord, ...], now: tuple[ListedFile, ...]) -> tuple[str, ...]:
    """The paths of files that are new, gone, or others."""
    old = {each.path: (each.size, each.sha256, each.skip_reason) for each in before}
    new = {each.path: (each.size, each.sha256, each.skip_reason) for each in now}
    return tuple(sorted(path for path in {*old, *new} if old.get(path) != new.get(path)))


def _bytes(session: RunSession, pin: TablePin) -> int:
    try:
        return table_bytes(session, pin)
    except DeltaError:
        return 0  # whoever reads it will say what is wrong


def _words(changed: ChangedInput) -> str:
    if changed.paths is not None:
        count = len(changed.paths)
        return f"{count} file{'' if count == 1 else 's'} of {changed.name} changed"
    key = ", ".join(changed.columns)
    return f"by {changed.name}({key})"
