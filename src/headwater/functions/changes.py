"""What a row of Delta's change feed means; the one policy of the whole engine.

Within one commit old images come before new ones: update_preimage, delete, insert, update_postimage.
Not here: reading a change feed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.functions.builtins import F
from headwater.functions.definition import ColumnOrName, define, given
from headwater.functions.guards import as_text, unless_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import Column

_TAGS = ("cdf", "incremental", "delta")
_ORDER = ("update_preimage", "delete", "insert", "update_postimage")


def _known(given_type: object, function: str, answer: Callable[[Column], Column]) -> Column:
    change_type = as_text(given(given_type))
    wrong = F.raise_error(F.concat(F.lit("no change of a change feed is called "), change_type))
    known = F.when(change_type.isin(*_ORDER), answer(change_type)).otherwise(wrong)
    guard = unless_text(given(given_type), f"{function}: change_type")
    return F.coalesce(guard, F.when(change_type.isNotNull(), known))


@define(
    "cdf_change_rank(change_type STRING) -> INT",
    tags=_TAGS,
    examples=(
        ("SELECT cdf_change_rank('delete') < cdf_change_rank('insert')", "true"),
        ("SELECT cdf_change_rank('update_postimage')", "3"),
    ),
)
def cdf_change_rank(change_type: ColumnOrName) -> Column:
    """The place of a change within its commit: 0 update_preimage, 1 delete, 2 insert, 3 update_postimage.

    Of several changes of one key in one version, the one with the highest rank is how the key is afterwards.
    """
    order = F.array(*[F.lit(each) for each in _ORDER])
    return _known(change_type, "cdf_change_rank", lambda each: F.array_position(order, each).cast("int") - 1)


@define(
    "cdf_is_upsert(change_type STRING) -> BOOLEAN",
    tags=_TAGS,
    examples=(
        ("SELECT cdf_is_upsert('update_postimage')", "true"),
        ("SELECT cdf_is_upsert('update_preimage')", "false"),
    ),
)
def cdf_is_upsert(change_type: ColumnOrName) -> Column:
    """Whether the row is there after the change: an insert, or the new image of an update."""
    return _known(change_type, "cdf_is_upsert", lambda each: each.isin("insert", "update_postimage"))


@define(
    "cdf_is_delete(change_type STRING) -> BOOLEAN",
    tags=_TAGS,
    examples=(
        ("SELECT cdf_is_delete('delete')", "true"),
        ("SELECT cdf_is_delete('update_preimage')", "false"),
    ),
)
def cdf_is_delete(change_type: ColumnOrName) -> Column:
    """Whether the row is gone after the change: a delete. The old image of an update is not one."""
    return _known(change_type, "cdf_is_delete", lambda each: each == "delete")
