"""The Java that Spark runs on: found through JAVA_HOME or the PATH, and new enough.

Not here: starting it as an engine, which is the gateway's work.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.errors import JavaNotFound, JavaTooOld

if TYPE_CHECKING:
    from collections.abc import Mapping

OLDEST_MAJOR = 17
_ANSWER_SECONDS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Java:
    """One Java on this machine; `path` is its executable, with links resolved."""

    path: Path
    version: str
    major: int
    vendor: str


def find_java(environ: Mapping[str, str] | None = None) -> Java:
    """The Java of JAVA_HOME or, where that is not set, the first on the PATH.

    Raises:
        JavaNotFound: there is none, JAVA_HOME has none, or it cannot be run.
        JavaTooOld: it is older than Spark can use.
    """
    path = _executable(os.environ if environ is None else environ)
    java = _from_release_file(path) or _from_version_output(path)
    if java.major < OLDEST_MAJOR:
        raise JavaTooOld(path=str(path), version=java.version)
    return java


def _executable(environ: Mapping[str, str]) -> Path:
    home = environ.get("JAVA_HOME")
    if home:
        found = shutil.which("java", path=str(Path(home) / "bin"))
        if found is None:
            raise JavaNotFound(looked=f"JAVA_HOME is {home}, which has no bin/java that can be run")
        return Path(found).resolve()
    found = shutil.which("java", path=environ.get("PATH", ""))
    if found is None:
        raise JavaNotFound
    return Path(found).resolve()


def _from_release_file(path: Path) -> Java | None:
    """What the `release` file of a Java home says; far faster than starting a JVM to ask."""
    try:
        content = (path.parent.parent / "release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    entries = dict(re.findall(r'^(\w+)="(.*)"\s*$', content, flags=re.MULTILINE))
    return _java(path, entries.get("JAVA_VERSION", ""), entries.get("IMPLEMENTOR", "unknown"))


def _from_version_output(path: Path) -> Java:
    try:
        answer = subprocess.run(
            [path, "-version"], capture_output=True, text=True, timeout=_ANSWER_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise JavaNotFound(looked=f"{path} cannot be run: {error}") from error
    lines = answer.stderr or answer.stdout
    quoted = re.search(r'version "([^"]+)"', lines)
    java = _java(path, quoted[1], "unknown") if quoted else None
    if java is None:
        raise JavaNotFound(looked=f"{path} does not answer -version as a Java does")
    return java


def _java(path: Path, version: str, vendor: str) -> Java | None:
    """The parsed version, or None where it is none: `17.0.15`, `21-ea` and the old `1.8.0_392`."""
    numbers = re.match(r"(?:1\.)?(\d+)", version)
    if numbers is None:
        return None
    return Java(path=path, version=version, major=int(numbers[1]), vendor=vendor)
