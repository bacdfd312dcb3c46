"""What really changed in a table between two versions: rows that came and went in equal number cancel out.

A feed tells all that was written. A table that is overwritten with the same rows gives each of them twice,
deleted and inserted; taken together nothing happened. Rows are told apart by their hashes, so maps and
variants count too, and as often as they are there.
Not here: the feed itself; what is done with keys.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from headwater.datasets import ReadOptions
from headwater.delta.changes import ChangePin, earlier_rows, open_changes
from headwater.delta.columns import quoted, sql_column
from headwater.delta.content import free_prefix, marked_approximate, row_hashes
from headwater.delta.digests import changed_files, is_widened
from headwater.delta.failures import loading_errors
from headwater.delta.files import open_actions, open_rows
from headwater.delta.schema import is_comparable
from headwater.delta.snapshot import describe_pin
from headwater.errors import ChangesNotRecorded, ScanNotResolved
from headwater.runtime import local_path_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from headwater.names import TablePin
    from headwater.origin import Origin
    from headwater.runtime import RunSession

_FEED_COLUMNS = 3
_CAME = "if(_change_type IN ('insert', 'update_postimage'), 1, -1)"


def netted_changes(session: RunSession, pinned: ChangePin, origin: Origin | None = None) -> DataFrame:
    """The rows that a window really added and removed: the table's columns and `_change_type`.

    That is `insert` or `delete`, and a row is there as often as it came or went; an update is one of each.

    Raises:
        ChangesNotRecorded: the table did not keep a feed in all of the window, or changed its columns in it.
        VersionNotFound, LogUnreadable: as for rows.
    """
    feed = _feed(session, pinned, origin)
    columns = feed.columns[:-_FEED_COLUMNS]
    hashed, prefix = _hashed(session, feed, columns, _CAME)
    whole = f"struct({', '.join(quoted(each) for each in columns)})"
    asked = [f"sum({prefix}sign) AS {prefix}sign", f"any_value({prefix}row) AS {prefix}row"]
    net = (
        hashed.selectExpr(f"{prefix}first", f"{prefix}second", f"{prefix}sign", f"{whole} AS {prefix}row")
        .groupBy(f"{prefix}first", f"{prefix}second")
        .agg(*(sql_column(session, each) for each in asked))
        .where(f"{prefix}sign <> 0")
    )
    times = f"explode(array_repeat(if({prefix}sign > 0, 'insert', 'delete'), int(abs({prefix}sign))))"
    return net.selectExpr(f"{prefix}row", f"{times} AS _change_type").selectExpr(
        *(f"{prefix}row.{quoted(each)} AS {quoted(each)}" for each in columns), "_change_type"
    )


def affected_keys(
    session: RunSession, pinned: ChangePin, columns: Sequence[str], origin: Origin | None = None
) -> DataFrame:
    """What the rows that a window really added or removed have in `columns`: each once, null is a value too.

    Nothing for a window that is empty, or whose changes cancel out.

    Raises:
        ChangesNotRecorded: the table did not keep a feed in all of the window, or changed its columns in it;
            `compared_keys` needs none.
        ScanNotResolved: the table has no such column, or its values cannot be compared.
        VersionNotFound, LogUnreadable: as for rows.
    """
    end = describe_pin(session, pinned.pin, origin).schema
    names = _names(end, columns, pinned.pin, origin)
    if pinned.is_empty:
        return open_rows(session, pinned.pin).selectExpr(*map(quoted, names)).where("false")
    feed = _feed(session, pinned, origin)
    hashed, prefix = _hashed(session, feed, feed.columns[:-_FEED_COLUMNS], _CAME)
    return _keys(session, hashed, prefix, names)


def changed_keys(
    session: RunSession, old: TablePin, new: TablePin, columns: Sequence[str], origin: Origin | None = None
) -> tuple[DataFrame, bool]:
    """The keys of what changed after `old` up to `new`, and whether the feed told it or two versions did.

    The feed tells nothing of a column that becomes another one of the same name; then versions are compared.

    Raises:
        ChangesNotRecorded, ScanNotResolved, VersionNotFound, LogUnreadable: as for `compared_keys`.
    """
    after = describe_pin(session, new, origin)
    if after.keeps_changes and is_widened(describe_pin(session, old, origin), after):
        with suppress(ChangesNotRecorded):  # it did not keep one all along
            pinned = ChangePin(pin=new, starting_version=old.version + 1)
            return affected_keys(session, pinned, columns, origin), True
    return compared_keys(session, old, new, columns, origin), False


def compared_keys(
    session: RunSession, old: TablePin, new: TablePin, columns: Sequence[str], origin: Origin | None = None
) -> DataFrame:
    """The same from two versions of a table, without a feed: by the rows that only one of them has.

    What is read is the data files that the two do not share; all of them, where columns changed in between
    or the log does not tell any more.

    Raises:
        ChangesNotRecorded: a column is of another type in the two.
        ScanNotResolved, VersionNotFound, LogUnreadable: as for `affected_keys`.
    """
    before, after = describe_pin(session, old, origin), describe_pin(session, new, origin)
    names = _names(after.schema, columns, new, origin)
    _names(before.schema, columns, old, origin)
    files = changed_files(new.uri, old.version, new.version) if old.version <= new.version else None
    with loading_errors(local_path_of(new.uri), new.version, dataset=new.name, origin=origin):
        if files is not None and is_widened(before, after):
            went, came = open_actions(session, old, files[0]), open_actions(session, new, files[1])
        else:
            went, came = open_rows(session, old), open_rows(session, new)
    went = earlier_rows(session, went, came, old, origin)
    prefix = free_prefix(came.columns)
    sign = f"{prefix}came"
    both = went.selectExpr("*", f"-1 AS {sign}").unionAll(came.selectExpr("*", f"1 AS {sign}"))
    hashed, prefix = _hashed(session, both, came.columns, sign)
    return _keys(session, hashed, prefix, names)


def _feed(session: RunSession, pinned: ChangePin, origin: Origin | None) -> DataFrame:
    """Delta's own feed, its three columns behind the table's."""
    return open_changes(session, pinned, ReadOptions(require_change_feed=True), origin).rows


def _hashed(session: RunSession, rows: DataFrame, columns: Sequence[str], sign: str) -> tuple[DataFrame, str]:
    """The rows with hashes over `columns` and a sign, in columns whose names begin with what comes second.

    A column that is marked as approximate counts here: who reads it is to see what became of it.
    """
    rows = marked_approximate(session, rows, ())
    prefix = free_prefix(rows.columns)
    hashes = row_hashes(rows.select(*map(quoted, columns)).schema, prefix)
    made = [f"{hashes.first} AS {prefix}first", f"{hashes.second} AS {prefix}second"]
    return rows.selectExpr("*", *hashes.inside).selectExpr("*", *made, f"{sign} AS {prefix}sign"), prefix


def _keys(session: RunSession, hashed: DataFrame, prefix: str, names: Sequence[str]) -> DataFrame:
    keys = [quoted(each) for each in names]
    # Within a key: then rows of two keys cannot cancel each other out, whatever their hashes.
    total = sql_column(session, f"sum({prefix}sign) AS {prefix}sign")
    net = hashed.groupBy(f"{prefix}first", f"{prefix}second", *keys).agg(total)
    return net.where(f"{prefix}sign <> 0").selectExpr(*keys).distinct()


def _names(
    schema: StructType, columns: Sequence[str], pin: TablePin, origin: Origin | None
) -> tuple[str, ...]:
    """Columns as the table spells them."""
    fields = {each.name.casefold(): each for each in schema.fields}
    for name in columns:
        field = fields.get(name.casefold())
        if field is None or not is_comparable(field.dataType):
            detail = f"version {pin.version} has no such column"
            if field is not None:
                detail = f"values of the type {field.dataType.simpleString()} are not compared"
            raise ScanNotResolved(
                dataset=pin.name,
                expression=f"the key {name}",
                detail=detail,
                remedy="Name columns of the table that can be compared.",
                origin=origin,
            )
    return tuple(fields[name.casefold()].name for name in columns)
