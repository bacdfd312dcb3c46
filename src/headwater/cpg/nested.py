"""Lists of structs as Arrow has them and as a schema of Spark says them: what one row of a file is made of.

Not here: which lists there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, cast

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Columns: TypeAlias = "Mapping[str, Sequence[Any]]"

PAIRS = "ARRAY<STRUCT<key: STRING, value: STRING>>"
TEXTS = "ARRAY<STRING>"
_ARROW: Mapping[str, pa.DataType] = {
    "STRING": pa.string(),
    "INT": pa.int32(),
    "BIGINT": pa.int64(),
    "BOOLEAN": pa.bool_(),
    TEXTS: pa.list_(pa.string()),
    PAIRS: pa.list_(pa.struct([("key", pa.string()), ("value", pa.string())])),
}


def schema_of(lists: Mapping[str, Mapping[str, str]]) -> str:
    """The columns of lists as a schema says them: by a list's name, its columns with their types.

    >>> schema_of({"calls": {"node": "INT", "text": "STRING"}})
    'calls ARRAY<STRUCT<node: INT, text: STRING>>'
    """
    return ", ".join(f"{name} ARRAY<{struct_of(columns)}>" for name, columns in lists.items())


def struct_of(columns: Mapping[str, str]) -> str:
    """The type of one entry."""
    return f"STRUCT<{', '.join(f'{column}: {kind}' for column, kind in columns.items())}>"


def structs_of(columns: Columns, kinds: Mapping[str, str]) -> pa.Array[Any]:
    """The entries of one list as structs; a column that is an Arrow array already is taken as it is."""
    arrays = [column_of(columns[name], kind) for name, kind in kinds.items()]
    return cast("Any", pa.StructArray).from_arrays(arrays, list(kinds))


def column_of(values: Any, kind: str) -> Any:
    """One column of them."""
    if kind == PAIRS:
        return _pairs(values)
    return cast("Any", values) if isinstance(values, pa.Array) else pa.array(values, _ARROW[kind])


def _pairs(props: Sequence[dict[str, str] | None]) -> pa.Array[Any]:
    """Most nodes have no properties, so offsets are cheaper than handing over every mapping."""
    offsets: list[int | None] = []
    keys: list[str] = []
    values: list[str] = []
    for each in props:
        offsets.append(None if each is None else len(keys))
        if each:
            keys += each.keys()
            values += each.values()
    pairs = cast("Any", pa.StructArray).from_arrays(
        [pa.array(keys, pa.string()), pa.array(values, pa.string())], ["key", "value"]
    )
    return cast("Any", pa.ListArray).from_arrays(pa.array([*offsets, len(keys)], pa.int32()), pairs)
