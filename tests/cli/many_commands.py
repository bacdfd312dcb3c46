"""Run by tests in a process of its own: the commands that stdin lists, and on stdout how each ended.

What a command writes is caught where the system sees it, so that nothing of it gets lost.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from headwater.cli import main


def ended(
    folder: Path, arguments: list[str], cwd: str = "/", variables: dict[str, str] | None = None
) -> dict[str, Any]:
    kept, places = [os.dup(1), os.dup(2)], [folder / "out", folder / "err"]
    for number, place in enumerate(places, start=1):
        with place.open("wb") as file:
            os.dup2(file.fileno(), number)
    sys.argv = ["headwater", *arguments]
    os.chdir(cwd)
    os.environ.update(variables or {})
    code: Any = None
    try:
        main()
    except SystemExit as left:
        code = left.code
    finally:
        for name in variables or {}:
            del os.environ[name]
        for number, stream in enumerate((sys.stdout, sys.stderr), start=1):
            stream.flush()
            os.dup2(kept[number - 1], number)
            os.close(kept[number - 1])
    out, err = (place.read_bytes().decode() for place in places)
    return {"code": code, "out": out, "err": err}


asked = json.load(sys.stdin)
with tempfile.TemporaryDirectory() as scratch:
    ends = [ended(Path(scratch), **each) for each in asked]
json.dump(ends, sys.stdout)
