"""What came of upkeep, for people and for programs.

Not here: the commands that ask for it.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from headwater.cli.render import error_document, print_lines, write_json

if TYPE_CHECKING:
    from headwater.delta import Loss, TableState, UpkeepReceipt
    from headwater.run import Maintained, UpkeepDone, UpkeepRequest

_SHOWN_FILES = 20


def upkeep_document(request: UpkeepRequest, done: UpkeepDone) -> dict[str, Any]:
    """An operation as `headwater table ... --json` prints it."""
    receipt, note = done.receipt, done.note
    return {
        "status": receipt.outcome,
        "operation": receipt.operation,
        "table": request.table.name,
        "table_uri": request.table.uri,
        "dry_run": request.dry_run,
        "summary": receipt.summary,
        "version_before": receipt.before.version,
        "version_after": receipt.after.version,
        "before": asdict(receipt.before),
        "after": asdict(receipt.after),
        "metrics": dict(receipt.metrics),
        "lost": [loss_document(each) for each in receipt.lost],
        "files": list(receipt.listed),
        "asked_by": note.asked_by,
        "reason": note.reason,
        "forced": note.forced,
        "record": str(done.record) if done.record else None,
    }


def loss_document(loss: Loss) -> dict[str, Any]:
    """What could not be read any more, as JSON."""
    return {
        "version": loss.hold.pin.version,
        "starting_version": loss.hold.starting_version,
        "runs": list(loss.hold.holders),
        "files": loss.files,
    }


def maintained_document(found: tuple[Maintained, ...], *, dry_run: bool) -> dict[str, Any]:
    """What `headwater table maintain --json` prints."""
    actions: list[dict[str, Any]] = []
    for each in found:
        action: dict[str, Any] = {
            "table": each.table,
            "operation": each.due.wanted.operation if each.due else None,
            "reason": each.due.reason if each.due else None,
            "status": "failed" if each.done is None else each.done.receipt.outcome,
        }
        if each.done is not None:
            receipt = each.done.receipt
            action |= {
                "summary": receipt.summary,
                "version_before": receipt.before.version,
                "version_after": receipt.after.version,
                "metrics": dict(receipt.metrics),
                "lost": [loss_document(loss) for loss in receipt.lost],
            }
        if each.error is not None:
            action["error"] = error_document(each.error)
        actions.append(action)
    failed = any(each.error is not None for each in found)
    words = "failed" if failed else "unchanged" if not found else "planned" if dry_run else "done"
    return {"status": words, "dry_run": dry_run, "actions": actions}


def show_upkeep(request: UpkeepRequest, done: UpkeepDone, *, json: bool, quiet: bool, no_color: bool) -> None:
    """What came of an operation, in the form that was asked for."""
    if json:
        write_json(upkeep_document(request, done))
    elif not quiet:
        print_lines(*receipt_lines(request.table.name, done.receipt), no_color=no_color)


def show_maintained(
    found: tuple[Maintained, ...], *, dry_run: bool, json: bool, quiet: bool, no_color: bool
) -> None:
    """What policies asked for, and what came of it."""
    if json:
        write_json(maintained_document(found, dry_run=dry_run))
        return
    if quiet:
        return
    lines = [line for each in found for line in _maintained_lines(each)]
    print_lines(*(lines or ["Nothing is due."]), no_color=no_color)


def receipt_lines(name: str, receipt: UpkeepReceipt) -> list[str]:
    """An operation in words: what would be lost first, then what was done and how it changed the table."""
    lines = [f"Could not be read any more: {each}" for each in receipt.lost]
    if receipt.outcome == "planned":
        shown = [f"  {each}" for each in receipt.listed[:_SHOWN_FILES]]
        more = len(receipt.listed) - len(shown)
        lines += [*shown, *([f"  and {more:,} more"] if more > 0 else [])]
    heads = {"done": "Done", "unchanged": "Nothing to do", "planned": "Dry run, nothing was done"}
    lines.append(f"{heads[receipt.outcome]}: {receipt.operation} of {name}: {receipt.summary}.")
    if receipt.outcome == "done":
        lines.append(f"  before  {_state(receipt.before)}")
        lines.append(f"  after   {_state(receipt.after)}")
    return lines


def _maintained_lines(each: Maintained) -> list[str]:
    what = f"{each.table}: {each.due.wanted.operation}" if each.due else each.table
    why = [f"  because {each.due.reason}"] if each.due else []
    if each.done is None:
        return [f"{what} failed: {each.error}", *why]
    words = {"done": "done", "unchanged": "nothing to do", "planned": "due"}
    return [f"{what} {words[each.done.receipt.outcome]}: {each.done.receipt.summary}", *why]


def _state(state: TableState) -> str:
    return (
        f"version {state.version}, {state.files:,} files of {state.bytes:,} bytes, "
        f"log of {state.log_files:,} files and {state.log_bytes:,} bytes"
    )
