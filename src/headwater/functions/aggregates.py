"""Aggregates that give the same value for any order of rows and any partitioning.

Where rows tie, further keys settle it, then the value itself, so values must be comparable (no maps); and of
values that compare equal and are not the same (0.0 and -0.0, or texts with a collation) how they are written.
They are for `groupBy(...).agg(...)` and GROUP BY, not for windows. Not here: sums of floats, which nothing
can settle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.functions.builtins import F
from headwater.functions.definition import ColumnOrName, all_given, define, given
from headwater.functions.guards import unless_condition

if TYPE_CHECKING:
    from pyspark.sql import Column

_TAGS = ("aggregate", "deterministic")
_ROWS = " FROM VALUES ('x', 1, 'b'), ('y', 2, 'a'), ('z', 2, 'c'), (NULL, NULL, 'd') AS t(v, k, l)"


# The types that have values which compare equal and are not the same, also inside of others.
_LOOSE = r"\b(?:float|double)\b|collate (?!UTF8_BINARY\b)"


def _keyed(keys: tuple[Column, ...], value: Column) -> Column:
    named = [key.alias(f"key{place}") for place, key in enumerate(keys)]
    # For other types the optimizer makes a constant of it: nothing is written, and nothing compared.
    written = F.when(F.typeof(value).rlike(_LOOSE), F.to_json(F.struct(value.alias("value"))))
    return F.struct(*named, value.alias("value"), written.alias("written"))


@define(
    "arg_max_det(value T, key ANY, ...) -> T",
    tags=_TAGS,
    examples=(
        ("SELECT arg_max_det(v, k)" + _ROWS, "z"),
        ("SELECT arg_max_det(v, k, l)" + _ROWS, "z"),
    ),
    alias="arg_max",
)
def arg_max_det(value: ColumnOrName, key: ColumnOrName, *keys: ColumnOrName) -> Column:
    """The value of the row with the largest key; ties go to the largest further keys, then the largest value.

    Rows whose first key is missing do not take part.
    """
    rows = _keyed((given(key), *all_given(keys)), given(value))
    return F.max(F.when(given(key).isNotNull(), rows))["value"]


@define(
    "arg_min_det(value T, key ANY, ...) -> T",
    tags=_TAGS,
    examples=(("SELECT arg_min_det(v, l)" + _ROWS, "y"),),
    alias="arg_min",
)
def arg_min_det(value: ColumnOrName, key: ColumnOrName, *keys: ColumnOrName) -> Column:
    """The value of the row with the smallest key; ties go to the smallest further keys, then smallest value.

    Rows whose first key is missing do not take part; a missing value counts as the smallest.
    """
    rows = _keyed((given(key), *all_given(keys)), given(value))
    return F.min(F.when(given(key).isNotNull(), rows))["value"]


@define(
    "any_value_det(value T [, key ANY, ...]) -> T",
    tags=_TAGS,
    examples=(
        ("SELECT any_value_det(v)" + _ROWS, "x"),
        ("SELECT any_value_det(v, l)" + _ROWS, "y"),
    ),
)
def any_value_det(value: ColumnOrName, *keys: ColumnOrName) -> Column:
    """A value that is not missing: of the row with the smallest keys; without keys, the smallest value."""
    column = given(value)
    return F.min(F.when(column.isNotNull(), _keyed(all_given(keys), column)))["value"]


@define(
    "collect_set_sorted(value T) -> ARRAY<T>",
    tags=_TAGS,
    examples=(("SELECT collect_set_sorted(k)" + _ROWS, "[1, 2]"),),
    alias="collect_set",
)
def collect_set_sorted(value: ColumnOrName) -> Column:
    """The different values of a group in order, missing ones left out; empty if there are none.

    Zero and minus zero are one value, zero. Texts with a collation are an error.
    """
    return F.array_sort(F.collect_set(given(value)))


@define(
    "count_if_det(condition BOOLEAN) -> BIGINT",
    tags=_TAGS,
    examples=(("SELECT count_if_det(k > 1)" + _ROWS, "2"),),
    alias="count_if",
)
def count_if_det(condition: ColumnOrName) -> Column:
    """How many rows meet the condition; one that is missing does not."""
    guard = unless_condition(given(condition), "count_if_det: condition")
    return F.count(F.when(F.coalesce(guard, given(condition), F.lit(False)), F.lit(1)))
