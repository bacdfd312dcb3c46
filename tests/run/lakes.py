"""A project over Delta tables that change, whose stored tables are compared with their views run plainly."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import headwater
from headwater.delta.content import digest_rows

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame

    from headwater.run import PlannedView, Project
    from headwater.runtime import SessionRuntime

TOML = """[project]
name = "small"

[profiles.local]
master = "local[2]"
driver_memory = "2g"
"""


def rows_of(frame: DataFrame) -> Counter[Any]:
    """All rows of a frame."""
    rows: list[Any] = frame.collect()
    return Counter(tuple(row) for row in rows)


@dataclass
class Lake:
    """A project over Delta tables that change: `check` compares its tables with their views, run plainly."""

    folder: Path
    runtime: SessionRuntime
    views: dict[str, str] = field(default_factory=dict[str, str])

    def copy(self, folder: Path) -> Lake:
        """The same project in another place, which can be changed by itself."""
        return replace(self, folder=shutil.copytree(self.folder, folder), views=dict(self.views))

    def sql(self, text: str) -> list[Any]:
        """Runs a statement; names in braces are tables of the lake."""
        places = {each: f"delta.`{self.folder / 'lake' / each}`" for each in ("a", "b")}
        with self.runtime.checkout() as session:
            return session.spark.sql(text.format(**places)).collect()

    def view(self, name: str, sql: str, **policy: Any) -> None:
        """Adds a stored view, or makes it another."""
        self.views[name] = sql
        (self.folder / "views" / f"{name}.sql").write_text(f"-- headwater: table\n{sql}\n")
        toml = self.folder / "headwater.toml"
        lines = [f"{key} = {json.dumps(value)}" for key, value in policy.items()]
        if lines:
            toml.write_text("\n".join([toml.read_text(), f"[tables.{name}]", *lines, ""]))

    @property
    def project(self) -> Project:
        """The project, opened anew."""
        return headwater.open(self.folder, profile="local")

    def build(self, **asked: Any) -> dict[str, Any]:
        """Builds it; what became of each table."""
        outcome = self.project.build(**asked)
        assert outcome.error is None, outcome.error
        return {each.name: each for each in outcome.tables}

    def plan(self, **asked: Any) -> dict[str, PlannedView]:
        """What a build would do about each view; not what it would read."""
        return {each.name: each for each in self.project.plan(scans=False, **asked).views}

    def modes(self) -> dict[str, tuple[str, str]]:
        """Mode and code of each view, as planned."""
        return {name: (each.mode, each.mode_code) for name, each in self.plan().items()}

    def rows(self, name: str) -> Counter[Any]:
        """The rows of a stored table."""
        place = self.folder / ".headwater" / "tables" / name
        with self.runtime.checkout() as session:
            return rows_of(session.spark.read.format("delta").load(str(place)))

    def check(self) -> None:
        """Every stored table has the rows of its view, and the digest that the newest run has recorded."""
        newest = self.project.run(self.project.runs()[0].run_id)
        digests = {each.name: each.digest for each in newest.tables}
        with self.runtime.checkout() as session:
            for name in ("a", "b"):
                rows = session.spark.read.format("delta").load(str(self.folder / "lake" / name))
                rows.createOrReplaceTempView(name)
            for name, sql in self.views.items():
                wanted = session.spark.sql(sql)
                wanted.createOrReplaceTempView(name)
                assert self.rows(name) == rows_of(wanted), name
                place = self.folder / ".headwater" / "tables" / name
                stored = session.spark.read.format("delta").load(str(place))
                assert digests[name] == digest_rows(stored).text, name


def make_lake(folder: Path, runtime: SessionRuntime, *, feeds: bool = True) -> Lake:
    """A project over two tables that have some rows, null and double keys among them."""
    (folder / "views").mkdir(parents=True)
    (folder / "headwater.toml").write_text(TOML)
    (folder / "views" / "sources.py").write_text(
        "import headwater\n\nheadwater.source('a', path='lake/a')\nheadwater.source('b', path='lake/b')\n"
    )
    made = Lake(folder, runtime)
    kept = f"TBLPROPERTIES ('delta.enableChangeDataFeed' = '{str(feeds).lower()}')"
    made.sql(f"CREATE TABLE {{a}} (k INT, j STRING, x INT) USING delta {kept}")
    made.sql(f"CREATE TABLE {{b}} (k INT, y INT) USING delta {kept}")
    made.sql("INSERT INTO {a} VALUES (1, 'u', 10), (2, 'u', 20), (2, 'v', 21), (3, 'v', 30), (NULL, 'n', 5)")
    made.sql("INSERT INTO {b} VALUES (1, 100), (2, 200), (2, 201), (NULL, 0)")
    return made
