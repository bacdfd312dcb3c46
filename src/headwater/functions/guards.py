"""Types of arguments: what a signature says is taken, anything else is an error and never cast in silence.

`typeof` is a constant to Spark's optimizer, so a guard that has nothing to say is gone before a row is
computed; one that has raises in the first row, also where the value is missing. `void`, the type of a bare
NULL, passes everywhere. Each mention of an argument is a copy of it in the plan: guards mention it twice.
Not here: types that Spark's own functions refuse by themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.functions.builtins import F

if TYPE_CHECKING:
    from pyspark.sql import Column

WHOLE_NUMBERS = ("tinyint", "smallint", "int", "bigint")
# The second is how Spark writes the type of some texts that nobody has given a collation.
TEXTS = ("string", "string collate UTF8_BINARY")


def unless(fits: Column, column: Column, wanted: str) -> Column:
    """Null if a column's type fits; otherwise an error that says what was wanted and which type was given.

    Stands first in a `coalesce`: so it is asked in every row, whatever the other arguments are, and the
    result keeps its type and what may be missing.
    """
    complaint = F.raise_error(F.concat(F.lit(f"{wanted}, not "), F.typeof(column)))
    return F.when(fits, F.lit(None)).otherwise(complaint)


def unless_one_of(kinds: tuple[str, ...], column: Column, wanted: str) -> Column:
    """The same for one of several types, or a bare NULL."""
    return unless(F.typeof(column).isin(*kinds, "void"), column, wanted)


def unless_text(column: Column, wanted: str) -> Column:
    """The same for a STRING without a collation that takes different texts for equal."""
    return unless_one_of(TEXTS, column, f"{wanted} is a STRING")


def unless_condition(column: Column, wanted: str) -> Column:
    """The same for a BOOLEAN."""
    return unless_one_of(("boolean",), column, f"{wanted} is a BOOLEAN")


def as_text(column: Column) -> Column:
    """A guarded text. Every type has this cast, so what a wrong one gets is the guard's error."""
    return column.cast("string")
