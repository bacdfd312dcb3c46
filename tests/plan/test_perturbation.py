"""The proof of lineage: what is not claimed can be anything, and what is claimed of plain queries matters."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st
from pyspark.sql import functions as F

from headwater.plan.dependence import minimal_paths
from headwater.runtime import ENGINE_EXCEPTIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession
    from tests.plan.conftest import Tables

    from headwater.plan import ViewLineage
    from headwater.plan.dependence import Dependence


def queries(name: str) -> dict[str, str]:
    """The queries of a file; each begins with its name, as a comment."""
    text = (Path(__file__).parent / "queries" / f"{name}.sql").read_text("utf-8")
    named = (block.partition("\n") for block in f"\n{text}".split("\n-- ")[1:])
    return {name.strip(): sql for name, _, sql in named}


DECISIONS = {**queries("decision"), **queries("nested"), **queries("mixed")}


@pytest.mark.parametrize("name", DECISIONS)
def test_what_is_not_claimed_can_be_anything(tables: Tables, name: str) -> None:
    tables.check(DECISIONS[name])


# --- frames and functions --------------------------------------------------------------------------------


def by_name_with_columns_missing(spark: SparkSession) -> DataFrame:
    made = F.struct(F.col("tier").alias("extra"), F.col("region").alias("name")).alias("who")
    less = spark.table("customers").select(made, F.col("parent").alias("parent"))
    return (
        spark.table("events")
        .select("who", "id")
        .unionByName(less, allowMissingColumns=True)
        .select("id", "parent", "who.name", "who.extra")
    )


def fields_set_and_dropped(spark: SparkSession) -> DataFrame:
    who = F.col("who").withField("nick", F.col("kind")).withField("home.more", F.col("id")).dropFields("name")
    return spark.table("events").select(who.alias("w")).select("w.nick", "w.home.more", "w.home.city", "w.id")


def one_row_each(spark: SparkSession) -> DataFrame:
    return spark.table("orders").dropDuplicates(["status"]).select("status", "amount")


def outer_references(spark: SparkSession) -> DataFrame:
    mine = spark.table("orders").alias("o").where(F.col("o.customer") == F.col("c.id").outer())
    customers = spark.table("customers").alias("c").where(mine.where("qty > 2").exists())
    return customers.select("name", mine.select(F.max("amount")).scalar().alias("most"))


def gaps_filled(spark: SparkSession) -> DataFrame:
    orders = (
        spark.table("orders")
        .fillna({"qty": 0})
        .replace({3: 4}, subset=["amount"])
        .dropna(subset=["discount"])
    )
    return orders.groupBy("status").pivot("qty", [0, 1, 2]).agg(F.sum("amount"))


def functions_in_sql(spark: SparkSession) -> DataFrame:
    spark.sql("CREATE OR REPLACE TEMPORARY FUNCTION twice(x INT) RETURNS INT RETURN x * 2")
    spark.sql(
        "CREATE OR REPLACE TEMPORARY FUNCTION spent(who INT) RETURNS BIGINT "
        "RETURN SELECT sum(amount) FROM orders WHERE customer = who AND twice(qty) > 3"
    )
    return spark.sql(
        "SELECT name, twice(tier) AS double, spent(id) AS spent FROM customers WHERE spent(parent) > 2"
    )


def table_functions_in_sql(spark: SparkSession) -> DataFrame:
    spark.sql(
        "CREATE OR REPLACE TEMPORARY FUNCTION bought(who INT, least INT) RETURNS TABLE (what INT, at DATE) "
        "RETURN SELECT amount, day FROM orders WHERE customer = who AND qty > least"
    )
    return spark.sql("SELECT c.name, b.at FROM customers c LEFT JOIN LATERAL bought(c.id, c.tier) b")


FRAMES = (
    by_name_with_columns_missing,
    fields_set_and_dropped,
    one_row_each,
    outer_references,
    gaps_filled,
    functions_in_sql,
    table_functions_in_sql,
)


@pytest.mark.parametrize("frame", FRAMES, ids=lambda frame: frame.__name__)
def test_it_holds_for_frames_and_functions(
    tables: Tables, frame: Callable[[SparkSession], DataFrame]
) -> None:
    tables.check(frame)


# --- the other way round ---------------------------------------------------------------------------------

PLAIN = (
    "a projection with arithmetic, casts and aliases",
    "a filter on columns that are not selected",
    "groups with plain aggregates",
    "a total without groups",
    "an aggregate's filter clauses",
    "select distinct",
    "case, if, nullif and coalesce",
    "column aliases used sideways",
    "fields of structs",
    "a field of every element",
    "keys, values and entries of a map",
    "how many, and whether any",
    "transform, with fields and the position",
    "explode a map",
    "a struct made and taken apart",
)


@pytest.mark.parametrize("name", PLAIN)
def test_what_a_plain_query_claims_matters(tables: Tables, name: str) -> None:
    sql = DECISIONS[name]
    lineage = tables.lineage(sql)
    required = minimal_paths(each for edges in (lineage.rows, *_columns(lineage)) for each in edges)
    assert [path.column for path in required if not tables.changes_with(sql, path)] == []


def _columns(lineage: ViewLineage) -> list[tuple[Dependence, ...]]:
    return [column.dependences for column in lineage.columns]


@pytest.mark.parametrize(
    "name", ["a filter on columns that are not selected", "in with two columns", "aggregate"]
)
def test_a_claim_that_is_missing_is_noticed(tables: Tables, name: str) -> None:
    sql = DECISIONS[name]
    lineage = tables.lineage(sql)
    for missing in {path for each in (lineage.rows, *_columns(lineage)) for path, _ in each}:
        less = replace(
            lineage,
            rows=tuple(each for each in lineage.rows if each.path != missing),
            columns=tuple(
                replace(
                    column, dependences=tuple(each for each in column.dependences if each.path != missing)
                )
                for column in lineage.columns
            ),
        )
        with pytest.raises(AssertionError, match="change"):
            tables.check(sql, less)


# --- queries that nobody wrote ---------------------------------------------------------------------------

COLUMNS = st.sampled_from("abc")
VALUES = st.one_of(
    COLUMNS,
    st.builds("coalesce({}, {})".format, COLUMNS, COLUMNS),
    st.builds("{} - {}".format, COLUMNS, COLUMNS),
    st.builds("if({} > {}, {}, 3)".format, COLUMNS, COLUMNS, COLUMNS),
)
TESTS = st.one_of(
    st.builds("{} > {}".format, COLUMNS, COLUMNS),
    st.builds("{} IS NOT NULL".format, COLUMNS),
    st.builds("{} % 2 = 1".format, COLUMNS),
)
JOINS = st.sampled_from(["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"])
# Each step is a query over the step before it (new) and the one before that (old).
STEPS = st.one_of(
    st.builds("SELECT {} AS a, {} AS b, {} AS c FROM new".format, VALUES, VALUES, VALUES),
    st.builds("SELECT * FROM new WHERE {}".format, TESTS),
    st.builds("SELECT {0} AS a, sum({1}) AS b, count({2}) AS c FROM new GROUP BY {0}".format, *[COLUMNS] * 3),
    st.builds(
        "SELECT n.a, o.{}, coalesce(n.c, o.{}) AS c FROM new n {} old o ON n.{} = o.{}".format,
        *(st.just("b"), COLUMNS, JOINS, COLUMNS, COLUMNS),
    ),
    st.builds("SELECT {}, max({}) OVER (PARTITION BY {} ORDER BY {}) AS b, c FROM new".format,
              st.just("a"), *[COLUMNS] * 3),
    st.builds("SELECT * FROM new {} SELECT * FROM old".format,
              st.sampled_from(["UNION ALL", "EXCEPT", "INTERSECT ALL", "UNION"])),
    st.builds("SELECT * FROM new WHERE {} {} IN (SELECT {} FROM old WHERE {})".format,
              COLUMNS, st.sampled_from(["", "NOT"]), COLUMNS, TESTS),
    st.builds("SELECT a, b, (SELECT min(o.{}) FROM old o WHERE o.{} = n.{}) AS c FROM new n".format,
              COLUMNS, COLUMNS, COLUMNS),
    st.builds("SELECT * FROM new n WHERE EXISTS (SELECT 1 FROM old o WHERE o.{} < n.{} AND {})".format,
              COLUMNS, COLUMNS, TESTS.map(lambda test: f"({test})")),
)  # fmt: skip


def chained(steps: list[str]) -> str:
    """The steps as common tables, each over the two before it."""
    made = [
        "SELECT id AS a, qty AS b, amount AS c FROM orders",
        "SELECT id AS a, tier AS b, parent AS c FROM customers",
    ]
    for number, step in enumerate(steps, 2):
        made.append(step.replace("new", f"t{number - 1}").replace("old", f"t{number - 2}"))
    tables = ", ".join(f"t{number} AS ({each})" for number, each in enumerate(made))
    # A row for certain: a query that finds nothing proves nothing.
    return f"WITH {tables} SELECT * FROM t{len(made) - 1} UNION ALL SELECT 0, 0, 0"


# Some chains Spark itself plans wrongly: a minimum of one group comes as several rows; a subquery over a part
# of a union that is asked about the union has a column that the optimizer cannot find.
SPARKS_OWN = ("SCALAR_SUBQUERY_TOO_MANY_ROWS", "NoSuchElementException: key not found")


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(steps=st.lists(STEPS, min_size=2, max_size=5))
def test_it_holds_for_any_chain_of_steps(tables: Tables, steps: list[str]) -> None:
    try:
        tables.check(chained(steps))
    except ENGINE_EXCEPTIONS as error:
        if not any(each in str(error) for each in SPARKS_OWN):
            raise
        reject()
