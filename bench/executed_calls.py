"""Whether the graph has the calls that really happen: traced test suites beside what is resolved.

python bench/executed_calls.py [PACKAGE ...]

Without packages they are those from which the table of confidences comes: click, flask and jinja2. pip brings
the source of each, its tests run under a tracer in an environment of their own, and the graph is that of all
Python files in the source. Of edges between the package's own functions that were executed it prints the
share that is among all candidates (`found`) and among those that count as called (`exported`); of calls that
were executed, the share whose winner was called (`winners`). Then comes the table that resolve/confidence.py
has: for each way to find a candidate, and for how many there are, the share of candidates that were called.
A folder with a package of the same name in it is measured as it is, with the Python that runs this.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from call_truth import Figures, compared, graph_of, read_file, seen_calls
from measuring import verdict

from headwater.cpg.resolve.confidence import confidence_of

# What the tests of a package need beside it; the newest pytest has taken away what flask's tests ask for.
PACKAGES = {
    "click": ("pytest<9",),
    "flask": ("pytest<9", "asgiref", "python-dotenv"),
    "jinja2": ("pytest<9", "trio"),
    "itsdangerous": ("pytest<9", "freezegun"),
}
MEASURED = ("click", "flask", "jinja2")
LEAST_FOUND = 0.85
TRACER = Path(__file__).parent / "call_tracer.py"
# How many candidates stand for a group of the table.
_SAMPLES = {"1": 1, "2-3": 2, "4-8": 4, "9-16": 9, "17-": 17}


def fetch_source(package: str, place: Path) -> Path:
    """The source of a package with its tests, in a folder of its own."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
    subprocess.run([*pip, "--dest", str(place), package], check=True)
    (archive,) = place.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(place, filter="data")
    (folder,) = (each for each in place.iterdir() if each.is_dir())
    return folder


def make_environment(package: str, place: Path) -> Path:
    """The Python of a new environment with all that the tests of a package need."""
    subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    python = place / "bin" / "python"
    wanted = [package, *PACKAGES.get(package, ("pytest",))]
    subprocess.run([str(python), "-m", "pip", "install", "--quiet", *wanted], check=True)
    return python


def trace(python: str, folder: Path, package: str, out: Path) -> str:
    """Runs the tests of a source folder under the tracer; the last line that pytest prints."""
    source = next(each for each in (folder / "src", folder) if (each / package).is_dir())
    command = [python, str(TRACER), str(out), str(source / package), "-q", "-p", "no:cacheprovider", "tests"]
    environment = {"PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1", "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if not out.exists():
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}\n{done.stderr}")
    return (done.stdout.strip().splitlines() or ["nothing ran"])[-1].strip("= ")


def measure(folder: Path, trace_file: Path) -> Figures:
    """What comes of a trace of a source folder."""
    files = {
        path: read
        for path, read in (
            (str(each.relative_to(folder)), read_file(str(each.relative_to(folder)), each.read_bytes()))
            for each in sorted(folder.rglob("*.py"))
        )
        if read is not None
    }
    seen = seen_calls(json.loads(trace_file.read_text()), folder, files)
    return compared(seen, graph_of(list(files.values())), files)


def show(name: str, figures: Figures, *words: str) -> None:
    """Prints one line of figures."""
    found = figures.found / max(figures.edges, 1)
    resolvers = ",".join(f"{each}:{count}" for each, count in sorted(figures.by_resolver.items()))
    parts = (
        f"{name} edges={figures.edges} found={found:.3f} bar={LEAST_FOUND} {verdict(found >= LEAST_FOUND)}",
        f"exported={figures.exported / max(figures.edges, 1):.3f} by={resolvers}",
        f"winners={figures.winners_called / max(figures.winners, 1):.3f} of {figures.winners}",
    )
    print(" ".join((*parts, *words)), flush=True)


def show_table(figures: Figures) -> None:
    """Prints for each group of candidates the share that was called, and what the table says."""
    for (resolver, count, is_wide, is_beside_own), (called, all_) in sorted(figures.groups.items()):
        said = confidence_of(resolver, _SAMPLES[count], is_wide=is_wide, is_beside_own=is_beside_own)
        marks = f"{' wide' if is_wide else ''}{' beside-own' if is_beside_own else ''}"
        print(f"confidence {resolver} {count}{marks} called={called / all_:.2f} of {all_} table={said:.2f}")


def main() -> None:
    """Measures packages one by one, and all of them."""
    whole = Figures()
    for package in sys.argv[1:] or MEASURED:
        with tempfile.TemporaryDirectory() as name:
            place = Path(name).resolve()
            given = Path(package)
            folder = given.resolve() if given.is_dir() else fetch_source(package, place)
            is_own = given.is_dir()
            python = sys.executable if is_own else str(make_environment(package, place / "environment"))
            ran = trace(python, folder, given.name, place / "trace.json")
            figures = measure(folder, place / "trace.json")
        show(given.name, figures, f"tests={ran!r}")
        whole.add(figures)
    show("all", whole)
    show_table(whole)


if __name__ == "__main__":
    main()
