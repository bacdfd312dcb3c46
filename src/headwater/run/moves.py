"""What happened to a dataset between the versions of it that two recorded runs have: by whom, and to what.

All from records and commit files, without Spark. Not here: which views read it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from headwater.delta import commits_between, find_commit, keeps_rows, note_of, schema_at, writes_rows
from headwater.errors import DeltaError
from headwater.names import same_name
from headwater.plan import type_text
from headwater.run.causes import Cause, cause_commit, commit_words
from headwater.run.changes import recorded_identity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from headwater.artifacts import SourceRecord
    from headwater.delta import CommitRecord
    from headwater.names import TablePin
    from headwater.run.causes import CauseCommit
    from headwater.run.recorded import RecordedRun

_IN_CODE = ("memory", "made")
_FILES = ("listing", "files")
_SHOWN_FILES = 3
_ANEW = "another table stands where version {} was"


def input_causes(before: RecordedRun, after: RecordedRun, view: str, name: str) -> tuple[Cause, ...]:
    """What changed about a source that a view reads in both runs; nothing if it is the same to the view."""
    one, two = before.source_record(name), after.source_record(name)
    if one is None or two is None or _is_same(one, two):
        return ()
    if one.kind in _IN_CODE and one.digest != two.digest:
        words = "its rows are defined otherwise"
        return (Cause(kind="code", view=name, name=name, before=one.digest, after=two.digest, detail=words),)
    declared = list(_declared(before, after, one, two, view))
    if one.kind in _FILES and two.kind in _FILES:
        return (*declared, *_files(one, two, view))
    ours, theirs = before.source_pin(name), after.source_pin(name)
    if ours is None or theirs is None or declared or ours.uri != theirs.uri:
        return (*declared, *_columns(ours, theirs, view)) if ours and theirs else tuple(declared)
    if one.kind == "made":
        return outside_writes(ours, theirs)
    return tuple(_moved(ours, theirs, view))


def outside_writes(before: TablePin, after: TablePin) -> tuple[Cause, ...]:
    """What others than the table's own pipeline have done to its rows between two versions of it."""
    if before == after:
        return ()
    name = after.name
    if not _is_there(before, after):
        first, last = before.version, after.version
        words = _ANEW.format(first)
        return (Cause(kind="outside_write", view=name, name=name, before=first, after=last, detail=words),)
    foreign = [each for each in _commits(before, after) if not _is_ours(each, name)]
    if not foreign:
        return ()
    commits = tuple(map(cause_commit, foreign))
    words = f"somebody else wrote to it: {commit_words(commits)}"
    first, last = commits[0].version - 1, commits[-1].version
    return (
        Cause(
            kind="outside_write",
            view=name,
            name=name,
            before=first,
            after=last,
            commits=commits,
            detail=words,
        ),
    )


def _is_same(one: SourceRecord, two: SourceRecord) -> bool:
    if one.content is not None and (one.digest, one.content) == (two.digest, two.content):
        return True
    return recorded_identity(one) == recorded_identity(two)


def _declared(
    before: RecordedRun, after: RecordedRun, one: SourceRecord, two: SourceRecord, view: str
) -> Iterator[Cause]:
    """What the project says otherwise about where a source is, and how it is read."""
    ours, theirs = _said(before, one), _said(after, two)
    for key in sorted({*ours, *theirs}):
        was, now = ours.get(key), theirs.get(key)
        if was != now:
            kind = "schema" if key == "schema" else "input"
            words = f"its {key} is said to be {_text(now)}, was {_text(was)}"
            yield Cause(
                kind=kind, view=view, name=one.name, before=_text(was), after=_text(now), detail=words
            )


def _said(run: RecordedRun, record: SourceRecord) -> dict[str, object]:
    planned = run.planned.get(record.name)
    options = {key: value for key, value in record.options.items() if key != "gate"}
    said: dict[str, object] = {"kind": record.kind, "path": record.path, **options}
    if planned is not None:
        said |= {"format": planned.file_format, "schema": planned.schema, **planned.options}
    return {key: value for key, value in said.items() if value is not None}


