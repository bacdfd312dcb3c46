"""`headwater init`: a project that builds as it is.

Not here: the project's text; `template` has it.
"""

from __future__ import annotations

import shlex
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from headwater.cli.options import Debug, Json, Quiet
from headwater.cli.render import write_json
from headwater.errors import InvalidSetting, TargetNotEmpty

TEMPLATE = (
    "headwater.toml",
    "README.md",
    "views/sources.py",
    "views/visits.py",
    "views/busiest_pages.sql",
)


def init(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder to make; it must not exist or be empty.")
    ],
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,  # noqa: ARG001  read by the one place that shows errors
) -> None:
    """Write a small project that builds as it is.

    Example: headwater init shop && headwater build shop
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise TargetNotEmpty(path=str(folder))
    template = files("headwater.cli") / "template"
    try:
        for name in TEMPLATE:
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((template / name).read_bytes())
    except OSError as error:
        expected = f"a folder that can be made ({error.strerror or error})"
        raise InvalidSetting(key="DIR", value=str(folder), expected=expected) from error
    if json:
        write_json({"path": str(folder), "files": list(TEMPLATE)})
    elif not quiet:
        typer.echo(f"Wrote {len(TEMPLATE)} files. Next: headwater build {shlex.quote(str(folder))}")
