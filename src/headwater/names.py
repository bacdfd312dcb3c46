"""Names of datasets, and a dataset at a version: the smallest values of the house."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.errors import InvalidName

if TYPE_CHECKING:
    from collections.abc import Iterable

# What makes a folder a project.
PROJECT_FILE = "headwater.toml"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,127}")
_RESERVED = re.compile(r"(?i)hw_.*|run_manifest")


def check_name(name: str) -> str:
    """The name itself, if a table can have it; Spark compares names without regard to case."""
    if not _NAME.fullmatch(name) or _RESERVED.fullmatch(name):
        raise InvalidName(name=name)
    return name


def same_name(name: str) -> str:
    """The form under which two names are one."""
    return name.casefold()


def near_name(name: str, known: Iterable[str]) -> str | None:
    """The known name that somebody who wrote `name` may have meant; None if none is near."""
    near = difflib.get_close_matches(name, list(known), n=1)
    return near[0] if near else None


def near_hint(name: str, known: Iterable[str]) -> str:
    """The beginning of a next step: the near name as a question, or nothing."""
    near = near_name(name, known)
    return f"Did you mean '{near}'? " if near else ""


@dataclass(frozen=True, slots=True, order=True, kw_only=True)
class SnapshotKey:
    """A table at a version: its one address, and the number."""

    canonical_uri: str
    version: int


@dataclass(frozen=True, slots=True, order=True, kw_only=True)
class TablePin:
    """A dataset as a run saw it: its version, and the digest that tells it from a table made anew.

    `digest` is the sha256 of the version's commit file for a Delta table, of the file list for a folder of
    files, and of the rows for a table in memory (both of these have version 0).
    """

    name: str
    uri: str
    version: int
    digest: str

    @property
    def key(self) -> SnapshotKey:
        """Which table at which version, by whatever name."""
        return SnapshotKey(canonical_uri=self.uri, version=self.version)
