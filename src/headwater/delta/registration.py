"""One contract for every name a session can read: a Delta table at a pin, files, or rows in memory.

Registering replaces what the name meant before, in this session only, and drops what was cached under it.
Not here: who asks for a name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from headwater.runtime import engine_errors

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headwater.names import TablePin
    from headwater.runtime import RunSession

TableKind = Literal["delta", "listing", "memory"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSpec:
    """A name that can be read: what kind of thing it is, where, and at which version."""

    name: str
    kind: TableKind
    uri: str
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """A name as one session knows it, with the functions that were installed at the time."""

    table: TableSpec
    function_digest: str


def register_table(session: RunSession, kind: TableKind, pin: TablePin, rows: DataFrame) -> Registration:
    """Makes `rows` readable under the pin's name in this session."""
    with engine_errors():
        rows.createOrReplaceTempView(pin.name)
    table = TableSpec(name=pin.name, kind=kind, uri=pin.uri, version=pin.version)
    return Registration(table=table, function_digest=session.runtime.identity.functions.digest)
