from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.delta.warming import work_with

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.runtime import RunSession


def test_the_representative_work_can_be_done(session: RunSession, tmp_path: Path) -> None:
    work_with(session.spark, tmp_path)
    totals = session.spark.read.format("delta").load(str(tmp_path / "totals")).collect()
    assert sorted((row["name"], row["total"]) for row in totals) == [("a", 2.5), ("b", 1.5)]
    assert session.spark.table("orders").columns == ["id", "name", "price"]
