"""`headwater table`: one Delta table, of a project or of none, described, told, listed or verified.

Not here: what is found out about it; `run` does that. Nothing is written; see `upkeep` for what is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Annotated, Any

import msgspec
import typer
from pyspark.sql.types import StructType
from rich.console import Console
from rich.table import Table
from rich.text import Text

from headwater.cli.options import (
    TableTarget,
    Timestamp,
    Version,
)
from headwater.cli.places import TablePlace, over_table
from headwater.cli.render import (
    counted,
    error_document,
    print_grid,
    printable,
    show_error,
    write_json,
)
from headwater.cli.sharing import Shown
from headwater.datasets import timestamp_of
from headwater.delta import (
    CommitRecord,
    DataFile,
    ScanPreview,
    Verification,
    note_of,
    upkeep_note_of,
)
from headwater.errors import RowsDiffer
from headwater.run import (
    TableDescription,
    describe_table,
    preview_files,
    read_commits,
    verify_table,
)
from headwater.runtime import local_path_of

_SHOWN_COMMITS = 20
_SHOWN_FILES = 50

table = typer.Typer(
    name="table",
    help="Look into one Delta table, and keep it in good order.",
    no_args_is_help=True,
)


@table.command()
@over_table
def snapshot(
    target: TableTarget,
    version: Version = None,
    timestamp: Timestamp = None,
    *,
    place: TablePlace,
    shown: Shown,
) -> None:
    """Describe a table at a version: protocol, features, properties, columns, files, promised rows.

    Example: headwater table snapshot revenue_by_country --project examples/orders
    """
    request = place.request("snapshot", target, version, timestamp)
    with shown.progress() as listen:
        described = describe_table(request, listen)
    if shown.json:
        write_json(snapshot_document(described))
    elif not shown.quiet:
        _show_snapshot(_console(no_color=shown.no_color), described)


@table.command()
@over_table
def history(
    target: TableTarget,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=0, help="The most commits; 0: all there are.")
    ] = _SHOWN_COMMITS,
    version: Version = None,
    timestamp: Timestamp = None,
    *,
    place: TablePlace,
    shown: Shown,
) -> None:
    """Tell a table's commits, newest first: when, what, by whom. Starts no Spark and needs no Java.

    With a version or a time, the commits up to there.

    Example: headwater table history lake/orders --limit 5
    """
    request = place.request("history", target, version, timestamp)
    found = read_commits(request, limit + 1 if limit else None)
    commits = found[: limit or None]
    if shown.json:
        documents = [commit_document(each) for each in commits]
        write_json({"table_uri": request.table.uri, "commits": documents})
    elif not shown.quiet:
        _show_commits(_console(no_color=shown.no_color), commits, has_more=len(found) > len(commits))


@table.command()
@over_table
def files(
    target: TableTarget,
    where: Annotated[
        list[str] | None,
        typer.Option("--where", metavar="SQL", help="A condition on rows; may be given again."),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option("--columns", metavar="A,B", help="The columns that would be read. Default: all"),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit", metavar="N", min=0, help=f"The most files; 0: all. Default: {_SHOWN_FILES}, JSON all"
        ),
    ] = None,
    version: Version = None,
    timestamp: Timestamp = None,
    *,
    place: TablePlace,
    shown: Shown,
) -> None:
    """List a table's data files, or those that a scan under conditions would read; reads no rows.

    Example: headwater table files lake/orders --where "country = 'DE'"
    """
    request = place.request("files", target, version, timestamp)
    names = [each.strip() for each in (columns or "").split(",") if each.strip()]
    with shown.progress() as listen:
        preview = preview_files(request, columns=names, filters=where or (), listen=listen)
    if shown.json:
        write_json(files_document(preview, limit or None))
    elif not shown.quiet:
        most = _SHOWN_FILES if limit is None else limit or None
        _show_files(_console(no_color=shown.no_color), preview, most)


@table.command()
@over_table
def verify(
    target: TableTarget,
    version: Version = None,
    timestamp: Timestamp = None,
    *,
    place: TablePlace,
    shown: Shown,
) -> None:
    """Read every row of a table and compare with what its log promises. Exits 1 if anything does not fit.

    Example: headwater table verify lake/orders --version 3
    """
    request = place.request("verify", target, version, timestamp)
    with shown.progress() as listen:
        found = verify_table(request, listen)
    error = found.error()
    if shown.json:
        write_json(verification_document(found, error))
    elif not shown.quiet:
        _show_verification(_console(no_color=shown.no_color), found)
    if error is not None:
        show_error(error, debug=shown.debug)
        raise typer.Exit(error.exit_code)


# --- for programs --------------------------------------------------------------------------------------


def snapshot_document(described: TableDescription) -> dict[str, Any]:
    """A description as `table snapshot --json` prints it."""
    counted = {key: value for key, value in asdict(described).items() if key != "info"}
    return {**asdict(described.info), **counted}


def commit_document(commit: CommitRecord) -> dict[str, Any]:
    """A commit as `table history --json` prints it; `run_id` and `task` if a run of Headwater made it."""
    note, upkeep = note_of(commit.user_metadata), upkeep_note_of(commit.user_metadata)
    return {
        "version": commit.version,
        "timestamp": _time_of(commit),
        "operation": commit.operation,
        "parameters": dict(commit.parameters),
        "metrics": dict(commit.metrics),
        "user_metadata": commit.user_metadata,
        "run_id": note.run_id if note else None,
        "task": note.task_key if note else None,
        "upkeep": asdict(upkeep) if upkeep else None,
        "engine": commit.engine_info,
        "digest": commit.digest,
    }


def files_document(preview: ScanPreview, most: int | None) -> dict[str, Any]:
    """A list of files as `table files --json` prints it."""
    told = {key: value for key, value in asdict(preview).items() if key != "kept"}
    return {**told, "files": [asdict(each) for each in preview.kept[:most]]}


def verification_document(found: Verification, error: RowsDiffer | None) -> dict[str, Any]:
    """What was found as `table verify --json` prints it."""
    content = found.content.text if found.content else None
    document = {"status": "failed" if error else "ok", **asdict(found), "content": content}
    return document | ({"error": error_document(error)} if error else {})


def _time_of(commit: CommitRecord) -> str | None:
    """When a commit was made; None where nobody knows."""
    return timestamp_of(commit.timestamp_ms) if commit.timestamp_ms else None


# --- for people ----------------------------------------------------------------------------------------


def _show_snapshot(console: Console, described: TableDescription) -> None:
    info = described.info
    rows = "unknown" if described.rows is None else f"{described.rows:,}"
    deleted = f" (and {described.deleted_rows:,} deleted)" if described.deleted_rows else ""
    facts = {
        "table": str(local_path_of(info.table_uri)),
        "version": f"{info.version} of {info.timestamp}",
        "digest": info.digest,
        "protocol": f"reader {info.min_reader_version}, writer {info.min_writer_version}",
        "reader features": ", ".join(info.reader_features),
        "writer features": ", ".join(info.writer_features),
        "implied features": ", ".join(info.implied_writer_features),
        "partitioned by": ", ".join(info.partition_columns),
        "files": f"{described.files:,} ({described.bytes:,} bytes)",
        "rows": f"{rows}{deleted}",
    }
    _say(console, *(f"{key:<18}{value}" for key, value in facts.items() if value))
    _say(console, "columns", *(f"  {each}" for each in _columns_of(info.schema_json)))
    if info.table_properties:
        _say(console, "properties", *(f"  {key} = {value}" for key, value in info.table_properties.items()))


def _columns_of(schema_json: str) -> list[str]:
    schema = StructType.fromJson(msgspec.json.decode(schema_json))
    return [
        f"{each.name} {each.dataType.simpleString()}{'' if each.nullable else ' not null'}"
        for each in schema.fields
    ]


def _show_commits(console: Console, commits: tuple[CommitRecord, ...], *, has_more: bool) -> None:
    for each in commits:
        note = note_of(each.user_metadata)
        facts = {
            "parameters": _paired(each.parameters),
            "metrics": _paired(each.metrics),
            "engine": each.engine_info,
            "run": f"{note.run_id}, task {note.task_key}" if note else None,
            "upkeep": _upkeep_words(each.user_metadata),
            "note": None if note or upkeep_note_of(each.user_metadata) else each.user_metadata,
        }
        _say(console, f"version {each.version}  {_time_of(each) or 'at no known time'}  {each.operation}")
        _say(console, *(f"  {key:<12}{value}" for key, value in facts.items() if value))
    more = "; there are more: --limit N shows N, --limit 0 all" if has_more else ""
    _say(console, f"{counted(len(commits), 'commit')}{more}")


def _upkeep_words(user_metadata: str | None) -> str | None:
    """Who asked for an operation, and why; None for any other commit."""
    note = upkeep_note_of(user_metadata)
    if note is None:
        return None
    why = "".join(
        f", {word}: {text}" for word, text in (("because", note.reason), ("forced", note.forced)) if text
    )
    return f"{note.operation}, asked for by {note.asked_by}{why}"


def _show_files(console: Console, preview: ScanPreview, most: int | None) -> None:
    shown = preview.kept[:most]
    if shown:
        print_grid(_file_table(shown), no_color=console.no_color)
    left_out = ", ".join(preview.used_filters)
    by_rows = ", ".join(preview.unused_filters)
    _say(console, *([f"Used to leave out files: {left_out}"] if left_out else []))
    _say(console, *([f"Of no use for that: {by_rows}"] if by_rows else []))
    more = f"; {len(shown)} shown: --limit N shows N, --limit 0 all" if len(shown) < len(preview.kept) else ""
    counts = (
        ("file", preview.files_kept, preview.files_total),
        ("byte", preview.bytes_kept, preview.bytes_total),
        ("row", preview.rows_kept, preview.rows_total),
    )
    words = ", ".join(_part(noun, kept, total, is_part=bool(preview.filters)) for noun, kept, total in counts)
    _say(console, f"{words}{more}")


def _file_table(listed: Iterable[DataFile]) -> Table:
    grid = Table(box=None, pad_edge=False, header_style="bold")
    grid.add_column("path")
    for each in ("bytes", "rows", "deleted"):
        grid.add_column(each, justify="right")
    grid.add_column("partition")
    for each in listed:
        rows = "?" if each.rows is None else f"{each.rows:,}"
        partition = _paired(
            (key, "NULL" if value is None else value) for key, value in each.partition.items()
        )
        cells = (each.path, f"{each.size:,}", rows, f"{each.deleted_rows:,}", partition)
        grid.add_row(*(Text(printable(cell)) for cell in cells))
    return grid


def _show_verification(console: Console, found: Verification) -> None:
    where = f"version {found.snapshot.version} of {local_path_of(found.snapshot.canonical_uri)}"
    promise = found.promise
    if found.is_whole:
        unknown = promise.files_without_statistics
        doubt = (
            f" The log does not say how many rows {counted(unknown, 'file')} should have." if unknown else ""
        )
        rows = counted(found.rows_scanned or 0, "row")
        _say(console, f"Whole: {where}, {rows} in {counted(promise.files, 'file')}, all read.{doubt}")
        _say(console, *([f"Content: {found.content.text}"] if found.content else []))
    else:
        _say(console, f"Not whole: {where}", *(f"  {each}" for each in found.problems))


def _part(noun: str, kept: int | None, total: int | None, *, is_part: bool) -> str:
    """`2 of 10 files`, or `10 files` where nothing was asked to be left out."""
    front = f"{'?' if kept is None else f'{kept:,}'} of " if is_part else ""
    return front + (f"? {noun}s" if total is None else counted(total, noun))


def _paired(pairs: Iterable[tuple[str, str]]) -> str:
    return ", ".join(f"{key}={value}" for key, value in pairs)


def _console(*, no_color: bool) -> Console:
    return Console(no_color=no_color or None, highlight=False)


def _say(console: Console, *lines: str) -> None:
    for line in lines:
        console.print(Text(printable(line)), soft_wrap=True)
