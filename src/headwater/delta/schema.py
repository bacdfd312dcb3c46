"""Which schemas a Delta table can have, and how rows are made to fit one that is there.

Not here: which schema mode holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql.types import (
    ArrayType,
    ByteType,
    CalendarIntervalType,
    DataType,
    DayTimeIntervalType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    NullType,
    ShortType,
    StringType,
    StructType,
    TimeType,
    VariantType,
    YearMonthIntervalType,
)

from headwater.delta.columns import cast_column, literal, quoted, sql_column
from headwater.errors import NotStorable, SchemaDiffers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructField

    from headwater.origin import Origin
    from headwater.policies import SchemaMode
    from headwater.runtime import RunSession

# Types of whole numbers, each with the digits that its largest value has.
_WHOLE: dict[type[DataType], int] = {ByteType: 3, ShortType: 5, IntegerType: 10, LongType: 19}
# Where Spark notes that a text was declared as CHAR or VARCHAR.
TEXT_TYPE = "__CHAR_VARCHAR_TYPE_STRING"
_FILLED_IN = ("CURRENT_DEFAULT", "delta.generationExpression", "delta.identity.")
_FORBIDDEN = frozenset(" ,;{}()\n\t=")
_ODD_NAME = "has one of the characters ' ,;{}()=', a tab or a new line in its name"
_INTERVALS = (CalendarIntervalType, DayTimeIntervalType, YearMonthIntervalType)


def check_storable(
    schema: StructType, view: str, origin: Origin | None = None, *, is_mapped: bool = False
) -> None:
    """Raises NotStorable for a column that no Delta table can have; mapped ones may have any name."""
    for column, complaint in _complaints(schema, ""):
        if is_mapped and complaint == _ODD_NAME:
            continue
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
                yield name, _ODD_NAME
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

    A column that the rows lack is null, or left to Delta if that has a value for it. A value is cast only
    where nothing of it can be lost.

    Raises:
        SchemaDiffers: a column that the table lacks, or a type that does not become the table's.
    """
    fields = {field.name.lower(): field for field in rows.schema.fields}
    differences: list[str] = []
    columns: list[Any] = []
    for wanted in table.fields:
        field = fields.pop(wanted.name.lower(), None)
        if field is None:
            if wanted.nullable and not _is_filled_in(wanted):
                nothing = literal(session, None)
                columns.append(cast_column(session, nothing, wanted.dataType).alias(wanted.name))
            continue
        column = sql_column(session, quoted(field.name))
        if not same_type(field.dataType, wanted.dataType):
            if _becomes(field.dataType, wanted.dataType):
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
        return one.names == other.names and all(
            same_type(mine.dataType, theirs.dataType)
            for mine, theirs in zip(one.fields, other.fields, strict=True)
        )
    if isinstance(one, ArrayType) and isinstance(other, ArrayType):
        return same_type(one.elementType, other.elementType)
    if isinstance(one, MapType) and isinstance(other, MapType):
        return same_type(one.keyType, other.keyType) and same_type(one.valueType, other.valueType)
    return one == other


def is_whole(rows: DataFrame, schema: StructType) -> bool:
    """Whether the rows have every column of the table as it will be: else Delta fills some in, or pads."""
    if any(TEXT_TYPE in each.metadata for each in schema.fields):
        return False
    types = {each.name.lower(): each.dataType for each in rows.schema.fields}
    return len(types) == len(schema.fields) and all(
        same_type(types[each.name.lower()], each.dataType)
        for each in schema.fields
        if each.name.lower() in types
    )


def is_comparable(kind: DataType) -> bool:
    """Whether values of a type can be told apart by Spark's own comparison."""
    if isinstance(kind, StructType):
        return all(is_comparable(each.dataType) for each in kind.fields)
    if isinstance(kind, ArrayType):
        return is_comparable(kind.elementType)
    return not isinstance(kind, MapType | VariantType)


def _is_filled_in(field: StructField) -> bool:
    """Whether Delta has a value for a column that rows lack: a default, an expression, the next number."""
    return any(key.startswith(_FILLED_IN) for key in field.metadata)


def _becomes(given: DataType, wanted: DataType) -> bool:
    """Whether every value of one type is a value of the other; Spark's own rule lets some be rounded."""
    if isinstance(given, StructType) and isinstance(wanted, StructType):
        return [name.lower() for name in given.names] == [name.lower() for name in wanted.names] and all(
            same_type(mine.dataType, theirs.dataType) or _becomes(mine.dataType, theirs.dataType)
            for mine, theirs in zip(given.fields, wanted.fields, strict=True)
        )
    if isinstance(given, ArrayType) and isinstance(wanted, ArrayType):
        return _becomes(given.elementType, wanted.elementType)
    if isinstance(given, NullType):
        return True
    if type(given) in _WHOLE and type(wanted) in _WHOLE:
        return _WHOLE[type(given)] <= _WHOLE[type(wanted)]
    if type(given) in _WHOLE and isinstance(wanted, DecimalType):
        return wanted.precision - wanted.scale >= _WHOLE[type(given)]
    if isinstance(given, DecimalType) and isinstance(wanted, DecimalType):
        has_room = wanted.precision - wanted.scale >= given.precision - given.scale
        return has_room and wanted.scale >= given.scale
    is_exact = type(given) in _WHOLE and _WHOLE[type(given)] <= _WHOLE[IntegerType]
    return isinstance(wanted, DoubleType) and (isinstance(given, FloatType) or is_exact)
