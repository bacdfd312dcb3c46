from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from headwater.delta import (
    FeatureGate,
    ReadOptions,
    Registration,
    TableSpec,
    pin_files,
    pin_version,
    read_files,
    read_head,
    register_delta,
    register_listing,
    register_table,
)
from headwater.errors import DegradedRefused, ReaderVersionTooLow
from headwater.names import TablePin
from headwater.origin import Origin
from headwater.runtime import open_runtime

if TYPE_CHECKING:
    from pathlib import Path

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


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory, runtime: SessionRuntime) -> Path:
    """Two rows, then three in their place."""
    path = tmp_path_factory.mktemp("registered") / "lake" / "t"
    with runtime.checkout() as session:
        for count in (2, 3):
            session.spark.range(count).write.format("delta").mode("overwrite").save(str(path))
    return path


def test_a_delta_table_is_read_by_delta_and_what_was_asked_is_kept(session: RunSession, table: Path) -> None:
    known = pin_version("Things", table.as_uri(), version=0)
    plain = register_delta(session, known)
    assert (plain.provider_kind, plain.is_degraded) == ("delta_native", False)
    assert plain.options == ReadOptions().effective()
    assert plain.table == TableSpec(name="Things", kind="delta", uri=table.as_uri(), version=0)
    assert plain.snapshot is not None
    assert plain.snapshot.digest == known.digest
    options = ReadOptions(columns=(("n", "id + 1"),), gate=FeatureGate(min_reader_version=1))
    done = register_delta(session, known, options)
    assert done.options == options.effective()
    assert [(each.name, each.type) for each in done.columns] == [("n", "bigint")]
    assert sorted(row["n"] for row in session.spark.table("things").collect()) == [1, 2]
    with pytest.raises(ReaderVersionTooLow) as caught:
        register_delta(session, known, ReadOptions(gate=FeatureGate(min_reader_version=9)), Origin("v.py", 3))
    assert caught.value.origin == Origin("v.py", 3)


def test_registering_another_version_drops_what_was_cached(session: RunSession, table: Path) -> None:
    for version, count in ((0, 2), (1, 3)):
        register_delta(session, pin_version("things", table.as_uri(), version=version))
        assert session.spark.table("things").count() == count
        session.spark.catalog.cacheTable("things")
        assert session.spark.table("things").count() == count
    session.spark.catalog.uncacheTable("things")  # what is cached belongs to all sessions of the process


def listing(session: RunSession, place: Path) -> Registration:
    files = pin_files("things", place.as_uri())
    rows = read_files(session, files, file_format="parquet", schema="id BIGINT", options=[])
    return register_listing(session, files, rows, {"format": "parquet"}, Origin("v.py", 3))


def test_files_are_a_listing_unless_they_are_a_delta_tables(
    session: RunSession, table: Path, tmp_path: Path
) -> None:
    plain = tmp_path / "plain"
    session.spark.range(2).write.parquet(str(plain))
    done = listing(session, plain)
    assert (done.provider_kind, done.is_degraded, done.table.kind) == ("listing", False, "listing")
    assert done.options == {"format": "parquet"}
    (tmp_path / "linked").symlink_to(table)
    file = min(table.glob("*.parquet"))
    for place in (table, file, table.parent, tmp_path / "linked"):
        with pytest.raises(DegradedRefused, match="is a Delta table") as caught:
            listing(session, place)
        assert caught.value.provider_kind == "delta_as_files"
        assert caught.value.origin == Origin("v.py", 3)
        assert 'format="delta"' in caught.value.next_step


def test_a_profile_allows_a_delta_tables_files_by_name(runtime: SessionRuntime, table: Path) -> None:
    other = replace(runtime.profile, allow_degraded=("snapshot_changes",))
    with open_runtime(other).checkout() as session, pytest.raises(DegradedRefused):
        listing(session, table)
    allowed = replace(runtime.profile, allow_degraded=("delta_as_files",))
    with open_runtime(allowed).checkout() as session:
        done = listing(session, table)
        assert (done.provider_kind, done.is_degraded) == ("delta_as_files", True)
        assert session.spark.table("things").count() == 5


def test_a_filter_over_a_registered_name_prunes_files_and_reaches_parquet(
    session: RunSession, tmp_path: Path
) -> None:
    rows = session.spark.range(0, 1000, 1, 4).selectExpr("id", "id % 2 AS k")
    rows.write.format("delta").save(str(tmp_path / "t"))
    register_delta(session, read_head((tmp_path / "t").as_uri()).pin("things"))
    found: Any = session.spark.sql("SELECT id FROM things WHERE id > 900")
    scan = found._jdf.queryExecution().optimizedPlan().collectLeaves().apply(0).relation().location()
    assert scan.preparedScan().files().size() == 1
    assert "GreaterThan(id,900)" in str(found._jdf.queryExecution().executedPlan().toString())
    assert found.count() == 99
