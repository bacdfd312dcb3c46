"""The code graph of a repository from nothing, after one changed file, and with nothing changed.

    python bench/graph.py [FOLDER]
    python bench/graph.py --copies 1,2,4,8 [FOLDER]

Without a folder it is Django's source, which pip brings; of that, copies are made of its package without the
tests. Each case is the real command in a process of its own; `cpu` is that of the command, its JVM and its
Python workers, `memory` the most that all of them had at a time. The floor is one process that parses every
file with `ast` and visits every node. Copies lie side by side in one repository, which is built from nothing;
`each` is what each copy costs over the first case.
"""

from __future__ import annotations

import argparse
import ast
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import warnings
from pathlib import Path

from measuring import Taken, run_command, verdict

from headwater.runtime import RuntimeProfile, prepare_engine

HEADWATER = Path(sys.executable).parent / "headwater"
DJANGO = "django==5.1"
# Bars for Django: CPU seconds and bytes from nothing; for one file, a part of the time; and seconds.
MOST_CPU, MOST_MEMORY, MOST_PART, MOST_UNCHANGED = 200.0, 4 << 30, 0.3, 1.5
# CPU seconds for each of many copies, over those for each of few, that still count as linear.
LINEAR = 1.15
# A larger file than this is no usual one to change.
USUAL_BYTES = 100_000


def fetch_django(place: Path) -> Path:
    """Django's source in a folder of its own."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
    subprocess.run([*pip, "--dest", str(place), DJANGO], check=True)
    (archive,) = place.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(place, filter="data")
    (folder,) = (each for each in place.iterdir() if each.is_dir())
    return folder


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


def build(folder: Path, warehouse: Path) -> tuple[Taken, dict[str, dict[str, int]]]:
    """What one build takes, and the numbers of the graph; none if nothing was built."""
    where = ["--graph", "--warehouse", str(warehouse)]
    taken, printed = run_command([str(HEADWATER), "build", str(folder), "--json", "--quiet", *where])
    return taken, json.loads(printed).get("graph", {})


def size_of(folder: Path, pattern: str = "*") -> int:
    """The bytes of all files below a folder."""
    return sum(each.stat().st_size for each in folder.rglob(pattern) if each.is_file())


def show(case: str, taken: Taken, *words: str) -> None:
    """Prints one line of figures."""
    memory = taken.memory / (1 << 30)
    print(case, f"wall={taken.wall:.1f}s cpu={taken.cpu:.1f}s memory={memory:.1f}GB", *words, flush=True)


def measure(folder: Path, warehouse: Path) -> None:
    """Builds three times, and prints a line for each."""
    source, parsed = size_of(folder, "*.py"), floor(folder)
    cold, graph = build(folder, warehouse)
    files, nodes, edges = (sum(graph[each].values()) for each in ("files", "nodes", "edges"))
    print(f"graph files={files} nodes={nodes} edges={edges}")
    bars = (cold.cpu <= MOST_CPU, cold.memory <= MOST_MEMORY)
    stored = size_of(warehouse / "tables") / source
    shares = f"floor={parsed:.1f}s files_per_s={files / cold.wall:.0f} stored_per_byte={stored:.1f}"
    show("cold", cold, shares, f"bars={'/'.join(map(verdict, bars))}")
    sizes = {each: each.stat().st_size for each in sorted(folder.rglob("*.py"))}
    largest = max((each for each in sizes if sizes[each] < USUAL_BYTES), key=lambda each: sizes[each])
    largest.write_bytes(largest.read_bytes() + b"\n\ndef added():\n    return 1\n")
    changed, _ = build(folder, warehouse)
    part = changed.wall / cold.wall
    show("changed", changed, f"part={part:.2f} bar={verdict(part <= MOST_PART)}")
    unchanged, _ = build(folder, warehouse)
    show("unchanged", unchanged, f"bar={verdict(unchanged.wall <= MOST_UNCHANGED)}")


def grow(folder: Path, place: Path, numbers: list[int]) -> None:
    """Builds repositories of more and more copies of a folder, and prints a line for each."""
    built: list[tuple[int, float]] = []
    least = 0.0
    for number in numbers:
        repository = place / f"of_{number}"
        for each in range(number):
            shutil.copytree(folder, repository / f"copy_{each}", symlinks=True)
        taken, graph = build(repository, place / f"warehouse_{number}")
        words = [f"files={sum(graph['files'].values())}"]
        if built:
            each = (taken.cpu - built[0][1]) / (number - built[0][0])
            least = least or each
            words.append(f"each={each:.1f}s bar={verdict(each <= least * LINEAR)}")
        show(f"copies={number}", taken, *words)
        built.append((number, taken.cpu))


def main() -> None:
    """Measures a copy, so that a file can be changed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--copies", type=lambda text: [int(each) for each in text.split(",")])
    asked = parser.parse_args()
    prepare_engine(RuntimeProfile(), archive=True)  # else it is made beside what is measured
    hidden = shutil.ignore_patterns(".*", "build")
    with tempfile.TemporaryDirectory() as place:
        given = asked.folder.resolve() if asked.folder else fetch_django(Path(place))
        if asked.copies:
            grow(given if asked.folder else given / "django", Path(place), asked.copies)
            return
        folder = shutil.copytree(given, Path(place) / "copy" / given.name, ignore=hidden, symlinks=True)
        measure(folder, Path(place) / "warehouse")


if __name__ == "__main__":
    main()
