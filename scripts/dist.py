"""Builds wheel and sdist, then proves that the wheel works where nothing else of this tree is.

    .venv/bin/python scripts/dist.py

An empty environment outside the tree gets the locked requirements by their hashes and the wheel, and builds
a copy of examples/orders twice: the first build must be done, the second must find nothing to do.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path
from typing import cast

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
EXAMPLE = ROOT / "examples" / "orders"
SHOW_VERSIONS = (
    "import headwater; found = headwater.dependency_manifest(); "
    "print(f'  headwater {found.headwater}, python {found.python}, java {found.java} ({found.java_vendor}), '"
    "f'scala {found.scala}, spark {found.spark}, delta {found.delta}, {len(found.jars)} jars')"
)
# What must be inside, by the beginning of a path; a folder ends in a slash.
IN_WHEEL = (
    "headwater/py.typed",
    "headwater/runtime/conf/log4j2.properties",
    "headwater/cli/template/headwater.toml",
    "headwater/cli/template/README.md",
    "headwater/cli/template/views/",
)
IN_SDIST = (
    "src/headwater/",
    "tests/house/",
    "examples/orders/headwater.toml",
    "examples/orders/views/",
    "docs/",
    "scripts/dist.py",
    "Makefile",
    "README.md",
    "requirements.lock",
    "requirements-dev.lock",
)
NEVER_INSIDE = ("__pycache__", ".headwater", ".venv", ".hypothesis", ".pytest_cache", ".ruff_cache")


class Failed(Exception):
    """A step did not go as it must."""


def main() -> int:
    """Every step in order; 1 at the first that fails."""
    start = time.monotonic()
    try:
        wheel, sdist = build_artifacts()
        check_contents(wheel, sdist)
        with tempfile.TemporaryDirectory(prefix="headwater-dist-") as folder:
            python = make_environment(Path(folder), wheel)
            build_example(Path(folder), python)
    except Failed as error:
        print(f"FAILED: {error}", file=sys.stderr)
        return 1
    sizes = ", ".join(f"{path.name} ({path.stat().st_size / 1024:.0f} KiB)" for path in (wheel, sdist))
    print(f"dist in {time.monotonic() - start:.0f} s: {sizes}")
    return 0


def build_artifacts() -> tuple[Path, Path]:
    """The wheel and the sdist, made anew in dist/."""
    say("building wheel and sdist")
    shutil.rmtree(DIST, ignore_errors=True)
    run([sys.executable, "-m", "build", "--no-isolation", "--outdir", str(DIST), str(ROOT)], cwd=ROOT)
    wheels, sdists = sorted(DIST.glob("*.whl")), sorted(DIST.glob("*.tar.gz"))
    if len(wheels) != 1 or len(sdists) != 1:
        raise Failed(f"expected one wheel and one sdist in {DIST.name}/, found {[*wheels, *sdists]}")
    return wheels[0], sdists[0]


def check_contents(wheel: Path, sdist: Path) -> None:
    """The wheel has the data files, the sdist what one needs to work on it, and neither has leavings."""
    say("looking into both")
    with zipfile.ZipFile(wheel) as archive:
        check_names(wheel.name, archive.namelist(), IN_WHEEL)
    with tarfile.open(sdist) as archive:
        names = [name.partition("/")[2] for name in archive.getnames()]
    check_names(sdist.name, names, IN_SDIST)


def check_names(artifact: str, names: list[str], wanted: tuple[str, ...]) -> None:
    """Raises Failed for what is missing and for what must not be there."""
    missing = [each for each in wanted if not any(name.startswith(each) for name in names)]
    leavings = sorted(name for name in names if any(part in NEVER_INSIDE for part in name.split("/")))
    if missing:
        raise Failed(f"{artifact} has no {', '.join(missing)}")
    if leavings:
        raise Failed(f"{artifact} carries {', '.join(leavings[:5])}")
    print(f"  {artifact}: {len(names)} entries")


def make_environment(folder: Path, wheel: Path) -> Path:
    """The Python of a new environment that holds the locked requirements and the wheel, and nothing else."""
    say("making an empty environment")
    run([sys.executable, "-m", "venv", str(folder / "venv")], cwd=folder)
    python = folder / "venv" / "bin" / "python"
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "--quiet"]
    say("installing requirements.lock by its hashes")
    run(
        [*pip, "install", "--no-deps", "--require-hashes", "--requirement", str(ROOT / "requirements.lock")],
        cwd=folder,
    )
    say("installing the wheel")
    run([*pip, "install", "--no-deps", "--no-index", str(wheel)], cwd=folder)
    run([str(python), "-m", "pip", "--disable-pip-version-check", "check"], cwd=folder)
    return python


def build_example(folder: Path, python: Path) -> None:
    """The example builds there, and a second build finds nothing to do."""
    project = folder / "orders"
    shutil.copytree(EXAMPLE, project, ignore=shutil.ignore_patterns(*NEVER_INSIDE))
    command = [str(python.parent / "headwater"), "build", str(project), "--json"]
    for expected in ("done", "unchanged"):
        say(f"building examples/orders; it must be {expected}")
        document = cast("dict[str, object]", json.loads(run(command, cwd=folder)))
        if document.get("status") != expected:
            raise Failed(f"the build says {document.get('status')!r}, not {expected!r}")
        tables = cast("list[dict[str, object]]", document["tables"])
        print("  " + ", ".join(f"{each['name']} {each['action']} {each['rows']}" for each in tables))
    say("versions in that environment")
    print(run([str(python), "-c", SHOW_VERSIONS], cwd=folder).rstrip())


def run(command: list[str], *, cwd: Path) -> str:
    """What a command prints on stdout; raises Failed, with all that it said, unless it exits with 0."""
    outside = {key: os.environ[key] for key in sorted(os.environ) if not _is_ours(key)}
    done = subprocess.run(command, cwd=cwd, env=outside, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        words = " ".join(Path(word).name for word in command[:4])
        raise Failed(f"{words} exited with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def _is_ours(variable: str) -> bool:
    """What would leak this tree, or a developer's settings, into the new environment."""
    kept = {"HEADWATER_HOME", "HEADWATER_ARCHIVE"}
    leaks = variable.startswith("HEADWATER_") or variable in {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"}
    return leaks and variable not in kept


def say(step: str) -> None:
    """One line of progress, at once."""
    print(f"== {step}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
