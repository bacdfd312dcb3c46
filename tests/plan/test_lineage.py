from __future__ import annotations

import operator
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa  # noqa: TC002  Spark reads the annotations of what it is given
import pytest
from pyspark.sql import functions as F

from headwater.errors import PlanNotUnderstood
from headwater.origin import Origin
from headwater.pipeline import build_plan
from headwater.plan import (
    Dependence,
    Edge,
    ViewLineage,
    analysed_tree,
    lineage_of,
    lineage_through,
    rehydrate,
)
from headwater.plan.dependence import ColumnPath
from headwater.plan.lineage import ColumnLineage
from headwater.plan.tree import Attribute, Node, PlanTree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pyspark.sql import DataFrame, SparkSession
    from syrupy.assertion import SnapshotAssertion
    from tests.plan.conftest import Tables


def queries() -> dict[str, str]:
    text = (Path(__file__).parent / "queries" / "lineage.sql").read_text("utf-8")
    named = (block.partition("\n") for block in f"\n{text}".split("\n-- ")[1:])
    return {name.strip(): sql.strip() for name, _, sql in named}


CASES = queries()


def told(lineage: ViewLineage, query: str = "") -> str:
    """A lineage as people read it."""

    def words(dependences: Iterable[Dependence]) -> str:
        found: dict[str, list[str]] = {}
        for path, kind in dependences:
            name = f"{path.dataset}.{path.column}"
            found.setdefault(name if path.whole else f"the presence of {name}", []).append(kind)
        return "; ".join(f"{name} as {', '.join(kinds)}" for name, kinds in found.items()) or "nothing"

    lines = [f"{column.name} depends on {words(column.dependences)}" for column in lineage.columns]
    columns = lineage.required
    required = ", ".join(f"{name}({', '.join(columns.get(name, ()))})" for name in lineage.datasets)
    return "\n".join(
        [
            *([query, ""] if query else []),
            f"rows depend on {words(lineage.rows)}",
            *lines,
            f"reads {required}",
        ]
    )


@pytest.mark.parametrize("name", CASES)
def test_what_a_query_depends_on(tables: Tables, snapshot: SnapshotAssertion, name: str) -> None:
    assert told(tables.lineage(CASES[name]), CASES[name]) == snapshot


# --- frames and functions --------------------------------------------------------------------------------


def by_name(spark: SparkSession) -> DataFrame:
    less = spark.table("products").select("cost", F.col("id").alias("key"))
    return spark.table("products").select("id", "cost").unionByName(less, allowMissingColumns=True)


def by_name_inside(spark: SparkSession) -> DataFrame:
    made = F.struct(F.col("id").alias("extra"), F.col("kind").alias("name")).alias("who")
    events = spark.table("events")
    both = events.select("who").unionByName(events.select(made), allowMissingColumns=True)
    return both.select("who.name", "who.extra")


def changed_fields(spark: SparkSession) -> DataFrame:
    who = F.col("who").withField("nick", F.col("kind")).dropFields("name")
    return spark.table("events").select(who.alias("w")).select("w.id", "w.nick")


def python_rows(spark: SparkSession) -> DataFrame:
    return spark.table("orders").select("id", "qty").mapInArrow(lambda batches: batches, "a INT, b INT")


def _same_table(table: pa.Table) -> pa.Table:
    return table


def python_groups(spark: SparkSession) -> DataFrame:
    grouped = spark.table("products").select("id", "brand").groupBy("brand")
    return grouped.applyInArrow(_same_table, "a INT")


def python_function(spark: SparkSession) -> DataFrame:
    return spark.table("orders").select(F.udf(operator.add, "INT")("qty", "amount").alias("sum"), "id")


def deduplicated(spark: SparkSession) -> DataFrame:
    return spark.table("orders").dropDuplicates(["id"]).select("amount")


def numbered(spark: SparkSession) -> DataFrame:
    return spark.table("orders").select("id").zipWithIndex()


def outer_frame(spark: SparkSession) -> DataFrame:
    orders = spark.table("orders").alias("o").where(F.col("o.customer") == F.col("c.id").outer())
    return spark.table("customers").alias("c").where(orders.exists()).select("name")


def observed(spark: SparkSession) -> DataFrame:
    frame = (
        spark.table("orders").observe("seen", F.count("*").alias("n")).hint("broadcast").repartition(2, "qty")
    )
    return frame.withWatermark("day", "1 day").dropDuplicatesWithinWatermark(["id"]).select("status")


def later_values(spark: SparkSession) -> DataFrame:
    return spark.sql("SELECT * FROM VALUES (1, current_user()), (2, 'b') AS t(a, b)")


