"""Replays of a project that was really built, after all kinds of things have happened to it since."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import headwater
from headwater.delta import read_head
from headwater.errors import NotRecorded, PinsGone, PlanDrift, RunNotFound, WarehouseNotWritable

if TYPE_CHECKING:
    from collections.abc import Generator

    from headwater.run import Progress, Project, ReplayedView, ReplayReport
    from headwater.runtime import SessionRuntime

SETTINGS = {"master": "local[2]", "driver_memory": "2g"}
TOML = """
[project]
name = "small"

[profiles.local]
master = "local[2]"
driver_memory = "2g"

[determinism.stamped]
clock = "allow"

[determinism.now_at]
clock = "allow"

[keys]
people = "id"
"""
SHARED = """
import headwater

RATES = {"a": 2, "b": 3}


@headwater.pure
def priced(kind):
    return RATES[kind]
"""
VIEWS = """
import headwater
import pricing
from pyspark.sql.types import LongType
from pyspark.sql.functions import udf

headwater.source("moods", rows=[(1, "glad"), (2, "sad")], schema="person BIGINT, mood STRING")
HEADER = {"header": "true"}
VISIT = "person BIGINT, n INT, kind STRING"
headwater.source("visits", path="visits", format="csv", schema=VISIT, options=HEADER)
headwater.source("towns", path="lake/towns")


@headwater.source
def numbers(spark):
    return spark.range(1, 4).selectExpr("id", "concat('p', id) AS name")


@headwater.view
def glad(numbers, moods):
    return numbers.join(moods, numbers.id == moods.person).where("mood = 'glad'").select("id", "name")


@headwater.table
def people(numbers, glad, towns):
    happy = numbers.join(glad.select("id", glad.name.alias("happy")), "id", "left")
    return happy.join(towns, "id").select("id", "name", "happy", "town")


@headwater.table(constraints={"seen": "n > 0"}, partition_by="person")
def totals(visits):
    return visits.groupBy("person").sum("n").withColumnRenamed("sum(n)", "n")


@headwater.table
def prices(visits):
    price = udf(pricing.priced, LongType())
    return visits.select("person", "n", price("kind").alias("price"))


@headwater.table
def shares(totals, people):
    joined = totals.join(people, totals.person == people.id)
    return joined.groupBy("town").agg({"n": "avg"}).withColumnRenamed("avg(n)", "share")


@headwater.view
def now_at(spark):
    return spark.sql("SELECT current_timestamp() AS at")
