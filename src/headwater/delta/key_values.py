"""A few keys as values, so that a condition can name them.

Delta leaves out files by values in a condition, and none by what they are joined with; and a condition needs
no job of its own. Not here: keys that are many, or of types whose values cannot be written down.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.types import (
    ByteType,
    DataType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
)

from headwater.delta.columns import quoted
from headwater.delta.settling import sql_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from headwater.runtime import RunSession

    Value = str | int | None

# More keys than this are not written out in a condition.
_FEW = 100
_ARROW: Mapping[type[DataType], pa.DataType] = {
    ByteType: pa.int8(),
    ShortType: pa.int16(),
    IntegerType: pa.int32(),
    LongType: pa.int64(),
    StringType: pa.string(),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FewKeys:
    """Keys by the columns that they are in, each once; nulls are equal."""

    columns: tuple[str, ...]
    values: frozenset[tuple[Value, ...]]

    def only(self, values: Iterable[Sequence[Any]]) -> FewKeys:
        """Others in the same columns."""
        return FewKeys(columns=self.columns, values=frozenset(tuple(each) for each in values))

    def condition(self, columns: Sequence[str] | None = None) -> str:
        """In SQL: that values in `columns`, by their order, are one of the keys; null for some that are not.

        Columns are asked one by one before they are together: by that, files are left out.
        """
        if not self.values:
            return "false"
        names = [quoted(each) for each in columns or self.columns]
        parts = [
            " OR ".join(sorted({_equals(name, each[number]) for each in self.values}))
            for number, name in enumerate(names)
        ]
        if len(names) > 1:
            whole = [
                " AND ".join(_equals(name, each) for name, each in zip(names, key, strict=True))
                for key in self.values
            ]
            parts.append(" OR ".join(sorted(f"({each})" for each in whole)))
        return " AND ".join(f"({each})" for each in parts)

    def frame(self, session: RunSession, schema: StructType) -> DataFrame:
        """The keys as rows of a schema that they came from; no job makes them."""
        ordered = sorted(self.values, key=lambda key: [(each is not None, each) for each in key])
        columns = [
            pa.array([key[number] for key in ordered], _ARROW[type(field.dataType)])
            for number, field in enumerate(schema.fields)
        ]
        return session.spark.createDataFrame(pa.Table.from_arrays(columns, names=schema.names))


def few_keys(keys: DataFrame) -> FewKeys | None:
    """The keys as values; None if they are many, or not just whole numbers and plain texts."""
    kinds = [each.dataType for each in keys.schema.fields]
    if any(type(each) not in _ARROW or each != type(each)() for each in kinds):  # a text may have a collation
        return None
    found: list[Any] = keys.limit(_FEW + 1).collect()
    if len(found) > _FEW:
        return None
    return FewKeys(columns=tuple(keys.columns), values=frozenset(tuple(each) for each in found))


def are_at_hand(keys: DataFrame) -> bool:
    """Whether keys are values already, so that nothing is run to look at them once more."""
    frame: Any = keys
    execution = frame._jdf.queryExecution()
    is_steady = bool(execution.analyzed().deterministic())
    return is_steady and str(execution.optimizedPlan().nodeName()) == "LocalRelation"


def _equals(column: str, value: Value) -> str:
    """Delta tells each of these apart; of a list it takes all that lies between the first and the last."""
    if value is None:
        return f"{column} IS NULL"
    return f"{column} = {sql_text(value) if isinstance(value, str) else value}"
