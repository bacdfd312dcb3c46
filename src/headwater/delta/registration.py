"""One contract for every name a session can read: a Delta table at a pin, its changes, files, rows in memory.

Registering replaces what the name meant before, in this session only, drops what was cached under it, and
says by which provider it is read. Not here: who asks for a name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from headwater.datasets import DEGRADED_PROVIDERS, DELTA_AS_FILES, DELTA_NATIVE, ReadOptions
from headwater.delta.changes import ChangePin, open_changes
from headwater.delta.gates import check_provider
from headwater.delta.listing import FilePin, delta_tables_in
from headwater.delta.reads import open_pinned
from headwater.runtime import engine_errors

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame

    from headwater.delta.projection import ScanColumn
    from headwater.delta.snapshot import SnapshotInfo
    from headwater.digest import Plain
    from headwater.names import TablePin
    from headwater.origin import Origin
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
    """A name as one session knows it: how it is read, what was asked for, and what is there.

    `provider_kind` is `delta_native` for a table or change feed that Delta itself reads, `listing` and
    `memory` for what is no Delta table, and one of the degraded kinds where a profile allows it.
    """

    table: TableSpec
    provider_kind: str
    is_degraded: bool
    function_digest: str
    options: Mapping[str, Plain] = field(default_factory=dict[str, "Plain"])
    snapshot: SnapshotInfo | None = None
    columns: tuple[ScanColumn, ...] = ()


def register_delta(
    session: RunSession, pin: TablePin, options: ReadOptions | None = None, origin: Origin | None = None
) -> Registration:
    """Makes a Delta table at a pin readable under the pin's name; see `open_pinned` for what can fail."""
    chosen = options or ReadOptions()
    read = open_pinned(session, pin, chosen, origin)
    return register_table(
        session,
        "delta",
        pin,
        read.rows,
        provider_kind=DELTA_NATIVE,
        options=chosen.effective(),
        snapshot=read.snapshot,
        columns=read.columns,
    )


def register_changes(
    session: RunSession, pinned: ChangePin, options: ReadOptions | None = None, origin: Origin | None = None
) -> Registration:
    """Makes a window of a change feed readable under the pin's name; see `open_changes`."""
    chosen = options or ReadOptions()
    read = open_changes(session, pinned, chosen, origin)
    window: dict[str, Plain] = {
        "starting_version": pinned.starting_version,
        "ending_version": pinned.pin.version,
    }
    return register_table(
        session,
        "delta",
        pinned.pin,
        read.rows,
        provider_kind=read.provider_kind,
        options=chosen.effective() | {"window": window},
        snapshot=read.snapshot,
        columns=read.columns,
    )


def register_listing(
    session: RunSession,
    files: FilePin,
    rows: DataFrame,
    options: Mapping[str, Plain],
    origin: Origin | None = None,
) -> Registration:
    """Makes the rows of a listing readable under its name.

    Raises:
        DegradedRefused: the files are those of a Delta table, and the profile does not allow to read them so.
    """
    tables = delta_tables_in(files)
    kind = DELTA_AS_FILES if tables else "listing"
    if tables:
        check_provider(
            session,
            kind,
            files.pin.name,
            detail=f"{tables[0]} is a Delta table, and its files alone are not its rows",
            remedy='Read the table itself: format="delta". ',
            origin=origin,
        )
    return register_table(session, "listing", files.pin, rows, provider_kind=kind, options=options)


def register_table(
    session: RunSession,
    kind: TableKind,
    pin: TablePin,
    rows: DataFrame,
    *,
    provider_kind: str,
    options: Mapping[str, Plain] | None = None,
    snapshot: SnapshotInfo | None = None,
    columns: tuple[ScanColumn, ...] = (),
) -> Registration:
    """Makes `rows` readable under the pin's name in this session."""
    with engine_errors():
        rows.createOrReplaceTempView(pin.name)
    return Registration(
        table=TableSpec(name=pin.name, kind=kind, uri=pin.uri, version=pin.version),
        provider_kind=provider_kind,
        is_degraded=provider_kind in DEGRADED_PROVIDERS,
        function_digest=session.runtime.identity.functions.digest,
        options=options or {},
        snapshot=snapshot,
        columns=columns,
    )