"""
STAMPED = "-- headwater: table\nSELECT at FROM now_at"
ORDER = ["people", "prices", "totals", "shares"]


@dataclass(frozen=True)
class Built:
    folder: Path
    run_id: str


@pytest.fixture(scope="module")
def built(runtime: SessionRuntime, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """A project with every kind of source and view, after its first build; a test takes a copy."""
    folder = tmp_path_factory.mktemp("built") / "project"
    for name in ("views", "visits", "lake"):
        (folder / name).mkdir(parents=True)
    (folder / "headwater.toml").write_text(TOML)
    (folder / "pricing.py").write_text(SHARED)
    (folder / "views" / "all.py").write_text(VIEWS)
    (folder / "views" / "stamped.sql").write_text(STAMPED)
    (folder / "visits" / "one.csv").write_text("person,n,kind\n1,3,a\n2,4,b\n")
    (folder / "visits" / "two.csv").write_text("person,n,kind\n1,5,b\n")
    with runtime.checkout() as session:
        rows = session.spark.range(1, 4).selectExpr("id", "concat('town', id % 2) AS town")
        rows.coalesce(1).write.format("delta").save(str(folder / "lake" / "towns"))
    outcome = opened(folder).build()
    assert outcome.error is None, str(outcome.error)
    return Built(folder, outcome.run_id)


@pytest.fixture
def folder(built: Built, tmp_path: Path) -> Path:
    place = tmp_path / "elsewhere" / "copied"
    shutil.copytree(built.folder, place)
    return place


def opened(folder: Path, **settings: str) -> Project:
    return headwater.open(folder, settings={**SETTINGS, **settings})


def replayed(folder: Path, run: str = "last", view: str | None = None) -> ReplayReport:
    return opened(folder).replay(run, view)


def view_of(report: ReplayReport, name: str) -> ReplayedView:
    (found,) = [each for each in report.views if each.name == name]
    return found


def statuses(report: ReplayReport) -> dict[str, str]:
    return {each.name: each.status for each in report.views}


@contextmanager
def sql(runtime: SessionRuntime, folder: Path, statement: str) -> Generator[None]:
    """Somebody else writes to a table of the project."""
    with runtime.checkout() as session:
        session.spark.sql(statement.format(tables=folder / ".headwater" / "tables", lake=folder / "lake"))
        yield


def table(folder: Path, name: str) -> Path:
    return folder / ".headwater" / "tables" / name


# --- nothing happened, or nothing that counts ---------------------------------------------------------


def test_an_unchanged_run_comes_out_as_recorded(folder: Path, built: Built) -> None:
    heard: list[Progress] = []
    report = opened(folder).replay("last", listen=heard.append)
    assert (report.run_id, report.status, report.first, report.kept) == (built.run_id, "equal", None, None)
    assert [each.name for each in report.views if each.status == "equal"] == ORDER
    assert all(each.recorded == each.replayed for each in report.views if each.status == "equal")
    assert [each.rows for each in report.views if each.status == "equal"] == [3, 3, 2, 2]
    assert {each.message for each in heard} >= {"checking pins", "replaying totals", "totals equal"}
    clock = view_of(report, "stamped")
    assert (clock.status, clock.reason) == ("skipped", "cannot be replayed: has a clock (HW-DET-001)")
    assert not (folder / ".headwater" / "staging").exists()


def test_definitions_of_today_do_not_count(folder: Path) -> None:
    for name in ("views", "pricing.py"):
        gone = folder / name
        shutil.rmtree(gone) if gone.is_dir() else gone.unlink()
    assert replayed(folder).status == "equal"
    (folder / "views").mkdir()
    (folder / "views" / "all.py").write_text("raise RuntimeError('nobody loads this')")
    assert replayed(folder, view="prices").status == "equal"


def test_settings_of_today_do_not_count(folder: Path, built: Built) -> None:
    toml = folder / "headwater.toml"
    more = 'time_zone = "Asia/Tokyo"\nansi = false\ndisabled_families = ["id"]\n'
    more += '[profiles.local.spark]\n"spark.sql.mapKeyDedupPolicy" = "LAST_WIN"\n'
    toml.write_text(toml.read_text().replace('driver_memory = "2g"\n', f'driver_memory = "2g"\n{more}'))
    project = opened(folder, shuffle_partitions="7")
    assert (project.profile.ansi, project.profile.time_zone) == (False, "Asia/Tokyo")
    assert project.replay(built.run_id).status == "equal"


def test_another_machine_with_the_same_warehouse_replays_it(
    folder: Path, tmp_path: Path, built: Built
) -> None:
    """In a process of its own, with another home and another place for the warehouse."""
    shutil.rmtree(folder / "views")
    (folder / "pricing.py").unlink()
    warehouse = tmp_path / "moved" / "warehouse"
    shutil.move(folder / ".headwater", warehouse)
    home = tmp_path / "home"
    home.mkdir()
    cached = Path(os.environ.get("HEADWATER_HOME", Path.home() / ".cache" / "headwater"))
    command = [sys.executable, "-m", "headwater", "replay", built.run_id[:20], str(folder), "--json"]
    done = subprocess.run(
        [*command, "--warehouse", str(warehouse), "--quiet"],
        env={**os.environ, "HOME": str(home), "HEADWATER_HOME": str(cached), "HEADWATER_ARCHIVE": "off"},
        cwd=tmp_path,
        capture_output=True,
        check=False,
        timeout=240,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    document = json.loads(done.stdout)
    assert (document["status"], document["first"]) == ("equal", None)
    assert [each["name"] for each in document["views"] if each["status"] == "equal"] == ORDER


def test_an_older_run_replays_after_newer_ones(folder: Path, built: Built) -> None:
    (folder / "visits" / "three.csv").write_text("person,n,kind\n3,9,a\n")
    outcome = opened(folder).build()
    assert outcome.error is None, str(outcome.error)
    assert outcome.run_id != built.run_id
    report = replayed(folder, built.run_id)
    assert (report.run_id, report.status) == (built.run_id, "equal")
    assert view_of(report, "totals").rows == 2
    newer = replayed(folder, view="totals")
    assert (newer.run_id, newer.status, view_of(newer, "totals").rows) == (outcome.run_id, "equal", 3)


def test_files_that_were_only_rearranged_are_no_difference(folder: Path, runtime: SessionRuntime) -> None:
    with sql(runtime, folder, "OPTIMIZE delta.`{tables}/totals`"):
        assert replayed(folder, view="totals").status == "equal"


# --- something did ------------------------------------------------------------------------------------


def test_a_row_that_somebody_changed_is_found(folder: Path, runtime: SessionRuntime) -> None:
    with sql(runtime, folder, "UPDATE delta.`{tables}/people` SET town = 'x' WHERE id = 2"):
        report = replayed(folder)
    assert report.status == "different"
    assert report.first is not None
    assert report.first.name == "people"
    assert report.first.reason == "altered from outside at version 1 by UPDATE"
    difference = report.first.difference
    assert difference is not None
    assert (difference.only_before, difference.only_after, difference.changed) == (1, 1, 1)
    (sample,) = difference.samples
    assert sample.kind == "changed"
    assert sample.before == {"id": 2, "name": "p2", "happy": None, "town": "x"}
    assert sample.after == {"id": 2, "name": "p2", "happy": None, "town": "town0"}
    others = {name: status for name, status in statuses(report).items() if name != "people"}
    assert set(others.values()) == {"equal", "skipped"}


def test_what_was_changed_before_a_later_run_is_not_the_older_ones(
    folder: Path, runtime: SessionRuntime, built: Built
) -> None:
    assert opened(folder).build(full=True).error is None
    with sql(runtime, folder, "DELETE FROM delta.`{tables}/totals` WHERE person = 1"):
        assert replayed(folder, built.run_id, "totals").status == "equal"
        newer = replayed(folder, view="totals")
    assert view_of(newer, "totals").reason == "altered from outside at version 2 by DELETE"


def test_a_data_file_that_was_tampered_with_is_found(folder: Path) -> None:
    for file in table(folder, "people").rglob("*.parquet"):
        file.write_bytes(file.read_bytes().replace(b"town0", b"tomb0"))
        file.with_name(f".{file.name}.crc").unlink()
    report = replayed(folder, view="people")
    assert report.first is not None
    assert (report.first.name, report.first.status) == ("people", "different")
    assert "the files of version 0 hold other rows" in report.first.reason
    assert report.first.recorded == report.first.replayed
    assert report.first.difference is not None
    assert report.first.difference.only_before == 1


def test_a_file_that_cannot_be_read_fails_its_view_and_no_other(folder: Path) -> None:
    for file in table(folder, "prices").rglob("*.parquet"):
        file.write_bytes(file.read_bytes()[:-40])
        file.with_name(f".{file.name}.crc").unlink()
    report = replayed(folder)
    assert report.first is not None
    assert (report.first.name, report.first.status) == ("prices", "failed")
    assert report.first.reason.startswith("HW-DELTA-016")
    assert report.status == "different"
    assert statuses(report)["totals"] == "equal"


def test_a_source_that_gives_other_rows_is_a_difference(folder: Path) -> None:
    for file in (folder / "lake" / "towns").rglob("*.parquet"):
        file.write_bytes(file.read_bytes().replace(b"town0", b"tomb0"))
        file.with_name(f".{file.name}.crc").unlink()
    report = replayed(folder, view="people")
    assert report.first is not None
    assert report.first.reason == "a replay makes other rows than the run recorded"
    assert report.first.recorded != report.first.replayed


def test_approximate_values_may_differ_a_little(folder: Path, runtime: SessionRuntime) -> None:
    """They are no part of the digest, so only this comparison sees them; both were written from outside."""
    near = "UPDATE delta.`{tables}/shares` SET share = share * (1 + 1e-13D)"
    with sql(runtime, folder, near):
        assert replayed(folder, view="shares").status == "equal"
    with sql(runtime, folder, "UPDATE delta.`{tables}/shares` SET share = share * 2 WHERE town = 'town1'"):
        report = replayed(folder, view="shares")
    assert report.status == "different"
    altered, words = view_of(report, "shares").reason.split("; ")
    assert altered == "altered from outside at version 2 by UPDATE"
    assert words.startswith("approximate columns of 1 row are further apart")


# --- what cannot be repeated --------------------------------------------------------------------------


def test_a_view_with_a_clock_is_replayed_if_it_is_named(folder: Path) -> None:
    named = replayed(folder, view="stamped")
    assert named.status == "different"
    assert "a replay makes other rows" in view_of(named, "stamped").reason
    assert view_of(named, "stamped").reason.endswith("it has a clock (HW-DET-001), so every run differs")


# --- what is gone -------------------------------------------------------------------------------------


def test_all_that_is_gone_is_listed(folder: Path, built: Built) -> None:
    (folder / "visits" / "one.csv").write_text("person,n,kind\n1,3,a\n2,4,c\n")
    (folder / "visits" / "two.csv").unlink()
    shutil.rmtree(folder / "lake" / "towns")
    for file in table(folder, "totals").rglob("*.parquet"):
        file.unlink()
    with pytest.raises(PinsGone) as raised:
        replayed(folder)
    assert (raised.value.run_id, raised.value.exit_code) == (built.run_id, 3)
    names = {each.partition(":")[0] for each in raised.value.gone}
    assert names == {"visits", "towns version 0", "totals version 0"}
    assert any("one.csv has another content" in each for each in raised.value.gone)
    assert any("two.csv: no such file" in each for each in raised.value.gone)
    assert not (folder / ".headwater" / "staging").exists()


def test_only_what_a_view_needs_has_to_be_there(folder: Path) -> None:
    shutil.rmtree(folder / "lake" / "towns")
    assert replayed(folder, view="totals").status == "equal"
    with pytest.raises(PinsGone):
        replayed(folder, view="people")


def test_a_version_that_was_vacuumed_is_gone(folder: Path, runtime: SessionRuntime, built: Built) -> None:
    assert opened(folder).build(full=True).error is None
    with runtime.checkout() as session:
        session.spark.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
        session.spark.sql(f"VACUUM delta.`{table(folder, 'totals')}` RETAIN 0 HOURS")
    with pytest.raises(PinsGone) as raised:
        replayed(folder, built.run_id)
    (gone,) = raised.value.gone
    assert gone.startswith("totals version 0: ")
    assert "missing" in gone
    assert replayed(folder, view="totals").status == "equal"


def test_new_files_beside_those_of_the_run_do_not_count(folder: Path) -> None:
    (folder / "visits" / "three.csv").write_text("person,n,kind\n3,9,a\n")
    assert replayed(folder, view="totals").status == "equal"


# --- what is asked for, and what it leaves -------------------------------------------------------------


def test_a_replay_can_be_kept(folder: Path) -> None:
    report = opened(folder).replay("last", "TOTALS", keep=True)
    assert report.kept is not None
    assert report.kept.parent == folder.resolve() / ".headwater" / "staging"
    assert read_head((report.kept / "totals").as_uri()).version == 0
    assert [each.name for each in report.views] == ["totals"]


def test_what_is_not_on_record_is_said(folder: Path, built: Built) -> None:
    with pytest.raises(RunNotFound):
        replayed(folder, "nope")
    for view in ("nope", "glad"):
        with pytest.raises(NotRecorded, match=view):
            replayed(folder, "last", view)
    (folder / ".headwater" / "runs" / built.run_id / "plans.json").unlink()
    with pytest.raises(NotRecorded, match="plan of run"):
        replayed(folder)


def test_a_function_that_computes_something_else_is_drift(folder: Path, built: Built) -> None:
    plans = folder / ".headwater" / "runs" / built.run_id / "plans.json"
    record = json.loads(plans.read_bytes())
    for bundle in record["plans"]:
        bundle["functions"].append({"name": "stable_id", "digest": "0" * 64})
        bundle["settings"]["version.spark"] = "3.5.0"
    plans.write_text(json.dumps(record))
    with pytest.raises(PlanDrift) as raised:
        replayed(folder)
    function, version = raised.value.differences
    assert function.startswith(f"function stable_id: planned {'0' * 64}, found ")
    assert version == "version spark: planned 3.5.0, found 4.2.0"
    assert not (folder / ".headwater" / "staging").exists()


def test_a_warehouse_that_cannot_be_written_is_said(folder: Path) -> None:
    (folder / ".headwater" / "staging").write_text("in the way")
    with pytest.raises(WarehouseNotWritable):
        replayed(folder, view="totals")


def test_a_run_that_failed_replays_what_it_made(folder: Path) -> None:
    (folder / "visits" / "three.csv").write_text("person,n,kind\n3,-9,a\n")
    outcome = opened(folder).build()
    assert outcome.status == "failed"
    report = replayed(folder)
    assert report.run_id == outcome.run_id
    assert report.status == "equal"
    assert statuses(report)["people"] == "equal"
    assert view_of(report, "totals").status == "skipped"
    assert view_of(report, "totals").reason.startswith("the run did not make it")
    with pytest.raises(NotRecorded, match="totals"):
        replayed(folder, view="totals")
