"""The flags that every command shares, spelt once.

Not here: what they mean; a profile says that.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headwater.errors import InvalidSetting

ProjectPath = Annotated[
    Path,
    typer.Argument(
        help="The folder of a project (with headwater.toml) or a repository.", show_default="here"
    ),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout; all else on stderr.")]
Graph = Annotated[bool, typer.Option("--graph", help="The code graph, though the folder is a project.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no summary; errors stay.")]
NoColor = Annotated[bool, typer.Option("--no-color", help="Plain text; NO_COLOR does the same.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the whole trace of an error.")]
WarehouseFolder = Annotated[
    Path | None,
    typer.Option(
        "--warehouse", metavar="DIR", help="Where tables and runs are kept. Default: PATH/.headwater"
    ),
]
ProfileName = Annotated[
    str | None, typer.Option("--profile", metavar="NAME", help="A profile of headwater.toml. Default: local")
]
Master = Annotated[
    str | None, typer.Option("--master", metavar="URL", help="Spark's master. Default: the profile's")
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="A profile's field or a Spark setting; may be given again."
    ),
]


def flags_of(master: str | None, settings: list[str] | None) -> dict[str, str]:
    """The settings given by flags, by key; `--master` is one of them.

    Raises:
        InvalidSetting: a `--set` without a key or an equals sign.
    """
    flags: dict[str, str] = {}
    for pair in settings or []:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise InvalidSetting(key="--set", value=repr(pair), expected="KEY=VALUE")
        flags[key.strip()] = value.strip()
    return flags | ({"master": master} if master else {})
