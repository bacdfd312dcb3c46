"""The folder of a project's tables and runs: where each thing is, and whether it can be written.

Not here: what is written there.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.errors import WarehouseNotWritable

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Warehouse:
    """`.headwater`: tables, ledger, runs, scratch; it ignores itself in git."""

    root: Path

    def table_path(self, name: str) -> Path:
        """Where a stored table lives."""
        return self.root / "tables" / name

    def prepare(self) -> None:
        """Makes the folder, or raises WarehouseNotWritable before any work is done."""
        marker = self.root / ".gitignore"
        try:
            (self.root / "tables").mkdir(parents=True, exist_ok=True)
            (self.root / "runs").mkdir(exist_ok=True)
            if not marker.exists():
                marker.write_text("*\n", "utf-8")
        except OSError as error:
            raise WarehouseNotWritable(path=str(self.root), detail=error.strerror or str(error)) from error
        for folder in (self.root, self.root / "tables", self.root / "runs"):
            if not os.access(folder, os.W_OK | os.X_OK):
                raise WarehouseNotWritable(path=str(folder), detail="no permission")
