"""Columns of one session, made in the JVM.

pyspark's own `functions` ask the whole process whether to make a classic or a Connect column, and another
thread may be building views at that moment. Not here: which columns.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame
from pyspark.sql.classic.column import Column
from pyspark.sql.types import StructType

from headwater.runtime import local_path_of

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

    from headwater.runtime import RunSession


def sql_column(session: RunSession, text: str) -> Column:
    """An expression in SQL as a column."""
    return Column(session.jvm.org.apache.spark.sql.functions.expr(text))


def quoted(name: str) -> str:
    """A column's name as it stands in SQL."""
    return f"`{name.replace('`', '``')}`"


def table_in_sql(uri: str) -> str:
    """A table by its address, as it stands in SQL."""
    return f"delta.{quoted(str(local_path_of(uri)))}"


def literal(session: RunSession, value: str | int | None) -> Column:
    """A value as a column."""
    return Column(session.jvm.org.apache.spark.sql.functions.lit(value))


def cast_column(session: RunSession, column: Any, kind: DataType) -> Column:
    """A column cast to a type."""
    return Column(column._jc.cast(session.jvm.org.apache.spark.sql.types.DataType.fromJson(kind.json())))


def column_where(session: RunSession, condition: Any, value: Any, other: Any) -> Column:
    """`value` where the condition holds, `other` elsewhere; all three are columns."""
    chosen = session.jvm.org.apache.spark.sql.functions.when(condition._jc, value._jc)
    return Column(chosen.otherwise(other._jc))


def frame_in(session: RunSession, rows: Any) -> DataFrame:
    """The same rows as a frame of another session: what is planned stays, what runs has its settings."""
    frames = session.jvm.org.apache.spark.sql.classic.Dataset
    plan = rows._jdf.queryExecution().analyzed()
    return DataFrame(frames.ofRows(session.jvm_session, plan), session.spark)


def schema_of_ddl(session: RunSession, ddl: str) -> StructType:
    """A schema as Spark parses it; raises what Spark throws for a text that is none."""
    found = session.jvm.org.apache.spark.sql.types.StructType.fromDDL(ddl)
    return StructType.fromJson(json.loads(str(found.json())))
