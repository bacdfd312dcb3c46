from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plan.conftest import Tables

# What an expression over the orders claims.
CASES: dict[str, str] = {
    # references and casts
    "1": "",
    "qty AS other": "value qty",
    "CAST(amount AS STRING)": "value amount",
    "typeof(amount)": "",
    "status COLLATE UNICODE_CI": "value status",
    # choices
    "if(qty > 1, amount, customer)": "value amount, value customer, value qty",
    "CASE status WHEN 'a' THEN amount ELSE 0 END": "value amount, value status",
    "CASE WHEN qty > 1 THEN amount END": "value amount, value qty",
    "coalesce(discount, qty)": "value discount, value qty",
    "nvl2(discount, qty, amount)": "value amount, value discount, value qty",
    "nullif(qty, amount)": "value amount, value qty",
    "qty BETWEEN amount AND discount": "value amount, value discount, value qty",
    # aggregates
    "count(*)": "",
    "count(discount)": "value discount",
    "sum(amount) FILTER (WHERE qty > 1)": "filter qty, value amount",
    "count(DISTINCT status, qty)": "value qty, value status",
    "max_by(amount, day)": "order day, value amount",
    "first(amount, true)": "value amount",
    "any_value(amount)": "value amount",
    "collect_list(amount)": "value amount",
    "size(collect_list(discount))": "value presence of discount",
    "size(collect_set(discount))": "value discount",
    "listagg(status, ',') WITHIN GROUP (ORDER BY day)": "order day, value status",
    "percentile_cont(0.5) WITHIN GROUP (ORDER BY amount)": "value amount",
    "count_if(qty > 1)": "value qty",
    # windows
    "row_number() OVER (ORDER BY day)": "order day",
    "dense_rank() OVER (PARTITION BY status ORDER BY day DESC)": "order day, window status",
    "sum(amount) OVER (PARTITION BY status, qty % 2)": "value amount, window qty, window status",
    "lag(amount, 1, customer) OVER (ORDER BY day)": "order day, value amount, value customer",
    "nth_value(amount, 2) OVER (ORDER BY day)": "order day, value amount",
    "ntile(2) OVER (ORDER BY day)": "order day",
    "sum(amount) OVER (ORDER BY day ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)": "order day, value amount",
}


@pytest.mark.parametrize("expression", CASES)
def test_what_an_expression_depends_on(tables: Tables, expression: str) -> None:
    named = expression if " AS other" in expression else f"{expression} AS other"
    claims = tables.claims(f"SELECT {named} FROM orders")
    assert claims["*"] == []
    assert sorted(each.replace("orders.", "") for each in claims["other"]) == [
        each for each in CASES[expression].split(", ") if each
    ]


def test_nulls_of_a_struct_that_is_chosen(tables: Tables) -> None:
    sql = "SELECT coalesce(who.home, named_struct('city', kind, 'zip', id)).zip AS zip FROM events"
    assert tables.claims(sql)["zip"] == ["value events.id", "value events.who.home.zip"]


def test_what_is_distinct_is_decided_by_every_field(tables: Tables) -> None:
    distinct = "SELECT collect_list(DISTINCT who).name AS names FROM events"
    assert tables.claims(distinct)["names"] == ["value events.who", "value events.who.name"]
    assert tables.claims(distinct.replace("DISTINCT", ""))["names"] == ["value events.who.name"]


def test_a_struct_of_another_row_is_taken_apart(tables: Tables) -> None:
    sql = "SELECT lead(who) OVER (PARTITION BY kind ORDER BY id).name AS next FROM events"
    assert tables.claims(sql)["next"] == [
        "order events.id",
        "window events.kind",
        "value events.who.name",
    ]


def test_only_the_presence_of_a_struct_is_counted(tables: Tables) -> None:
    assert tables.claims("SELECT count(who) AS n FROM events")["n"] == ["value presence of events.who"]


def test_a_cast_that_may_fail_depends_on_more_than_presence(tables: Tables) -> None:
    assert tables.claims("SELECT size(collect_list(try_cast(kind AS INT))) AS n FROM events")["n"] == [
        "value events.kind"
    ]


def test_a_subquery_adds_its_mark_to_the_role_of_its_place(tables: Tables) -> None:
    value = tables.claims("SELECT (SELECT max(cost) FROM products WHERE id = o.qty) AS x FROM orders o")
    assert value["x"] == [
        "filter orders.qty",
        "subquery orders.qty",
        "subquery products.cost",
        "value products.cost",
        "filter products.id",
        "subquery products.id",
    ]
    place = tables.claims("SELECT 1 AS x FROM orders WHERE qty > (SELECT max(cost) FROM products)")
    assert place["*"] == ["filter orders.qty", "filter products.cost", "subquery products.cost"]


def test_whether_there_are_rows_is_the_value_of_exists(tables: Tables) -> None:
    sql = "SELECT EXISTS (SELECT 1 FROM products p JOIN lines l ON p.id = l.product) AS x FROM orders"
    both = ("subquery", "value")
    assert tables.claims(sql)["x"] == [
        f"{kind} {path}" for path in ("lines.product", "products.id") for kind in both
    ]


def test_a_field_of_a_subquerys_struct(tables: Tables) -> None:
    sql = "SELECT (SELECT first(who) FROM events).name AS name FROM orders"
    assert tables.claims(sql)["name"] == ["subquery events.who.name", "value events.who.name"]


def test_in_matters_with_both_sides_and_the_rows(tables: Tables) -> None:
    sql = "SELECT 1 AS x FROM orders WHERE (id, qty) NOT IN (SELECT product, units FROM lines WHERE is_gift)"
    assert tables.claims(sql)["*"] == [
        *("filter lines.is_gift", "subquery lines.is_gift"),
        *("filter lines.product", "subquery lines.product"),
        *("filter lines.units", "subquery lines.units"),
        *("filter orders.id", "filter orders.qty"),
    ]
