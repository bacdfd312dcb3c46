from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.delta import Registration, TableSpec, register_table
from headwater.names import TablePin

if TYPE_CHECKING:
    from headwater.runtime import RunSession, SessionRuntime


def pin(version: int) -> TablePin:
    return TablePin(name="Things", uri="memory:things", version=version, digest="")


def test_a_registered_name_can_be_read_and_is_recorded(session: RunSession) -> None:
    done = register_table(session, "memory", pin(0), session.spark.range(2), provider_kind="memory")
    assert session.spark.sql("SELECT * FROM things").count() == 2
    assert done == Registration(
        table=TableSpec(name="Things", kind="memory", uri="memory:things", version=0),
        provider_kind="memory",
        is_degraded=False,
        function_digest=session.runtime.identity.functions.digest,
    )


def test_registering_again_replaces_even_what_was_cached(session: RunSession) -> None:
    register_table(session, "memory", pin(0), session.spark.range(2), provider_kind="memory")
    session.spark.catalog.cacheTable("things")
    assert session.spark.table("things").count() == 2
    register_table(session, "memory", pin(1), session.spark.range(3), provider_kind="memory")
    assert session.spark.table("things").count() == 3


def test_a_name_belongs_to_its_session(runtime: SessionRuntime, session: RunSession) -> None:
    register_table(session, "memory", pin(0), session.spark.range(2), provider_kind="memory")
    with runtime.checkout() as other:
        assert not other.spark.catalog.tableExists("things")
