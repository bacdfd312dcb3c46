"""Flags that commands share reach a command as two values, and the command line as flags."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from headwater.cli.sharing import ProjectPlace, Shown, over_project
from headwater.errors import InvalidSetting, ProjectNotFound

SEEN: list[tuple[object, ...]] = []


@over_project
def ask(
    path: Annotated[Path, typer.Argument()] = Path(),
    full: Annotated[bool, typer.Option("--full")] = False,
    *,
    place: ProjectPlace,
    shown: Shown,
) -> None:
    """Ask."""
    SEEN.append((path, full, place, shown))


def run(command: object, *arguments: str) -> tuple[object, ...]:
    app = typer.Typer()
    app.command()(command)  # pyright: ignore[reportArgumentType]
    SEEN.clear()
    done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return SEEN[0]


def test_a_command_over_a_project_gets_where_and_how() -> None:
    assert run(ask) == (Path(), False, ProjectPlace(flags={}), Shown())
    given = ("x", "--full", "--json", "-q", "--no-color", "--debug", "--graph")
    place = ("--warehouse", "w", "--profile", "p", "--master", "local[1]", "--set", "a=b")
    assert run(ask, *given, *place) == (
        Path("x"),
        True,
        ProjectPlace(graph=True, warehouse=Path("w"), profile="p", flags={"a": "b", "master": "local[1]"}),
        Shown(json=True, quiet=True, no_color=True, debug=True),
    )


def test_help_shows_flags_of_its_own_before_those_that_are_shared() -> None:
    app = typer.Typer()
    app.command()(ask)
    text = CliRunner().invoke(app, ["--help"]).output
    assert "Ask." in text
    assert text.index("--full") < text.index("--json") < text.index("--warehouse") < text.index("--debug")


def test_half_a_setting_is_refused_before_the_command_begins() -> None:
    with pytest.raises(InvalidSetting):
        run(ask, "--set", "nonsense")


def test_a_place_opens_projects(tmp_path: Path) -> None:
    with pytest.raises(ProjectNotFound):
        ProjectPlace(flags={}).opened(tmp_path / "nowhere")


def test_what_is_printed_while_somebody_listens_is_not_the_answer(capsys: pytest.CaptureFixture[str]) -> None:
    with Shown(quiet=True).progress():
        print("a view's own words")  # noqa: T201
    sys.stdout.write("the answer\n")
    assert capsys.readouterr() == ("the answer\n", "a view's own words\n")