def scalar_function(spark: SparkSession) -> DataFrame:
    spark.sql("CREATE OR REPLACE TEMPORARY FUNCTION twice(x INT) RETURNS INT RETURN x * 2")
    return spark.sql("SELECT twice(qty) AS double FROM orders WHERE twice(amount) > 3")


def function_with_a_query(spark: SparkSession) -> DataFrame:
    spark.sql(
        "CREATE OR REPLACE TEMPORARY FUNCTION spent(who INT) RETURNS BIGINT "
        "RETURN SELECT sum(amount) FROM orders WHERE customer = who"
    )
    return spark.sql("SELECT name, spent(id) AS spent FROM customers")


def table_function(spark: SparkSession) -> DataFrame:
    spark.sql(
        "CREATE OR REPLACE TEMPORARY FUNCTION bought(who INT, least INT) RETURNS TABLE (what INT, at DATE) "
        "RETURN SELECT amount, day FROM orders WHERE customer = who AND qty > least"
    )
    return spark.sql("SELECT c.name, b.at FROM customers c, LATERAL bought(c.id, c.tier) b")


def registered_view(spark: SparkSession) -> DataFrame:
    spark.sql(
        "CREATE OR REPLACE TEMPORARY VIEW doubles AS SELECT id, qty * 2 AS d FROM orders WHERE amount > 2"
    )
    return spark.sql("SELECT d FROM doubles")


def cached_view(spark: SparkSession) -> DataFrame:
    registered_view(spark)
    spark.sql("CACHE LAZY TABLE doubles")
    found = spark.sql("SELECT d FROM doubles")
    found.schema  # noqa: B018  analysed before the cache is dropped
    spark.sql("UNCACHE TABLE doubles")
    return found


FRAMES: tuple[Callable[[SparkSession], DataFrame], ...] = (
    by_name,
    by_name_inside,
    changed_fields,
    python_rows,
    python_groups,
    python_function,
    deduplicated,
    numbered,
    outer_frame,
    observed,
    later_values,
    scalar_function,
    function_with_a_query,
    table_function,
    registered_view,
    cached_view,
)


@pytest.mark.parametrize("frame", FRAMES, ids=lambda frame: frame.__name__)
def test_what_a_frame_depends_on(
    tables: Tables, snapshot: SnapshotAssertion, frame: Callable[[SparkSession], DataFrame]
) -> None:
    assert told(tables.lineage_of(frame(tables.session.spark))) == snapshot


def test_a_frame_inside_of_a_query_is_part_of_it(tables: Tables) -> None:
    plan = build_plan(
        lambda spark: spark.sql("SELECT f.name FROM {f} f", f=spark.table("customers").where("tier > 2"))
    )
    frame = rehydrate(tables.session, plan.executable, "v")
    assert tables.lineage_of(frame).required == {"customers": ("name", "tier")}


# --- the values ------------------------------------------------------------------------------------------


def test_an_edge_per_column_and_kind(tables: Tables) -> None:
    lineage = tables.lineage("SELECT status, sum(amount) AS total FROM orders GROUP BY status")
    assert lineage.edges == (
        Edge("orders", "amount", "v", "total", "value"),
        Edge("orders", "status", "v", "status", "group"),
        Edge("orders", "status", "v", "status", "value"),
        Edge("orders", "status", "v", "total", "group"),
    )


def test_columns_by_their_use(tables: Tables) -> None:
    lineage = tables.lineage("SELECT max(qty) AS q FROM orders WHERE day IS NULL GROUP BY status")
    assert lineage.used_as("filter", "group") == (
        ColumnPath("orders", ("day",)),
        ColumnPath("orders", ("status",)),
    )


def test_a_dataset_that_is_only_counted_is_read_all_the_same(tables: Tables) -> None:
    lineage = tables.lineage("SELECT 1 AS one FROM orders CROSS JOIN products")
    assert (lineage.datasets, lineage.required) == (("orders", "products"), {})


def test_what_some_columns_need(tables: Tables) -> None:
    lineage = tables.lineage("SELECT id, amount, qty FROM orders WHERE day IS NULL")
    assert lineage.required_for({"id"}) == {"orders": ("day", "id")}


def test_required_is_the_coarser_of_two_paths(tables: Tables) -> None:
    lineage = tables.lineage("SELECT who, who.home.city, size(items), items.sku FROM events")
    assert lineage.required == {"events": ("items.element.sku", "who")}


def test_a_long_chain_of_steps(tables: Tables) -> None:
    frame = tables.session.spark.table("orders").select("id", "qty", "amount")
    for number in range(300):
        step = F.col("qty") + F.col("amount") if number % 100 == 0 else F.col("qty") + number
        frame = frame.withColumn("qty", step)
    assert tables.lineage_of(frame.select("qty")).required == {"orders": ("amount", "qty")}


