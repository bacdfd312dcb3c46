"""The flags that commands share, spelt once, and what several of them mean together.

Not here: what each means alone; a profile says that.
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
TableTarget = Annotated[
    str, typer.Argument(metavar="PATH_OR_NAME", help="A Delta table's path, or a name of the project.")
]
ProjectFolder = Annotated[
    Path | None,
    typer.Option(
        "--project", metavar="DIR", help="The project or repository whose names count. Default: here"
    ),
]
Version = Annotated[
    int | None,
    typer.Option("--version", metavar="N", min=0, help="The table at this version. Default: the newest"),
]
Timestamp = Annotated[
    str | None,
    typer.Option("--timestamp", metavar="ISO", help="The table as it was then, as 2026-01-31T12:00:00Z."),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Say what would be done, and what could not be read any more.")
]
Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; it is put on record.")]
ForceUnsafe = Annotated[
    str | None,
    typer.Option(
        "--force-unsafe", metavar="REASON", help="Do it though a guard refuses; the reason is recorded."
    ),
]
KeepPinned = Annotated[
    bool, typer.Option("--keep-pinned", help="Leave what recorded runs need, and do the rest.")
]
RetentionHours = Annotated[
    float | None,
    typer.Option(
        "--retention-hours", metavar="HOURS", min=0, help="Keep so much. Default: the table's own property"
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
