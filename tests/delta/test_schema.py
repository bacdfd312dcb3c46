from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from pyspark.sql.types import IntegerType, StructField, StructType

from headwater.delta import Append, Overwrite, ReplaceWhere, check_storable, snapshot_info, write_policy
from headwater.errors import NotStorable, SchemaDiffers
from headwater.origin import Origin
from headwater.policies import write_policy_of

if TYPE_CHECKING:
    from tests.delta.conftest import Table

    from headwater.policies import SchemaMode
    from headwater.runtime import RunSession

FITTING = "SELECT 1L AS id, 'a' AS s"


def test_ordinary_schemas_can_be_stored(session: RunSession) -> None:
    sql = "SELECT 1 AS a, 'x' AS `b-c.d`, array(named_struct('a', 1)) AS s, map('k', DATE'2026-01-01') AS m"
    check_storable(session.spark.sql(sql).schema, "v")


@pytest.mark.parametrize(
    ("sql", "column"),
    [
        ("SELECT sum(x) FROM VALUES (1) AS t(x)", "sum(x)"),
        ("SELECT named_struct('a b', 1) AS s", "s.a b"),
        ("SELECT array(map('k', INTERVAL 1 DAY)) AS l", "l.element.value"),
        ("SELECT INTERVAL 1 MONTH AS m", "m"),
        ("SELECT TIME'10:00:00' AS t", "t"),
        ("SELECT 'x' COLLATE UTF8_LCASE AS c", "c"),
    ],
)
def test_what_delta_would_refuse_is_refused_first(session: RunSession, sql: str, column: str) -> None:
    schema = session.spark.sql(sql).schema
    with pytest.raises(NotStorable) as caught:
        check_storable(schema, "v", Origin("v.sql", 1))
    assert (caught.value.column, caught.value.origin) == (column, Origin("v.sql", 1))
    with pytest.raises(Exception, match=r"DELTA|UNSUPPORTED_DATA_TYPE"):
        session.spark.sql(sql).write.format("delta").save("/nowhere/at/all")


def test_names_are_compared_without_regard_to_case() -> None:
    schema = StructType([StructField("a", IntegerType()), StructField("A", IntegerType())])
    with pytest.raises(NotStorable, match="twice"):
        check_storable(schema, "v")


def columns(table: Table) -> list[str]:
    schema = StructType.fromJson(json.loads(snapshot_info(table.session, table.uri).schema_json))
    return [f"{each.name} {each.dataType.simpleString()}" for each in schema.fields]


def test_rows_are_brought_into_the_tables_order_and_types(table: Table) -> None:
    table.change(Append, table.values(FITTING))
    table.change(Append, table.values("SELECT 'b' AS S, CAST(2 AS SMALLINT) AS ID"))
    table.change(Append, table.values("SELECT 3L AS id"))
    assert table.rows("id") == [(1,), (2,), (3,)]
    assert columns(table) == ["id bigint", "s string"]


@pytest.mark.parametrize(
    ("rows", "difference"),
    [
        ("SELECT 1L AS id, 'a' AS s, 1 AS more", "column 'more' is not in the table"),
        ("SELECT '1' AS id", "column 'id' is string, the table has bigint"),
        ("SELECT 1.5D AS id", "column 'id' is double, the table has bigint"),
        ("SELECT 1L AS id, named_struct('a', 1) AS s", "column 's' is struct<a:int>, the table has string"),
    ],
)
def test_rows_that_do_not_fit_are_refused_and_nothing_is_lost(
    table: Table, rows: str, difference: str
) -> None:
    table.change(Append, table.values(FITTING))
    for kind in (Append, Overwrite):
        with pytest.raises(SchemaDiffers) as caught:
            table.change(kind, table.values(rows))
        assert caught.value.differences == (difference,)
    assert table.version == 0


@pytest.mark.parametrize(
    ("said", "policy", "after"),
    [
        ("merge", None, ["id bigint", "s string", "more int"]),
        (None, "merge", ["id bigint", "s string", "more int"]),
        ("overwrite", "merge", ["more int", "id bigint"]),
        ("merge", "overwrite", ["id bigint", "s string", "more int"]),
        (None, "overwrite", ["more int", "id bigint"]),
        (None, None, None),
    ],
)
def test_the_writes_own_schema_mode_goes_before_the_policys(
    table: Table, said: SchemaMode | None, policy: SchemaMode | None, after: list[str] | None
) -> None:
    table.change(Append, table.values(FITTING))
    rows = table.values("SELECT 1 AS more, 2L AS id")
    if after is None:
        with pytest.raises(SchemaDiffers):
            table.change(Overwrite, rows, schema_mode=said, policy=write_policy_of({"schema_mode": policy}))
        return
    table.change(Overwrite, rows, schema_mode=said, policy=write_policy_of({"schema_mode": policy}))
    assert columns(table) == after


def test_a_policy_that_overwrites_schemas_does_so_only_with_the_whole_table(table: Table) -> None:
    policy = write_policy(schema_mode="overwrite")
    table.change(Append, table.values(FITTING), policy=policy)
    with pytest.raises(SchemaDiffers):
        table.change(Append, table.values("SELECT 1 AS other"), policy=policy)
    table.change(ReplaceWhere, table.values("SELECT 1L AS id, 'z' AS s"), where="id = 1", policy=policy)
    assert table.rows() == [(1, "z")]


@pytest.mark.parametrize(
    ("kept", "given"),
    [
        ("double", "9007199254740993L"),
        ("float", "16777217"),
        ("string", "X'FF00'"),
        ("string", "1"),
        ("timestamp_ntz", "TIMESTAMP'2026-01-01'"),
        ("decimal(5,2)", "1000"),
        ("int", "1L"),
    ],
)
def test_no_value_is_rounded_to_make_it_fit(table: Table, kept: str, given: str) -> None:
    table.sql(f"CREATE TABLE {{t}} (c {kept}) USING delta")
    with pytest.raises(SchemaDiffers):
        table.change(Append, table.values(f"SELECT {given} AS c"))


def test_values_that_fit_are_widened(table: Table) -> None:
    table.sql("CREATE TABLE {t} (a BIGINT, b DOUBLE, c DECIMAL(12, 2), d STRUCT<x: BIGINT>) USING delta")
    rows = "SELECT 1 AS a, 2 AS b, CAST(3 AS INT) AS c, named_struct('X', 4) AS d"
    table.change(Append, table.values(rows))
    assert table.rows("a", "b", "c", "d.x") == [(1, 2.0, Decimal("3.00"), 4)]


def test_names_are_compared_as_spark_does(table: Table) -> None:
    table.change(Append, table.values("('1', '2') AS t(`straße`, strasse)"))
    table.change(Append, table.values("('3', '4') AS t(`STRAßE`, STRASSE)"))
    assert table.rows() == [("1", "2"), ("3", "4")]


def test_a_mapped_column_may_have_any_name(table: Table) -> None:
    rows = table.values("SELECT 1 AS `a b`")
    table.change(Append, rows, policy=write_policy(column_mapping_mode="name"))
    table.change(Append, rows)
    assert table.rows() == [(1,), (1,)]
