"""The keys that a replacement is about, as its table has them, and whether they can be compared there.

Not here: the rows that have them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql.types import StringType, StructType

from headwater.delta.columns import quoted
from headwater.delta.mutation import ReplaceKeys
from headwater.delta.schema import TEXT_TYPE, fit_rows, is_comparable
from headwater.errors import MutationRefused, RowsUnusable
from headwater.runtime import local_path_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

    from headwater.delta.mutation import Mutation
    from headwater.delta.snapshot import SnapshotInfo
    from headwater.origin import Origin
    from headwater.runtime import RunSession


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
