"""Which schemas a Delta table can have, and how rows are made to fit one that is there.

Not here: which schema mode holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql.types import (
    ArrayType,
    CalendarIntervalType,
    DataType,
    DayTimeIntervalType,
    MapType,
    StringType,
    StructType,
    TimeType,
    YearMonthIntervalType,
)

from headwater.delta.columns import cast_column, quoted, sql_column
from headwater.errors import NotStorable, SchemaDiffers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame

    from headwater.origin import Origin
    from headwater.policies import SchemaMode
    from headwater.runtime import RunSession

_FORBIDDEN = frozenset(" ,;{}()\n\t=")
_INTERVALS = (CalendarIntervalType, DayTimeIntervalType, YearMonthIntervalType)


def check_storable(schema: StructType, view: str, origin: Origin | None = None) -> None:
    """Raises NotStorable for the first column that a Delta table cannot have."""
    for column, complaint in _complaints(schema, ""):
        raise NotStorable(view=view, column=column, complaint=complaint, origin=origin)


def _complaints(kind: DataType, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(kind, _INTERVALS):
        yield path, f"has the type {kind.simpleString()}, which Parquet does not have"
    elif isinstance(kind, TimeType) or (isinstance(kind, StringType) and kind != StringType()):
        yield path, f"has the type {kind.simpleString()}, which Delta does not store"
    elif isinstance(kind, StructType):
        seen: set[str] = set()
        for field in kind.fields:
            name = f"{path}.{field.name}" if path else field.name
            if field.name.lower() in seen:
                yield name, "is there twice; names are compared without regard to case"
            if _FORBIDDEN & set(field.name):
                yield name, "has one of the characters ' ,;{}()=', a tab or a new line in its name"
            seen.add(field.name.lower())
            yield from _complaints(field.dataType, name)
    elif isinstance(kind, ArrayType):
        yield from _complaints(kind.elementType, f"{path}.element")
    elif isinstance(kind, MapType):
        yield from _complaints(kind.keyType, f"{path}.key")
        yield from _complaints(kind.valueType, f"{path}.value")


def fit_rows(
    session: RunSession,
    rows: DataFrame,
    table: StructType,
    mode: SchemaMode | None,
    path: str,
    origin: Origin | None = None,
) -> DataFrame:
    """The rows with the table's columns, in the table's order and types; under "merge" new ones stand behind.

    A column that the rows lack is left to Delta: it is null, or has its default. A value is cast only where
    nothing can be lost.

    Raises:
        SchemaDiffers: a column that the table lacks, or a type that does not become the table's.
    """
    fields = {field.name.casefold(): field for field in rows.schema.fields}
    differences: list[str] = []
    columns: list[Any] = []
    for wanted in table.fields:
        field = fields.pop(wanted.name.casefold(), None)
        if field is None:
            continue
        column = sql_column(session, quoted(field.name))
        if not same_type(field.dataType, wanted.dataType):
            if _becomes(session, field.dataType, wanted.dataType):
                column = cast_column(session, column, wanted.dataType)
            else:
                given, kept = field.dataType.simpleString(), wanted.dataType.simpleString()
                differences.append(f"column '{field.name}' is {given}, the table has {kept}")
        columns.append(column.alias(wanted.name))
    for field in fields.values():
        if mode != "merge":
            differences.append(f"column '{field.name}' is not in the table")
        columns.append(sql_column(session, quoted(field.name)))
    if differences:
        raise SchemaDiffers(path=path, differences=tuple(differences), origin=origin)
    return rows.select(*columns)


def same_type(one: DataType, other: DataType) -> bool:
    """Whether two types are one, whatever may be null in them and whatever is noted of their fields."""
    if isinstance(one, StructType) and isinstance(other, StructType):
        return len(one.fields) == len(other.fields) and all(
            mine.name.casefold() == theirs.name.casefold() and same_type(mine.dataType, theirs.dataType)
            for mine, theirs in zip(one.fields, other.fields, strict=True)
        )
    if isinstance(one, ArrayType) and isinstance(other, ArrayType):
        return same_type(one.elementType, other.elementType)
    if isinstance(one, MapType) and isinstance(other, MapType):
        return same_type(one.keyType, other.keyType) and same_type(one.valueType, other.valueType)
    return one == other


def _becomes(session: RunSession, given: DataType, wanted: DataType) -> bool:
    """Whether every value of one type is a value of the other, by Spark's own rule; structs never are."""
    if any(isinstance(each, StructType | ArrayType | MapType) for each in (given, wanted)):
        return False
    types = session.jvm.org.apache.spark.sql.types.DataType
    rule = session.jvm.org.apache.spark.sql.catalyst.expressions.Cast
    return bool(rule.canUpCast(types.fromJson(given.json()), types.fromJson(wanted.json())))
