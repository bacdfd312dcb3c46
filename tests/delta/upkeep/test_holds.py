from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headwater.delta import Guard, Hold, Loss, list_log, merged_holds
from headwater.delta.upkeep.holds import held_log, lost_files, needed_files, vector_path
from headwater.errors import PinsAtRisk
from headwater.names import TablePin

if TYPE_CHECKING:
    from uuid import UUID

    from tests.delta.upkeep.conftest import Keep

    from headwater.runtime import RunSession

PINS = [TablePin(name="t", uri="file:///t", version=version, digest="d") for version in range(3)]


def hold(version: int, start: int | None = None, *holders: str) -> Hold:
    return Hold(pin=PINS[version], starting_version=start, holders=holders)


def test_holds_of_one_version_or_window_are_one_with_all_who_need_it() -> None:
    holds = [hold(1, 0, "c"), hold(2, None, "b"), hold(1, 0, "a", "c"), hold(2, None, "a"), hold(0)]
    assert merged_holds(holds) == (hold(0), hold(1, 0, "a", "c"), hold(2, None, "a", "b"))


def test_a_hold_names_at_most_three_of_those_who_need_it() -> None:
    assert str(hold(2, None, "a")) == "version 2 (a)"
    assert str(hold(2, 1, *"abcde")) == "version 2 with changes from 1 (a, b, c and 2 more)"


def test_a_guard_refuses_a_loss_unless_somebody_forces_it() -> None:
    lost = (Loss(hold=hold(1, None, "a"), files=3), Loss(hold=hold(2, 0, "b"), files=1))
    with pytest.raises(PinsAtRisk) as caught:
        Guard(spare=True).check("vacuum", "file:///t", lost)
    assert (caught.value.operation, caught.value.path) == ("vacuum", "/t")
    assert caught.value.lost == ("version 1 (a)", "version 2 with changes from 0 (b)")
    Guard(forced=True).check("vacuum", "file:///t", lost)
    Guard().check("vacuum", "file:///t", ())


def test_what_cannot_be_read_any_more_is_not_held(keep: Keep) -> None:
    keep.lived()
    other = TablePin(name="t", uri=keep.table.uri, version=2, digest="0" * 64)
    whole = [keep.hold(2), keep.hold(5, 2)]
    gone = [Hold(pin=other), keep.hold(0), keep.hold(5, 0)]
    log = keep.table.path / "_delta_log"
    (log / f"{2:020}.checkpoint.parquet").write_bytes(b"nobody looks into it")
    for version in (0, 1):
        (log / f"{version:020}.json").unlink()
    files, held = held_log(keep.table.uri, Guard(holds=(*whole, *gone)))
    assert held == tuple(whole)
    assert files == list_log(keep.table.uri)


def test_what_a_hold_needs_is_what_lies_on_disk(keep: Keep) -> None:
    """Nothing was deleted yet: a window over all versions needs each file, and every vector."""
    keep.lived()
    session, everything = keep.table.session, keep.files()
    assert needed_files(session, keep.hold(5, 0)) == everything
    newest = needed_files(session, keep.hold(5))
    assert len(newest) == 2
    second = needed_files(session, keep.hold(1))
    assert sum(each.endswith(".bin") for each in second) == 1
    assert not any(each.startswith("_change_data") for each in second)
    changes = needed_files(session, keep.hold(2, 2)) - needed_files(session, keep.hold(2))
    assert any(each.startswith("_change_data/g=ü 50%25%3Ax/") for each in changes)
    holds = [keep.hold(5), keep.hold(1)]
    assert lost_files(session, holds, everything - newest) == {holds[1]: sorted(second - newest)}
    assert lost_files(session, holds, []) == {}


def test_vectors_below_a_folder_of_a_random_name_are_found(keep: Keep) -> None:
    keep.table.sql(
        "CREATE TABLE {t} USING delta TBLPROPERTIES ('delta.enableDeletionVectors' = 'true', "
        "'delta.randomizeFilePrefixes' = 'true') AS SELECT /*+ REPARTITION(1) */ * FROM range(10)"
    )
    keep.table.sql("DELETE FROM {t} WHERE id < 3")
    needed = needed_files(keep.table.session, keep.hold(1))
    assert needed == keep.files()
    assert sorted(each.rpartition(".")[2] for each in needed) == ["bin", "parquet"]
    assert all("/" in each for each in needed)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.uuids(), st.text("abcXYZ019", max_size=4))
def test_a_vectors_place_is_what_delta_takes_it_for(session: RunSession, uuid: UUID, prefix: str) -> None:
    jvm: Any = session.jvm
    descriptor = jvm.org.apache.spark.sql.delta.actions.DeletionVectorDescriptor
    java, none = jvm.java.util.UUID.fromString(str(uuid)), jvm.scala.Option.empty()
    made = descriptor.onDiskWithRelativePath(java, prefix, 10, 1, none, none)
    path = made.absolutePath(jvm.org.apache.hadoop.fs.Path("/a table"))
    assert str(path.toUri().getPath()) == f"/a table/{vector_path(str(made.pathOrInlineDv()))}"


def test_a_version_and_a_window_that_ends_there_are_two_holds() -> None:
    found = merged_holds([hold(2, 1, "b"), hold(2, None, "a")])
    assert set(found) == {hold(2, None, "a"), hold(2, 1, "b")}
