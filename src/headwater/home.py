"""The cache folder of this machine: jars, the class archive and logs.

Not here: anything that belongs to a project. The folder can be removed at any time and is made anew.
"""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_cache_path

from headwater.clock import SystemClock, new_run_id
from headwater.errors import HomeNotWritable

HOME_VARIABLE = "HEADWATER_HOME"
LOGS_KEPT = 20


def headwater_home() -> Path:
    """The cache folder: HEADWATER_HOME, or the user's cache folder of this platform; made on demand.

    Raises:
        HomeNotWritable: it cannot be made, or nothing can be written in it.
    """
    return _writable(home_path())


def home_path() -> Path:
    """Where the cache folder is or would be; nothing is made."""
    chosen = os.environ.get(HOME_VARIABLE)
    return Path(chosen).expanduser().absolute() if chosen else user_cache_path("headwater")


def folder_in(home: Path, name: str) -> Path:
    """The folder `name` of the cache folder, made on demand.

    Raises:
        HomeNotWritable: it cannot be made, or nothing can be written in it.
    """
    return _writable(home / name)


def new_log(home: Path, kind: str) -> Path:
    """A path for a new log of this kind; its oldest logs beyond the last few are removed.

    Raises:
        HomeNotWritable: nothing can be written there.
    """
    folder = folder_in(home, "logs")
    for old in sorted(folder.glob(f"{kind}-*.log"))[: -(LOGS_KEPT - 1)]:
        old.unlink(missing_ok=True)
    return folder / f"{kind}-{new_run_id(SystemClock())}.log"


def _writable(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HomeNotWritable(path=str(folder), detail=error.strerror or str(error)) from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise HomeNotWritable(path=str(folder), detail="no permission to write")
    return folder
