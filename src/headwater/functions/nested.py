"""Maps, lists and structs in one form. Types inside keep their fields' metadata and nullability.

Not here: anything that needs to know the type beforehand; these functions take what they are given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.functions.builtins import F
from headwater.functions.definition import ColumnOrName, Value, all_given, define, given
from headwater.functions.guards import WHOLE_NUMBERS, unless

if TYPE_CHECKING:
    from pyspark.sql import Column

_PICKED = "hw_picked"
_NUMBER = r"\A(?:tinyint|smallint|int|bigint|float|double|decimal\(.*\))\z"
_EMPTIES = ("array<void>", "map<void,void>")


def _by_key(one: Column, two: Column) -> Column:
    before, after = one["key"] < two["key"], one["key"] > two["key"]
    return F.when(before, F.lit(-1)).when(after, F.lit(1)).otherwise(F.lit(0))


@define(
    "map_get_default(map MAP<K, V>, key K, default V) -> V",
    tags=("nested", "map"),
    examples=(
        ("SELECT map_get_default(map('a', 1), 'a', 0)", "1"),
        ("SELECT map_get_default(map('a', 1), 'b', 0)", "0"),
    ),
)
def map_get_default(map: ColumnOrName, key: Value, default: Value) -> Column:  # noqa: A002  what it is
    """The value of a key, or the default if the key is not there, its value is missing, or the map is.

    The key has the type of the map's keys, the default that of its values. Whole numbers are alike as keys,
    and a default may be a number that Spark takes for one of the values' type without widening that type.
    """
    entries, wanted, other = given(map), given(key), given(default)
    keys, kind = F.typeof(F.element_at(F.map_keys(entries), F.lit(1))), F.typeof(wanted)
    found = F.try_element_at(entries, wanted)
    values, other_kind = F.typeof(found), F.typeof(other)
    alike = kind.isin(keys, "void") | (kind.isin(*WHOLE_NUMBERS) & keys.isin(*WHOLE_NUMBERS))
    kept = F.typeof(F.coalesce(found, other)) == values
    numbers = values.rlike(_NUMBER) & other_kind.rlike(_NUMBER)
    fits = other_kind.isin(values, "void") | (kept & (numbers | other_kind.isin(*_EMPTIES)))
    return F.coalesce(
        unless(alike, wanted, "map_get_default: key has the type of the map's keys"),
        unless(fits, other, "map_get_default: default has the type of the map's values"),
        found,
        other,
    )


@define(
    "map_normalize(map MAP<K, V>) -> MAP<K, V>",
    tags=("nested", "map"),
    examples=(("SELECT map_normalize(map('b', 1, 'a', 2))", "{a -> 2, b -> 1}"),),
)
def map_normalize(map: ColumnOrName) -> Column:  # noqa: A002  what it is
    """The same map with its entries in the order of their keys."""
    # Sorted as entries: looking values up by key would let each of them be missing.
    return F.map_from_entries(F.array_sort(F.map_entries(given(map)), _by_key))


@define(
    "list_compact(list ARRAY<T>) -> ARRAY<T>",
    tags=("nested", "list"),
    examples=(("SELECT list_compact(array(2, NULL, 1))", "[2, 1]"),),
)
def list_compact(list: ColumnOrName) -> Column:  # noqa: A002  what it is
    """The list without its missing elements, in the same order."""
    return F.array_compact(given(list))


@define(
    "list_unique_sorted(list ARRAY<T>) -> ARRAY<T>",
    tags=("nested", "list"),
    examples=(
        ("SELECT list_unique_sorted(array(10, 9, 10))", "[9, 10]"),
        ("SELECT list_unique_sorted(array('b', NULL, 'a', NULL))", "[a, b, null]"),
    ),
)
def list_unique_sorted(list: ColumnOrName) -> Column:  # noqa: A002  what it is
    """Each element once, in order; a missing one comes last."""
    return F.array_sort(F.array_distinct(given(list)))


@define(
    "struct_pick(struct STRUCT, name STRING, ...) -> STRUCT",
    tags=("nested", "struct"),
    examples=(("SELECT struct_pick(named_struct('a', 1, 'b', 2, 'c', 3), 'c', 'a')", "{3, 1}"),),
)
def struct_pick(struct: ColumnOrName, name: Value, *names: Value) -> Column:
    """A struct of the named fields only, in the order named; null where the struct is.

    A field keeps its type and metadata. Names are literals; one that is not there is an error.
    """
    column = given(struct)
    pairs = [part for each in (given(name), *all_given(names)) for part in (each, column[each])]
    # A field of the struct itself is null exactly where the struct is, and as nullable as the struct is.
    return column.withField(_PICKED, F.named_struct(*pairs)).getField(_PICKED)
