"""`headwater diff`: which rows of each table differ between two runs, and why.

Not here: how they are compared, and how causes are found.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from headwater.cli.options import ProjectPath
from headwater.cli.render import counted, print_lines, show_error, write_json
from headwater.cli.sharing import ProjectPlace, Shown, over_project
from headwater.errors import PinsGone

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from headwater.run import Cause, RunDiff, SampleRow, TableDiff

_SHOWN_COLUMNS = 6
_SHOWN_ROWS = 3
_INDENT = "    "
_NO_ROWS = typer.Option(
    "--no-rows", help="Name causes from the records alone: reads no table, needs no Java."
)


@over_project
def diff(
    before: Annotated[
        str, typer.Argument(metavar="RUN_A", help="A run's id, the beginning of one, previous or last.")
    ],
    after: Annotated[str, typer.Argument(metavar="RUN_B", help="The run to compare it with, usually later.")],
    path: ProjectPath = Path(),
    no_rows: Annotated[bool, _NO_ROWS] = False,
    *,
    place: ProjectPlace,
    shown: Shown,
) -> None:
    """Show which rows of each table differ between two runs, and what changed that accounts for it.

    Causes are traced through all that a table reads: code, data (with the commits), schemas, functions,
    settings, writes from outside. Exit code 0: the same rows; 1: different ones; 3: versions whose rows would
    have to be read are gone.

    Example: headwater diff previous last examples/orders
    """
    project = place.opened(path)
    with shown.progress() as listen:
        found = project.diff(before, after, rows=not no_rows, listen=listen)
    if shown.json:
        write_json(diff_document(found))
    elif not shown.quiet:
        print_lines(*diff_lines(found), no_color=shown.no_color)
    if found.gone:
        error = PinsGone(run_id=f"{found.before} or {found.after}", gone=found.gone)
        show_error(error, debug=shown.debug)
        raise typer.Exit(error.exit_code)
    if found.status != "same":
        raise typer.Exit(1)


def diff_document(found: RunDiff) -> dict[str, Any]:
    """A comparison as `diff --json` prints it."""
    causes = found.causes
    reached = {cause: [each.name for each in found.tables if cause in _causes(each)] for cause in causes}
    return {
        "run_a": found.before,
        "run_b": found.after,
        "status": found.status,
        "tables": [_table_document(each, causes) for each in found.tables],
        "causes": [{**_cause_document(each), "tables": reached[each]} for each in causes],
        "gone": list(found.gone),
    }


def diff_lines(found: RunDiff) -> Iterator[str]:
    """A comparison for a person: why first, then each table with what differs."""
    # What several views read is one thing that changed.
    words = dict.fromkeys(map(_cause_words, found.causes))
    numbers = {each: number for number, each in enumerate(words, 1)}
    yield f"run {found.before} -> run {found.after}"
    if numbers:
        yield "what changed"
    yield from (f"  {number:>2}  {each}" for each, number in numbers.items())
    if found.tables:
        yield "tables"
    width = max((len(each.name) for each in found.tables), default=0)
    for each in found.tables:
        yield from _table_lines(each, numbers, width)
    different = sum(each.status != "same" for each in found.tables)
    yield f"{different} of {counted(len(found.tables), 'table')} differ{'s' if different == 1 else ''}."


def _causes(table: TableDiff) -> list[Cause]:
    return [each.cause for each in table.causes]


def _cause_document(cause: Cause) -> dict[str, Any]:
    commits = [asdict(each) for each in cause.commits]
    return {
        "kind": cause.kind,
        "view": cause.view,
        "name": cause.name or None,
        "from": cause.before,
        "to": cause.after,
        "commit": commits[-1] if commits else None,
        "commits": commits,
        "file": cause.file,
        "line": cause.line,
        "detail": cause.detail,
    }


def _table_document(table: TableDiff, causes: Sequence[Cause]) -> dict[str, Any]:
    found = table.difference
    return {
        "name": table.name,
        "status": table.status,
        "version_a": table.version_before,
        "version_b": table.version_after,
        "rows_a": table.rows_before,
        "rows_b": table.rows_after,
        "added": table.added,
        "removed": table.removed,
        "changed": table.changed,
        "key": list(table.key) if table.key is not None else None,
        "columns": [asdict(each) for each in table.columns],
        "changed_columns": dict(found.columns) if found else {},
        "samples": [asdict(each) for each in found.samples] if found else [],
        "causes": [
            {"cause": causes.index(each.cause), "kind": each.cause.kind, "path": list(each.path)}
            for each in table.causes
        ],
        "reason": table.reason or None,
    }


def _cause_words(cause: Cause) -> str:
    where = f" ({cause.file}:{cause.line})" if cause.file else ""
    subject = cause.name if cause.kind in {"input", "schema"} else cause.view
    subject = subject.partition(".")[0] if subject and cause.kind == "schema" else subject
    named = f"{subject}{where}: " if subject else ""
    return f"{cause.kind:<13} {named}{cause.detail}"


def _table_lines(table: TableDiff, numbers: Mapping[str, int], width: int) -> Iterator[str]:
    ways = {numbers[_cause_words(each.cause)]: each.path for each in reversed(table.causes)}
    because = ", ".join(map(str, sorted(ways)))
    word = "because of" if table.status != "same" else "made again because of"
    facts = [_counts(table), f"{word} {because}" if because else ""]
    named = f"  {table.status:<10}  {table.name:<{width}}"
    yield "  ".join([named, *(each for each in facts if each)]).rstrip()
    if table.reason:
        yield f"{_INDENT}{table.reason}"
    if table.status == "same":
        return
    for number, path in sorted(ways.items()):
        if len(path) > 1:
            yield f"{_INDENT}{number} by way of {' -> '.join(path)}"
    for each in table.columns:
        yield f"{_INDENT}column {each.name}: was {each.before or 'not there'}, is {each.after or 'not there'}"
    if table.difference is not None:
        yield from (f"{_INDENT}{line}" for line in _row_lines(table))


def _counts(table: TableDiff) -> str:
    if table.status == "same" or (table.added is None and table.removed is None):
        return ""
    changed = f" ~{table.changed:,}" if table.changed is not None else ""
    rows = (table.rows_before, table.rows_after)
    were, are = ("?" if each is None else f"{each:,}" for each in rows)
    sizes = f"  {were} -> {are} rows" if rows != (None, None) and table.status == "different" else ""
    return f"+{table.added or 0:,} -{table.removed or 0:,}{changed}{sizes}"


def _row_lines(table: TableDiff) -> Iterator[str]:
    found = table.difference
    if found is None:
        return
    if found.columns:
        listed = [f"{name} ({count:,})" for name, count in found.columns[:_SHOWN_COLUMNS]]
        more = len(found.columns) - len(listed)
        yield f"in {', '.join([*listed, *([f'{more} more'] if more else ())])}"
    shown: dict[str, int] = {}
    for each in found.samples:
        shown[each.kind] = shown.get(each.kind, 0) + 1
        if shown[each.kind] <= _SHOWN_ROWS:
            yield from _sample_lines(each, table.key or ())


def _sample_lines(sample: SampleRow, key: Sequence[str]) -> Iterator[str]:
    """One row; of one that changed, its key and what is otherwise."""
    before, after = sample.before, sample.after
    if before is None or after is None:
        yield f"{'+' if before is None else '-'} {_json(after if before is None else before)}"
        return
    folded = {each.casefold() for each in key}
    named = {name: value for name, value in after.items() if name.casefold() in folded}
    names = [each for each in dict.fromkeys((*before, *after)) if before.get(each) != after.get(each)]
    changes = ", ".join(f"{each} {_json(before.get(each))} -> {_json(after.get(each))}" for each in names)
    yield f"~ {_json(named)} {changes}"


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
