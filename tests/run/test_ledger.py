"""The ledger of projects that were really built: every name, and every run once.

That no secret is in it is seen where an application has one: tests/cli/test_build.py.
"""

from __future__ import annotations

import json
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

import headwater
from headwater.artifacts import (
    LEDGER_NAMES,
    last_manifest,
    ledger_columns,
    ledger_rows,
    marked_runs,
    read_plans,
)
from headwater.delta import note_of, read_head, read_history
from headwater.errors import LogUnreadable, ManifestUnreadable, NotBuilt
from headwater.run import Optimize, Properties, UpkeepRequest, keep_table, locate_table
from headwater.run.ledger import append_ledger, record_run
from headwater.run.warehouse import Warehouse

if TYPE_CHECKING:
    from headwater.artifacts import LedgerRow
    from headwater.run import Progress
    from headwater.runtime import RunSession, SessionRuntime

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "ledger.md"
BRIEF = Properties(wanted=(("delta.deletedFileRetentionDuration", "interval 0 hours"),))
SETTINGS = {"master": "local[2]", "driver_memory": "2g"}
BROKEN = """
import headwater

headwater.source("given", rows=[(1, -1)], schema="id BIGINT, n INT")

@headwater.table(constraints={"positive": "n > 0"})
def kept(given):
    return given
"""


def ask(folder: Path, sql: str) -> list[dict[str, Any]]:
    with headwater.open(folder, settings=SETTINGS).query(sql) as result:
        return result.read_all().to_pylist()


def ledger_uri(folder: Path) -> str:
    return (folder / ".headwater" / "ledger" / "events").as_uri()


def rows_of(folder: Path, run_id: str | None = None) -> list[LedgerRow]:
    """The rows of the last run, perhaps under another run's id."""
    warehouse = folder / ".headwater"
    manifest = last_manifest(warehouse)
    assert manifest is not None
    plans = read_plans(warehouse, manifest.run_id).values()
    return ledger_rows(msgspec.structs.replace(manifest, run_id=run_id or manifest.run_id), plans)


# --- a project after two runs --------------------------------------------------------------------------


def test_every_run_is_one_commit_of_one_table(kept_folder: Path) -> None:
    runs = sorted(path.name for path in (kept_folder / ".headwater" / "runs").iterdir())
    notes = [note_of(each.user_metadata) for each in reversed(read_history(ledger_uri(kept_folder)))]
    assert [(note.run_id, note.table, note.pipeline) for note in notes if note] == [
        (run, "ledger", "small") for run in runs
    ]
    assert len(runs) == len(notes) == 2
    assert [path.name for path in sorted((kept_folder / ".headwater" / "ledger").iterdir())] == ["events"]


@pytest.mark.parametrize("entry", LEDGER_NAMES, ids=lambda entry: entry.sql_name)
def test_every_name_can_be_read_and_has_its_columns(kept_project: Path, entry: Any) -> None:
    with headwater.open(kept_project, settings=SETTINGS).query(f"SELECT * FROM {entry.sql_name}") as result:
        assert {each.name: each.type.upper() for each in result.columns} == ledger_columns(entry)
        assert [each.version for each in result.snapshots] == [1]
        rows = result.read_all().to_pylist()
    empty = {
        *("hw_cache", "hw_capabilities", "hw_maintenance", "hw_retries", "hw_rounds", "hw_scans"),
        "hw_violations",
    }
    assert bool(rows) or entry.sql_name in empty


