"""How Spark would run a view: the same text in every folder; and what its operators count when it runs."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

import headwater
from headwater.errors import NothingToRead, NotPlanned

if TYPE_CHECKING:
    from pathlib import Path

    from syrupy.assertion import SnapshotAssertion

    from headwater.run import Explanation
    from headwater.runtime import SessionRuntime

SETTINGS = {"master": "local[2]", "driver_memory": "2g"}
SOURCES = """
import headwater

headwater.source("orders", path="lake/orders")
headwater.source("feed", path="lake/orders", changes=headwater.delta.CdfWindow(starting_version=0))
headwater.source("rates", rows=[("EUR", 1), ("USD", 2)], schema="currency STRING, per_unit INT")
headwater.source("people", path="data/people.csv", format="csv", schema="id BIGINT, name STRING",
                 options={"header": "true"})

@headwater.source
def numbers(spark):
    return spark.range(4)

@headwater.view
def paid(orders):
    return orders.where("id >= 5")
"""
SQL = {
    "facts": "-- headwater: table\nSELECT p.id, n.name, per_unit FROM paid p JOIN rates USING (currency) "
    "JOIN people n ON n.id = p.id",
    "names": "-- headwater: table\nSELECT name, count(*) AS n FROM facts GROUP BY name",
    "moves": "SELECT _change_type, id FROM feed WHERE id > 3",
    "counted": "SELECT count(DISTINCT id) AS n FROM numbers",
}


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory, runtime: SessionRuntime) -> Path:
    """A project over a Delta table of two files, a file of text, and rows in memory, that nobody built."""
    folder = tmp_path_factory.mktemp("explained") / "project"
    (folder / "views").mkdir(parents=True)
    (folder / "data").mkdir()
    (folder / "headwater.toml").write_text('[project]\nname = "small"\n')
    (folder / "views" / "all.py").write_text(SOURCES)
    for name, text in SQL.items():
        (folder / "views" / f"{name}.sql").write_text(text)
    (folder / "data" / "people.csv").write_text("id,name\n" + "".join(f"{n},n{n % 2}\n" for n in range(10)))
    with runtime.checkout() as session:
        rows = session.spark.range(0, 10, 1, 2).selectExpr("id", "if(id < 8, 'EUR', 'USD') AS currency")
        rows.write.format("delta").option("delta.enableChangeDataFeed", "true").save(
            str(folder / "lake" / "orders")
        )
    return folder


@pytest.fixture(scope="module")
def built(fresh: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = shutil.copytree(fresh, tmp_path_factory.mktemp("built") / "project")
    (folder / "views" / "counted.sql").unlink()
    assert opened(folder).build().status == "done"
    return folder


def opened(folder: Path) -> headwater.Project:
    return headwater.open(folder, settings=SETTINGS)


def text_of(explained: Explanation) -> str:
    bundle = explained.bundle
    assert bundle.optimised is not None
    assert bundle.physical is not None
    return f"{bundle.analysed.text}\n{bundle.optimised.text}\n{bundle.physical.text}"


def test_the_plans_are_those_on_record_and_the_same_in_every_folder(
    built: Path, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    other = shutil.copytree(built, tmp_path / "another place")
    found = {name: text_of(opened(built).explain(name)) for name in ("facts", "Names", "moves")}
    assert found == {name: text_of(opened(other).explain(name)) for name in found}
    assert "elsewhere" not in "".join(found.values())
    assert "\n".join(found.values()) == snapshot


def test_a_view_over_tables_that_are_not_there_yet_is_explained_and_not_run(fresh: Path) -> None:
    explained = opened(fresh).explain("names")
    assert (explained.metrics, explained.bundle.view) == ((), "names")
    assert "facts" in explained.bundle.analysed.text
    with pytest.raises(NothingToRead) as caught:
        opened(fresh).explain("names", analyze=True)
    assert (caught.value.name, caught.value.reason) == ("facts", "new")
    assert caught.value.next_step.endswith(f"headwater build {fresh}")
    assert not (fresh / ".headwater").exists()


def test_rows_that_were_not_made_yet_are_not_counted_as_none(fresh: Path) -> None:
    with pytest.raises(NothingToRead) as caught:
        opened(fresh).explain("counted", analyze=True)
    assert (caught.value.name, caught.value.reason) == ("numbers", "it was not made yet")


def test_an_analysis_counts_rows_and_leaves_no_trace(built: Path) -> None:
    before = sorted(built.rglob("*"))
    explained = opened(built).explain("facts", analyze=True)
    assert sorted(built.rglob("*")) == before
    counts = {
        (each.operator.strip(), each.metrics["numOutputRows"])
        for each in explained.metrics
        if "numOutputRows" in each.metrics
    }
    # Five orders, of the one file that is left of two; five people, as the reader of text leaves out others.
    assert {("Scan parquet", 5), ("Scan csv", 5), ("LocalTableScan", 2)} <= counts
    assert explained.metrics[0].depth == 0


def test_a_table_that_is_not_up_to_date_is_not_analysed_over(built: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(built, tmp_path / "project")
    (folder / "views" / "facts.sql").write_text(SQL["facts"] + " WHERE p.id > 6")
    with pytest.raises(NothingToRead) as caught:
        opened(folder).explain("names", analyze=True)
    assert (caught.value.name, caught.value.reason) == ("facts", "changed plan")
    assert opened(folder).explain("facts", analyze=True).metrics


def test_only_a_view_can_be_explained(fresh: Path) -> None:
    for name, hint in (("fact", "Did you mean 'facts'?"), ("orders", "It has")):
        with pytest.raises(NotPlanned) as caught:
            opened(fresh).explain(name)
        assert caught.value.next_step.startswith(hint)
