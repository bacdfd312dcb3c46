"""The flags that all commands over a project, or over a table, have in common: spelt once, given as values.

    @over_project
    def plan(path: ProjectPath = Path(), *, place: ProjectPlace, shown: Shown) -> None: ...

The command line sees a function with every flag; the function sees `place`, where to look and under which
profile, and `shown`, how to answer. Not here: what the flags mean.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Any, get_type_hints

from headwater.cli.options import (
    Debug,
    Graph,
    Json,
    Master,
    NoColor,
    ProfileName,
    Quiet,
    Settings,
    WarehouseFolder,
    flags_of,
)

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.run import Listener, Project

Command = Callable[..., None]
WHERE: Mapping[str, tuple[Any, object]] = {
    "graph": (Graph, False),
    "warehouse": (WarehouseFolder, None),
    "profile": (ProfileName, None),
    "master": (Master, None),
    "settings": (Settings, None),
}
HOW: Mapping[str, tuple[Any, object]] = {
    "quiet": (Quiet, False),
    "no_color": (NoColor, False),
    "debug": (Debug, False),
}
_GIVEN = ("place", "shown")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """How a command answers."""

    json: bool = False
    quiet: bool = False
    no_color: bool = False
    debug: bool = False

    @contextmanager
    def progress(self) -> Generator[Listener]:
        """A listener; while it listens, what a view prints does not get between a program and its answer."""
        from headwater.cli.progress import showing_progress  # noqa: PLC0415  who asks a server has none

        with (
            showing_progress(quiet=self.quiet, no_color=self.no_color) as listen,
            redirect_stdout(sys.stderr),
        ):
            yield listen


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectPlace:
    """Where a project's tables are kept, and under which profile it is opened."""

    graph: bool = False
    warehouse: Path | None = None
    profile: str | None = None
    flags: Mapping[str, str]

    def opened(self, path: Path) -> Project:
        """The project of a folder."""
        from headwater.opening import open_project  # noqa: PLC0415  nor any use for what builds graphs

        return open_project(
            path, graph=self.graph, warehouse=self.warehouse, profile=self.profile, settings=self.flags
        )


def over_project(command: Command) -> Command:
    """A command over a project, with the flags of all such commands."""

    def place(given: dict[str, Any]) -> ProjectPlace:
        flags = flags_of(given.pop("master"), given.pop("settings"))
        return ProjectPlace(
            **{name: given.pop(name) for name in ("graph", "warehouse", "profile")}, flags=flags
        )

    return with_flags(command, {"json": (Json, False), **WHERE, **HOW}, place)


def with_flags(
    command: Command,
    flags: Mapping[str, tuple[Any, object]],
    place: Callable[[dict[str, Any]], Any],
) -> Command:
    """A command that is given `place` and `shown`, as the command line sees it: with these flags."""
    hints = get_type_hints(command, include_extras=True)

    @wraps(command)
    def run(**given: Any) -> None:
        where = place(given)
        shown = Shown(**{name: given.pop(name) for name in ("json", *HOW)})
        command(**given, place=where, shown=shown)

    own = [
        each.replace(annotation=hints[name])
        for name, each in signature(command).parameters.items()
        if name not in _GIVEN
    ]
    shared = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, (kind, default) in flags.items()
    ]
    parameters = [*own, *shared]
    run.__annotations__ = {each.name: each.annotation for each in parameters} | {"return": None}
    vars(run)["__signature__"] = Signature(parameters)
    return run
