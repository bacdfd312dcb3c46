from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions as F

from headwater.plan.operators import Walk
from headwater.plan.tree import Attribute, Node, PlanTree, Struct

if TYPE_CHECKING:
    from tests.plan.conftest import Tables

# What decides which rows a query has.
ROWS: dict[str, str] = {
    "SELECT 1 AS x FROM orders": "",
    "SELECT 1 AS x FROM orders WHERE qty > 1": "filter orders.qty",
    "SELECT DISTINCT status FROM orders": "group orders.status",
    "SELECT max(qty) AS q FROM orders GROUP BY status, day": "group orders.day, group orders.status",
    "SELECT id FROM orders ORDER BY qty LIMIT 1": "order orders.qty",
    "SELECT id FROM orders LIMIT 3 OFFSET 1": "",
    "SELECT id FROM orders TABLESAMPLE (50 PERCENT) REPEATABLE (1)": "",
    "SELECT /*+ REPARTITION(3, qty) */ id FROM orders": "",
    "SELECT o.id FROM orders o, customers c": "",
    "SELECT o.id FROM orders o JOIN customers c ON o.qty < c.tier": "join customers.tier, join orders.qty",
    "SELECT o.id FROM orders o LEFT ANTI JOIN (SELECT id FROM customers WHERE tier > 1) c ON o.id = c.id": (
        "join customers.id, filter customers.tier, join orders.id"
    ),
    "SELECT id FROM orders EXCEPT SELECT id FROM products": "join orders.id, join products.id",
    "SELECT id FROM orders UNION ALL SELECT id FROM products WHERE cost > 1": "filter products.cost",
    "SELECT 1 AS x FROM events LATERAL VIEW explode(items) AS i": "join presence of events.items",
    "SELECT i FROM events LATERAL VIEW json_tuple(kind, 'a') AS i": "join events.kind",
    "SELECT q FROM quarters UNPIVOT INCLUDE NULLS (q FOR n IN (q1, q2))": "",
    "SELECT TRANSFORM (id, qty) USING 'cat' AS (a, b) FROM orders": "filter orders.id, filter orders.qty",
    "SELECT count(*) AS n FROM orders GROUP BY window(CAST(day AS TIMESTAMP), '2 days')": (
        "filter orders.day, group orders.day"
    ),
}


@pytest.mark.parametrize("sql", ROWS)
def test_what_decides_about_rows(tables: Tables, sql: str) -> None:
    assert tables.claims(sql)["*"] == [each for each in ROWS[sql].split(", ") if each]


def test_columns_of_a_common_table_are_followed_by_place(tables: Tables) -> None:
    sql = "WITH t (a, b) AS (SELECT qty, amount FROM orders) SELECT x.a, y.b FROM t x JOIN t y ON x.b = y.a"
    claims = tables.claims(sql)
    assert (claims["a"], claims["b"]) == (["value orders.qty"], ["value orders.amount"])


def test_a_common_table_under_a_subquery_sees_the_query_around_it(tables: Tables) -> None:
    sql = """SELECT name FROM customers c WHERE EXISTS (
      WITH t AS (SELECT * FROM orders WHERE customer = c.id)
      SELECT 1 FROM t a JOIN t b ON a.qty = b.amount)"""
    assert tables.lineage(sql).required == {
        "customers": ("id", "name"),
        "orders": ("amount", "customer", "qty"),
    }


def test_a_query_that_is_used_twice_keeps_its_common_tables_apart(tables: Tables) -> None:
    once = tables.session.spark.sql("WITH t AS (SELECT id, qty FROM orders WHERE amount > 2) SELECT * FROM t")
    both = once.alias("x").join(once.alias("y"), F.col("x.id") == F.col("y.qty"))
    lineage = tables.lineage_of(both.select("x.id", "y.qty").union(once.select("qty", "id")))
    assert lineage.required == {"orders": ("amount", "id", "qty")}
    assert [len(column.dependences) for column in lineage.columns] == [2, 2]


