"""Commands over a table get where it is looked up."""

from __future__ import annotations

from pathlib import Path

import typer
from typer.testing import CliRunner

from headwater.cli.places import TablePlace, over_table
from headwater.cli.sharing import Shown

SEEN: list[tuple[object, ...]] = []


@over_table
def look(target: str, *, place: TablePlace, shown: Shown) -> None:
    """Look."""
    SEEN.append((target, place, shown))


def test_a_command_over_a_table_has_a_project_besides() -> None:
    app = typer.Typer()
    app.command()(look)
    done = CliRunner().invoke(app, ("t", "--project", "here"), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    place = TablePlace(project=Path("here"), graph=False, warehouse=None, profile=None, flags={})
    assert [("t", place, Shown())] == SEEN
