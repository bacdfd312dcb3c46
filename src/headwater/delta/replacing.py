"""The rows of affected keys, replaced: what is laid down for it, by which way, what comes and goes.

    replace_on   a write that first deletes the rows whose key the new rows have: the faster way, but a key
                 without new rows would keep its old ones
    merge        the affected keys delete and the new rows are inserted: right for keys that vanish too

Both read the new rows several times; so these are made once, and lie on disk until the mutation is over.
Not here: doing it.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pyspark.sql import DataFrame

from headwater.delta.columns import quoted, sql_column
from headwater.delta.constraints import broken_by, countable, violation_in
from headwater.delta.content import (
    APPROXIMATE_KEY,
    free_prefix,
    hash_rows,
    marked_approximate,
    sum_hashes,
)
from headwater.delta.digests import derive_content
from headwater.delta.failures import reading_errors, writing_error
from headwater.delta.files import open_rows
from headwater.delta.key_values import are_at_hand, few_keys
from headwater.delta.layout import arrange
from headwater.delta.mutation import ReplaceKeys, same_keys
from headwater.delta.old_rows import KEY, count_old_rows
from headwater.delta.schema import is_whole
from headwater.errors import RowsUnusable
from headwater.runtime import ENGINE_EXCEPTIONS, local_path_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from headwater.delta.constraints import Constraint
    from headwater.delta.content import ContentDigest
    from headwater.delta.key_values import FewKeys
    from headwater.delta.layout import Layout
    from headwater.delta.mutation import Mutation
    from headwater.delta.old_rows import OldRows
    from headwater.delta.snapshot import SnapshotInfo
    from headwater.names import TablePin
    from headwater.origin import Origin
    from headwater.runtime import RunSession

Way = Literal["replace_on", "merge"]
# More new rows than this are not sent to every task.
_MOST_SENT = 1_000_000
_FLAG, _MATCH = "among", "match"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRows:
    """Rows that are to replace those of some keys, counted.

    Args:
        rows: what comes.
        keys: the affected keys; `few` are the same as values, None if they are too many.
        there: those of the few that have new rows.
        content: the digest of the rows.
    """

    rows: DataFrame
    keys: DataFrame
    few: FewKeys | None
    there: FewKeys | None
    content: ContentDigest


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacing:
    """How keys are replaced on one version of a table.

    Args:
        way: which of Delta's ways does it.
        source: what the table is compared with: the new rows; for a merge, the affected keys too.
        condition: which rows of the table, called `table`, go for a row of the source, called `name`.
        deletes: for a merge, the column of the source that tells a key from a new row.
        columns: those that the new rows have.
        added: the digest of the new rows; None if Delta fills in some of their columns.
        removed: the digest of the rows that go.
        before: the content of the version; None if it is not known.
        sweeps: for a merge, which rows of the table go besides, whatever the source has; empty if none.
    """

    way: Way
    source: DataFrame
    condition: str
    table: str
    name: str
    deletes: str
    columns: tuple[str, ...]
    added: ContentDigest | None
    removed: ContentDigest
    before: ContentDigest | None
    sweeps: str = ""

    @property
    def content(self) -> ContentDigest | None:
        """The content of the table afterwards: as before, less what goes, plus what comes."""
        if self.before is None or self.added is None:
            return None
        return self.before - self.removed + self.added


@contextmanager
def laid_down(
    session: RunSession, mutation: Mutation, rows: DataFrame | None, origin: Origin | None = None
) -> Generator[DataFrame | None]:
    """Within it, rows of a replacement that were made once, on disk; those of other mutations as they are."""
    if rows is None or not isinstance(mutation, ReplaceKeys):
        yield rows
        return
    with ExitStack() as leaving:
        try:
            kept = leaving.enter_context(checkpointed(session, rows, "DISK_ONLY"))
        except ENGINE_EXCEPTIONS as error:
            path = str(local_path_of(mutation.uri))
            raise writing_error(error, path, mutation.kind, origin) from error
        yield kept


@contextmanager
def keys_laid_down(
    session: RunSession, mutation: Mutation, keys: DataFrame | None, origin: Origin | None = None
) -> Generator[DataFrame | None]:
    """Within it, the affected keys of a replacement, made once; those that are values stay as they are."""
    if keys is not None and are_at_hand(keys):
        yield keys
        return
    with laid_down(session, mutation, keys, origin) as kept:
        yield kept


@contextmanager
def checkpointed(
    session: RunSession, rows: DataFrame, level: Literal["DISK_ONLY", "MEMORY_AND_DISK"]
) -> Generator[DataFrame]:
    """Within it, rows that were made once, when it was entered, and lie where `level` says."""
    frame: Any = rows
    kept = frame._jdf.localCheckpoint(
        True, getattr(session.jvm.org.apache.spark.storage.StorageLevel, level)()
    )
    try:
        yield DataFrame(kept, rows.sparkSession)
    finally:
        kept.queryExecution().analyzed().rdd().unpersist(False)


def prepare_replacing(
    session: RunSession,
    mutation: ReplaceKeys,
    new: NewRows,
    pin: TablePin,
    snapshot: SnapshotInfo,
    layout: Layout,
    ahead: Callable[[], OldRows | None] | None = None,
) -> Replacing:
    """How keys are to be replaced on a version of a table, by rows and keys that fit it.

    `ahead` gives the rows that go if they were counted already; those of another version are counted now.
    """
    rows, keys, added = new.rows, new.keys, new.content
    prefix = free_prefix((*snapshot.schema.names, *rows.columns))
    table, name, deletes = f"{prefix}t", f"{prefix}s", f"{prefix}deletes"
    before = derive_content(session, pin)
    removed, vanish = _removed(session, mutation, new, pin, snapshot, ahead)
    condition = same_keys(*keys.columns, table=table, source=name)
    sweeps = ""
    if not vanish and added.rows <= _MOST_SENT:
        way = "replace_on"
        # Delta asks each row that goes for its file, which nobody knows any more behind a shuffle.
        source = arrange(session, rows, layout).hint("broadcast")
    else:
        way = "merge"
        if _is_new_null(session, keys, pin):
            # Delta takes a key of nulls that nothing has for a match, if it need not write whole files.
            keys = keys.where(f"NOT ({_all_null(keys)})")
            sweeps = "" if mutation.exact else _all_null(keys, table)
        inserted = rows.selectExpr("*", f"false AS {deletes}")
        source = inserted.unionByName(keys.selectExpr("*", f"true AS {deletes}"), allowMissingColumns=True)
        condition = f"{condition} AND {name}.{deletes}"
    return Replacing(
        way=way,
        source=source,
        condition=condition,
        table=table,
        name=name,
        deletes=deletes,
        columns=tuple(rows.columns),
        added=added if is_whole(rows, snapshot.schema) else None,
        removed=removed,
        before=before,
        sweeps=sweeps,
    )


def _is_new_null(session: RunSession, keys: DataFrame, pin: TablePin) -> bool:
    """Whether a key of nothing but nulls is affected, and the table has no row of it."""
    with reading_errors():
        is_affected = bool(keys.where(_all_null(keys)).take(1))
        return is_affected and not open_rows(session, pin).where(_all_null(keys)).take(1)


def _all_null(keys: DataFrame, table: str = "") -> str:
    owner = f"{table}." if table else ""
    return " AND ".join(f"{owner}{quoted(each)} IS NULL" for each in keys.columns)


def restrict_rows(
    session: RunSession, rows: DataFrame, keys: DataFrame, columns: Sequence[str] | None = None
) -> DataFrame:
    """The rows whose values in `columns` are a row of `keys`, by the order of its columns; nulls are equal.

    Without columns, they are those of the same names.
    """
    return _joined(session, rows, keys, "left_semi", columns)


def count_new_rows(
    session: RunSession,
    mutation: ReplaceKeys,
    rows: DataFrame,
    keys: DataFrame,
    snapshot: SnapshotInfo,
    constraints: Sequence[Constraint] = (),
    origin: Origin | None = None,
) -> NewRows:
    """The digest of new rows as the table has them, by one pass that sees keys and constraints, too.

    Raises:
        ConstraintViolated: a row breaks one of the constraints.
        RowsUnusable: a row has a key that is not among the affected ones.
    """
    few = few_keys(keys)
    keys = keys.distinct()
    # What is approximate in the table is so here.
    marked = [each.name for each in snapshot.schema.fields if each.metadata.get(APPROXIMATE_KEY)]
    tested = countable(constraints, rows)
    broken = [f"{broken_by(each)} AS broken_{number}" for number, each in enumerate(tested)]
    hashed = _flagged(session, marked_approximate(session, rows, marked), few or keys, *broken)
    counts = [f"count_if(broken_{number})" for number in range(len(tested))]
    # Of few keys those that have rows come along, so that nobody has to look for them.
    asked = f"collect_set(if({_FLAG}, {KEY}, NULL))" if few else "NULL"
    content, (strays, found, *numbers) = sum_hashes(hashed, f"count_if(NOT {_FLAG})", asked, *counts)
    path = str(local_path_of(mutation.uri))
    violated = violation_in(tested, [int(each) for each in numbers], rows, path, origin)
    if violated is not None:
        raise violated
    if strays:
        names = [quoted(each) for each in keys.columns]
        sample: list[Any] = _joined(session, rows, keys, "left_anti").selectExpr(*names).limit(3).collect()
        shown = ", ".join(str(tuple(each)) for each in sample)
        detail = f"{strays} of them have keys that are not among the affected ones, such as {shown}"
        raise RowsUnusable(path=path, detail=detail, origin=origin)
    return NewRows(rows=rows, keys=keys, few=few, there=few.only(found) if few else None, content=content)


def _removed(
    session: RunSession,
    mutation: ReplaceKeys,
    new: NewRows,
    pin: TablePin,
    snapshot: SnapshotInfo,
    ahead: Callable[[], OldRows | None] | None,
) -> tuple[ContentDigest, bool]:
    """The digest of the rows that go, and whether some of them are of a key that has no new ones.

    Only who must follow that very version may go by the rows it has: to others, every such key counts.
    """
    if new.few is not None and new.there is not None:
        old = ahead() if ahead is not None else None
        if old is None or old.pin != pin or old.few != new.few:
            old = count_old_rows(session, new.few, pin, snapshot)
        gone = (old.there if mutation.exact else new.few).values - new.there.values
        return old.content, bool(gone)
    keys = new.keys
    with reading_errors():
        coming = new.rows.selectExpr(*(quoted(each) for each in keys.columns)).distinct()
        hashed = _flagged(session, restrict_rows(session, open_rows(session, pin), keys), coming)
        are_gone = not mutation.exact and bool(_joined(session, keys, coming, "left_anti").take(1))
        found, (vanishing,) = sum_hashes(hashed, f"count_if(NOT {_FLAG})")
    return found, bool(vanishing) or are_gone


def _flagged(session: RunSession, rows: DataFrame, keys: DataFrame | FewKeys, *more: str) -> DataFrame:
    """The hashes of rows, each with whether its key is among some, each there once; and what else is asked.

    If these are few, the key itself comes along.
    """
    if not isinstance(keys, DataFrame):
        key = f"struct({', '.join(quoted(each) for each in keys.columns)}) AS {KEY}"
        return hash_rows(rows, key, f"coalesce({keys.condition()}, false) AS {_FLAG}", *more)
    names = [f"{KEY}_{number}" for number in range(len(keys.columns))]
    asked = [f"{quoted(each)} AS {name}" for each, name in zip(keys.columns, names, strict=True)]
    flagged = keys.toDF(*keys.columns).selectExpr("*", f"true AS {_MATCH}")
    joined = _joined(session, hash_rows(rows, *asked, *more), flagged, "left", names)
    return joined.selectExpr("*", f"{_MATCH} IS NOT NULL AS {_FLAG}")


def _joined(
    session: RunSession,
    rows: DataFrame,
    keys: DataFrame,
    how: str,
    columns: Sequence[str] | None = None,
) -> DataFrame:
    prefix = free_prefix((*rows.columns, *keys.columns))
    table, name = f"{prefix}t", f"{prefix}s"
    names = keys.columns if columns is None else columns
    pairs = [
        f"{table}.{quoted(one)} <=> {name}.{quoted(other)}"
        for one, other in zip(names, keys.columns, strict=False)
    ]
    condition = sql_column(session, " AND ".join(pairs))
    return rows.alias(table).join(keys.alias(name), condition, how)
