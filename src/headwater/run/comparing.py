"""What differs between the rows of two tables: how many rows on each side, and a few of them.

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

_NAMES = ("hw_before", "hw_after")
# A row of one side cancels an equal row of the other; what is left stands on one side only.
_DIFFERING = """
    SELECT sum(side) AS n, min(shown) AS shown, min(named) AS named, false AS paired
    FROM (SELECT *, 1L AS side FROM hw_before UNION ALL SELECT *, -1L AS side FROM hw_after)
    GROUP BY first, second HAVING sum(side) <> 0
"""
_PAIRED = """
    SELECT n, shown, named,
           max(n) OVER (PARTITION BY named) > 0 AND min(n) OVER (PARTITION BY named) < 0 AS paired
    FROM hw_differing
"""
_COUNTS = """
    SELECT coalesce(sum(greatest(n, 0L)), 0L), coalesce(sum(greatest(-n, 0L)), 0L),
           coalesce(sum(CASE WHEN NOT paired THEN greatest(n, 0L) END), 0L),
           coalesce(sum(CASE WHEN NOT paired THEN greatest(-n, 0L) END), 0L),
           count(DISTINCT CASE WHEN paired THEN named END)
    FROM hw_paired
"""
_CHANGED = """
    SELECT min(CASE WHEN n > 0 THEN shown END), min(CASE WHEN n < 0 THEN shown END)
    FROM hw_paired WHERE paired GROUP BY named ORDER BY named LIMIT 5
"""
# Of keys with one row on each side, the columns that both have, with how many of these rows differ in them.
_COLUMNS = """
    SELECT name, count(1) FROM (
        SELECT explode(filter(map_keys(one), k -> map_contains_key(two, k) AND NOT one[k] <=> two[k])) AS name
        FROM (
            SELECT from_json(min(CASE WHEN n > 0 THEN shown END), 'map<string,string>') AS one,
                   from_json(min(CASE WHEN n < 0 THEN shown END), 'map<string,string>') AS two
            FROM hw_paired WHERE paired GROUP BY named HAVING sum(abs(n)) = 2
        )
    ) GROUP BY name ORDER BY count(1) DESC, name
"""
_REMOVED = "SELECT shown FROM hw_paired WHERE n > 0 AND NOT paired ORDER BY shown LIMIT 5"
_ADDED = "SELECT shown FROM hw_paired WHERE n < 0 AND NOT paired ORDER BY shown LIMIT 5"
# Of rows that are alike in all that is exact, each has the other side's nearest in its own place.
_FAR = """
    SELECT count(1) FROM
        (SELECT first, second, array_sort(collect_list(near)) AS ours FROM hw_before GROUP BY 1, 2) JOIN
        (SELECT first, second, array_sort(collect_list(near)) AS theirs FROM hw_after GROUP BY 1, 2)
        USING (first, second)
    WHERE NOT forall(zip_with(ours, theirs, (a, b) -> forall(zip_with(a, b, (x, y) -> coalesce(
        x <=> y OR abs(x - y) <= 1e-9D * greatest(abs(x), abs(y)), false)), same -> same)), same -> same)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleRow:
    """A row that one side has and the other has not; `changed` if both have one of its key.

    `before` and `after` are the row on each side, by column; None on the side that does not have it.
    """

    kind: Literal["removed", "added", "changed"]
    before: dict[str, Any] | None = None
    after: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RowDifference:
    """How many rows only one side has, and a few of them.

    Attributes:
        only_before, only_after: Rows that the other side does not have, or not as often.
        removed, added: Those of them whose key the other side does not have either.
        changed: Keys that both sides have, with other rows; None where no key is known.
        columns: The columns in which rows of those keys differ, each with the number of rows; where a key has
            several rows, nothing is said.
        samples: A few of each kind.
    """

    only_before: int
    only_after: int
    removed: int
    added: int
    changed: int | None
    columns: tuple[tuple[str, int], ...] = ()
    samples: tuple[SampleRow, ...] = ()


def compare_rows(
    session: RunSession, before: TablePin, after: TablePin, key: Sequence[str] | None = None
) -> RowDifference:
    """The rows that are not in both tables, however often each is.

    Args:
        session: where both are read.
        before: the one table, at its version.
        after: the other.
        key: columns that are unique together, if there are such; none at all where there is one row at most.
    """
    with _opened(session, before, after) as (own, rows):
        names = [{name.casefold() for name in each.columns} for each in rows]
        has_key = key is not None and all(name.casefold() in each for name in key for each in names)
        named = _json(key) if has_key and key is not None else "CAST(NULL AS STRING)"
        for name, each in zip(_NAMES, rows, strict=True):
            hash_rows(each, f"{_shown(each)} AS shown", f"{named} AS named").createOrReplaceTempView(name)
        own.spark.sql(_DIFFERING).createOrReplaceTempView("hw_differing")
        with _kept(own.spark.sql(_PAIRED if has_key else "TABLE hw_differing")) as paired:
            paired.createOrReplaceTempView("hw_paired")
            only_before, only_after, removed, added, changed = map(int, _all(own, _COUNTS)[0])
            columns = _all(own, _COLUMNS) if has_key and changed else []
            samples = _samples(own) if only_before or only_after else ()
    return RowDifference(
        only_before=only_before,
        only_after=only_after,
        removed=removed,
        added=added,
        changed=changed if has_key else None,
        columns=tuple((str(name), int(count)) for name, count in columns),
        samples=samples,
    )


def count_far(session: RunSession, before: TablePin, after: TablePin) -> int:
    """How many rows, alike in all that is exact, have approximate values further apart than the tolerance.

    Only plain floating-point columns count, not those inside lists and structs.
    """
    with _opened(session, before, after) as (own, rows):
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


def far_words(count: int) -> str:
    """What `count_far` has found, for a person."""
    rows = f"{count} row{'' if count == 1 else 's'}"
    return f"approximate columns of {rows} are further apart than 1e-9 of their values"


@contextmanager
def _opened(session: RunSession, *pins: TablePin) -> Generator[tuple[RunSession, list[DataFrame]]]:
    """A session of its own, where names can be given, and the rows of each pin in it."""
    own = session.copy()
    try:
        with reading_errors():
            yield own, [read_pinned(own, pin) for pin in pins]
    finally:
        own.release()


@contextmanager
def _kept(rows: DataFrame) -> Generator[DataFrame]:
    """Rows that several queries ask for: worked out once."""
    rows.persist()
    try:
        yield rows
    finally:
        rows.unpersist()


def _samples(own: RunSession) -> tuple[SampleRow, ...]:
    changed, removed, added = (_all(own, each) for each in (_CHANGED, _REMOVED, _ADDED))
    return (
        *(SampleRow(kind="changed", before=_parsed(one), after=_parsed(two)) for one, two in changed),
        *(SampleRow(kind="removed", before=_parsed(each)) for (each,) in removed),
        *(SampleRow(kind="added", after=_parsed(each)) for (each,) in added),
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