def test_what_the_names_say_is_what_the_manifests_say(kept_project: Path) -> None:
    manifest = last_manifest(kept_project / ".headwater")
    assert manifest is not None
    last = f"WHERE run_id = '{manifest.run_id}'"
    (run,) = ask(kept_project, f"SELECT * FROM HW_Runs {last}")
    assert run["started_at"].isoformat() == manifest.started_at
    assert (run["project"], run["status"], run["error"], run["tables"]) == ("small", "done", None, 3)
    assert json.loads(run["versions"]) == manifest.versions
    tasks = ask(kept_project, f"SELECT * FROM hw_tasks {last} ORDER BY view_name")
    assert [(row["view_name"], row["version"], row["rows"], row["digest"]) for row in tasks] == [
        (table.name, table.version, table.rows, table.digest) for table in manifest.tables
    ]
    edges = ask(kept_project, f"SELECT from_column, kind FROM hw_lineage {last} AND view_name = 'kinds'")
    assert edges == [{"from_column": "kind", "kind": "value"}]
    inputs = ask(kept_project, f"SELECT * FROM hw_snapshots {last} AND role = 'input' ORDER BY dataset")
    assert [(row["dataset"], row["kind"], row["version"]) for row in inputs] == [
        ("events", "delta", 3),
        ("feed", "changes", 3),
    ]
    assert "deletionVectors" in inputs[0]["writer_features"]
    assert json.loads(inputs[0]["table_properties"])["delta.enableChangeDataFeed"] == "true"
    plans = ask(kept_project, f"SELECT * FROM hw_plans {last} AND view_name = 'totals'")
    assert plans[0]["plan_fingerprint"] == next(
        row["task_key"] for row in tasks if row["view_name"] == "totals"
    )
    assert "Aggregate" in plans[0]["analysed"]
    made = ask(kept_project, f"SELECT made_by FROM hw_materializations {last} AND dataset = 'totals'")
    assert {"made_by": manifest.run_id} in made


def test_runs_and_tables_of_the_project_can_be_joined(kept_project: Path) -> None:
    sql = (
        "SELECT t.view_name, count(DISTINCT t.run_id) AS runs, max(k.n) AS rows FROM hw_tasks t "
        "JOIN (SELECT count(*) AS n FROM kinds) k GROUP BY t.view_name ORDER BY t.view_name"
    )
    assert ask(kept_project, sql) == [
        {"view_name": name, "runs": 2, "rows": 2} for name in ("kinds", "moves", "totals")
    ]


def test_a_run_that_found_nothing_to_do_adds_nothing(kept_folder: Path) -> None:
    before = read_head(ledger_uri(kept_folder))
    assert headwater.open(kept_folder, profile="local").build().status == "unchanged"
    assert read_head(ledger_uri(kept_folder)) == before


def test_the_ledger_can_be_read_where_the_last_manifest_cannot(kept_folder: Path) -> None:
    last = max((kept_folder / ".headwater" / "runs").iterdir())
    (last / "manifest.json").write_text("no")
    assert ask(kept_folder, "SELECT count(*) AS n FROM hw_runs") == [{"n": 2}]
    with pytest.raises(ManifestUnreadable):
        ask(kept_folder, "SELECT * FROM totals, hw_runs")


def test_without_a_ledger_names_are_empty_and_without_a_run_not_built(kept_folder: Path) -> None:
    shutil.rmtree(kept_folder / ".headwater" / "ledger")
    for entry in LEDGER_NAMES:
        with headwater.open(kept_folder, settings=SETTINGS).query(
            f"SELECT * FROM {entry.sql_name}"
        ) as result:
            assert {each.name: each.type.upper() for each in result.columns} == ledger_columns(entry)
            assert (result.read_all().num_rows, result.snapshots) == (0, ())
    shutil.rmtree(kept_folder / ".headwater" / "runs")
    with pytest.raises(NotBuilt, match="hw_tasks"):
        ask(kept_folder, "SELECT * FROM hw_tasks")


# --- appending -----------------------------------------------------------------------------------------


