"""A table under upkeep: how an operation is asked for, how time passes, and what its holders see."""

from __future__ import annotations

import json
import os
import re
import shutil
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest

from headwater.clock import SystemClock
from headwater.delta import (
    ChangePin,
    Guard,
    Hold,
    UpkeepNote,
    UpkeepTask,
    compute_content,
    pin_version,
    read_changes,
    read_pinned,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from tests.delta.conftest import Table

    from headwater.delta import ContentDigest, Operation
    from headwater.names import TablePin

HOUR = 3600
DAY = 24 * HOUR
_VERSION = re.compile(r"\.?(\d{20})\..*")


@dataclass
class Keep:
    """A table of a test, and everything that upkeep asks about it."""

    table: Table
    shelf: Path

    def task(
        self,
        operation: Operation,
        *,
        holds: Iterable[Hold] = (),
        spare: bool = False,
        forced: bool = False,
        dry_run: bool = False,
    ) -> UpkeepTask:
        note = UpkeepNote(operation=operation, upkeep_id="u1", asked_by="ada", reason="it is due")
        return UpkeepTask(
            session=self.table.session,
            name="t",
            uri=self.table.uri,
            note=note,
            now_ms=int(SystemClock().now().timestamp() * 1000),
            guard=Guard(holds=tuple(holds), spare=spare, forced=forced),
            dry_run=dry_run,
        )

    def pin(self, version: int | None = None) -> TablePin:
        return pin_version("t", self.table.uri, version=version)

    def hold(self, version: int, start: int | None = None, *, holders: tuple[str, ...] = ("run",)) -> Hold:
        return Hold(pin=self.pin(version), starting_version=start, holders=holders)

    def content(self, version: int | None = None) -> ContentDigest:
        return compute_content(self.table.session, self.pin(version))

    def seen(self, hold: Hold) -> tuple[list[Any], list[Any]]:
        """What somebody who holds it reads: rows, and changes."""
        session = self.table.session
        rows = read_pinned(session, hold.pin).collect()
        changes: list[Any] = []
        if hold.starting_version is not None:
            window = ChangePin(pin=hold.pin, starting_version=hold.starting_version)
            changes = read_changes(session, window).collect()
        return sorted(rows, key=str), sorted(changes, key=str)

    def files(self) -> set[str]:
        """The files that lie in the table's folder, without its log."""
        found = (each for each in self.table.path.rglob("*") if each.is_file())
        names = {each.relative_to(self.table.path).as_posix() for each in found}
        return {each for each in names if not each.startswith(("_delta_log", "_headwater", "."))} - {
            each for each in names if each.rpartition("/")[2].startswith(".")
        }

    def log(self) -> list[str]:
        """The names in the log's folder that belong to versions, without checksums."""
        names = sorted(each.name for each in (self.table.path / "_delta_log").iterdir())
        return [each for each in names if _VERSION.fullmatch(each) and not each.endswith(".crc")]

    def commits(self) -> list[int]:
        """The versions whose commits lie in the log."""
        return [int(each[:20]) for each in self.log() if re.fullmatch(r"\d{20}\.json", each)]

    def age(self, days: float, versions: Sequence[int] | None = None) -> None:
        """Lets what the log has of versions be so many days old, each a minute after the one before."""
        now = SystemClock().now().timestamp()
        for each in sorted((self.table.path / "_delta_log").iterdir()):
            match = _VERSION.fullmatch(each.name)
            if match and (versions is None or int(match[1]) in versions):
                time = now - days * DAY + int(match[1]) * 60
                os.utime(each, (time, time))

    def age_files(self, hours: float) -> None:
        """Lets all data files be so many hours old, and as long replaced; the log is written anew."""
        then = SystemClock().now().timestamp() - hours * HOUR
        for each in self.files():
            os.utime(self.table.path / each, (then, then))
        for each in sorted((self.table.path / "_delta_log").glob("*.json")):
            actions = [json.loads(line) for line in each.read_text().splitlines()]
            for action in actions:
                if "remove" in action:
                    action["remove"]["deletionTimestamp"] = int(then * 1000)
            each.write_text("".join(f"{json.dumps(action)}\n" for action in actions))
            each.with_name(f".{each.name}.crc").unlink(missing_ok=True)
        self.age(hours / 24)

    def start(self, name: str, *statements: str, hours: float | None = None) -> Keep:
        """Lets the table be what statements make of it, on the first demand; later ones copy it."""
        made = self.shelf / name
        if not made.exists():
            first = Keep(replace(self.table, path=made), self.shelf)
            for each in statements:
                first.table.sql(each)
            if hours is not None:
                first.age_files(hours)
        shutil.copytree(made, self.table.path)
        return self

    def lived(self) -> Keep:
        """A table with a past of every kind: versions 0 to 5, files replaced 150 hours ago, kept for 100."""
        return self.start("lived", *LIVED, hours=150)


# Names of partitions that are written otherwise in a log, in a path and on disk.
_CREATED = (
    "CREATE TABLE {t} USING delta PARTITIONED BY (g) TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true', "
    "'delta.enableDeletionVectors' = 'true', 'delta.deletedFileRetentionDuration' = 'interval 100 hours') "
    "AS SELECT /*+ REPARTITION(2) */ id, element_at(array('a b', 'ü 50%:x', NULL), int(id % 3 + 1)) AS g "
    "FROM range(24)"
)
LIVED = (
    _CREATED,
    "DELETE FROM {t} WHERE id = 3",
    "UPDATE {t} SET id = id + 100 WHERE id = 4",
    "INSERT INTO {t} VALUES (50, 'a b'), (51, 'ü 50%:x')",
    "DELETE FROM {t} WHERE g IS NULL",
    "OPTIMIZE {t}",
)


@pytest.fixture(scope="session")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where tables lie that tests copy."""
    return tmp_path_factory.mktemp("shelf")


@pytest.fixture
def keep(table: Table, shelf: Path) -> Keep:
    """A table that is not there yet."""
    return Keep(table, shelf)
