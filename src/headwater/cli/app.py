"""The command line: commands in, exit codes out, and the one place that catches a HeadwaterError.

Not here: what a command does.
"""

from __future__ import annotations

import gc
import os
import sys
from importlib import import_module
from importlib.metadata import version
from typing import Annotated, NoReturn

import typer

from headwater.cli.render import error_document, show_error, write_json
from headwater.errors import Defect, HeadwaterError, WrongUsage

INTERRUPTED = 130

# Where each command is. Only the one that is given is imported: to ask a server takes nothing of Spark.
_COMMANDS = {
    "build": "build",
    "plan": "plan",
    "lineage": "plan",
    "explain": "plan",
    "query": "query",
    "ask": "ask",
    "serve": "serve",
    "runs": "runs",
    "show": "runs",
    "replay": "replay",
    "diff": "diff",
    "init": "init",
    "doctor": "doctor",
    "functions": "functions",
}
_GROUPS = {"table": "tables", "export": "export"}


def build_app(wanted: str | None = None) -> typer.Typer:
    """The command line with one of its commands or groups; with all of them if that is none."""
    app = typer.Typer(
        name="headwater",
        help="Plan-driven Delta Lake pipelines on Spark that can prove what they did.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(headwater)
    some = (wanted,) if wanted in {*_COMMANDS, *_GROUPS} else (*_COMMANDS, *_GROUPS)
    for name in some:
        found = getattr(import_module(f"headwater.cli.{(_COMMANDS | _GROUPS)[name]}"), name)
        if name in _GROUPS:
            app.add_typer(found)
        else:
            app.command()(found)
    return app


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"headwater {version('headwater')}")
        raise typer.Exit


def headwater(
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and stop."),
    ] = False,
) -> None:
    """Plan-driven Delta Lake pipelines on Spark that can prove what they did."""


def main() -> NoReturn:
    """Runs the command line and exits: 0 done, 1 refused or failed, 2 wrong usage, 3 no longer there."""
    gc.freeze()  # what is imported stays: a command that has nothing to do spent a sixth of its time on it
    try:
        code = build_app(next(iter(sys.argv[1:]), None))(standalone_mode=False)
    except HeadwaterError as error:
        code = _report(error)
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        command = context.command_path if context else "headwater"
        words = getattr(error, "format_message", error.__str__)()
        # Without any argument typer has shown the help already and says no more.
        code = _report(WrongUsage(detail=words.rstrip("."), command=command)) if words else 2
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except BrokenPipeError:
        # The reader went away; Python would complain once more while it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    except Exception as error:  # noqa: BLE001  whatever it is, a person gets one line
        defect = Defect(detail=f"{type(error).__name__}: {error}")
        defect.__cause__ = error
        code = _report(defect)
    if code == INTERRUPTED:  # typer makes this code of a Ctrl-C, too
        is_build = sys.argv[1:2] == ["build"]
        words = " No table is half written; build again to go on." if is_build else ""
        sys.stderr.write(f"Stopped.{words}\n")
    sys.exit(code if isinstance(code, int) else 0)


def _report(error: HeadwaterError) -> int:
    if "--json" in sys.argv[1:]:
        write_json({"status": "failed", "error": error_document(error)})
    show_error(error, debug="--debug" in sys.argv[1:] or bool(os.environ.get("HEADWATER_DEBUG")))
    return error.exit_code
