"""A small project, built for real, over and over, by one Spark application."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import headwater
from headwater.artifacts import last_manifest, read_manifest
from headwater.delta import note_of, read_head
from headwater.errors import HeadwaterError, PlanDrift
from headwater.run import steps

if TYPE_CHECKING:
    from headwater.run import Progress, Project, RunOutcome
    from headwater.runtime import SessionRuntime

SETTINGS = {"master": "local[2]", "driver_memory": "2g"}
STORED = ["daily_revenue", "order_facts", "top_customers"]
SMALL = {
    "headwater.toml": '[project]\nname = "small"\n',
    "data/customers.csv": "customer_id,name\n1,Ada\n2,Bela\n3,Cleo\n",
    "views/sources.py": """
import headwater

@headwater.source
def orders(spark):
    status = "element_at(array('paid', 'paid', 'open', 'cancelled'), CAST(id % 4 AS INT) + 1) AS status"
    day = "date_add(DATE'2026-01-01', CAST(id % 5 AS INT)) AS ordered_on"
    return spark.range(1, 21, 1, 1).selectExpr("id AS order_id", "id % 3 + 1 AS customer_id", status, day)

schema, header = "customer_id BIGINT, name STRING", {"header": "true"}
headwater.source("customers", path="data/customers.csv", format="csv", schema=schema, options=header)
rows = [(1, "Ulm"), (2, "Bonn"), (3, "Jena")]
headwater.source("towns", rows=rows, schema="customer_id BIGINT, town STRING")
""",
    "views/facts.py": """
import headwater

@headwater.view
def paid_orders(orders):
    return orders.where(orders.status == "paid")

@headwater.table
def order_facts(paid_orders):
    return paid_orders.select("order_id", "customer_id", "ordered_on")
""",
    "views/customers.py": """
import headwater

@headwater.table
def top_customers(customers, towns):
    return customers.join(towns, "customer_id").where("customer_id <= 3")
""",
    "views/daily_revenue.sql": """-- headwater: table
