"""The columns of a ledger name in SQL, from the struct that its rows are.

The ledger's own columns are few (LEDGER_COLUMNS): whatever else a row has is JSON in the last of them, and a
name takes it apart again. Not here: the structs; see `ledger_names`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from headwater.artifacts.ledger_names import LedgerEntry

LEDGER_COLUMNS = {
    "run_id": "STRING",
    "kind": "STRING",
    "at": "TIMESTAMP",
    "name": "STRING",
    "number": "BIGINT",
    "details": "STRING",
}
_TYPES: dict[type, str] = {
    msgspec.inspect.StrType: "STRING",
    msgspec.inspect.IntType: "BIGINT",
    msgspec.inspect.FloatType: "DOUBLE",
    msgspec.inspect.BoolType: "BOOLEAN",
    msgspec.inspect.DateTimeType: "TIMESTAMP",
    msgspec.inspect.VarTupleType: "ARRAY<STRING>",
    msgspec.inspect.AnyType: "STRING",
}


def ledger_columns(entry: type[LedgerEntry]) -> dict[str, str]:
    """The columns of a name with their types, in order."""
    info = msgspec.inspect.type_info(entry)
    fields = info.fields if isinstance(info, msgspec.inspect.StructType) else ()
    return {each.name: _type_of(each.type) for each in fields}


def ledger_select(entry: type[LedgerEntry]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Two lists of expressions, one over the other, that make a name's columns from the ledger's rows."""
    columns = ledger_columns(entry)
    outside = {entry.id_column: "run_id", entry.named_by: "name"}
    inside = ", ".join(f"`{name}` {kind}" for name, kind in columns.items() if name not in outside)
    shown = (f"{outside.get(name, f'd.`{name}`')} AS `{name}`" for name in columns)
    return ("run_id", "name", f"from_json(details, '{inside}') AS d"), tuple(shown)


def details_of(entry: LedgerEntry) -> str:
    """What a row has beside its id and its name, as JSON with sorted keys."""
    values: dict[str, object] = msgspec.to_builtins(entry)
    outside = (entry.id_column, entry.named_by)
    kept = {key: value for key, value in values.items() if key not in outside}
    return msgspec.json.encode(kept, order="sorted").decode()


def _type_of(kind: msgspec.inspect.Type) -> str:
    if isinstance(kind, msgspec.inspect.UnionType):
        (kind,) = (each for each in kind.types if not isinstance(each, msgspec.inspect.NoneType))
    return _TYPES[type(kind)]
