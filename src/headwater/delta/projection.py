"""Columns at the scan boundary: defaults for those that are missing, expressions, casts to a schema.

Everything here is a plain projection of one row into one row, and gives the same every time: no clock, no
chance, no other table. Not here: which rows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headwater.delta.columns import cast_column, quoted, schema_of_ddl, sql_column
from headwater.errors import ScanNotResolved
from headwater.runtime import ENGINE_EXCEPTIONS, failure_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType, StructField

    from headwater.datasets import ReadOptions
    from headwater.origin import Origin
    from headwater.runtime import Failure, RunSession

# What makes a row's value depend on more than the row; an expression with one of these is refused.
_NOT_PLAIN = ("CURRENT_LIKE", "PLAN_EXPRESSION", "PYTHON_UDF", "SCALA_UDF")
_VARIABLE = "VariableReference"
# Spark takes the time while it parses such a literal: what comes out of the parser is a plain date.
_CLOCK_LITERAL = re.compile(
    r"\b(?:date|timestamp\w*)\s*['\"]\s*(?:now|today|tomorrow|yesterday)\b", re.IGNORECASE
)
# Of the facts about a row's file, those that are the row's own and the same on every machine.
_METADATA = re.compile(r"\b_metadata\b(?!\.`?row_(?:id|commit_version)\b)")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanColumn:
    """A column as it comes out of a scan: its name, its type, and what it is made of, as Spark resolved it.

    The expression is over the table's own columns, defaults and casts filled in.
    """

    name: str
    type: str
    expression: str


def project_columns(
    session: RunSession, rows: DataFrame, options: ReadOptions, *, dataset: str, origin: Origin | None = None
) -> tuple[DataFrame, tuple[ScanColumn, ...]]:
    """The rows with the columns that are asked for; and how each was made, if anything was asked.

    First a default stands in for each column that is missing, then `columns` are computed, then they are cast
    to `schema`, whose columns are the ones that come out. A value that its type cannot hold fails the job
    that reads it; CHAR and VARCHAR are STRING, as in any cast of Spark's.

    Raises:
        ScanNotResolved: an expression does not parse, has no such column, or is more than a projection.
    """
    if not options.columns and not options.defaults and options.schema is None:
        return rows, ()
    boundary = Boundary(session, dataset, origin)
    found = rows
    for name, expression in options.defaults:
        if name.casefold() not in {each.casefold() for each in found.columns}:
            boundary.check_plain(found, expression, f"{expression} AS {name}", name)
            found = found.withColumn(name, sql_column(session, expression))
    if options.columns:
        for name, expression in options.columns:
            boundary.check_plain(found, expression, f"{expression} AS {name}", name)
        found = found.select(*[sql_column(session, sql).alias(name) for name, sql in options.columns])
    if options.schema is not None:
        found = boundary.cast_to(found, options.schema)
    return found, _scan_columns(session, rows, found)


class Boundary:
    """What may stand in an expression at the scan of one dataset, and the error for what may not."""

    def __init__(self, session: RunSession, dataset: str, origin: Origin | None = None) -> None:
        self._session = session
        self._dataset = dataset
        self._origin = origin

    def check_plain(self, rows: DataFrame, expression: str, shown: str, name: str | None = None) -> None:
        """Raises ScanNotResolved unless `expression` makes a value from each row alone, always the same."""
        try:
            column = sql_column(self._session, expression)
            made = rows.select(column if name is None else column.alias(name))
            is_plain = not _CLOCK_LITERAL.search(expression) and _is_plain(self._session, rows, made)
        except ENGINE_EXCEPTIONS as error:
            raise self.error(shown, failure_of(error)) from error
        if not is_plain:
            raise ScanNotResolved(
                dataset=self._dataset,
                expression=shown,
                detail="what stands at the scan boundary is made from its own row alone, and always the same",
                remedy="Leave clocks, chance, aggregates, windows, generators, subqueries, Python functions "
                "and facts about files or sessions to a view.",
                origin=self._origin,
            )

    def cast_to(self, rows: DataFrame, schema: str) -> DataFrame:
        """The rows with the columns and types of a schema, as Spark writes one."""
        shown = f"the schema {schema}"
        try:
            wanted = schema_of_ddl(self._session, schema)
        except ENGINE_EXCEPTIONS as error:
            raise self.error(shown, failure_of(error)) from error
        names = [each.name.casefold() for each in wanted.fields]
        if len(set(names)) < len(names):
            raise ScanNotResolved(
                dataset=self._dataset,
                expression=shown,
                detail="a schema has names with types, each name once",
                remedy="Write it as Spark does: 'id BIGINT, name STRING'.",
                origin=self._origin,
            )
        types = {each.name.casefold(): each.dataType for each in rows.schema.fields}
        for field in wanted.fields:
            if field.name.casefold() not in types:
                raise ScanNotResolved(
                    dataset=self._dataset,
                    expression=f"the column {field.name} of its schema",
                    detail="the table has no such column",
                    remedy=f"Give it a default: defaults={{{field.name!r}: 'NULL'}}.",
                    origin=self._origin,
                )
        columns = [_typed(self._session, each, types[each.name.casefold()]) for each in wanted.fields]
        try:
            return rows.select(*columns)
        except ENGINE_EXCEPTIONS as error:
            raise self.error(shown, failure_of(error)) from error

    def error(self, shown: str, failure: Failure) -> ScanNotResolved:
        """What Spark says against an expression."""
        return ScanNotResolved(
            dataset=self._dataset,
            expression=shown,
            detail=failure.detail,
            condition=failure.condition,
            sql_state=failure.sql_state,
            origin=self._origin,
        )


def _typed(session: RunSession, wanted: StructField, before: DataType) -> Column:
    column = sql_column(session, quoted(wanted.name))
    same = before == wanted.dataType
    return (column if same else cast_column(session, column, wanted.dataType)).alias(wanted.name)


def _is_plain(session: RunSession, before: Any, after: Any) -> bool:
    """Whether rows were made from others by projections of which nothing but the row is asked."""
    base, plan = before._jdf.queryExecution().analyzed(), after._jdf.queryExecution().analyzed()
    made, below = _projections(base, plan)
    expressions = [each for node in made for each in each_of(node.expressions())]
    uses_metadata = any("_metadata" in str(each.sql()) for each in expressions)
    # A column of metadata is added to what is below; everything else leaves it as it was.
    is_on_base = below.fastEquals(base) or (uses_metadata and below.nodeName() == base.nodeName())
    if not made or not is_on_base or not all(_is_of_its_row(session, each) for each in expressions):
        return False
    is_own = "_metadata" in before.columns
    if not is_own and any(_METADATA.search(str(each.sql())) for each in expressions):
        return False
    return not _takes_the_time(session, plan)


def _is_of_its_row(session: RunSession, expression: Any) -> bool:
    patterns = session.jvm.org.apache.spark.sql.catalyst.trees.TreePattern
    return (
        bool(expression.deterministic())
        and not any(expression.containsPattern(getattr(patterns, each)()) for each in _NOT_PLAIN)
        and all(
            str(each.getClass().getSimpleName()) != _VARIABLE for each in each_of(expression.collectLeaves())
        )
    )


def _takes_the_time(session: RunSession, plan: Any) -> bool:
    """Whether a text such as 'now' is cast to a date or time, which Spark makes the clock's at planning."""
    rules = session.jvm.org.apache.spark.sql.catalyst.optimizer
    replaced = rules.ReplaceExpressions.apply(plan)
    return not rules.SpecialDatetimeValues.apply(replaced).fastEquals(replaced)


