"""What a build has done and what an installation can do, for a person and for a program.

Not here: any rule about what is right or wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table

from headwater.cli.render import console_of, error_document, printable
from headwater.run import refresh_words

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.artifacts import TableRecord
    from headwater.names import SnapshotKey
    from headwater.run import Capability, RunOutcome
    from headwater.runtime import DependencyManifest

_ACTION_STYLES = {"built": "green", "incremental": "green", "skipped": "dim", "failed": "red"}
# Why a table is made in full, where nobody would expect otherwise.
PLAIN_CODES = frozenset({"no-table", "asked", "every-run", "told"})


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


def show_outcome(outcome: RunOutcome, *, no_color: bool) -> None:
    """The summary of a build."""
    console = console_of(no_color)
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
    console = console_of(no_color)
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


def _all_counted(outcome: RunOutcome) -> str:
    counts = (("view", outcome.views), ("source", outcome.sources), ("table", len(outcome.tables)))
    return ", ".join(f"{count} {noun}{'' if count == 1 else 's'}" for noun, count in counts)