def _files(one: SourceRecord, two: SourceRecord, view: str) -> Iterator[Cause]:
    """Files that came, went, or have another content."""
    ours = {each.path: each.sha256 for each in one.files if each.skip_reason is None}
    theirs = {each.path: each.sha256 for each in two.files if each.skip_reason is None}
    parts = (
        ("new", [path for path in theirs if path not in ours]),
        ("gone", [path for path in ours if path not in theirs]),
        ("changed", [path for path in ours if path in theirs and ours[path] != theirs[path]]),
    )
    words = "; ".join(f"{word}: {_listed(paths, two.path)}" for word, paths in parts if paths)
    if words:
        yield Cause(
            kind="input", view=view, name=one.name, before=one.pin.digest, after=two.pin.digest, detail=words
        )


def _moved(before: TablePin, after: TablePin, view: str) -> Iterator[Cause]:
    """What commits did to the rows of a table, and to its columns."""
    is_there = _is_there(before, after)
    found = _commits(before, after)
    commits = tuple(map(cause_commit, found))
    columns = list(_columns(before, after, view, commits))
    yield from columns
    if is_there and columns and found and not any(writes_rows(after.uri, each.version) for each in found):
        return  # nothing but its columns
    moved = f"moved from version {before.version} to {after.version}"
    words = moved if is_there else _ANEW.format(before.version)
    commits = commits if is_there else ()
    yield Cause(
        kind="input",
        view=view,
        name=after.name,
        before=before.version,
        after=after.version,
        commits=commits,
        detail=f"{words}{f', by {commit_words(commits)}' if commits else ''}",
    )


def _columns(
    before: TablePin, after: TablePin, view: str, commits: tuple[CauseCommit, ...] | None = None
) -> Iterator[Cause]:
    """The columns that came, went, or have another type; `commits` lie between, if that is known."""
    ours, theirs = _schema(before), _schema(after)
    if ours is None or theirs is None or ours == theirs:
        return
    if commits is None:
        commits = tuple(map(cause_commit, _commits(before, after))) if before.uri == after.uri else ()
    for name in dict.fromkeys((*ours, *theirs)):
        was, now = ours.get(name), theirs.get(name)
        if was == now:
            continue
        words = f"column '{name}' " + (
            f"is new, {now}"
            if was is None
            else f"is gone, was {was}"
            if now is None
            else f"was {was}, is {now}"
        )
        yield Cause(
            kind="schema",
            view=view,
            name=f"{after.name}.{name}",
            before=was,
            after=now,
            commits=commits,
            detail=words,
        )


def _schema(pin: TablePin) -> dict[str, str] | None:
    try:
        found = schema_at(pin.uri, pin.version)
    except DeltaError:
        return None
    if found is None:
        return None
    fields = cast("list[dict[str, Any]]", json.loads(found)["fields"])
    return {str(each["name"]): type_text(each["type"]) for each in fields}


def _commits(one: TablePin, two: TablePin) -> list[CommitRecord]:
    """The commits between two versions of a table that may have changed its rows, oldest first."""
    first, last = sorted((one.version, two.version))
    try:
        found = commits_between(one.uri, first + 1, last)
    except DeltaError:
        return []
    return [each for each in reversed(found) if not keeps_rows(one.uri, each.version)]


def _is_there(one: TablePin, two: TablePin) -> bool:
    """Whether the older version still is what was pinned; one that log cleanup took may well be."""
    pin = min(one, two, key=lambda each: each.version)
    try:
        found = find_commit(pin.uri, pin.version)
    except DeltaError:
        return False
    return found is None or found.digest == pin.digest


def _is_ours(commit: CommitRecord, table: str) -> bool:
    note = note_of(commit.user_metadata)
    return note is not None and same_name(note.table) == same_name(table)


def _text(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return json.dumps(cast("Mapping[str, object]", value), sort_keys=True)
    return str(value)


def _listed(paths: list[str], whole: str | None) -> str:
    """A few paths; a source that is one file has no path below its own."""
    shown = sorted(paths)[:_SHOWN_FILES]
    more = len(paths) - len(shown)
    return ", ".join([*(each or whole or "the file" for each in shown), *([f"{more} more"] if more else ())])