def test_a_recursive_table_grows_until_nothing_new_is_claimed(tables: Tables) -> None:
    sql = """WITH RECURSIVE t (n, a, b, c) AS (SELECT 0, id, qty, amount FROM orders
      UNION ALL SELECT n + 1, b, c, a FROM t WHERE n < 3) SELECT a FROM t"""
    assert tables.claims(sql)["a"] == ["value orders.amount", "value orders.id", "value orders.qty"]


def test_fields_of_a_recursive_table_change_places_too(tables: Tables) -> None:
    sql = """WITH RECURSIVE t (n, s) AS (SELECT 0, struct(id AS a, qty AS b, amount AS c) FROM orders
      UNION ALL SELECT n + 1, struct(s.b AS a, s.c AS b, s.a AS c) FROM t WHERE n < 3) SELECT s.a FROM t"""
    assert tables.claims(sql)["a"] == ["value orders.amount", "value orders.id", "value orders.qty"]


def test_a_common_table_inside_of_a_recursive_one_grows_with_it(tables: Tables) -> None:
    sql = """WITH RECURSIVE t (n, a, b) AS (SELECT 0, id, tier FROM customers UNION ALL (
        WITH q AS (SELECT n + 1 AS n, b AS a, a AS b FROM t WHERE n < 4)
        SELECT q.n, q.a, x.weight FROM q JOIN arcs x ON x.source = q.b))
      SELECT a FROM t"""
    claims = tables.claims(sql)
    assert claims["a"] == ["value arcs.weight", "value customers.id", "value customers.tier"]
    assert claims["*"] == [
        f"join {each}" for each in ("arcs.source", "arcs.weight", "customers.id", "customers.tier")
    ]


def test_a_recursive_table_may_start_from_another(tables: Tables) -> None:
    sql = """WITH RECURSIVE a (n) AS (SELECT id FROM products UNION ALL SELECT n + 1 FROM a WHERE n < 3),
      b (m) AS (SELECT n FROM a UNION ALL SELECT m + 1 FROM b WHERE m < 4) SELECT m FROM b"""
    assert tables.claims(sql) == {"m": ["value products.id"], "*": ["filter products.id"]}


def test_structs_of_a_union_are_followed_by_place(tables: Tables) -> None:
    sql = """SELECT s.x FROM (SELECT named_struct('x', id, 'y', kind) AS s FROM events
      UNION ALL SELECT named_struct('y', qty, 'x', status) FROM orders)"""
    assert tables.claims(sql)["x"] == ["value events.id", "value orders.qty"]


def test_grouping_levels_depend_on_nothing(tables: Tables) -> None:
    sql = "SELECT region, grouping_id() AS level FROM customers GROUP BY ROLLUP (region, tier)"
    assert tables.claims(sql)["level"] == []


def test_whether_there_is_a_match_can_be_a_column() -> None:
    def relation(name: str, column: int) -> Node:
        return Node("View", "plan", {}, (column,), columns=(f"c{column}",), name=name)

    matched = Node("AttributeReference", "expression", {}, id=3, name="exists")
    left, right = (Node("AttributeReference", "expression", {}, id=n, name=f"c{n}") for n in (1, 2))
    join = Node(
        "Join",
        "plan",
        {
            "left": relation("l", 1),
            "right": relation("r", 2),
            "condition": Node("EqualTo", "expression", {"left": left, "right": right}),
            "joinType": Struct("ExistenceJoin", {"exists": matched}),
        },
        (1, 3),
    )
    attributes = {n: Attribute(n, f"c{n}", "integer", nullable=True, metadata={}) for n in (1, 2, 3)}
    found = Walk(PlanTree(join, attributes), "v", None).rows_of(join)
    assert sorted(path.dataset for path, _ in found.columns[3].all()) == ["l", "r"]
    assert found.rows == frozenset()
