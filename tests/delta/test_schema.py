from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pyspark.sql.types import IntegerType, StructField, StructType

from headwater.delta import check_storable
from headwater.errors import NotStorable
from headwater.origin import Origin

if TYPE_CHECKING:
    from headwater.runtime import RunSession


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
