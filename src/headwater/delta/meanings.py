"""Semantic types: what a column means, said in its schema's metadata, and tested against its type.

Spark carries the metadata along with a column that is only passed on, so a column that means something else
is noticed where it is read again. Not here: which columns are said to mean what.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from headwater.delta.columns import quoted, sql_column
from headwater.delta.receipt import MeaningCheck
from headwater.errors import MeaningDiffers
from headwater.policies import SEMANTIC_TYPES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from headwater.origin import Origin
    from headwater.runtime import RunSession

METADATA_KEY = "headwater.semantic_type"


def check_meanings(
    said: Sequence[tuple[str, str]], schema: StructType, dataset: str, origin: Origin | None = None
) -> tuple[MeaningCheck, ...]:
    """Every column that is said to mean something, once it was seen to be able to.

    Raises:
        MeaningDiffers: there is no such column, it has another type, or it is known to mean something else.
    """
    fields = {field.name.lower(): field for field in schema.fields}
    for name, meaning in said:
        field = fields.get(name.lower())
        complaint = None
        if field is None:
            complaint = "there is no such column"
        else:
            kind, wanted = field.dataType.simpleString(), SEMANTIC_TYPES.get(meaning)
            known = field.metadata.get(METADATA_KEY)
            if wanted is not None and kind != wanted:
                complaint = f"it is {kind} and not {wanted}"
            elif known is not None and known != meaning:
                complaint = f"it is known as a {known}"
        if complaint is not None:
            raise MeaningDiffers(
                dataset=dataset, column=name, semantic_type=meaning, complaint=complaint, origin=origin
            )
    return tuple(
        MeaningCheck(column_name=fields[name.lower()].name, semantic_type=meaning, metadata_key=METADATA_KEY)
        for name, meaning in said
    )


def kept_meanings(checks: Sequence[MeaningCheck], table: StructType) -> tuple[MeaningCheck, ...]:
    """The checks, with the place in the schema only where it has one: a table's columns stay as they are."""
    silent = {each.name for each in table.fields if METADATA_KEY not in each.metadata}
    return tuple(replace(each, metadata_key=None) if each.column_name in silent else each for each in checks)


def with_meanings(session: RunSession, rows: DataFrame, checks: Sequence[MeaningCheck]) -> DataFrame:
    """The rows with each meaning in the metadata of its column, if they have it, beside what is there."""
    meant = {each.column_name: each.semantic_type for each in checks if each.column_name in rows.columns}
    if all(rows.schema[name].metadata.get(METADATA_KEY) == meaning for name, meaning in meant.items()):
        return rows
    columns: list[Any] = []
    for field in rows.schema.fields:
        column: Any = sql_column(session, quoted(field.name))
        if field.name in meant:
            metadata = {**field.metadata, METADATA_KEY: meant[field.name]}
            column = column.alias(field.name, metadata=metadata)
        columns.append(column)
    return rows.select(*columns)
