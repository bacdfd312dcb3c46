"""Distributions by what lies on the disk: the one that a repository is, and those that are installed for it.

Names and versions come from metadata that installers leave, and from the repository's own project file;
nothing is imported and nothing of the repository is run. An environment inside of the repository counts
before the one that Headwater runs in. Not here: which of their modules code imports.
"""

from __future__ import annotations

import configparser
import re
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_ENVIRONMENTS = (".venv", "venv", "env")
_MARK = "pyvenv.cfg"
_METADATA = ".dist-info"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_VERSION = re.compile(r"[0-9][\w.+!-]*", re.ASCII)
_NO_MODULES = frozenset({"", "..", "__pycache__", "bin"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """What is installed: by a module's first name its distribution, and by a distribution its version."""

    of_modules: Mapping[str, str]
    versions: Mapping[str, str]


def distribution_of(root: Path) -> tuple[str, str] | None:
    """The name and version that a repository's project file gives it; `.` is a version that is not told."""
    try:
        found = _from_toml(root / "pyproject.toml") or _from_config(root / "setup.cfg")
    except (OSError, ValueError, AttributeError, RecursionError, configparser.Error):  # whatever is in it
        return None
    return found if found and _NAME.fullmatch(found[0]) else None


def installed_for(root: Path | None = None) -> Installed:
    """The distributions that code in a folder can import, or those of this Python."""
    of_modules: dict[str, str] = {}
    versions: dict[str, str] = {}
    for folder in _folders(root):
        for place in sorted(folder.glob(f"*{_METADATA}")):
            name, _, version = place.name.removesuffix(_METADATA).partition("-")
            if name in versions or not (_NAME.fullmatch(name) and _VERSION.fullmatch(version)):
                continue
            versions[name] = version
            for module in sorted(_modules(place)):
                of_modules.setdefault(module, name)
    return Installed(of_modules=of_modules, versions=versions)


def _from_toml(place: Path) -> tuple[str, str] | None:
    if not place.is_file():
        return None
    said = tomllib.loads(place.read_text("utf-8"))
    project: Any = said.get("project") or said.get("tool", {}).get("poetry") or {}
    name = project.get("name")
    return (str(name), _version(project.get("version"))) if name else None


def _from_config(place: Path) -> tuple[str, str] | None:
    if not place.is_file():
        return None
    said = configparser.ConfigParser(interpolation=None)
    said.read_string(place.read_text("utf-8"))
    name = said.get("metadata", "name", fallback="")
    return (name, _version(said.get("metadata", "version", fallback=None))) if name else None


def _version(said: object) -> str:
    """The version, if it is written there; `attr: x` and the like say only where it is."""
    text = str(said) if isinstance(said, str | int | float) else ""
    return text if _VERSION.fullmatch(text) else "."


def _folders(root: Path | None) -> Iterator[Path]:
    """Where distributions lie: those of an environment in the repository, then those of this Python."""
    for name in _ENVIRONMENTS if root is not None else ():
        environment = cast("Path", root) / name
        if (environment / _MARK).is_file():
            yield from sorted(environment.glob("lib/python*/site-packages"))
    for each in sys.path:
        folder = Path(each)
        if each and folder.is_dir():
            yield folder


def _modules(place: Path) -> set[str]:
    """The first names of the modules that a distribution brings."""
    listed = place / "top_level.txt"
    try:
        if listed.is_file():
            return set(listed.read_text("utf-8").split())
        lines = (place / "RECORD").read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return set()
    tops = {line.partition(",")[0].partition("/")[0] for line in lines}
    return {top.partition(".")[0] for top in tops if top not in _NO_MODULES and not top.endswith(_METADATA)}
