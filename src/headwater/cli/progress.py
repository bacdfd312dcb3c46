"""What is being done, while it is: a bar on a terminal, lines elsewhere.

Not here: what there is to do.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as ProgressBar

from headwater.run import ignore_progress

if TYPE_CHECKING:
    from collections.abc import Generator

    from headwater.run import Listener, Progress


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


def _print_step(step: Progress) -> None:
    share = f"[{step.done}/{step.total}] " if step.total else ""
    sys.stderr.write(f"{share}{step.message}\n")
    sys.stderr.flush()
