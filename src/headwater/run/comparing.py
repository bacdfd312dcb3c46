"""What differs between a stored table and the same made again: how many rows on each side, and a few of them.

Rows are compared by their hashes, so lists, maps and variants count. Columns that are marked as approximate
are left out of that, and compared by themselves within a tolerance. Not here: which tables are compared.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

from pyspark.sql.types import DoubleType, FloatType

from headwater.delta import APPROXIMATE_KEY, hash_rows, read_pinned, reading_errors

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from pyspark.sql import DataFrame

    from headwater.names import TablePin
    from headwater.runtime import RunSession

_NAMES = ("hw_stored", "hw_again")
# A row of one side cancels an equal row of the other; what is left stands on one side only.
_DIFFERING = """
    SELECT sum(side) AS n, min(shown) AS shown, min(named) AS named, false AS paired
    FROM (SELECT *, 1L AS side FROM hw_stored UNION ALL SELECT *, -1L AS side FROM hw_again)
    GROUP BY first, second HAVING sum(side) <> 0
"""
_PAIRED = """
    SELECT n, shown, named,
           max(n) OVER (PARTITION BY named) > 0 AND min(n) OVER (PARTITION BY named) < 0 AS paired
    FROM hw_differing
"""
_COUNTS = """
    SELECT coalesce(sum(CASE WHEN n > 0 THEN n END), 0L), coalesce(sum(CASE WHEN n < 0 THEN -n END), 0L),
           count(DISTINCT CASE WHEN paired THEN named END)
    FROM hw_paired
"""
_CHANGED = """
    SELECT min(CASE WHEN n > 0 THEN shown END), min(CASE WHEN n < 0 THEN shown END)
    FROM hw_paired WHERE paired GROUP BY named ORDER BY named LIMIT 5
"""
_ONLY_STORED = "SELECT shown FROM hw_paired WHERE n > 0 AND NOT paired ORDER BY shown LIMIT 5"
_ONLY_AGAIN = "SELECT shown FROM hw_paired WHERE n < 0 AND NOT paired ORDER BY shown LIMIT 5"
# Of rows that are alike in all that is exact, each has the other side's nearest in its own place.
_FAR = """
    SELECT count(1) FROM
        (SELECT first, second, array_sort(collect_list(near)) AS ours FROM hw_stored GROUP BY 1, 2) JOIN
        (SELECT first, second, array_sort(collect_list(near)) AS theirs FROM hw_again GROUP BY 1, 2)
        USING (first, second)
    WHERE NOT forall(zip_with(ours, theirs, (a, b) -> forall(zip_with(a, b, (x, y) -> coalesce(
        x <=> y OR abs(x - y) <= 1e-9D * greatest(abs(x), abs(y)), false)), same -> same)), same -> same)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleRow:
    """A row that one side has and the other has not; `changed` if both have one of its key.

    `stored` and `replayed` are the row on each side, by column; None on the side that does not have it.
    """

    kind: Literal["only_stored", "only_replayed", "changed"]
    stored: dict[str, Any] | None = None
    replayed: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RowDifference:
    """How many rows only one side has, and a few of them; `changed` are keys that both have, with other rows.

    Rows of changed keys are counted on both sides, too. Without a key nothing is known to be changed: None.
    """

    only_stored: int
    only_replayed: int
    changed: int | None
    samples: tuple[SampleRow, ...]


def compare_rows(
    session: RunSession, stored: TablePin, again: TablePin, keys: Sequence[str] = ()
) -> RowDifference:
    """The rows that are not in both tables, however often each is.

    Args:
        session: where both are read.
        stored: the one table, at its version.
        again: the other.
        keys: columns that are unique together, if there are such.
    """
    with _opened(session, stored, again) as (own, rows):
        columns = [{name.casefold() for name in each.columns} for each in rows]
        has_key = bool(keys) and all(name.casefold() in each for name in keys for each in columns)
        key = _json(keys) if has_key else "CAST(NULL AS STRING)"
        for name, each in zip(_NAMES, rows, strict=True):
            hash_rows(each, f"{_shown(each)} AS shown", f"{key} AS named").createOrReplaceTempView(name)
        own.spark.sql(_DIFFERING).createOrReplaceTempView("hw_differing")
        own.spark.sql(_PAIRED if has_key else "TABLE hw_differing").createOrReplaceTempView("hw_paired")
        only_stored, only_replayed, changed = _all(own, _COUNTS)[0]
        samples = _samples(own)
    return RowDifference(
        only_stored=int(only_stored),
        only_replayed=int(only_replayed),
        changed=int(changed) if has_key else None,
        samples=samples,
    )


def count_far(session: RunSession, stored: TablePin, again: TablePin) -> int:
    """How many rows, alike in all that is exact, have approximate values further apart than the tolerance.

    Only plain floating-point columns count, not those inside lists and structs.
    """
    with _opened(session, stored, again) as (own, rows):
        names = [
            field.name
            for field in rows[0].schema.fields
            if field.metadata.get(APPROXIMATE_KEY) and isinstance(field.dataType, DoubleType | FloatType)
        ]
        if not names:
            return 0
        listed = ", ".join(f"CAST({_quoted(name)} AS DOUBLE)" for name in names)
        for name, each in zip(_NAMES, rows, strict=True):
            hash_rows(each, f"array({listed}) AS near").createOrReplaceTempView(name)
        return int(_all(own, _FAR)[0][0])


@contextmanager
def _opened(session: RunSession, *pins: TablePin) -> Generator[tuple[RunSession, list[DataFrame]]]:
    """A session of its own, where names can be given, and the rows of each pin in it."""
    own = session.copy()
    try:
        with reading_errors():
            yield own, [read_pinned(own, pin) for pin in pins]
    finally:
        own.release()


def _samples(own: RunSession) -> tuple[SampleRow, ...]:
    changed, ours, theirs = (_all(own, each) for each in (_CHANGED, _ONLY_STORED, _ONLY_AGAIN))
    return (
        *(SampleRow(kind="changed", stored=_parsed(one), replayed=_parsed(two)) for one, two in changed),
        *(SampleRow(kind="only_stored", stored=_parsed(each)) for (each,) in ours),
        *(SampleRow(kind="only_replayed", replayed=_parsed(each)) for (each,) in theirs),
    )


def _all(own: RunSession, sql: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in own.spark.sql(sql).collect()]


def _shown(rows: DataFrame) -> str:
    return _json([each.name for each in rows.schema.fields if not each.metadata.get(APPROXIMATE_KEY)])


def _json(names: Sequence[str]) -> str:
    listed = ", ".join(_quoted(name) for name in names)
    return f"to_json(struct({listed}), map('ignoreNullFields', 'false'))" if names else "'{}'"


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


def _parsed(text: str) -> dict[str, Any]:
    return cast("dict[str, Any]", json.loads(text))