def test_the_same_run_is_appended_once(kept_folder: Path, session: RunSession) -> None:
    manifest = last_manifest(kept_folder / ".headwater")
    assert manifest is not None
    warehouse = Warehouse(kept_folder / ".headwater")
    plans = read_plans(warehouse.root, manifest.run_id)
    assert record_run(session, warehouse, manifest, plans.values()) is None
    new = msgspec.structs.replace(manifest, run_id=f"{manifest.run_id}-again")
    receipt = record_run(session, warehouse, new, plans.values())
    assert receipt is not None
    assert (receipt.version, receipt.outcome, receipt.kind) == (2, "committed", "append")
    assert record_run(session, warehouse, new, plans.values()) is None
    assert record_run(session, warehouse, manifest, plans.values()) is None
    assert read_head(ledger_uri(kept_folder)).version == 2
    assert append_ledger(session, warehouse, [], run_id="none", pipeline="small") is None


def test_runs_that_end_at_once_are_both_there(kept_folder: Path, runtime: SessionRuntime) -> None:
    shutil.rmtree(kept_folder / ".headwater" / "ledger")
    warehouse = Warehouse(kept_folder / ".headwater")

    def append(run_id: str) -> int:
        with runtime.checkout() as own:
            receipt = append_ledger(
                own, warehouse, rows_of(kept_folder, run_id), run_id=run_id, pipeline="small"
            )
            assert receipt is not None
            return receipt.version

    with ThreadPoolExecutor(3) as pool:
        versions = list(pool.map(append, ("a", "b", "c")))
    assert sorted(versions) == [0, 1, 2]
    assert ask(kept_folder, "SELECT run_id FROM hw_runs ORDER BY run_id") == [
        {"run_id": name} for name in ("a", "b", "c")
    ]


def test_rows_lie_in_one_small_file_that_knows_its_run(kept_folder: Path, session: RunSession) -> None:
    warehouse = Warehouse(kept_folder / ".headwater")
    log = warehouse.ledger_path / "_delta_log" / f"{1:020}.json"
    adds = [json.loads(line)["add"] for line in log.read_text().splitlines() if '"add":' in line]
    assert len(adds) == 1
    assert adds[0]["size"] < 50_000
    statistics = json.loads(adds[0]["stats"])
    assert set(statistics["minValues"]) == {"run_id", "kind", "at", "name", "number"}
    assert statistics["minValues"]["run_id"] == statistics["maxValues"]["run_id"]
    rows = session.spark.read.parquet(str(warehouse.ledger_path / adds[0]["path"])).collect()
    kinds = [row["kind"] for row in rows]
    assert kinds == sorted(kinds)


def test_a_run_that_the_ledger_could_not_take_is_added_by_the_next(kept_folder: Path) -> None:
    """The tables are made, the error is told, and nothing is lost."""
    log = kept_folder / ".headwater" / "ledger" / "events" / "_delta_log"
    commit = max(log.glob("*.json"))
    text = commit.read_text()
    commit.write_text("no commit")
    views = kept_folder / "views" / "all.py"
    views.write_text(views.read_text().replace('totals.select("kind")', 'totals.select("kind", "count")'))
    project = headwater.open(kept_folder, profile="local")
    outcome = project.build()
    assert (outcome.status, list(outcome.errors)) == ("failed", ["ledger"])
    assert isinstance(outcome.error, LogUnreadable)
    assert {each.name: each.action for each in outcome.tables}["kinds"] == "built"
    assert outcome.run_id in [each.run_id for each in marked_runs(kept_folder / ".headwater")]
    commit.write_text(text)
    again = project.build()
    assert {each.action for each in again.tables} == {"skipped"}
    assert list(marked_runs(kept_folder / ".headwater")) == []
    with project.query("SELECT run_id, status FROM hw_runs ORDER BY run_id DESC LIMIT 2") as result:
        found = result.read_all().to_pylist()
    assert found == [{"run_id": each.run_id, "status": "done"} for each in (again, outcome)]
    assert project.build().status == "unchanged"


# --- failures and upkeep --------------------------------------------------------------------------------


