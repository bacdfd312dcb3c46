"""Which schemas a Delta table can have; asked while everything is still only planned.

Not here: how a schema may change from one version to the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql.types import (
    ArrayType,
    CalendarIntervalType,
    DataType,
    DayTimeIntervalType,
    MapType,
    StructType,
    YearMonthIntervalType,
)

from headwater.errors import NotStorable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headwater.origin import Origin

_FORBIDDEN = frozenset(" ,;{}()\n\t=")
_INTERVALS = (CalendarIntervalType, DayTimeIntervalType, YearMonthIntervalType)


def check_storable(schema: StructType, view: str, origin: Origin | None = None) -> None:
    """Raises NotStorable for the first column that a Delta table cannot have."""
    for column, complaint in _complaints(schema, ""):
        raise NotStorable(view=view, column=column, complaint=complaint, origin=origin)


def _complaints(kind: DataType, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(kind, _INTERVALS):
        yield path, f"has the type {kind.simpleString()}, which Parquet does not have"
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
