"""What all commands say things with: lines, grids, errors, JSON.

Not here: what any of them says.
"""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from headwater.errors import HeadwaterError, NameAmbiguous, PinsAtRisk, PlanDrift
from headwater.origin import Origin

if TYPE_CHECKING:
    pass

DOCUMENT_VERSION = 1
_NO_EDGE = 100_000


def write_json(document: dict[str, Any]) -> None:
    """Prints one JSON document, with the version of its form, and nothing else."""
    content = msgspec.json.encode({"schema_version": DOCUMENT_VERSION, **document})
    sys.stdout.write(msgspec.json.format(content, indent=2).decode() + "\n")


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


def show_error(error: HeadwaterError, *, debug: bool) -> None:
    """Code, place and words on one line, what to do on the next; the trace only if it was asked for."""
    if debug:
        traceback.print_exception(error, file=sys.stderr)
    where = f" {_shown(error.origin)}:" if error.origin else ""
    lines = [f"{error.code}{where} {error.message}", f"  {error.next_step}"]
    sys.stderr.write("".join(f"{printable(line)}\n" for line in lines))


def printable(text: str) -> str:
    """Without signs that would move a terminal's cursor or change its colours."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def print_grid(grid: Table, *, no_color: bool) -> None:
    """A table on stdout; a file has no width that a row would have to fit."""
    is_terminal = console_of(no_color).is_terminal
    width = None if is_terminal else Console(width=_NO_EDGE).measure(grid).maximum
    Console(no_color=no_color or None, width=width, highlight=False).print(grid)


def counted(count: int, noun: str) -> str:
    """So many of something, as people write it: `1 row`, `2,000 rows`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def print_lines(*lines: str, no_color: bool) -> None:
    """Lines of text as they are, each on a line of its own however long it is."""
    console = Console(no_color=no_color or None, highlight=False)
    for line in lines:
        console.print(Text(printable(line)), soft_wrap=True)


def console_of(no_color: bool) -> Console:
    """A console on stdout."""
    return Console(no_color=no_color or None)


def _shown(origin: Origin) -> str:
    return str(Origin(_shown_path(origin.path), origin.line))


def _shown_path(path: str) -> str:
    """Relative to here if it is below here: what a person would type."""
    below = Path(path).is_absolute() and Path(path).is_relative_to(Path.cwd())
    return os.path.relpath(path) if below else path
