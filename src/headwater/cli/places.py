"""Which table a command of `headwater table` is about, and where its name is looked up.

Not here: what is done to the table.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headwater.cli.options import Json, ProjectFolder, flags_of
from headwater.cli.sharing import HOW, WHERE, Command, with_flags
from headwater.errors import ProjectNotFound, WrongUsage
from headwater.opening import open_project
from headwater.pipeline import PROJECT_FILE
from headwater.run import Project, TableRequest, UpkeepRequest, is_table_path, locate_table
from headwater.runtime import RuntimeProfile, resolve_profile


@dataclass(frozen=True, slots=True)
class TablePlace:
    """Where a table's name is looked up, and under which profile: flags of all `headwater table` commands."""

    project: Path | None
    graph: bool
    warehouse: Path | None
    profile: str | None
    flags: Mapping[str, str]

    def request(self, command: str, target: str, version: int | None, timestamp: str | None) -> TableRequest:
        """The table that is meant, and its version."""
        if version is not None and timestamp is not None:
            detail = "--version and --timestamp ask for two versions"
            raise WrongUsage(detail=detail, command=f"headwater table {command}")
        opened = self._opened(target)
        profile = opened.profile if opened else self._profile_of_none()
        located = locate_table(target, opened, storage=profile.storage)
        return TableRequest(table=located, profile=profile, version=version, timestamp=timestamp)

    def upkeep(
        self,
        target: str,
        *,
        dry_run: bool = False,
        reason: str = "",
        force_unsafe: str | None = None,
        keep_pinned: bool = False,
    ) -> UpkeepRequest:
        """An operation on the table that is meant."""
        if force_unsafe is not None and not force_unsafe.strip():
            raise WrongUsage(detail="--force-unsafe needs a reason", command="headwater table")
        opened = self._opened(target)
        profile = opened.profile if opened else self._profile_of_none()
        return UpkeepRequest(
            table=locate_table(target, opened, storage=profile.storage),
            profile=profile,
            project=opened,
            reason=reason,
            force_unsafe=force_unsafe,
            keep_pinned=keep_pinned,
            dry_run=dry_run,
        )

    def opened_project(self) -> Project:
        """The project that is meant; there must be one."""
        return open_project(
            self.project or Path(),
            graph=self.graph,
            warehouse=self.warehouse,
            profile=self.profile,
            settings=self.flags,
        )

    def _opened(self, target: str) -> Project | None:
        if self.project is None and not self._may_be_asked(target):
            return None
        try:
            return self.opened_project()
        except ProjectNotFound:
            if self.project is not None:
                raise
            return None  # a table need not belong to a project

    def _may_be_asked(self, target: str) -> bool:
        """Whether the folder one is in can matter; to look for Python files in a whole lake takes long."""
        if Path(PROJECT_FILE).exists():
            return True
        has_runs = (
            Path(".headwater", "runs").is_dir() or self.warehouse or "HEADWATER_WAREHOUSE" in os.environ
        )
        return bool(has_runs) and not is_table_path(target)

    def _profile_of_none(self) -> RuntimeProfile:
        return resolve_profile(profiles={}, environ=os.environ, chosen=self.profile, flags=self.flags)


def over_table(command: Command) -> Command:
    """A command over one table, of a project or of none, with the flags of all such commands."""

    def place(given: dict[str, Any]) -> TablePlace:
        flags = flags_of(given.pop("master"), given.pop("settings"))
        names = ("project", "graph", "warehouse", "profile")
        return TablePlace(**{name: given.pop(name) for name in names}, flags=flags)

    flags = {"json": (Json, False), "project": (ProjectFolder, None), **WHERE, **HOW}
    return with_flags(command, flags, place)