SELECT order_id, ordered_on, 1 AS orders
FROM order_facts
""",
}


def opened(folder: Path, **settings: str) -> Project:
    return headwater.open(folder, settings={**SETTINGS, **settings})


def build(folder: Path, *, full: bool = False, **settings: str) -> RunOutcome:
    return opened(folder, **settings).build(full=full)


def actions(outcome: RunOutcome) -> dict[str, str]:
    return {table.name: table.action for table in outcome.tables}


def rows(runtime: SessionRuntime, folder: Path, table: str, *columns: str) -> list[tuple[object, ...]]:
    with runtime.checkout() as session:
        frame = session.spark.read.format("delta").load(str(folder / ".headwater" / "tables" / table))
        return sorted(tuple(row.asDict().values()) for row in frame.select(*columns).collect())


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, runtime: SessionRuntime) -> Path:
    """The small project after its first build; tests copy it, they do not change it."""
    folder = tmp_path_factory.mktemp("built") / "small"
    for name, text in SMALL.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    assert runtime.profile.master == "local[2]"
    outcome = build(folder)
    assert outcome.status == "done", outcome.error
    return folder


@pytest.fixture
def copy(built: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "small"
    shutil.copytree(built, folder)
    return folder


def test_the_first_build_stores_the_tables_and_records_the_rest(built: Path, runtime: SessionRuntime) -> None:
    manifest = last_manifest(built / ".headwater")
    assert manifest is not None
    assert manifest.status == "done"
    assert [(table.name, table.action, table.reason, table.version) for table in manifest.tables] == [
        (name, "built", "new", 0) for name in STORED
    ]
    assert [view.name for view in manifest.views if not view.stored] == ["paid_orders"]
    assert {source.name: source.kind for source in manifest.sources} == {
        "customers": "listing",
        "orders": "made",
        "towns": "memory",
    }
    assert [len(rows(runtime, built, name, "*")) for name in STORED] == [10, 10, 3]
    assert (built / ".headwater" / ".gitignore").read_text() == "*\n"


def test_every_commit_says_which_run_made_it(built: Path) -> None:
    manifest = last_manifest(built / ".headwater")
    assert manifest is not None
    for table in manifest.tables:
        note = note_of(read_head((built / ".headwater" / "tables" / table.name).as_uri()).user_metadata)
        assert note is not None
        assert (note.run_id, note.table, note.task_key) == (manifest.run_id, table.name, table.task_key)


def test_nothing_changed_is_said_without_a_new_run(copy: Path) -> None:
    first = last_manifest(copy / ".headwater")
    outcome = build(copy)
    assert first is not None
    assert (outcome.status, outcome.run_id) == ("unchanged", first.run_id)
    assert set(actions(outcome).values()) == {"skipped"}
    assert outcome.manifest.exists()


def test_a_changed_view_rebuilds_what_reads_it_and_nothing_else(copy: Path, runtime: SessionRuntime) -> None:
    view = copy / "views" / "customers.py"
    view.write_text(view.read_text().replace("customer_id <= 3", "customer_id <= 1"))
    outcome = build(copy)
    assert actions(outcome) == {name: "built" if name == "top_customers" else "skipped" for name in STORED}
    reasons = {table.name: table.reason for table in outcome.tables}
    assert reasons["top_customers"] == "its definition changed"
    assert len(rows(runtime, copy, "top_customers", "name")) == 1
    assert build(copy).status == "unchanged"


def test_a_comment_in_python_changes_nothing(copy: Path) -> None:
    view = copy / "views" / "facts.py"
    view.write_text("# a comment\n" + view.read_text())
    assert build(copy).status == "unchanged"


def test_rows_appended_to_a_source_are_noticed_and_each_table_behind_says_why(
    copy: Path, runtime: SessionRuntime
) -> None:
    orders = copy / ".headwater" / "tables" / "orders"
    with runtime.checkout() as session:
        one = session.spark.read.format("delta").load(str(orders)).where("status = 'paid'").limit(1)
        one.write.format("delta").mode("append").save(str(orders))
    before = rows(runtime, copy, "order_facts", "order_id")
    outcome = build(copy)
    assert {table.name: (table.action, table.reason) for table in outcome.tables} == {
        "order_facts": ("built", "'orders', which it reads, changed"),
        "daily_revenue": ("built", "'order_facts', which it reads, was made anew"),
        "top_customers": ("skipped", "nothing it reads changed"),
    }
    assert len(rows(runtime, copy, "order_facts", "order_id")) == len(before) + 1
    assert len(rows(runtime, copy, "orders", "order_id")) == 21


def test_a_changed_file_is_noticed_and_a_touched_one_is_not(copy: Path) -> None:
    customers = copy / "data" / "customers.csv"
    customers.touch()
    assert build(copy).status == "unchanged"
    customers.write_text(customers.read_text().replace("Ada", "Ida"))
    outcome = build(copy)
    assert actions(outcome) == {name: "built" if name == "top_customers" else "skipped" for name in STORED}


def test_a_table_dropped_and_made_again_is_noticed(copy: Path, runtime: SessionRuntime) -> None:
    table = copy / ".headwater" / "tables" / "top_customers"
    shutil.rmtree(table)
    with runtime.checkout() as session:
        session.spark.range(1).write.format("delta").save(str(table))
    outcome = build(copy)
    assert actions(outcome)["top_customers"] == "built"
    assert len(rows(runtime, copy, "top_customers", "name")) == 3
    assert {actions(outcome)[name] for name in STORED if name != "top_customers"} == {"skipped"}
    shutil.rmtree(table)
    assert actions(build(copy))["top_customers"] == "built"


def test_a_lost_manifest_costs_a_look_not_a_rebuild(copy: Path) -> None:
    """The tables themselves say which task made them, so a run killed before it recorded loses nothing."""
    shutil.rmtree(copy / ".headwater" / "runs")
    outcome = build(copy)
    assert outcome.status == "done"
    assert set(actions(outcome).values()) == {"skipped"}
    assert build(copy).status == "unchanged"


def test_a_table_that_no_record_knows_is_not_called_new(copy: Path) -> None:
    shutil.rmtree(copy / ".headwater" / "runs")
    view = copy / "views" / "customers.py"
    view.write_text(view.read_text().replace("customer_id <= 3", "customer_id <= 2"))
    reasons = {table.name: table.reason for table in build(copy).tables}
    assert reasons["top_customers"] == "no run on record made its table"


def test_a_table_that_became_a_view_and_a_table_again_says_so(copy: Path) -> None:
    daily = copy / "views" / "daily_revenue.sql"
    text = daily.read_text()
    daily.write_text(text.replace("-- headwater: table\n", ""))
    assert "daily_revenue" not in actions(build(copy))
    daily.write_text(text)
    again = {table.name: (table.action, table.reason) for table in build(copy).tables}["daily_revenue"]
    assert again == ("skipped", "nothing it reads changed")
    daily.write_text(text.replace("-- headwater: table\n", ""))
    build(copy)
    daily.write_text(text + "WHERE true\n")
    again = {table.name: (table.action, table.reason) for table in build(copy).tables}["daily_revenue"]
    assert again == ("built", "the last run did not make it")


def test_a_broken_manifest_is_said_and_passed_over(copy: Path) -> None:
    build(copy).manifest.write_text("{")
    said: list[Progress] = []
    outcome = opened(copy).build(listen=said.append)
    assert outcome.status == "done"
    assert any("going on without the last run's record" in step.message for step in said)


def test_settings_that_affect_results_rebuild_and_others_do_not(copy: Path) -> None:
    assert build(copy, shuffle_partitions="3").status == "unchanged"
    outcome = build(copy, time_zone="Asia/Tokyo")
    assert {(table.action, table.reason) for table in outcome.tables} == {
        ("built", "settings, functions or versions changed")
    }


def test_full_makes_everything_anew_but_not_the_users_data(copy: Path) -> None:
    outcome = build(copy, full=True)
    assert [(table.action, table.version) for table in outcome.tables] == [("built", 1)] * 3
    assert read_head((copy / ".headwater" / "tables" / "orders").as_uri()).version == 0


def test_made_rows_follow_their_function_until_somebody_writes(copy: Path, runtime: SessionRuntime) -> None:
    orders = copy / ".headwater" / "tables" / "orders"
    sources = copy / "views" / "sources.py"
    text = sources.read_text()
    sources.write_text(text.replace("range(1, 21,", "range(1, 11,"))
    build(copy)
    assert len(rows(runtime, copy, "orders", "order_id")) == 10
    with runtime.checkout() as session:
        frame = session.spark.read.format("delta").load(str(orders)).limit(1)
        frame.write.format("delta").mode("append").save(str(orders))
    sources.write_text(text)
    build(copy)
    assert len(rows(runtime, copy, "orders", "order_id")) == 11


def test_a_view_that_fails_at_work_is_recorded_and_the_rest_goes_on_next_time(
    copy: Path, runtime: SessionRuntime
) -> None:
    daily = copy / "views" / "daily_revenue.sql"
    text = daily.read_text()
    daily.write_text(text.replace("1 AS orders", "1 DIV (order_id - order_id) AS orders"))
    facts, top = copy / "views" / "facts.py", copy / "views" / "customers.py"
    facts.write_text(facts.read_text().replace('"paid"', '"open"'))
    top.write_text(top.read_text().replace("customer_id <= 3", "customer_id <= 2"))
    outcome = build(copy)
    assert outcome.status == "failed"
    assert actions(outcome) == {
        "daily_revenue": "failed",
        "order_facts": "built",
        "top_customers": "built",
    }
    reasons = {table.name: table.reason for table in outcome.tables}
    assert reasons["order_facts"] == "'paid_orders', which it reads, changed"
    assert outcome.error is not None
    assert "DIVIDE_BY_ZERO" in str(outcome.error)
    recorded = read_manifest(outcome.manifest)
    assert (recorded.status, recorded.error) == ("failed", str(outcome.error))
    assert len(rows(runtime, copy, "daily_revenue", "order_id")) == 10
    daily.write_text(text)
    again = build(copy)
    assert again.status == "done"
    assert actions(again) == {
        "daily_revenue": "built",
        "order_facts": "skipped",
        "top_customers": "skipped",
    }


def test_a_session_that_would_run_plans_otherwise_is_refused_before_any_work(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(copy / ".headwater")
    plan_views = steps.plan_views

    def planned(run: Any, *given: Any) -> Any:
        compiled = plan_views(run, *given)
        run.engine.get().spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
        return compiled

    monkeypatch.setattr(steps, "plan_views", planned)
    with pytest.raises(PlanDrift) as caught:
        build(copy)
    assert caught.value.differences == ("setting spark.sql.session.timeZone: planned UTC, found Asia/Tokyo",)
    assert not (copy / ".headwater").exists()


def test_a_mistake_in_the_last_view_is_found_before_the_first_is_written(copy: Path) -> None:
    shutil.rmtree(copy / ".headwater")
    (copy / "views" / "zzz.sql").write_text("-- headwater: table\nSELECT no_such_column FROM top_customers\n")
    with pytest.raises(HeadwaterError) as caught:
        build(copy)
    assert caught.value.code == "HW-PLAN-003"
    assert caught.value.origin is not None
    assert (Path(caught.value.origin.path).name, caught.value.origin.line) == ("zzz.sql", 2)
    assert not (copy / ".headwater").exists()


def test_projects_are_built_in_parallel_by_one_application(built: Path, tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("one", "two")]
    for number, folder in enumerate(folders):
        shutil.copytree(built, folder, ignore=shutil.ignore_patterns(".headwater"))
        view = folder / "views" / "customers.py"
        view.write_text(view.read_text().replace("customer_id <= 3", f"customer_id <= {number + 1}"))
    outcomes: dict[str, RunOutcome] = {}

    def run(folder: Path) -> None:
        outcomes[folder.name] = build(folder)

    threads = [threading.Thread(target=run, args=(folder,)) for folder in folders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(240)
    assert {name: outcome.status for name, outcome in outcomes.items()} == {"one": "done", "two": "done"}
    top = {
        name: {t.name: t.rows for t in outcome.tables}["top_customers"] for name, outcome in outcomes.items()
    }
    assert top == {"one": 1, "two": 2}
