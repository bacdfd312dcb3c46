"""`headwater runs` and `headwater show`: what runs did, from their records alone.

Not here: how a record is found and read; `run` does that.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from headwater.artifacts import (
    Manifest,
    RefreshRecord,
    SourceRecord,
    TableRecord,
    ViewCache,
    encode_manifest,
)
from headwater.cli.options import ProjectPath
from headwater.cli.outcomes import PLAIN_CODES
from headwater.cli.render import counted, print_lines, write_json
from headwater.cli.sharing import ProjectPlace, Shown, over_project
from headwater.names import same_name
from headwater.run import RunSummary, is_not_reached, refresh_words, seconds_of

_SHOWN_RUNS = 20
_SHOWN_DIGITS = 12
_INDENT = "    "


@over_project
def runs(
    path: ProjectPath = Path(),
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=0, help="The most runs; 0: all there are.")
    ] = _SHOWN_RUNS,
    *,
    place: ProjectPlace,
    shown: Shown,
) -> None:
    """List a project's runs, newest first: when, how long, what came of them. Needs no Java.

    Example: headwater runs examples/orders --limit 5
    """
    found = place.opened(path).runs(limit + 1 if limit else None)
    listed = found[: limit or None]
    if shown.json:
        write_json({"runs": [asdict(each) for each in listed]})
    elif not shown.quiet:
        print_lines(*runs_lines(listed, has_more=len(found) > len(listed)), no_color=shown.no_color)


@over_project
def show(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run's id, the beginning of one, or `last`.")],
    path: ProjectPath = Path(),
    *,
    place: ProjectPlace,
    shown: Shown,
) -> None:
    """Show one run: what it started from, what it did to each table and why. Needs no Java.

    With --json, the run's manifest as it is on disk.

    Example: headwater show last examples/orders
    """
    manifest = place.opened(path).run(run)
    if shown.json:
        sys.stdout.write(encode_manifest(manifest).decode())
    elif not shown.quiet:
        print_lines(*run_lines(manifest), no_color=shown.no_color)


def runs_lines(listed: Iterable[RunSummary], *, has_more: bool) -> Iterator[str]:
    """Runs for a person: one line each, and what ended a run below it."""
    count = 0
    for count, each in enumerate(listed, 1):  # noqa: B007  the last one counts
        facts = [each.run_id, f"{each.status:<10}"]
        if each.started_at is not None:
            facts += [_moment(each.started_at), f"{_seconds(each.seconds):>9}", _counts(each)]
        yield "  ".join(facts).rstrip()
        if each.error:
            yield f"{_INDENT}{each.error}"
    more = "; there are more: --limit N shows N, --limit 0 all" if has_more else ""
    yield f"{counted(count, 'run')}{more}" if count else "No run yet: headwater build makes one."


def run_lines(manifest: Manifest) -> Iterator[str]:
    """One run for a person."""
    took = _seconds(seconds_of(manifest))
    facts = {
        "run": manifest.run_id,
        "project": manifest.project,
        "status": manifest.status,
        "started": f"{_moment(manifest.started_at)}{f', took {took}' if took else ''}",
        "host": manifest.host,
        "versions": ", ".join(f"{name} {each}" for name, each in sorted(manifest.versions.items())),
        "asked for": ", ".join(manifest.only),
    }
    yield from (f"{key:<11}{value}" for key, value in facts.items() if value)
    if manifest.sources:
        yield "sources"
        yield from map(_source_line, manifest.sources)
    if manifest.tables:
        yield "tables"
        for table in manifest.tables:
            yield from _table_lines(manifest, table)
    caches = [each for each in manifest.caches if each.used]
    if caches:
        yield "caches"
        yield from map(_cache_line, caches)
    if manifest.error:
        yield f"error      {manifest.error}"


def _source_line(source: SourceRecord) -> str:
    where = f" {source.path}" if source.path else ""
    files = f", {counted(len(source.files), 'file')}" if source.files else ""
    since = f" from {source.starting_version}" if source.starting_version is not None else ""
    pin = f"version {source.pin.version}{since}, digest {source.pin.digest[:_SHOWN_DIGITS]}"
    return f"  {source.name}  {source.kind}{where}: {pin}{files}"


def _cache_line(cache: ViewCache) -> str:
    done = "were there" if cache.hit else "were made"
    where = f" in {cache.cache_path}" if cache.cache_path else ""
    return f"  {cache.view_name}  {cache.cache_policy}: rows {done}{where}"


def _table_lines(manifest: Manifest, table: TableRecord) -> Iterator[str]:
    if is_not_reached(table):
        yield f"  {table.name}  {table.reason}"
    elif table.action == "failed" and table.reason == manifest.error:
        yield f"  {table.name}  failed: see below"
    else:
        yield f"  {table.name}  {table.action}: {table.reason}"
    yield from (f"{_INDENT}{each}" for each in _refresh(table.refresh))
    rows = None if table.rows is None else counted(table.rows, "row")
    version = None if table.version is None else f"version {table.version}"
    facts = [each for each in (version, rows, table.digest, _seconds(table.seconds)) if each]
    yield from [f"{_INDENT}{', '.join(facts)}"] if facts else []
    yield from (f"{_INDENT}{each}" for each in _rounds(table))
    name = same_name(table.name)
    for each in manifest.mutations:
        if same_name(each.table) == name and each.attempts:
            yield f"{_INDENT}met {counted(len(each.attempts), 'other write')} before version {each.version}"
    for each in manifest.registrations:
        if same_name(each.name) == name and each.degraded:
            yield f"{_INDENT}warning: it was read by {each.provider_kind}, which is degraded"
    for each in manifest.violations:
        if same_name(each.table) == name:
            rows = counted(each.count, "row")
            yield f"{_INDENT}{rows} violate the constraint '{each.constraint}' ({each.expression}):"
            yield from (f"{_INDENT}  {row}" for row in each.sample)


def _rounds(table: TableRecord) -> Iterator[str]:
    for each in table.rounds:
        new = counted(each.new_rows, "new row")
        given = {"none": "", "new": ", given the new rows", "all": ", given all rows so far"}[each.given]
        yield f"round {each.number}: {new}, {each.rows:,} in all, {_seconds(each.seconds)}{given}"


def _refresh(refresh: RefreshRecord | None) -> Iterator[str]:
    """How much was made and why; how many keys there were, and what was looked at to find them."""
    if refresh is None or refresh.code in PLAIN_CODES:
        return
    yield f"{refresh.mode}, {refresh.code}: {refresh_words(refresh)}"
    for each in refresh.windows:
        keys = counted(refresh.keys or 0, "key")
        if each.first is None:
            yield f"{keys} by the files of {each.dataset}"
        else:
            yield f"{keys} by the {each.provider} of {each.dataset}, versions {each.first} to {each.last}"


def _counts(run: RunSummary) -> str:
    counts = (
        ("built", run.built),
        ("incremental", run.incremental),
        ("skipped", run.skipped),
        ("failed", run.failed),
        ("not reached", run.not_reached),
    )
    return ", ".join(f"{count} {word}" for word, count in counts if count)


def _moment(text: str) -> str:
    """A time of a record, without what is below a second."""
    is_ours = text.endswith("+00:00")
    return f"{text.removesuffix('+00:00').partition('.')[0]}Z" if is_ours else text


def _seconds(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds:,.1f} s"
