"""What changes a fingerprint and what does not; and that each difference has a name."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import msgspec
import pytest

import headwater
from headwater.artifacts import read_manifest
from headwater.delta import APPROXIMATE_KEY, snapshot_info
from headwater.errors import FloatAggregated
from headwater.plan import PlanBundle, changes_between

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

    from headwater.runtime import SessionRuntime

SETTINGS = {"master": "local[2]", "driver_memory": "2g"}
VIEWS = """
import headwater
from pyspark.sql import functions as F

headwater.source("orders", path="lake/orders")
headwater.source("rates", rows=[("EUR", 1), ("USD", 2)], schema="currency STRING, per_unit INT")

def double(x):
    return x * 2

@headwater.view
def paid(orders):
    return orders.where(F.col("amount") > 10).select("id", "currency", "amount")

@headwater.table
def facts(paid, rates):
    joined = paid.join(rates, "currency", "left")
    return joined.select("id", (F.col("amount") * F.col("per_unit")).alias("eur"))

@headwater.table
def listed(orders):
    return orders.select("id", F.transform("tags", lambda tag: F.upper(tag)).alias("tags"))
"""
LISTED = VIEWS[VIEWS.index("@headwater.table\ndef listed") :]
KEYED = "-- headwater: table\nSELECT stable_id_parts('o', id) AS key, count(*) AS n FROM facts GROUP BY ALL\n"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory, runtime: SessionRuntime) -> Path:
    """A project that nobody has built; tests take a copy."""
    folder = tmp_path_factory.mktemp("bundles") / "project"
    (folder / "views").mkdir(parents=True)
    (folder / "headwater.toml").write_text('[project]\nname = "small"\n')
    (folder / "views" / "all.py").write_text(VIEWS)
    (folder / "views" / "keyed.sql").write_text(KEYED)
    with runtime.checkout() as session:
        write_orders(session.spark, folder)
        write_orders(session.spark, folder, amount="id * 2")
        write_orders(session.spark, folder, amount="id * 3")
    return folder


def write_orders(spark: SparkSession, folder: Path, amount: str = "id", more: str = "'x' AS note") -> None:
    rows = spark.range(30).selectExpr(
        "id",
        "if(id % 2 = 0, 'EUR', 'USD') AS currency",
        f"{amount} AS amount",
        "array('a', 'b') AS tags",
        more,
    )
    place = str(folder / "lake" / "orders")
    rows.write.format("delta").mode("overwrite").option("overwriteSchema", "true").save(place)


def bundles(folder: Path, **settings: str) -> dict[str, PlanBundle]:
    return dict(headwater.open(folder, settings={**SETTINGS, **settings}).plan(scans=False).bundles)


@pytest.fixture(scope="module")
def before(base: Path) -> dict[str, PlanBundle]:
    return bundles(base)


@pytest.fixture
def copy(base: Path, tmp_path: Path) -> Path:
    return shutil.copytree(base, tmp_path / "project")


# What is changed in the definitions, the view that changes, and the parts of its fingerprint that do.
CHANGES = {
    "a literal": ("> 10", "> 11", "paid", ("code",)),
    "a join type": ('"left"', '"inner"', "facts", ("code",)),
    "a column": ('"currency", "amount")', '"currency", "amount", "note")', "paid", ("code",)),
    "a function": ("F.upper(tag)", "F.lower(tag)", "listed", ("code",)),
    "rows in memory": ('("USD", 2)', '("USD", 3)', "facts", ("inputs",)),
    "a write policy": ("table\ndef listed", "table(cluster_by=['id'])\ndef listed", "listed", ("policies",)),
    "a pinned version": ('path="lake/orders"', 'path="lake/orders", version=1', "listed", ("inputs",)),
    "a gate": (
        'path="lake/orders"',
        'path="lake/orders", gate=headwater.delta.FeatureGate(min_reader_version=1)',
        "listed",
        ("policies", "inputs"),
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_means_something_else_has_another_fingerprint(
    name: str, copy: Path, before: dict[str, PlanBundle]
) -> None:
    old, new, view, parts = CHANGES[name]
    assert old in VIEWS
    (copy / "views" / "all.py").write_text(VIEWS.replace(old, new))
    after = bundles(copy)
    assert after[view].fingerprint.differing(before[view].fingerprint) == parts
    assert after[view].fingerprint.digest != before[view].fingerprint.digest
    assert changes_between(before[view], after[view])


def test_a_python_functions_body_is_a_part_of_its_own(copy: Path) -> None:
    used = VIEWS + (
        "\n@headwater.table\ndef doubled(orders):\n"
        "    return orders.select(F.udf(double, 'bigint')('id').alias('id'))\n"
    )
    (copy / "headwater.toml").write_text(
        '[project]\nname = "small"\n\n[determinism]\npython-function = "allow"\n'
    )
    (copy / "views" / "all.py").write_text(used)
    first = bundles(copy)["doubled"]
    (copy / "views" / "all.py").write_text(used.replace("x * 2", "x * 3"))
    second = bundles(copy)["doubled"]
    assert second.fingerprint.differing(first.fingerprint) == ("functions",)
    assert {each.kind for each in changes_between(first, second)} == {"function"}


def test_a_setting_that_results_depend_on_changes_every_view(
    base: Path, before: dict[str, PlanBundle]
) -> None:
    after = bundles(base, **{"spark.sql.mapKeyDedupPolicy": "LAST_WIN"})
    for name, bundle in after.items():
        assert bundle.fingerprint.differing(before[name].fingerprint)[0] == "settings"
    (change,) = [each for each in changes_between(before["paid"], after["paid"]) if each.kind == "setting"]
    assert (change.name, change.before, change.after) == ("spark.sql.mapKeyDedupPolicy", "", "LAST_WIN")
    assert change.words == "setting 'spark.sql.mapKeyDedupPolicy' was nothing, is LAST_WIN"


SAME = {
    "another name for a lambda's variable": ("lambda tag: F.upper(tag)", "lambda one: F.upper(one)"),
    "lines that moved": ("import headwater\n", "import headwater\n\n\n# moved\n"),
    "views in another order": (
        LISTED,
        "",
    ),
    "an alias of a relation": ("paid.join(rates,", 'paid.alias("p").join(rates.alias("r"),'),
}


@pytest.mark.parametrize("name", SAME)
def test_what_means_the_same_keeps_its_fingerprint(
    name: str, copy: Path, before: dict[str, PlanBundle]
) -> None:
    old, new = SAME[name]
    assert old in VIEWS
    text = VIEWS.replace(old, new)
    if not new:
        text = text.replace("@headwater.view\ndef paid", f"{old}\n@headwater.view\ndef paid")
    (copy / "views" / "all.py").write_text(text)
    after = bundles(copy)
    assert {key: each.fingerprint for key, each in after.items()} == {
        key: each.fingerprint for key, each in before.items()
    }
    assert all(changes_between(before[key], after[key]) == () for key in after)


def test_a_comment_changes_bytes_and_nothing_else(copy: Path, before: dict[str, PlanBundle]) -> None:
    (copy / "views" / "keyed.sql").write_text(KEYED + "-- said to people\n")
    after = bundles(copy)["keyed"]
    assert after.plan_digest != before["keyed"].plan_digest
    assert after.fingerprint == before["keyed"].fingerprint


def test_columns_that_nobody_reads_and_their_order_do_not_matter(
    copy: Path, before: dict[str, PlanBundle], runtime: SessionRuntime
) -> None:
    with runtime.checkout() as session:
        write_orders(session.spark, copy, more="1 AS extra")
        place = str(copy / "lake" / "orders")
        turned = (
            session.spark.read.format("delta").load(place).select("tags", "extra", "amount", "currency", "id")
        )
        turned.write.format("delta").mode("overwrite").option("overwriteSchema", "true").save(place)
    after = bundles(copy)
    for name, bundle in after.items():
        assert bundle.fingerprint.code == before[name].fingerprint.code, name
    assert after["paid"].fingerprint.differing(before["paid"].fingerprint) == ("inputs",)
    (change,) = changes_between(before["paid"], after["paid"])
    assert (change.kind, change.name) == ("input", "orders")
    assert change.before.startswith("version 2 (")
    assert change.after.startswith("version 4 (")


def test_a_bundle_has_every_field_and_survives_both_forms(before: dict[str, PlanBundle]) -> None:
    bundle = before["facts"]
    for form in (msgspec.json, msgspec.msgpack):
        assert form.decode(form.encode(bundle), type=PlanBundle) == bundle
    assert [(each.name, each.kind) for each in bundle.inputs] == [("paid", "view"), ("rates", "pin")]
    assert [(each.name, each.type) for each in bundle.columns] == [("id", "long"), ("eur", "long")]
    assert bundle.required == {"paid": ("amount", "currency", "id"), "rates": ("currency", "per_unit")}
    assert (bundle.file, bundle.language, bundle.stored) == ("views/all.py", "python", True)
    assert bundle.key == f"view::facts::{bundle.fingerprint.digest}"
    assert [each.name for each in before["keyed"].functions] == ["stable_id_parts"]
    assert before["keyed"].tags == ("hash", "id")
    assert bundle.dot.startswith('digraph "facts" {')
    assert before["keyed"].inputs[0].kind == "slot"


def test_the_analysed_plans_are_those_on_record(before: dict[str, PlanBundle], snapshot: object) -> None:
    """The same text in every process and on every machine."""
    assert "\n".join(f"{name}\n{before[name].analysed.text}" for name in sorted(before)) == snapshot
    codes = {name: bundle.fingerprint.code for name, bundle in sorted(before.items())}
    assert codes == snapshot


def test_float_sums_carry_a_tolerance_from_plan_to_digest(
    project_folder: Callable[..., Path], runtime: SessionRuntime
) -> None:
    text = (
        "import headwater\n"
        'headwater.source("n", rows=[(i % 3, i / 7) for i in range(50)], schema="k INT, x DOUBLE")\n'
    )
    folder = project_folder(
        all_py=text,
        sums_sql="-- headwater: table\nSELECT k, sum(x) AS total, count(*) AS n FROM n GROUP BY k",
        shares_sql="-- headwater: table\nSELECT k, total / 2 AS half, n FROM sums",
    )
    project = headwater.open(folder, settings=SETTINGS)
    planned = project.plan(scans=False).bundles
    (finding,) = planned["sums"].findings
    assert (finding.code, finding.severity, finding.approximate) == ("HW-DET-013", "warn", ("total",))
    assert (planned["shares"].findings, planned["shares"].approximate) == ((), ("half",))
    outcome = project.build()
    assert outcome.status == "done"
    (warning,) = outcome.warnings
    assert warning.startswith("HW-DET-013 views/sums.sql:1: 'sums' ")
    with runtime.checkout() as session:
        table = session.spark.read.format("delta").load(str(folder / ".headwater" / "tables" / "shares"))
        marked = [field.name for field in table.schema.fields if field.metadata.get(APPROXIMATE_KEY)]
    assert marked == ["half"]
    assert project.build().status == "unchanged"


def test_lineage_chooses_statistics_and_the_choice_is_recorded(
    project_folder: Callable[..., Path], runtime: SessionRuntime
) -> None:
    wide = ", ".join(f"id + {n} AS c{n}" for n in range(40))
    folder = project_folder(
        wide_sql=f"-- headwater: table\nSELECT {wide} FROM range(3)",
        late_sql="-- headwater: table\nSELECT c1, c39 FROM wide WHERE c38 > 1",
    )
    project = headwater.open(folder, settings=SETTINGS)
    outcome = project.build()
    assert outcome.status == "done", outcome.error
    decided = {each.dataset_name: each for each in read_manifest(outcome.manifest).statistics}
    assert decided["wide"].lineage_columns == ("c38", "c1", "c39")
    with runtime.checkout() as session:
        uri = (folder / ".headwater" / "tables" / "wide").resolve().as_uri()
        properties = snapshot_info(session, uri).table_properties
    assert properties["delta.dataSkippingStatsColumns"].startswith("c38,c1,c39,c0")
    assert project.build().status == "unchanged"


def test_a_rule_that_is_taken_away_is_noticed_by_a_build_with_nothing_else_to_do(
    project_folder: Callable[..., Path],
) -> None:
    text = "import headwater\nheadwater.source('n', rows=[(1, 2.5)], schema='k INT, x DOUBLE')\n"
    sql = "-- headwater: table\nSELECT k, sum(x) AS total FROM n GROUP BY k"
    folder = project_folder(all_py=text, sums_sql=sql)
    toml = (folder / "headwater.toml").read_text()
    assert headwater.open(folder, settings=SETTINGS).build().status == "done"
    (folder / "headwater.toml").write_text(toml + '\n[determinism]\nfloat-aggregate = "refuse"\n')
    with pytest.raises(FloatAggregated):
        headwater.open(folder, settings=SETTINGS).build()
    (folder / "headwater.toml").write_text(toml + '\n[determinism.sums]\nfloat-aggregate = "allow"\n')
    allowed = headwater.open(folder, settings=SETTINGS).build()
    assert ([each.action for each in allowed.tables], allowed.warnings) == (["skipped"], ())
    assert headwater.open(folder, settings=SETTINGS).build().status == "unchanged"
