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
from pyspark.sql.types import IntegralType, StringType, StructType

from headwater.delta.columns import quoted, sql_column
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
from headwater.delta.layout import arrange
from headwater.delta.mutation import ReplaceKeys, same_keys
from headwater.delta.schema import TEXT_TYPE, fit_rows, is_comparable, is_whole
from headwater.delta.settling import sql_text
from headwater.errors import MutationRefused, RowsUnusable
from headwater.runtime import ENGINE_EXCEPTIONS, local_path_of

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from headwater.delta.content import ContentDigest
    from headwater.delta.layout import Layout
    from headwater.delta.mutation import Mutation
    from headwater.delta.snapshot import SnapshotInfo
    from headwater.names import TablePin
    from headwater.origin import Origin
    from headwater.runtime import RunSession

Way = Literal["replace_on", "merge"]
# More new rows than this are not sent to every task.
_MOST_SENT = 1_000_000
# More keys than this are not written out in a condition.
_FEW = 100
_FLAG = "among"


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


def keys_of(
    session: RunSession,
    mutation: Mutation,
    rows: DataFrame | None,
    affected: DataFrame | None,
    snapshot: SnapshotInfo | None,
    origin: Origin | None = None,
) -> DataFrame | None:
    """The affected keys in the columns and types of the table; None for a mutation that has none.

    Raises:
        RowsUnusable: keys are missing, or not asked for; or rows or keys lack a column of the key.
        MutationRefused: the table has no such column, or its values cannot be compared.
        SchemaDiffers: the keys are of another type.
    """
    path = str(local_path_of(mutation.uri))
    is_keyed = isinstance(mutation, ReplaceKeys)
    if is_keyed != (affected is not None):
        detail = f"a mutation of the kind {mutation.kind} {'needs' if is_keyed else 'takes no'} affected keys"
        raise RowsUnusable(path=path, detail=detail, origin=origin)
    if not isinstance(mutation, ReplaceKeys) or affected is None or rows is None or snapshot is None:
        return None
    wanted = _key_fields(mutation, snapshot, path, origin)
    for frame, what in ((rows, "rows"), (affected, "affected keys")):
        there = {each.lower() for each in frame.columns}
        lacking = [each for each in wanted.names if each.lower() not in there]
        if lacking:
            detail = f"the {what} lack {', '.join(lacking)}, of the key"
            raise RowsUnusable(path=path, detail=detail, origin=origin)
    names = {each.lower(): each for each in affected.columns}
    chosen = affected.toDF(*affected.columns).selectExpr(
        *(quoted(names[each.lower()]) for each in wanted.names)
    )
    return fit_rows(session, chosen, wanted, None, path, origin)


def prepare_replacing(
    session: RunSession,
    mutation: ReplaceKeys,
    rows: DataFrame,
    keys: DataFrame,
    pin: TablePin,
    snapshot: SnapshotInfo,
    layout: Layout,
    origin: Origin | None = None,
) -> Replacing:
    """How keys are to be replaced on a version of a table, by rows and keys that fit it.

    Raises:
        RowsUnusable: a new row has a key that is not among the affected ones.
    """
    keys = keys.distinct()
    prefix = free_prefix((*snapshot.schema.names, *rows.columns))
    table, name, deletes = f"{prefix}t", f"{prefix}s", f"{prefix}deletes"
    added = _added(session, mutation, rows, keys, snapshot, origin)
    before = derive_content(session, pin)
    removed, vanish = _removed(session, mutation, rows, keys, pin)
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


def _added(
    session: RunSession,
    mutation: ReplaceKeys,
    rows: DataFrame,
    keys: DataFrame,
    snapshot: SnapshotInfo,
    origin: Origin | None,
) -> ContentDigest:
    """The digest of the new rows as the table has them: what is approximate there is so here."""
    marked = [each.name for each in snapshot.schema.fields if each.metadata.get(APPROXIMATE_KEY)]
    hashed = _flagged(session, marked_approximate(session, rows, marked), keys)
    found, (strays,) = sum_hashes(hashed, f"count_if({_FLAG} IS NULL)")
    if strays:
        names = [quoted(each) for each in keys.columns]
        sample: list[Any] = _joined(session, rows, keys, "left_anti").selectExpr(*names).limit(3).collect()
        shown = ", ".join(str(tuple(each)) for each in sample)
        detail = f"{strays} of them have keys that are not among the affected ones, such as {shown}"
        raise RowsUnusable(path=str(local_path_of(mutation.uri)), detail=detail, origin=origin)
    return found


