"""What of a manifest depends on the moment or the machine, kept apart from what does not.

A manifest's file has one part for it, `observed`, of the same shape as the rest: lists there have a place for
each entry of theirs. Without that part, the files of two runs that did the same are the same bytes. Not here:
what a manifest holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import msgspec

from headwater.names import same_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

OBSERVED = "observed"
_TABLE = frozenset({"version", "pin", "started_at", "seconds", "refresh"})
_SNAPSHOT = frozenset({"table_uri", "timestamp"})
# By the place in the document; behind a colon, what kind of entry it is: see `_KINDS`.
_FIELDS: Mapping[str, frozenset[str]] = {
    "": frozenset(
        {"run_id", "started_at", "finished_at", "host", "operators", "history", "resumes", "error"}
    ),
    "capabilities": frozenset({"error"}),
    "tables": _TABLE,
    "tables:failed": _TABLE | {"reason"},
    "tables/rounds": frozenset({"seconds"}),
    "tables:failed/rounds": frozenset({"seconds"}),
    "sources:made": frozenset({"pin", "rows"}),
    "sources/files": frozenset({"changed_ns"}),
    "sources:made/files": frozenset({"changed_ns"}),
    "registrations/snapshot": _SNAPSHOT,
    "registrations:own": frozenset({"version"}),
    "registrations:own/snapshot": _SNAPSHOT | {"version", "digest"},
    "registrations:own/snapshot:mapped": _SNAPSHOT | {"version", "digest", "schema_digest"},
    "mutations": frozenset({"version", "commit_digest", "timestamp_ms", "metrics", "attempts"}),
    "violations": frozenset({"sample"}),
}
# Beginnings of the properties that Delta gives a table by itself, with an id or a moment of its own in them.
_DRAWN = ("delta.rowTracking.materialized", "delta.inCommitTimestampEnablement")
_PROPERTIES: Mapping[str, tuple[str, ...]] = {
    "registrations:own/snapshot/table_properties": _DRAWN,
    "registrations:own/snapshot:mapped/table_properties": _DRAWN,
}


def split(document: Mapping[str, Any]) -> dict[str, Any]:
    """A manifest in its built-in form -> its file's: what was observed is in a part of its own."""
    inputs = {same_name(each["name"]) for each in document["sources"] if each["kind"] != "made"}
    kept, observed = _parted(document, "", inputs)
    return {**kept, OBSERVED: observed or {}}


def merge(document: Mapping[str, Any]) -> dict[str, Any]:
    """A manifest's file -> its built-in form; the inverse of `split`.

    Raises:
        msgspec.ValidationError: the two parts do not fit together.
    """
    kept = {key: value for key, value in document.items() if key != OBSERVED}
    return _joined(kept, document.get(OBSERVED, {}), "$")


def _parted(value: object, place: str, inputs: set[str]) -> tuple[Any, Any]:
    """What stays of a value, and what was observed of it; None if nothing was."""
    if isinstance(value, dict):
        return _parted_fields(cast("dict[str, Any]", value), place, inputs)
    if isinstance(value, list | tuple):
        pairs = [_parted(each, place, inputs) for each in cast("list[object]", value)]
        observed: list[Any] = [{} if each is None else each for _, each in pairs]
        return [each for each, _ in pairs], observed if any(observed) else None
    return value, None


def _parted_fields(fields: dict[str, Any], place: str, inputs: set[str]) -> tuple[Any, Any]:
    place += _kind_of(place, fields, inputs)
    names, beginnings = _FIELDS.get(place, frozenset[str]()), _PROPERTIES.get(place)
    kept: dict[str, Any] = {}
    observed: dict[str, Any] = {}
    for name, value in fields.items():
        if name in names or (beginnings and name.startswith(beginnings)):
            observed[name] = value
            continue
        kept[name], inner = _parted(value, f"{place}/{name}" if place else name, inputs)
        if inner is not None:
            observed[name] = inner
    return kept, observed or None


def _kind_of(place: str, fields: Mapping[str, Any], inputs: set[str]) -> str:
    tell = _KINDS.get(place)
    kind = tell(fields, inputs) if tell else None
    return f":{kind}" if kind else ""


def _kind_of_table(fields: Mapping[str, Any], _inputs: set[str]) -> str | None:
    return "failed" if fields["action"] == "failed" else None  # its reason is an error, and may name a path


def _kind_of_source(fields: Mapping[str, Any], _inputs: set[str]) -> str | None:
    return "made" if fields["kind"] == "made" else None  # a run of this warehouse made its commits


def _kind_of_registration(fields: Mapping[str, Any], inputs: set[str]) -> str | None:
    return None if same_name(fields["name"]) in inputs else "own"  # the same


def _kind_of_snapshot(fields: Mapping[str, Any], _inputs: set[str]) -> str | None:
    # Delta draws lots for the names that columns have in files, and keeps them in the schema.
    return "mapped" if "delta.columnMapping.mode" in fields["table_properties"] else None


_KINDS: Mapping[str, Callable[[Mapping[str, Any], set[str]], str | None]] = {
    "tables": _kind_of_table,
    "sources": _kind_of_source,
    "registrations": _kind_of_registration,
    "registrations:own/snapshot": _kind_of_snapshot,
}


def _joined(kept: object, observed: object, place: str) -> Any:
    if isinstance(kept, dict) and isinstance(observed, dict):
        one, other = cast("dict[str, Any]", kept), cast("dict[str, Any]", observed)
        both = {
            name: _joined(one[name], other[name], f"{place}.{name}") for name in one.keys() & other.keys()
        }
        return {**one, **other, **both}
    if isinstance(kept, list) and isinstance(observed, list):
        entries, beside = cast("list[Any]", kept), cast("list[Any]", observed)
        if len(entries) == len(beside):
            return [
                _joined(one, other, f"{place}[{index}]")
                for index, (one, other) in enumerate(zip(entries, beside, strict=True))
            ]
    detail = f"what was observed does not fit the rest - at `{place}`"
    raise msgspec.ValidationError(detail)
