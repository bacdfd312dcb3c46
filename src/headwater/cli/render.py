"""Everything a person or a program sees: summaries, progress, errors, JSON.

Not here: any rule about what is right or wrong.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as ProgressBar
from rich.table import Table
from rich.text import Text

from headwater.errors import HeadwaterError, NameAmbiguous, PinsAtRisk, PlanDrift
from headwater.origin import Origin
from headwater.run import Listener, Progress, ignore_progress, refresh_words

if TYPE_CHECKING:
    from headwater.artifacts import TableRecord
    from headwater.names import SnapshotKey
    from headwater.run import Capability, RunOutcome
    from headwater.runtime import DependencyManifest

DOCUMENT_VERSION = 1
_NO_EDGE = 100_000
_ACTION_STYLES = {"built": "green", "incremental": "green", "skipped": "dim", "failed": "red"}
# Why a table is made in full, where nobody would expect otherwise.
PLAIN_CODES = frozenset({"no-table", "asked", "every-run", "told"})


def write_json(document: dict[str, Any]) -> None:
    """Prints one JSON document, with the version of its form, and nothing else."""
    content = msgspec.json.encode({"schema_version": DOCUMENT_VERSION, **document})
    sys.stdout.write(msgspec.json.format(content, indent=2).decode() + "\n")


def outcome_document(outcome: RunOutcome) -> dict[str, Any]:
    """A build's outcome as `build --json` prints it."""
    tables = [
        {
            "name": table.name,
            "version": table.version,
            "rows": table.rows,
            "action": table.action,
            "reason": table.reason,
            "digest": table.digest,
            **_refresh_document(table),
            "snapshot": _key_document(outcome.snapshots.get(table.name)),
        }
        for table in outcome.tables
    ]
    document: dict[str, Any] = {
        "run_id": outcome.run_id,
        "status": outcome.status,
        "seconds": round(outcome.seconds, 3),
        "tables": tables,
        "manifest": str(outcome.manifest),
        **({"warnings": list(outcome.warnings)} if outcome.warnings else {}),
    }
    if outcome.error is None:
        return document
    errors = {name: error_document(error) for name, error in outcome.errors.items()}
    return document | {"error": error_document(outcome.error), "errors": errors}


def _refresh_document(table: TableRecord) -> dict[str, Any]:
    refresh = table.refresh
    if refresh is None:
        return {}
    return {"mode": refresh.mode, "mode_code": refresh.code, "mode_reason": refresh_words(refresh)}


def _key_document(key: SnapshotKey | None) -> dict[str, Any] | None:
    return {"canonical_uri": key.canonical_uri, "version": key.version} if key else None


def error_document(error: HeadwaterError) -> dict[str, Any]:
    """An error as JSON."""
    return {
        "code": error.code,
        "message": error.message,
        "next_step": error.next_step,
        "path": _shown_path(error.origin.path) if error.origin else None,
        "line": (error.origin.line or None) if error.origin else None,
        **({"lost": list(error.lost)} if isinstance(error, PinsAtRisk) else {}),
        **({"differences": list(error.differences)} if isinstance(error, PlanDrift) else {}),
        **({"candidates": list(error.candidates)} if isinstance(error, NameAmbiguous) else {}),
    }


def show_outcome(outcome: RunOutcome, *, no_color: bool) -> None:
    """The summary of a build."""
    console = _console(no_color)
    if outcome.status == "unchanged":
        console.print(
            f"Nothing to do: {_all_counted(outcome)} are as "
            f"run {outcome.run_id} left them ({outcome.seconds:.1f} s).",
            soft_wrap=True,
        )
        return
    table = Table(
        "table", "action", "version", "rows", "reason", box=None, pad_edge=False, header_style="bold"
    )
    for each in outcome.tables:
        version = "" if each.version is None else str(each.version)
        rows = "" if each.rows is None else f"{each.rows:,}"
        reason = f"{each.reason}{_refresh_shown(each)}" if each.action != "failed" else "see below"
        table.add_row(each.name, f"[{_ACTION_STYLES[each.action]}]{each.action}[/]", version, rows, reason)
    console.print(table)
    for warning in outcome.warnings:
        console.print(f"warning {printable(warning)}", soft_wrap=True, highlight=False, markup=False)
    console.print(
        f"{'Done' if outcome.status == 'done' else 'Failed'}: {_all_counted(outcome)} "
        f"in {outcome.seconds:.1f} s. Run {outcome.run_id}",
        soft_wrap=True,
        highlight=False,
    )