def _removed(
    session: RunSession, mutation: ReplaceKeys, rows: DataFrame, keys: DataFrame, pin: TablePin
) -> tuple[ContentDigest, bool]:
    """The digest of the rows that go, and whether some of them are of a key that has no new ones.

    Only who must follow that very version may go by the rows it has: to others, every such key counts.
    """
    new = rows.selectExpr(*(quoted(each) for each in keys.columns)).distinct()
    near, are_theirs = near_rows(open_rows(session, pin), keys)
    # With a condition that a join brings, Delta looks for the files of a scan again and again.
    theirs = near if are_theirs else restrict_rows(session, near, keys)
    hashed = _flagged(session, theirs, new)
    with reading_errors():
        found, (vanishing,) = sum_hashes(hashed, f"count_if({_FLAG} IS NULL)")
        if not mutation.exact and not vanishing:
            vanishing = len(_joined(session, keys, new, "left_anti").take(1))
    return found, bool(vanishing)


def near_rows(rows: DataFrame, keys: DataFrame) -> tuple[DataFrame, bool]:
    """The rows without most that have none of the keys, if these are few; and whether no other is left.

    Delta leaves out files by values in a condition, and none by what they are joined with.
    """
    plain = (StringType, IntegralType)
    if not all(isinstance(each.dataType, plain) for each in keys.schema.fields):
        return rows, False
    found: list[Any] = keys.limit(_FEW + 1).collect()
    if len(found) > _FEW:
        return rows, False
    for number, name in enumerate(keys.columns):
        rows = rows.where(
            " OR ".join(sorted({_equals(quoted(name), each[number]) for each in found})) or "false"
        )
    return rows, len(keys.columns) == 1


def _equals(column: str, value: str | int | None) -> str:
    """Delta tells each of these apart; of a list it takes all that lies between the first and the last."""
    if value is None:
        return f"{column} IS NULL"
    return f"{column} = {sql_text(value) if isinstance(value, str) else value}"


def _flagged(session: RunSession, rows: DataFrame, keys: DataFrame) -> DataFrame:
    """The hashes of rows, with a flag that is null where the row's key is not among some, each there once."""
    names = [f"{_FLAG}_{number}" for number in range(len(keys.columns))]
    asked = [f"{quoted(each)} AS {name}" for each, name in zip(keys.columns, names, strict=True)]
    flagged = keys.toDF(*keys.columns).selectExpr("*", f"true AS {_FLAG}")
    return _joined(session, hash_rows(rows, *asked), flagged, "left", names)


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


def complaint_of_keys(snapshot: SnapshotInfo, keys: Sequence[str]) -> str | None:
    """Why the rows of keys that a query knows cannot be replaced in a table; None if they can.

    Empty text is null in a folder's name: so two keys of a query may be one of the table.
    """
    folders = {each.lower() for each in snapshot.partition_columns}
    kinds = {each.name.lower(): each.dataType for each in snapshot.schema.fields}
    for name in keys:
        if name.lower() in folders and isinstance(kinds[name.lower()], StringType):
            return f"empty text and null are one folder of {name}, and two keys"
    return _complaint(snapshot, keys)


def _complaint(snapshot: SnapshotInfo, keys: Sequence[str]) -> str | None:
    fields = {each.name.lower(): each for each in snapshot.schema.fields}
    for name in keys:
        field = fields.get(name.lower())
        if field is None:
            return f"the table has no column {name}"
        if not is_comparable(field.dataType) or TEXT_TYPE in field.metadata:
            kind = field.metadata.get(TEXT_TYPE, field.dataType.simpleString())
            return f"keys of the type {kind} ({name}) are not compared"
    return None


def _key_fields(
    mutation: ReplaceKeys, snapshot: SnapshotInfo, path: str, origin: Origin | None
) -> StructType:
    complaint = _complaint(snapshot, mutation.keys)
    if complaint is not None:
        raise MutationRefused(path=path, kind=mutation.kind, detail=complaint, origin=origin)
    fields = {each.name.lower(): each for each in snapshot.schema.fields}
    return StructType([fields[name.lower()] for name in mutation.keys])
