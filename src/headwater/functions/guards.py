"""Types of arguments: what a signature says is taken, anything else is an error and never cast in silence.

`typeof` is a constant to Spark's optimizer, so a guard that has nothing to say is gone before a row is
computed; one that has raises in the first row, also where the value is missing. A guarded column keeps its
type and what may be missing. `void`, the type of a bare NULL, passes everywhere.
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


def guarded(column: Column, fits: Column, wanted: str) -> Column:
    """The column as it is, or an error that says what was wanted and which type was given."""
    kind = F.typeof(column)
    complaint = F.raise_error(F.concat(F.lit(f"{wanted}, not "), kind))
    wrong = F.when(fits | (kind == "void"), F.lit(None)).otherwise(complaint)
    return F.coalesce(wrong, column)


def as_text(column: Column, wanted: str) -> Column:
    """The column as a STRING; it must be one, without a collation that takes different texts for equal."""
    # Every type has a cast to a text, so that the error is ours and not one about what is inside.
    return guarded(column, F.typeof(column).isin(*TEXTS), f"{wanted} is a STRING").cast("string")


def as_condition(column: Column, wanted: str) -> Column:
    """The column as it is; it must be a BOOLEAN."""
    return guarded(column, F.typeof(column) == "boolean", f"{wanted} is a BOOLEAN")
