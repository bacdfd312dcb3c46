"""The code graph of a folder from nothing, and again with nothing changed, against the floor: parse and walk.

python bench/graph.py [FOLDER]

The floor is one process that parses every file with `ast` and visits every node; the build is the real
command in a process of its own, with an empty warehouse. Seconds and ratios are wall time; `cpu` is that of
the command, its JVM and the workers that it waited for.
"""

from __future__ import annotations

import ast
import json
import sys
import tempfile
import time
import warnings
from pathlib import Path

from measuring import Taken, run_command

HEADWATER = Path(sys.executable).parent / "headwater"


def floor(folder: Path) -> float:
    """The seconds that parsing and walking takes, in this process."""
    warnings.simplefilter("ignore")
    began = time.perf_counter()
    for file in sorted(folder.rglob("*.py")):
        try:
            tree = ast.parse(file.read_bytes())
        except (SyntaxError, ValueError, RecursionError, OSError):
            continue
        for _ in ast.walk(tree):
            pass
    return time.perf_counter() - began


def build(folder: Path, warehouse: Path) -> tuple[Taken, dict[str, int]]:
    """What one build takes, and the rows of each table."""
    command = [
        str(HEADWATER),
        "build",
        str(folder),
        "--graph",
        "--json",
        "--quiet",
        "--warehouse",
        str(warehouse),
    ]
    taken, printed = run_command(command)
    return taken, {table["name"]: table["rows"] for table in json.loads(printed)["tables"]}


def main() -> None:
    """Prints one line per case."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    parsed = floor(folder)
    with tempfile.TemporaryDirectory() as place:
        for case in ("cold", "unchanged"):
            taken, rows = build(folder, Path(place) / "warehouse")
            counted = " ".join(f"{name}={rows[name]}" for name in ("files", "nodes", "edges"))
            ratio = taken.wall / parsed
            shares = f"floor={parsed:.1f}s headwater={taken.wall:.1f}s ratio={ratio:.2f} cpu={taken.cpu:.1f}s"
            print(f"{case} {counted} {shares}")


if __name__ == "__main__":
    main()
