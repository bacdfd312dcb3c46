"""What a run has read of each table is in its plans, and so in the ledger."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import headwater
from headwater.artifacts import read_plans

if TYPE_CHECKING:
    from headwater.runtime import RunSession

MakeProject = Callable[..., Path]
SETTINGS = {"master": "local[2]", "driver_memory": "2g"}


def test_a_run_keeps_what_it_read_of_each_table(project_folder: MakeProject, session: RunSession) -> None:
    """Three files, of which a filter in a view between leaves one; of three columns two are needed."""
    folder = project_folder(
        sources_py="import headwater\n\nheadwater.source('t', path='lake/t')\n",
        some_sql="SELECT id, v, w FROM t WHERE id >= 20",
        kept_sql="-- headwater: table\nSELECT v, count(*) AS n FROM some GROUP BY v",
    )
    place = str(folder / "lake" / "t")
    for first in (0, 10, 20):
        rows = session.spark.range(first, first + 10, 1, 1).selectExpr("id", "id % 2 AS v", "'x' AS w")
        rows.write.format("delta").mode("append").save(place)
    project = headwater.open(folder, settings=SETTINGS)
    (planned,) = (each for each in project.plan().views if each.name == "kept")
    outcome = project.build()
    plans = read_plans(folder / ".headwater", outcome.run_id)
    (scan,) = plans["kept"].scans
    assert (scan.key, scan.kept_files, scan.candidate_files, scan.kept_rows) == ("scan::t::2", 1, 3, 10)
    assert scan.columns == ("id", "v")
    assert any("20" in each for each in scan.used_filters)
    assert planned.scans == (scan,)
    sql = "SELECT view_name, dataset, version, kept_files, candidate_files FROM hw_scans"
    with project.query(sql) as result:
        (row,) = result.read_all().to_pylist()
    assert list(row.values()) == ["kept", "t", 2, 1, 3]
