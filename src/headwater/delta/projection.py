"""Columns at the scan boundary: defaults for those that are missing, expressions, casts to a schema.

Everything here is a plain projection of one row into one row, and gives the same every time: no clock, no
chance, no other table. Not here: which rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from headwater.errors import ScanNotResolved
from headwater.runtime import ENGINE_EXCEPTIONS, failure_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructField

    from headwater.datasets import ReadOptions
    from headwater.origin import Origin
    from headwater.runtime import Failure, RunSession

# What makes a row's value depend on more than the row; an expression with one of these is refused.
_NOT_PLAIN = ("CURRENT_LIKE", "PLAN_EXPRESSION", "PYTHON_UDF")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanColumn:
    """A column as it comes out of a scan: its name, its type, and the expression that Spark resolved."""

    name: str
    type: str
    expression: str


def project_columns(
    session: RunSession, rows: DataFrame, options: ReadOptions, *, dataset: str, origin: Origin | None = None
) -> tuple[DataFrame, tuple[ScanColumn, ...]]:
    """The rows with the columns that are asked for; and how each was made, if anything was asked.

    First a default stands in for each column that is missing, then `columns` are computed, then they are cast
    to `schema`, whose columns are the ones that come out.

    Raises:
        ScanNotResolved: an expression does not parse, has no such column, or is more than a projection.
    """
    if not options.columns and not options.defaults and options.schema is None:
        return rows, ()
    scan = _Projecting(session, rows, dataset, origin)
    for name, expression in options.defaults:
        if not scan.has(name):
            scan.add(name, expression)
    if options.columns:
        scan.choose(options.columns)
    if options.schema is not None:
        scan.cast_to(options.schema)
    return scan.rows, scan.columns


class _Projecting:
    """The rows so far, and the resolved expression of each column that is not simply the table's."""

    def __init__(self, session: RunSession, rows: DataFrame, dataset: str, origin: Origin | None) -> None:
        self.rows = rows
        self._session = session
        self._dataset = dataset
        self._origin = origin
        self._expressions: dict[str, str] = {}

    @property
    def columns(self) -> tuple[ScanColumn, ...]:
        return tuple(
            ScanColumn(
                name=field.name,
                type=field.dataType.simpleString(),
                expression=self._expressions.get(field.name, field.name),
            )
            for field in self.rows.schema.fields
        )

    def has(self, name: str) -> bool:
        return name.casefold() in {each.casefold() for each in self.rows.columns}

    def add(self, name: str, expression: str) -> None:
        self._expressions[name] = self._resolved(expression, name)
        self.rows = self.rows.withColumn(name, F.expr(expression))

    def choose(self, columns: tuple[tuple[str, str], ...]) -> None:
        found = {name: self._resolved(expression, name) for name, expression in columns}
        # A column that is only renamed or kept is what it was before.
        self._expressions = {name: self._expressions.get(sql, sql) for name, sql in found.items()}
        self.rows = self.rows.select(*[F.expr(expression).alias(name) for name, expression in columns])

    def cast_to(self, schema: str) -> None:
        try:
            wanted = cast("StructType", StructType.fromDDL(schema))
        except ENGINE_EXCEPTIONS as error:
            raise self._error(f"the schema {schema}", failure_of(error)) from error
        before = {each.name.casefold(): each for each in self.rows.schema.fields}
        for field in wanted.fields:
            if field.name.casefold() not in before:
                raise ScanNotResolved(
                    dataset=self._dataset,
                    expression=f"the column {field.name} of its schema",
                    detail="the table has no such column",
                    remedy=f"Give it a default: defaults={{{field.name!r}: 'NULL'}}.",
                    origin=self._origin,
                )
        try:
            rows = self.rows.select(
                *[F.col(_quoted(each.name)).cast(each.dataType).alias(each.name) for each in wanted.fields]
            )
        except ENGINE_EXCEPTIONS as error:
            raise self._error(f"the schema {schema}", failure_of(error)) from error
        self._expressions = {
            each.name: self._cast_sql(before[each.name.casefold()], each) for each in wanted.fields
        }
        self.rows = rows

    def _cast_sql(self, before: StructField, wanted: StructField) -> str:
        made = self._expressions.get(before.name, before.name)
        same = before.dataType == wanted.dataType
        return made if same else f"CAST({made} AS {wanted.dataType.simpleString().upper()})"

    def _resolved(self, expression: str, name: str) -> str:
        """The expression as Spark resolves it, once it is known to be plain."""
        shown = f"{expression} AS {name}"
        try:
            selected: Any = self.rows.select(F.expr(expression).alias(name))
            plan = selected._jdf.queryExecution().analyzed()
        except ENGINE_EXCEPTIONS as error:
            raise self._error(shown, failure_of(error)) from error
        patterns = self._session.jvm.org.apache.spark.sql.catalyst.trees.TreePattern
        is_projection = str(plan.nodeName()) == "Project"
        top = plan.expressions().head() if is_projection else None
        if (
            top is None
            or not top.deterministic()
            or any(top.containsPattern(getattr(patterns, each)()) for each in _NOT_PLAIN)
        ):
            raise ScanNotResolved(
                dataset=self._dataset,
                expression=shown,
                detail="a column at the scan boundary is made from its own row alone, and always the same",
                remedy="Leave clocks, chance, aggregates, subqueries and Python functions to a view.",
                origin=self._origin,
            )
        return str(top.child().sql())

    def _error(self, shown: str, failure: Failure) -> ScanNotResolved:
        return ScanNotResolved(
            dataset=self._dataset,
            expression=shown,
            detail=failure.detail,
            condition=failure.condition,
            sql_state=failure.sql_state,
            origin=self._origin,
        )


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"
