"""A small project whose tables can be kept in order: two runs over a lake's table and its changes."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from lakes import TOML, Lake, make_lake
from seeds import Seeded, make_seeded

import headwater

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from headwater.runtime import SessionRuntime

VIEWS = """
import headwater

headwater.source("events", path="lake/events")
headwater.source("feed", path="lake/events", changes=headwater.delta.CdfWindow(starting_version=0))

@headwater.table
def totals(events):
    return events.groupBy("kind").count()

@headwater.table
def moves(feed):
    return feed.groupBy("_change_type").count()

@headwater.table
def kinds(totals):
    return totals.select("kind")
"""


@pytest.fixture(scope="session")
def kept_project(tmp_path_factory: pytest.TempPathFactory, runtime: SessionRuntime) -> Path:
    """The project after two runs; tests take a copy."""
    with runtime.checkout() as session:
        return make_project(tmp_path_factory.mktemp("kept") / "project", session.spark)


@pytest.fixture
def kept_folder(kept_project: Path, tmp_path: Path) -> Path:
    return shutil.copytree(kept_project, tmp_path / "project")


def make_project(folder: Path, spark: SparkSession) -> Path:
    """The project after two runs; between them a row was deleted and one changed."""
    (folder / "views").mkdir(parents=True)
    (folder / "headwater.toml").write_text(TOML)
    (folder / "views" / "all.py").write_text(VIEWS)
    lake = folder / "lake" / "events"
    spark.sql(
        f"CREATE TABLE delta.`{lake}` (id BIGINT, kind STRING) USING delta TBLPROPERTIES "
        "('delta.enableChangeDataFeed' = 'true', 'delta.enableDeletionVectors' = 'true')"
    )
    spark.sql(f"INSERT INTO delta.`{lake}` SELECT /*+ REPARTITION(2) */ id, 'a' FROM range(8)")
    assert headwater.open(folder, profile="local").build().status == "done"
    spark.sql(f"DELETE FROM delta.`{lake}` WHERE id = 3")
    spark.sql(f"UPDATE delta.`{lake}` SET kind = 'b' WHERE id = 5")
    assert headwater.open(folder, profile="local").build().status == "done"
    return folder


@pytest.fixture(scope="session")
def first_lake(tmp_path_factory: pytest.TempPathFactory, runtime: SessionRuntime) -> Lake:
    """Two tables, `a(k, j, x)` and `b(k, y)`, with change feeds; no views yet. Tests take a copy."""
    return make_lake(tmp_path_factory.mktemp("lake") / "project", runtime)


@pytest.fixture
def lake(first_lake: Lake, tmp_path: Path) -> Lake:
    return first_lake.copy(tmp_path / "lake-project")


@pytest.fixture(scope="session")
def seeded_once(tmp_path_factory: pytest.TempPathFactory, runtime: SessionRuntime) -> tuple[Path, str]:
    """The project of `seeds` after its first run, and that run's id; tests take a copy."""
    made = make_seeded(tmp_path_factory.mktemp("seeded") / "project", runtime)
    return made.folder, made.build()


@pytest.fixture
def first_run(seeded_once: tuple[Path, str]) -> str:
    """The id of the run that `seeded` has behind it."""
    return seeded_once[1]


@pytest.fixture
def seeded(seeded_once: tuple[Path, str], runtime: SessionRuntime, tmp_path: Path) -> Seeded:
    """The project of `seeds` after its first run, to be changed."""
    return Seeded(shutil.copytree(seeded_once[0], tmp_path / "project"), runtime)
