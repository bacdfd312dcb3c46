"""What differs between a stored table and the same made again: how many rows on each side, and a few of them.

Rows are compared by their hashes, so lists, maps and variants count, and columns that are marked as approximate
do not: those are compared by themselves, within a tolerance. Not here: which tables are compared.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

from pyspark.sql.types import DoubleType, FloatType

from headwater.delta import APPROXIMATE_KEY, hash_rows, read_pinned, storage_error
from headwater.errors import EngineFailed
from headwater.runtime import engine_errors

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from pyspark.sql import DataFrame

    from headwater.names import TablePin
    from headwater.runtime import RunSession

# How far two approximate values may be apart, as a part of the larger one.
TOLERANCE = 1e-9
MOST_SAMPLES = 5
_STORED, _AGAIN, _BOTH = "hw_stored", "hw_again", "hw_differing"
# A row of one side cancels an equal row of the other; what is left stands on one side only.
_DIFFERING = f"""
    SELECT sum(side) AS n, min(shown) AS shown, min(named) AS named
    FROM (SELECT *, 1L AS side FROM {_STORED} UNION ALL SELECT *, -1L AS side FROM {_AGAIN})
    GROUP BY first, second HAVING sum(side) <> 0
"""
_COUNTS = f"""
    SELECT coalesce(sum(CASE WHEN n > 0 THEN n END), 0L) AS only_stored,
           coalesce(sum(CASE WHEN n < 0 THEN -n END), 0L) AS only_replayed FROM {_BOTH}
"""
_CHANGED = f"""
    SELECT named, min(CASE WHEN n > 0 THEN shown END) AS stored, min(CASE WHEN n < 0 THEN shown END) AS again
    FROM {_BOTH} GROUP BY named HAVING max(n) > 0 AND min(n) < 0
"""
_CLOSE = f"x <=> y OR abs(x - y) <= {TOLERANCE}D * greatest(abs(x), abs(y))"
_FAR = f"""
    SELECT count(1) AS far FROM
        (SELECT first, second, array_sort(collect_list(near)) AS ours FROM {_STORED} GROUP BY 1, 2) JOIN
        (SELECT first, second, array_sort(collect_list(near)) AS theirs FROM {_AGAIN} GROUP BY 1, 2)
        USING (first, second)
    WHERE NOT forall(zip_with(ours, theirs, (a, b) -> forall(
        zip_with(a, b, (x, y) -> coalesce({_CLOSE}, false)), same -> same)), same -> same)
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
        names = {name.casefold() for each in rows for name in each.columns}
        known = [name for name in keys if name.casefold() in names]
        has_key = bool(known) and len(known) == len(keys)
        for name, each in zip((_STORED, _AGAIN), rows, strict=True):
            key = _json(known if has_key else ())
            hash_rows(each, f"{_shown(each)} AS shown", f"{key} AS named").createOrReplaceTempView(name)
        own.spark.sql(_DIFFERING).createOrReplaceTempView(_BOTH)
        counts = own.spark.sql(_COUNTS).collect()[0]
        changed = int(own.spark.sql(f"SELECT count(1) FROM ({_CHANGED})").collect()[0][0]) if has_key else None
        samples = _changed_rows(own) if changed else _rows(own)
    return RowDifference(
        only_stored=int(counts["only_stored"]),
        only_replayed=int(counts["only_replayed"]),
        changed=changed,
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
        for name, each in zip((_STORED, _AGAIN), rows, strict=True):
            hash_rows(each, f"array({listed}) AS near").createOrReplaceTempView(name)
        return int(own.spark.sql(_FAR).collect()[0][0])


@contextmanager
def _opened(
    session: RunSession, *pins: TablePin
) -> Generator[tuple[RunSession, list[DataFrame]]]:
    """A session of its own, where names can be given, and the rows of each pin in it."""
    own = session.copy()
    try:
        with engine_errors():
            yield own, [read_pinned(own, pin) for pin in pins]
    except EngineFailed as error:
        raise storage_error(error) or error from error
    finally:
        own.release()


def _changed_rows(own: RunSession) -> tuple[SampleRow, ...]:
    found = own.spark.sql(f"{_CHANGED} ORDER BY named LIMIT {MOST_SAMPLES}").collect()
    return tuple(
        SampleRow(kind="changed", stored=_parsed(each["stored"]), replayed=_parsed(each["again"]))
        for each in found
    )


def _rows(own: RunSession) -> tuple[SampleRow, ...]:
    ordered = "SELECT shown FROM {0} WHERE n {1} 0 ORDER BY shown LIMIT {2}"
    ours, theirs = (
        own.spark.sql(ordered.format(_BOTH, sign, MOST_SAMPLES)).collect() for sign in (">", "<")
    )
    return (
        *(SampleRow(kind="only_stored", stored=_parsed(each["shown"])) for each in ours),
        *(SampleRow(kind="only_replayed", replayed=_parsed(each["shown"])) for each in theirs),
    )


def _shown(rows: DataFrame) -> str:
    return _json([each.name for each in rows.schema.fields if not each.metadata.get(APPROXIMATE_KEY)])


def _json(names: Sequence[str]) -> str:
    listed = ", ".join(_quoted(name) for name in names)
    return f"to_json(struct({listed}), map('ignoreNullFields', 'false'))" if names else "'{}'"


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


def _parsed(text: str) -> dict[str, Any]:
    return cast("dict[str, Any]", json.loads(text))