def test_a_run_that_failed_is_there_with_the_rows_that_it_refused(project_folder: Any) -> None:
    folder = project_folder(v_py=BROKEN)
    assert headwater.open(folder, profile="local").build().status == "failed"
    (run,) = ask(folder, "SELECT status, error FROM hw_runs")
    assert run["status"] == "failed"
    assert "positive" in run["error"]
    assert ask(folder, "SELECT dataset, constraint_name, count, sample FROM hw_violations") == [
        {"dataset": "kept", "constraint_name": "positive", "count": 1, "sample": ['{"id":1,"n":-1}']}
    ]
    assert [row["action"] for row in ask(folder, "SELECT action FROM hw_tasks")] == ["failed"]


def test_upkeep_of_a_stored_table_is_there_too(kept_folder: Path) -> None:
    project = headwater.open(kept_folder, profile="local")
    located = locate_table("totals", project)
    request = UpkeepRequest(table=located, profile=project.profile, project=project, reason="a test")
    done = keep_table(request, BRIEF)
    (row,) = ask(kept_folder, "SELECT * FROM hw_maintenance")
    assert (row["upkeep_id"], row["dataset"], row["operation"]) == (
        done.note.upkeep_id,
        "totals",
        "properties",
    )
    assert (row["status"], row["reason"], row["error"]) == ("done", "a test", None)
    assert row["version_after"] == row["version_before"] + 1 == done.receipt.after.version
    assert json.loads(row["options"]) == {"wanted": dict(BRIEF.wanted)}
    assert keep_table(request, Optimize()).record is None
    assert len(ask(kept_folder, "SELECT * FROM hw_maintenance")) == 1


def test_upkeep_of_a_table_outside_a_warehouse_is_not_looked_for(kept_folder: Path) -> None:
    before = read_head(ledger_uri(kept_folder))
    project = headwater.open(kept_folder, profile="local")
    located = locate_table(str(kept_folder / "lake" / "events"), project)
    keep_table(UpkeepRequest(table=located, profile=project.profile, project=project), BRIEF)
    assert read_head(ledger_uri(kept_folder)) == before


def test_upkeep_goes_on_if_the_ledger_does_not_take_it(kept_folder: Path) -> None:
    log = kept_folder / ".headwater" / "ledger" / "events" / "_delta_log"
    max(log.glob("*.json")).write_text("no commit")
    project = headwater.open(kept_folder, profile="local")
    request = UpkeepRequest(table=locate_table("totals", project), profile=project.profile, project=project)
    heard: list[Progress] = []
    assert keep_table(request, BRIEF, heard.append).record is not None
    assert [each.message for each in heard if "the ledger could not take" in each.message]


# --- the page about it ---------------------------------------------------------------------------------


def test_the_page_is_what_its_script_writes() -> None:
    spec = spec_from_file_location("reference", ROOT / "scripts" / "reference.py")
    assert spec is not None
    assert spec.loader is not None
    script = module_from_spec(spec)
    spec.loader.exec_module(script)
    assert PAGE.read_text("utf-8") == script.ledger_page(), "run: .venv/bin/python scripts/reference.py"


def test_the_queries_on_the_page_give_what_they_promise(example: Path) -> None:
    project = headwater.open(example, settings=SETTINGS)
    assert project.build().status == "done"
    facts = example / "views" / "facts.py"
    facts.write_text(facts.read_text().replace('"status") == "paid"', '"status") != "open"'))
    assert project.build().status == "done"
    queries = re.findall(r"```sql\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert len(queries) == 9
    runs, why, depends, changed, read, made, settings, waits, upkeep = (
        ask(example, each) for each in queries
    )
    assert [row["status"] for row in runs] == ["done", "done"]
    assert [row["action"] for row in why] == ["built", "built"]
    assert {"to_dataset": "revenue_by_customer", "to_column": "revenue_eur", "kind": "value"} in depends
    assert "paid_orders" in {row["view_name"] for row in changed}
    assert "active_customers" not in {row["view_name"] for row in changed}
    assert [row["version"] for row in read] == [0, 0]
    assert {(row["dataset"], row["version"]) for row in made} >= {("order_facts", 0), ("order_facts", 1)}
    assert (settings, waits, upkeep) == ([], [], [])
