"""The folder of a project's tables and runs: where each thing is, and whether it can be written.

Not here: what is written there.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from headwater.errors import WarehouseNotWritable


@dataclass(frozen=True, slots=True)
class Warehouse:
    """`.headwater`: tables, ledger, runs, scratch; it ignores itself in git."""

    root: Path

    def table_path(self, name: str) -> Path:
        """Where a stored table lives."""
        return self.root / "tables" / name

    @property
    def ledger_path(self) -> Path:
        """Where the ledger's table lives."""
        return self.root / "ledger" / "events"

    @property
    def staging_path(self) -> Path:
        """Where rows lie for as long as a run or a replay needs them."""
        return self.root / "staging"

    def check_writable(self) -> None:
        """Raises WarehouseNotWritable before any work is done; leaves nothing behind."""
        place = next(folder for folder in (self.root, *self.root.parents) if folder.exists())
        inside = (self.root / "tables", self.root / "runs", self.root / "ledger")
        places = [place, *(each for each in inside if each.exists())]
        for folder in places:
            try:
                Path(tempfile.mkdtemp(dir=folder, prefix=".headwater-")).rmdir()
            except OSError as error:
                raise WarehouseNotWritable(
                    path=str(self.root), detail=error.strerror or str(error)
                ) from error

    def prepare(self) -> None:
        """Makes the folder and what belongs in it."""
        marker = self.root / ".gitignore"
        try:
            (self.root / "tables").mkdir(parents=True, exist_ok=True)
            (self.root / "runs").mkdir(exist_ok=True)
            if not marker.exists():
                marker.write_text("*\n", "utf-8")
        except OSError as error:
            raise WarehouseNotWritable(path=str(self.root), detail=error.strerror or str(error)) from error
