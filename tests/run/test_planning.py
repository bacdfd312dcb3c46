"""A plan writes nothing, and says before a build what it will do, and why, and what it will read."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import headwater
from headwater.errors import NotPlanned

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from headwater.plan import ScanUnit
    from headwater.run import PlannedView, Progress, ProjectPlan
    from headwater.runtime import SessionRuntime

SETTINGS = {"master": "local[2]", "driver_memory": "2g"}
VIEWS = """
import headwater
from pyspark.sql import functions as F

headwater.source("orders", path="lake/orders")
headwater.source("rates", rows=[("EUR", 1), ("USD", 2)], schema="currency STRING, per_unit INT")

@headwater.pure
def doubled(x):
    return x * 2

@headwater.view
def paid(orders):
    return orders.where("amount >= 20")

@headwater.table
def facts(paid, rates):
    eur = F.col("amount") * F.col("per_unit")
    return paid.join(rates, "currency").select("id", "currency", eur.alias("eur"))

@headwater.table
def totals(facts):
    return facts.groupBy("currency").agg(F.sum("eur").alias("eur"))

@headwater.table
def listed(orders):
    return orders.where("id < 10").select("id", F.udf(doubled, "bigint")("id").alias("twice"))
"""
ALL = {"facts", "totals", "listed"}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory, runtime: SessionRuntime) -> Path:
    """A project that was built once over four files of ten orders each; tests take a copy."""
    folder = tmp_path_factory.mktemp("planned") / "project"
    (folder / "views").mkdir(parents=True)
    (folder / "headwater.toml").write_text('[project]\nname = "small"\n')
    (folder / "views" / "all.py").write_text(VIEWS)
    with runtime.checkout() as session:
        rows = session.spark.range(0, 40, 1, 4).selectExpr(
            "id",
            "if(id % 2 = 0, 'EUR', 'USD') AS currency",
            "id AS amount",
            "named_struct('name', 'n' || id) AS who",
        )
        rows.write.format("delta").save(str(folder / "lake" / "orders"))
    assert opened(folder).build().status == "done"
    return folder


@pytest.fixture
def copy(base: Path, tmp_path: Path) -> Path:
    return shutil.copytree(base, tmp_path / "project")


def opened(folder: Path, **settings: str) -> headwater.Project:
    return headwater.open(folder, settings={**SETTINGS, **settings})


def files_below(folder: Path) -> dict[str, bytes | None]:
    """Every file and folder, with all that is in it."""
    return {
        str(each.relative_to(folder)): each.read_bytes() if each.is_file() else None
        for each in sorted(folder.rglob("*"))
    }


def built_of(planned: ProjectPlan) -> dict[str, str]:
    return {each.name: each.reason for each in planned.views if each.action == "built"}


def view_of(planned: ProjectPlan, name: str) -> PlannedView:
    return next(each for each in planned.views if each.name == name)


# --- a plan and the build after it ---------------------------------------------------------------------

Edit = Callable[[Path, "SparkSession"], None]


def write(*replaced: str) -> Edit:
    """An edit of the definitions: what stood there and what stands there now, in turns."""

    def edit(folder: Path, _spark: SparkSession) -> None:
        text = VIEWS
        for old, new in batched(replaced):
            assert old in text
            text = text.replace(old, new)
        (folder / "views" / "all.py").write_text(text)

    return edit


def batched(texts: tuple[str, ...]) -> list[tuple[str, str]]:
    return list(zip(texts[::2], texts[1::2], strict=True))


def outside(*statements: str) -> Edit:
    """What somebody else does to tables, which stand in braces."""

    def edit(folder: Path, spark: SparkSession) -> None:
        places = {name: folder / ".headwater" / "tables" / name for name in ALL}
        places["orders"] = folder / "lake" / "orders"
        for each in statements:
            spark.sql(each.format(**{name: f"delta.`{place}`" for name, place in places.items()}))

    return edit


def lose_totals(folder: Path, _spark: SparkSession) -> None:
    shutil.rmtree(folder / ".headwater" / "tables" / "totals")


ANOTHER_VIEW = (
    "@headwater.table\ndef listed",
    "@headwater.view\ndef more(totals):\n    return totals\n\n@headwater.table\ndef listed",
)
# What is done, with which settings; and which tables would be made, each with the reason.
EDITS: dict[str, tuple[tuple[Edit, ...], dict[str, str], dict[str, str]]] = {
    "nothing": ((), {}, {}),
    "a comment": ((write("    eur =", "    # said to people\n    eur ="),), {}, {}),
    "a literal of a table, and another table restored from outside": (
        (
            write("id < 10", "id < 11"),
            outside("DELETE FROM {totals} WHERE eur > 0", "RESTORE TABLE {totals} TO VERSION AS OF 0"),
        ),
        {},
        {"listed": "changed plan", "totals": "changed table"},
    ),
    "a function in Python, and a literal of a view that is not stored": (
        (write("x * 2", "x * 3", "amount >= 20", "amount >= 21"),),
        {},
        {"listed": "changed function", "facts": "changed plan", "totals": "changed input"},
    ),
    "a row of a Delta table": (
        (outside("INSERT INTO {orders} VALUES (50L, 'EUR', 50L, named_struct('name', 'new'))"),),
        {},
        dict.fromkeys(ALL, "changed input"),
    ),
    "a setting": ((), {"spark.sql.mapKeyDedupPolicy": "LAST_WIN"}, dict.fromkeys(ALL, "changed setting")),
    "a write policy, and a table that is gone": (
        (write("table\ndef listed", "table(cluster_by=['id'])\ndef listed"), lose_totals),
        {},
        {"listed": "changed policy", "totals": "changed table"},
    ),
    "a table written to from outside": (
        (outside("DELETE FROM {facts} WHERE id = 30"),),
        {},
        {"facts": "changed table"},
    ),
    "a table in other files, and a new view that is not stored": (
        (outside("OPTIMIZE {facts}"), write(*ANOTHER_VIEW)),
        {},
        {},
    ),
}


@pytest.mark.parametrize("name", EDITS)
def test_a_build_does_what_the_plan_said_and_the_plan_wrote_nothing(
    name: str, copy: Path, runtime: SessionRuntime
) -> None:
    edits, settings, expected = EDITS[name]
    with runtime.checkout() as session:
        for edit in edits:
            edit(copy, session.spark)
    before = files_below(copy)
    planned = opened(copy, **settings).plan()
    assert files_below(copy) == before
    assert built_of(planned) == expected
    assert planned.is_unchanged == (not expected)
    outcome = opened(copy, **settings).build()
    assert {each.name for each in outcome.tables if each.action in {"built", "incremental"}} == set(expected)
    assert opened(copy, **settings).plan().is_unchanged


def test_a_full_build_makes_everything_and_the_plan_says_so(copy: Path) -> None:
    planned = opened(copy).plan(full=True, scans=False)
    assert built_of(planned) == dict.fromkeys(ALL, "asked for in full")
    outcome = opened(copy).build(full=True)
    assert {each.name for each in outcome.tables if each.action == "built"} == ALL


# --- what is told --------------------------------------------------------------------------------------


def test_a_plan_of_what_did_not_change_opens_no_session_and_knows_where_views_stand_now(copy: Path) -> None:
    (copy / "views" / "all.py").write_text(VIEWS.replace("import headwater\n", "import headwater\n\n\n"))
    said: list[Progress] = []
    planned = opened(copy).plan(listen=said.append)
    assert [each.message for each in said] == ["reading definitions"]
    listed = view_of(planned, "listed")
    fresh = view_of(opened(copy).plan(full=True, scans=False), "listed")
    assert (listed.file, listed.line) == (fresh.file, fresh.line)
    assert (listed.action, listed.reason, listed.mode, listed.files_total) == (
        "skipped",
        "up to date",
        "full",
        0,
    )
    assert [each.name for each in planned.views] == ["listed", "paid", "facts", "totals"]
    assert planned.graph.generations == (("listed", "paid"), ("facts",), ("totals",))


def test_before_the_first_build_everything_is_new(base: Path, tmp_path: Path) -> None:
    fresh = shutil.copytree(base, tmp_path / "fresh", ignore=shutil.ignore_patterns(".headwater"))
    before = files_below(fresh)
    planned = opened(fresh).plan()
    assert files_below(fresh) == before
    assert built_of(planned) == dict.fromkeys(ALL, "new")
    facts = view_of(planned, "facts")
    assert (facts.mode, facts.mode_reason) == ("full", "There is no table yet.")
    assert (facts.files_kept, facts.files_total) == (2, 4)
    assert facts.bytes_kept is not None
    assert facts.bytes_total is not None
    assert 0 < facts.bytes_kept < facts.bytes_total
    assert view_of(planned, "paid").action == "inlined"


def test_a_change_is_told_in_full(copy: Path) -> None:
    (copy / "views" / "all.py").write_text(VIEWS.replace("id < 10", "id < 11"))
    (change,) = view_of(opened(copy).plan(scans=False), "listed").changes
    assert change.startswith("its plan changed at Filter: was Filter LessThan(id#")


def test_after_a_failed_run_the_plan_says_what_was_not_made(copy: Path) -> None:
    bad = VIEWS.replace('F.sum("eur")', 'F.sum(F.raise_error(F.lit("no")).cast("bigint"))')
    (copy / "views" / "all.py").write_text(bad)
    assert opened(copy).build().status == "failed"
    said: list[Progress] = []
    planned = opened(copy).plan(listen=said.append)
    assert built_of(planned) == {"totals": "the last run did not make it"}
    assert "the last run did not end well" in [each.message for each in said]


@pytest.mark.parametrize("content", [None, b"{", b'{"schema_version": 1, "plans": []}'])
def test_without_the_last_runs_plans_it_goes_on_and_says_so(copy: Path, content: bytes | None) -> None:
    (path,) = copy.glob(".headwater/runs/*/plans.json")
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    said: list[Progress] = []
    assert opened(copy).plan(listen=said.append).is_unchanged
    assert any("going on without the last run's plans" in each.message for each in said)
    (copy / "views" / "all.py").write_text(VIEWS.replace("id < 10", "id < 11"))
    assert built_of(opened(copy).plan(scans=False)) == {"listed": "no earlier plan to compare with"}


def test_without_a_record_of_the_last_run_tables_still_speak_for_themselves(copy: Path) -> None:
    shutil.rmtree(copy / ".headwater" / "runs")
    assert opened(copy).plan().is_unchanged
    (copy / "views" / "all.py").write_text(VIEWS.replace("id < 10", "id < 11"))
    assert built_of(opened(copy).plan(scans=False)) == {"listed": "no run on record made its table"}


# --- scan units ----------------------------------------------------------------------------------------

SCANS = {
    "through": ("SELECT ID, Who.name FROM PAID WHERE id < 30", 1, ("amount", "id", "who")),
    "subquery": (
        "SELECT id FROM orders WHERE amount = (SELECT max(amount) FROM orders WHERE id < 5) AND id < 15",
        2,
        ("amount", "id"),
    ),
    "itself": (
        "SELECT a.id FROM orders a JOIN orders b ON a.id + 35 = b.amount WHERE a.id < 5 AND b.id >= 35",
        2,
        ("amount", "id"),
    ),
    "unusable": ("SELECT id FROM orders WHERE length(who.name) = 2", 4, ("id", "who.name")),
    "counted": ("SELECT count(*) AS n FROM orders", 0, ()),
    "stored": ("SELECT eur FROM facts WHERE id >= 30", 1, ("eur", "id")),
}


@pytest.fixture(scope="module")
def scanned(base: Path, tmp_path_factory: pytest.TempPathFactory) -> ProjectPlan:
    folder = shutil.copytree(base, tmp_path_factory.mktemp("scanned") / "project")
    for name, (sql, _, _) in SCANS.items():
        (folder / "views" / f"{name}.sql").write_text(f"-- headwater: table\n{sql}\n")
    return opened(folder).plan()


@pytest.mark.parametrize("name", SCANS)
def test_a_scan_unit_has_the_files_that_filters_leave_and_the_columns_that_are_needed(
    name: str, scanned: ProjectPlan
) -> None:
    _, kept, columns = SCANS[name]
    unit = unit_of(scanned, name)
    assert (unit.kept_files, unit.columns) == (kept, columns)
    view = view_of(scanned, name)
    assert (view.files_kept, view.bytes_kept) == (unit.kept_files, unit.kept_bytes)
    assert (view.files_total, view.bytes_total) == (unit.candidate_files, unit.candidate_bytes)
    if unit.dataset == "orders":
        assert (unit.candidate_files, unit.kept_rows) == (4, 10 * kept)


def unit_of(planned: ProjectPlan, name: str) -> ScanUnit:
    (unit,) = view_of(planned, name).scans
    return unit


def test_a_scan_unit_tells_the_filters_that_did_something_from_those_that_could_not(
    scanned: ProjectPlan,
) -> None:
    through, unusable = unit_of(scanned, "through"), unit_of(scanned, "unusable")
    assert through.key == "scan::orders::0"
    assert "(paid.id < 30L)" in through.used_filters
    assert through.unused_filters == ()
    assert unusable.unused_filters == ("(length(orders.who.`name`) = 2)",)


# --- lineage through the library -----------------------------------------------------------------------


def test_lineage_follows_a_column_both_ways_in_any_case(base: Path) -> None:
    project = opened(base)
    up = project.lineage("FACTS.Eur", down=False)
    assert ("orders", "amount", "paid", "amount", "value") in [
        (each.from_dataset, each.from_column, each.to_dataset, each.to_column, each.kind) for each in up
    ]
    down = project.lineage("facts.eur", up=False)
    assert [(each.to_dataset, each.to_column, each.kind) for each in down] == [("totals", "eur", "value")]
    assert set(up) | set(down) == set(project.lineage("facts.eur"))
    assert set(project.lineage("facts.eur")) < set(project.lineage("facts"))


def test_a_field_is_followed_as_its_column_and_a_name_may_have_dots(copy: Path) -> None:
    (copy / "views" / "names.sql").write_text("SELECT who.name AS `a.b`, who FROM orders")
    (copy / "views" / "more.sql").write_text("SELECT `a.b` AS c, who.name AS n FROM names")
    plan = opened(copy).plan(scans=False)
    assert plan.lineage("names.who.name") == plan.lineage("names.who") != ()
    assert plan.lineage("names.`a.b`") == plan.lineage("names.a.b") != ()
    assert set(plan.lineage("names.who")) | set(plan.lineage("names.a.b")) == set(plan.lineage("names"))
    assert {each.from_column for each in plan.lineage("more.c")} == {"`a.b`", "who.name"}


@pytest.mark.parametrize(
    ("target", "hint"), [("fact", "Did you mean 'facts'?"), ("facts.euro", "Did you mean 'eur'?")]
)
def test_a_name_that_is_not_there_is_a_typed_error_with_a_hint(base: Path, target: str, hint: str) -> None:
    with pytest.raises(NotPlanned) as caught:
        opened(base).lineage(target)
    assert caught.value.next_step.startswith(hint)
