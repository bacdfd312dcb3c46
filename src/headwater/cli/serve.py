"""`headwater serve`: keeps a code graph in memory, so that questions are answered at once.

Not here: how questions come in and answers go out.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from headwater.cli.options import ProjectPath
from headwater.cli.render import counted, print_lines, write_json
from headwater.cli.sharing import ProjectPlace, Shown, over_project
from headwater.opening import graph_of
from headwater.serving import Server, socket_of

if TYPE_CHECKING:
    from headwater.run import Project

_IDLE_MINUTES = 30.0
_SECONDS = 60.0


@over_project
def serve(
    path: ProjectPath = Path(),
    idle: Annotated[
        float,
        typer.Option(
            "--idle", metavar="MINUTES", min=0, help="Stop when nobody has asked for so long; 0: never."
        ),
    ] = _IDLE_MINUTES,
    *,
    place: ProjectPlace,
    shown: Shown,
) -> None:
    """Keep a code graph in memory, so that `headwater ask` answers at once, until Ctrl-C.

    It answers on this machine only, only to the user who started it, and only questions.
    A new build of the graph is read before the next answer.

    Example: headwater serve src/shop --idle 120
    """
    project = replace(place, graph=True).opened(path)
    with _ending_like_an_interrupt(), ExitStack() as held:
        with shown.progress() as listen:
            read, stamp = partial(graph_of, project, listen), partial(_last_run, project)
            server = held.enter_context(Server(socket_of(project), read, stamp))
            count = len(server.load().code)
        try:
            server.serve(idle * _SECONDS or None, partial(_tell, server, project, count, shown))
        except KeyboardInterrupt:
            pass
        finally:
            if not shown.quiet:
                sys.stderr.write(f"Stopped after {counted(server.answered, 'question')}.\n")


def _tell(server: Server, project: Project, count: int, shown: Shown) -> None:
    if shown.json:
        warehouse = str(project.warehouse.root)
        write_json({"socket": str(server.place), "warehouse": warehouse, "definitions": count})
    elif not shown.quiet:
        lines = [f"{counted(count, 'definition')} of {project.config.root} in memory. Ask: headwater ask"]
        print_lines(*lines, f"Socket: {server.place}", no_color=shown.no_color)
    sys.stdout.flush()


def _last_run(project: Project) -> str | None:
    return next((each.run_id for each in project.runs(1)), None)


@contextmanager
def _ending_like_an_interrupt() -> Generator[None]:
    """While it lasts, being told to end is like Ctrl-C."""

    def interrupt(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
