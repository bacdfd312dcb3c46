"""Everything that was planned is made, in order: sources that are made once, then each stored view.

It stops at the first failure and says what was made, what failed and what was not reached.
Not here: one task; and whether there is anything to do at all.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.artifacts import TableRecord
from headwater.delta import check_gate, describe_pin, find_head
from headwater.errors import HeadwaterError
from headwater.names import TablePin, same_name
from headwater.pipeline import SourceSpec, ViewSpec
from headwater.plan import rehydrate
from headwater.run.changes import current_identities, reason_to_build
from headwater.run.compile import rehydrate_view
from headwater.run.outcome import Progress
from headwater.run.pins import made_key
from headwater.run.tasks import run_task, write_table
from headwater.runtime import engine_errors

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.artifacts import Manifest
    from headwater.delta import Receipt, Registration
    from headwater.pipeline import Pipeline
    from headwater.plan import PlanBundle
    from headwater.run.bundling import Bundling
    from headwater.run.compile import Compiled
    from headwater.run.outcome import Listener
    from headwater.run.pins import SourcePins
    from headwater.run.tasks import TaskContext


@dataclass(frozen=True, kw_only=True)
class MakingRequest:
    """All that making needs; nothing of it changes while tables are made."""

    context: TaskContext
    pipeline: Pipeline
    compiled: Compiled
    bundling: Bundling
    pins: SourcePins
    last: Manifest | None
    results_digest: str
    table_uris: Mapping[str, str]
    full: bool
    listen: Listener


@dataclass(kw_only=True)
class Made:
    """The tables so far, in the order in which they were made, how names were read, and what ended it.

    `bundles` are the views that were reached, with their inputs as they were read.
    """

    bundles: dict[str, PlanBundle] = field(default_factory=dict[str, "PlanBundle"])
    tables: list[TableRecord] = field(default_factory=list[TableRecord])
    registrations: dict[str, Registration] = field(default_factory=dict[str, "Registration"])
    rows_checked: dict[str, int] = field(default_factory=dict[str, int])
    receipts: list[Receipt] = field(default_factory=list["Receipt"])
    error: HeadwaterError | None = None


def make_tables(request: MakingRequest) -> Made:
    """Makes what is planned; a failure is in what comes back, not raised."""
    made = Made()
    for name in request.compiled.order:
        spec = request.pipeline.spec(name)
        try:
            with engine_errors(spec.origin if spec else None):
                if isinstance(spec, SourceSpec):
                    _make_source(request, spec)
                elif isinstance(spec, ViewSpec):
                    _make_view(request, made, spec)
        except HeadwaterError as error:
            made.error = error
            made.tables += _not_made(request, made, name, error)
            break
    made.registrations = dict(request.context.registrations)
    made.receipts = list(request.context.receipts)
    checks = request.context.checks
    made.rows_checked = {checks.pins[name][0].name: count for name, count in checks.checked.items()}
    return made


def _make_source(request: MakingRequest, source: SourceSpec) -> None:
    if source.kind != "made" or source.plan is None or request.pins.pinned(source).pin is not None:
        return
    request.listen(Progress(message=f"making {source.name}", total=len(request.table_uris)))
    rows = rehydrate(request.context.session, source.plan.executable, source.name, source.origin)
    uri = request.pins.uri_of(source)
    receipt = write_table(
        request.context,
        source.name,
        rows,
        uri=uri,
        key=made_key(source),
        head=find_head(uri),
        origin=source.origin,
    )
    request.pins.made(source, receipt.pin)


def _make_view(request: MakingRequest, made: Made, view: ViewSpec) -> None:
    bundle = request.bundling.filled(request.compiled.bundles[view.name])
    made.bundles[view.name] = bundle
    if not view.stored:
        request.bundling.planned(bundle)
        # Planned over empty stand-ins; now that what it reads is there, it is planned again.
        rehydrate_view(request.context.session, view).createOrReplaceTempView(view.name)
        return
    total = len(request.table_uris)
    request.listen(Progress(message=view.name, done=len(made.tables), total=total))
    reached = reached_by(request.compiled, request.pipeline, view.name)
    _check_sources(request, reached)
    table = run_task(
        request.context,
        view,
        uri=request.table_uris[view.name],
        key=bundle.fingerprint.digest,
        reason=_reason(request, made, view.name, reached),
        full=request.full,
        between=_between(request, reached),
        reached=reached,
        recorded=_recorded(request, view.name),
    )
    made.tables.append(table)
    if table.pin is not None:
        uri = request.table_uris[view.name]
        request.bundling.made(
            TablePin(name=view.name, uri=uri, version=table.pin.version, digest=table.pin.digest)
        )
    request.listen(Progress(message=f"{view.name} {table.action}", done=len(made.tables), total=total))


def _recorded(request: MakingRequest, name: str) -> str | None:
    """The digest of the commit at which the last run left a table, if it left it well."""
    tables = request.last.tables if request.last else ()
    pins = [each.pin for each in tables if each.name == name and each.action != "failed" and each.pin]
    return pins[0].digest if pins else None


def _check_sources(request: MakingRequest, reached: list[str]) -> None:
    """Right before a view is run: its sources are still as planned with, and as their gates ask."""
    for name in reached:
        spec = request.pipeline.spec(name)
        if not isinstance(spec, SourceSpec) or spec.kind not in {"delta", "changes", "made"}:
            continue
        pin = request.pins.pinned(spec).pin
        if pin is not None:
            snapshot = describe_pin(request.context.session, pin, spec.origin)
            check_gate(spec.read.gate, snapshot, spec.name, spec.origin)
            if spec.kind != "changes":  # a feed's rows are not those that a log promises
                request.context.checks.add(pin, read=spec.read)


def _between(request: MakingRequest, reached: list[str]) -> list[ViewSpec]:
    """The views of `reached` that are not stored, each after all that it reads."""
    specs = [request.pipeline.spec(name) for name in request.compiled.order if name in reached]
    return [each for each in specs if isinstance(each, ViewSpec) and not each.stored]


def reached_by(compiled: Compiled, pipeline: Pipeline, name: str) -> list[str]:
    """Everything a view reads, itself or through views that are not stored; a stored one is a boundary."""
    by_folded = {same_name(each): each for each in compiled.reads}
    found: list[str] = []
    waiting = list(compiled.reads[name])
    while waiting:
        each = by_folded[same_name(waiting.pop(0))]
        if each in found:
            continue
        found.append(each)
        spec = pipeline.spec(each)
        if isinstance(spec, ViewSpec) and not spec.stored:
            waiting += compiled.reads[each]
    return sorted(found)


def _reason(request: MakingRequest, made: Made, view: str, reached: list[str]) -> str:
    if request.full:
        return "asked for in full"
    sources = [request.pins.pinned(source) for source in request.pipeline.sources]
    now = current_identities(request.pipeline, sources)
    remade = [table.name for table in made.tables if table.action == "built"]
    return reason_to_build(
        view, reached, request.last, now, results_digest=request.results_digest, remade=remade
    )


def _not_made(request: MakingRequest, made: Made, failed: str, error: HeadwaterError) -> list[TableRecord]:
    """The failed table and those behind it; the failure of a source or of an unstored view reaches all."""
    done = {table.name for table in made.tables}
    left = [name for name in request.compiled.order if name in request.table_uris and name not in done]
    return [
        TableRecord(name=name, action="failed", reason=str(error))
        if name == failed
        else TableRecord(name=name, action="skipped", reason=f"not reached: '{failed}' failed")
        for name in left
    ]
