"""Whether there is anything to do, and why, in words: the last run against what is there now, without Spark.

Not here: doing it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.delta import is_head, newest_with_same_rows
from headwater.names import TablePin

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from headwater.artifacts import Manifest, SourceRecord
    from headwater.pipeline import Pipeline
    from headwater.run.pins import PinnedSource
    from headwater.runtime import RuntimeIdentity


def first_change(
    *,
    last: Manifest | None,
    pipeline: Pipeline,
    identity: RuntimeIdentity,
    sources: Sequence[PinnedSource],
    table_uris: Mapping[str, str],
    allowed: Collection[str] = (),
    rules: str | None = None,
) -> str | None:
    """The first reason to work, or None if the last run's tables are what this one would make."""
    if last is None:
        return "there was no run yet"
    if last.status != "done":
        return "the last run did not end well"
    if last.only:
        return f"the last run was asked for {', '.join(last.only)} only"
    fresh = [view.name for view in last.views if view.every_run]
    if fresh:
        return f"a clock or chance is allowed in '{fresh[0]}', so that every run makes it"
    if last.results_digest != identity.results_digest:
        return "settings, functions or versions changed"
    if last.rules != rules:
        return "what is refused, or what is unique, is another by headwater.toml"
    around = [each.name for each in last.registrations if each.degraded and each.provider_kind not in allowed]
    if around:
        return f"'{around[0]}' was read around Delta, which is not allowed any more"
    return (
        _changed_views(last, pipeline) or _changed_sources(last, sources) or _changed_tables(last, table_uris)
    )


def reason_to_build(
    view: str,
    reached: Sequence[str],
    last: Manifest | None,
    now: Mapping[str, object],
    *,
    results_digest: str,
    remade: Collection[str] = (),
) -> str:
    """Why one stored view is built, from the last run's record.

    Args:
        view: the stored view.
        reached: every view, source and table it reads, itself or through views that are not stored.
        last: the last run.
        now: the identity of each name now, as `recorded_identities` gives it for the last run.
        results_digest: the identity of all that can change a result, now.
        remade: the stored tables that this run has made anew.
    """
    before = recorded_identities(last) if last else {}
    if view not in before:
        return "new"
    if last and view not in {table.name for table in last.tables if table.pin is not None}:
        return "the last run did not make it"
    if before[view] != now[view]:
        return (
            "its definition changed"
            if _said(before[view]) != _said(now[view])
            else "its write policy changed"
        )
    if last and last.results_digest != results_digest:
        return "settings, functions or versions changed"
    changed = [name for name in reached if before.get(name) != now.get(name)]
    if changed:
        return f"'{changed[0]}', which it reads, changed"
    anew = [name for name in reached if name in remade]
    if anew:
        return f"'{anew[0]}', which it reads, was made anew"
    return "the table was not as the last run left it"


def recorded_identities(last: Manifest) -> dict[str, object]:
    """What each view said and each source held in a recorded run."""
    return {**_recorded_views(last), **_recorded_sources(last)}


def current_identities(pipeline: Pipeline, sources: Sequence[PinnedSource]) -> dict[str, object]:
    """The same for what is there now."""
    return {**_current_views(pipeline), **_current_sources(sources)}


def _recorded_views(last: Manifest) -> dict[str, object]:
    return {each.name: (each.digest, each.stored, each.policy) for each in last.views}


def _current_views(pipeline: Pipeline) -> dict[str, object]:
    return {each.name: (each.digest, each.stored, each.policy.lasting()) for each in pipeline.views}


def _said(identity: object) -> object:
    """What a view says, without how its table is written."""
    return identity[:2] if isinstance(identity, tuple) else identity  # pyright: ignore[reportUnknownVariableType]


def _recorded_sources(last: Manifest) -> dict[str, object]:
    return {each.name: recorded_identity(each) for each in last.sources}


def recorded_identity(source: SourceRecord) -> list[str | int | None]:
    """What a source held in a recorded run: its declaration, and the commit that made its rows."""
    window = [] if source.starting_version is None else [source.starting_version]
    rows = source.rows or source.pin
    return [source.digest, rows.version, rows.digest, *window]


def _current_sources(sources: Sequence[PinnedSource]) -> dict[str, object]:
    return {each.spec.name: each.identity for each in sources}


def _changed_views(last: Manifest, pipeline: Pipeline) -> str | None:
    return _first_difference("view", _recorded_views(last), _current_views(pipeline))


def _changed_sources(last: Manifest, sources: Sequence[PinnedSource]) -> str | None:
    return _first_difference("source", _recorded_sources(last), _current_sources(sources))


def _first_difference(noun: str, before: Mapping[str, object], now: Mapping[str, object]) -> str | None:
    for name in sorted({*before, *now}):
        if name not in before:
            return f"{noun} '{name}' is new"
        if name not in now:
            return f"{noun} '{name}' is gone"
        if before[name] != now[name]:
            return f"{noun} '{name}' changed"
    return None


def _changed_tables(last: Manifest, table_uris: Mapping[str, str]) -> str | None:
    for table in last.tables:
        uri = table_uris.get(table.name)
        if table.pin is None or uri is None:
            return f"table '{table.name}' has no version"
        pin = TablePin(name=table.name, uri=uri, version=table.pin.version, digest=table.pin.digest)
        if not is_head(pin) and not is_head(newest_with_same_rows(pin)):
            return f"table '{table.name}' is not as the last run left it"
    return None