def _refresh_shown(table: TableRecord) -> str:
    """How much of a table was made, where that is worth a word."""
    refresh = table.refresh
    if refresh is None or refresh.code in PLAIN_CODES or table.action == "skipped":
        return ""
    if refresh.mode == "incremental":
        return f"; {refresh.keys:,} key{'' if refresh.keys == 1 else 's'} by {', '.join(refresh.key)}"
    return f"; in full: {refresh.code}"


def show_capabilities(
    found: tuple[Capability, ...], manifest: DependencyManifest, *, no_color: bool, log: Path | None
) -> None:
    """What `doctor` saw, for a person."""
    console = _console(no_color)
    table = Table("capability", "", "seen", box=None, pad_edge=False, header_style="bold")
    for each in found:
        mark = "[green]works[/]" if each.compatible else "[red]fails[/]"
        table.add_row(each.name, mark, each.probe_result or each.error or "")
    console.print(table)
    console.print(
        f"Headwater {manifest.headwater} · Python {manifest.python} · "
        f"Java {manifest.java} ({manifest.java_vendor}) · "
        f"Scala {manifest.scala} · Spark {manifest.spark} · Delta {manifest.delta} · "
        f"{len(manifest.jars)} jars",
        soft_wrap=True,
        highlight=False,
    )
    if log:
        console.print(f"Spark's own log: {log}", soft_wrap=True, highlight=False)


def show_error(error: HeadwaterError, *, debug: bool) -> None:
    """Code, place and words on one line, what to do on the next; the trace only if it was asked for."""
    if debug:
        traceback.print_exception(error, file=sys.stderr)
    where = f" {_shown(error.origin)}:" if error.origin else ""
    lines = [f"{error.code}{where} {error.message}", f"  {error.next_step}"]
    sys.stderr.write("".join(f"{printable(line)}\n" for line in lines))


@contextmanager
def showing_progress(*, quiet: bool, no_color: bool) -> Generator[Listener]:
    """A listener: a bar on a terminal, one line per step elsewhere, nothing if asked to be quiet."""
    console = Console(stderr=True, no_color=no_color or None)
    if quiet:
        yield ignore_progress
    elif console.is_terminal:
        with ProgressBar(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console,
            transient=True,
        ) as bar:
            task = bar.add_task("starting", total=None)
            yield lambda step: bar.update(
                task, description=step.message, completed=step.done, total=step.total or None
            )
    else:
        yield _print_step


def printable(text: str) -> str:
    """Without signs that would move a terminal's cursor or change its colours."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def print_grid(grid: Table, *, no_color: bool) -> None:
    """A table on stdout; a file has no width that a row would have to fit."""
    is_terminal = _console(no_color).is_terminal
    width = None if is_terminal else Console(width=_NO_EDGE).measure(grid).maximum
    Console(no_color=no_color or None, width=width, highlight=False).print(grid)


def counted(count: int, noun: str) -> str:
    """So many of something, as people write it: `1 row`, `2,000 rows`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _all_counted(outcome: RunOutcome) -> str:
    counts = (("view", outcome.views), ("source", outcome.sources), ("table", len(outcome.tables)))
    return ", ".join(f"{count} {noun}{'' if count == 1 else 's'}" for noun, count in counts)


def _print_step(step: Progress) -> None:
    share = f"[{step.done}/{step.total}] " if step.total else ""
    sys.stderr.write(f"{share}{step.message}\n")
    sys.stderr.flush()


def print_lines(*lines: str, no_color: bool) -> None:
    """Lines of text as they are, each on a line of its own however long it is."""
    console = Console(no_color=no_color or None, highlight=False)
    for line in lines:
        console.print(Text(printable(line)), soft_wrap=True)


def _console(no_color: bool) -> Console:
    return Console(no_color=no_color or None)


def _shown(origin: Origin) -> str:
    return str(Origin(_shown_path(origin.path), origin.line))


def _shown_path(path: str) -> str:
    """Relative to here if it is below here: what a person would type."""
    below = Path(path).is_absolute() and Path(path).is_relative_to(Path.cwd())
    return os.path.relpath(path) if below else path