def test_a_long_expression(tables: Tables) -> None:
    sum_of_many = " + ".join(["qty", "amount"] * 400)
    assert tables.lineage(f"SELECT {sum_of_many} AS x FROM orders").required == {"orders": ("amount", "qty")}


def test_an_operator_that_is_not_known_is_an_error() -> None:
    tree = PlanTree(Node("com.example.Magic", "plan", {}))
    with pytest.raises(PlanNotUnderstood, match="'v' has Magic in its plan") as caught:
        lineage_of(tree, "v", Origin("v.sql", 3))
    assert caught.value.origin == Origin("v.sql", 3)


def test_a_reference_to_nothing_is_an_error() -> None:
    stray = Node("AttributeReference", "expression", {}, id=7, name="stray")
    project = Node(
        "Project", "plan", {"projectList": (stray,), "child": Node("OneRowRelation", "plan", {})}, (7,)
    )
    tree = PlanTree(project, {7: Attribute(7, "stray", "integer", nullable=True, metadata={})})
    with pytest.raises(PlanNotUnderstood, match="the reference 'stray'"):
        lineage_of(tree, "v")


def test_a_registered_view_is_a_dataset_even_if_the_tree_opens_it(tables: Tables) -> None:
    tree = analysed_tree(registered_view(tables.session.spark), opens_views=True)
    assert lineage_of(tree, "v").required == {"doubles": ("d",)}


# --- through views in between ----------------------------------------------------------------------------


def of(
    view: str, columns: dict[str, list[tuple[str, str]]], rows: Iterable[tuple[str, str]] = ()
) -> ViewLineage:
    """A lineage from paths such as `orders.amount` and kinds."""

    def dependence(path: str, kind: str) -> Dependence:
        dataset, *parts = path.split(".")
        return Dependence(ColumnPath(dataset, tuple(parts)), cast("Any", kind))

    every = [*rows, *(each for those in columns.values() for each in those)]
    return ViewLineage(
        view=view,
        columns=tuple(
            ColumnLineage(name=name, dependences=tuple(dependence(*each) for each in those))
            for name, those in columns.items()
        ),
        rows=tuple(dependence(*each) for each in rows),
        datasets=tuple(sorted({path.partition(".")[0] for path, _ in every})),
    )


def test_a_value_that_is_handed_on_comes_from_the_far_end() -> None:
    inner = of("paid", {"eur": [("orders.amount", "value"), ("rates.rate", "value")]})
    outer = of("totals", {"sum": [("PAID.Eur", "value")]})
    assert told(lineage_through(outer, {"paid": inner})) == (
        "rows depend on nothing\n"
        "sum depends on orders.amount as value; rates.rate as value\n"
        "reads orders(amount), rates(rate)"
    )


def test_the_role_is_that_of_the_last_step_that_does_more_than_hand_on() -> None:
    inner = of("v", {"x": [("a.x", "value"), ("a.w", "window")]})
    outer = of("t", {"y": [("v.x", "value")], "z": [("v.x", "order")]})
    assert told(lineage_through(outer, {"v": inner})) == (
        "rows depend on nothing\n"
        "y depends on a.w as window; a.x as value\n"
        "z depends on a.w as order; a.x as order\n"
        "reads a(w, x)"
    )


def test_what_decides_about_the_rows_of_a_view_decides_about_its_readers_rows() -> None:
    lowest = of("low", {"k": [("a.k", "value")]}, [("a.is_real", "filter")])
    middle = of("mid", {"k": [("low.k", "value")]}, [("low.k", "join"), ("b.k", "join")])
    outer = of("t", {"n": []}, [("mid.k", "group")])
    assert told(lineage_through(outer, {"mid": middle, "low": lowest})) == (
        "rows depend on a.is_real as filter; a.k as group, join; b.k as join\n"
        "n depends on nothing\n"
        "reads a(is_real, k), b(k)"
    )


def test_a_stored_table_in_between_is_an_end() -> None:
    outer = of("t", {"y": [("stored.x", "value")]})
    assert lineage_through(outer, {}) == outer


def test_a_fixpoint_depends_on_all_rounds_and_not_on_itself() -> None:
    reach = of(
        "reach",
        {"src": [("edges.src", "value"), ("reach.src", "value")], "dst": [("edges.dst", "value")]},
        [("reach.dst", "join")],
    )
    assert told(lineage_through(reach, {})) == (
        "rows depend on edges.dst as join\n"
        "src depends on edges.src as value\n"
        "dst depends on edges.dst as value\n"
        "reads edges(dst, src)"
    )