def _scan_columns(session: RunSession, before: Any, after: Any) -> tuple[ScanColumn, ...]:
    """The columns of a projection, each over those that the rows had before."""
    base, plan = before._jdf.queryExecution().analyzed(), after._jdf.queryExecution().analyzed()
    made, below = _projections(base, plan)
    catalyst, empty = session.jvm.org.apache.spark.sql.catalyst, below.output().take(0)
    no_stream = session.jvm.scala.Option.empty()
    found = catalyst.plans.logical.LocalRelation(below.output(), empty, False, no_stream)
    for node in reversed(made):
        found = node.withNewChildren(empty.appended(found))
    collapsed = catalyst.optimizer.CollapseProject.apply(found, True)
    fields = zip(after.schema.fields, each_of(collapsed.expressions()), strict=True)
    return tuple(
        ScanColumn(name=field.name, type=field.dataType.simpleString(), expression=_sql_of(each))
        for field, each in fields
    )


def _sql_of(expression: Any) -> str:
    is_alias = str(expression.getClass().getSimpleName()) == "Alias"
    return str((expression.child() if is_alias else expression).sql())


def _projections(base: Any, plan: Any) -> tuple[list[Any], Any]:
    """The projections of a plan that its base does not have, the last one first; and what is below them."""
    count = len(list(_chain(plan))) - len(list(_chain(base)))
    made = list(_chain(plan))[: max(count, 0)]
    return made, made[-1].child() if made else plan


def _chain(plan: Any) -> Iterator[Any]:
    while str(plan.nodeName()) == "Project":
        yield plan
        plan = plan.child()


def each_of(sequence: Any) -> Iterator[Any]:
    """The elements of a Scala collection."""
    each = sequence.iterator()
    while each.hasNext():
        yield each.next()
