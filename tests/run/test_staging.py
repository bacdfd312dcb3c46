from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from headwater.delta import CommitNote, Overwrite, commit_mutation
from headwater.errors import WarehouseNotWritable
from headwater.run.staging import Staging, staged_path
from headwater.run.warehouse import Warehouse

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.delta import Receipt
    from headwater.runtime import RunSession

ONE, TWO = "a" * 64, "b" * 64


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    return Warehouse((tmp_path / "house").resolve())


def put(session: RunSession, warehouse: Warehouse, digest: str, *, checked: bool = True) -> Receipt:
    staging = Staging(warehouse)
    uri = staging.place("paid", digest).as_uri()
    head = staging.base(uri)
    note = CommitNote(
        pipeline="p", table="paid", run_id="r", task_key=digest, mutation_id=os.urandom(8).hex()
    )
    mutation = Overwrite(uri=uri, base_version=head.version if head else -1, note=note)
    receipt = commit_mutation(session, mutation, session.spark.range(3))
    if checked:
        staging.keep(receipt.pin)
    staging.close()
    return receipt


def folders(warehouse: Warehouse) -> list[str]:
    return sorted(each.name for each in (warehouse.root / "staging").glob("*-*") if each.is_dir())


def test_a_place_is_below_staging_and_named_by_view_and_fingerprint(warehouse: Warehouse) -> None:
    staging = Staging(warehouse)
    assert staging.place("paid", ONE) == warehouse.root / "staging" / f"paid-{ONE}"
    assert staged_path("paid", ONE) == f"staging/paid-{ONE}"
    staging.close()


def test_rows_are_found_once_they_are_checked(session: RunSession, warehouse: Warehouse) -> None:
    receipt = put(session, warehouse, ONE, checked=False)
    staging = Staging(warehouse)
    assert staging.find(receipt.pin.uri, "paid", ONE) is None
    staging.keep(receipt.pin)
    found = staging.find(receipt.pin.uri, "paid", ONE)
    assert found is not None
    assert found.pin("paid").digest == receipt.pin.digest
    assert staging.find(receipt.pin.uri, "paid", TWO) is None
    put(session, warehouse, ONE, checked=False)  # the mark of before is not this commit's
    assert staging.find(receipt.pin.uri, "paid", ONE) is None


def test_a_log_that_cannot_be_read_is_taken_away_to_begin_anew(
    session: RunSession, warehouse: Warehouse
) -> None:
    receipt = put(session, warehouse, ONE)
    folder = warehouse.root / staged_path("paid", ONE)
    (folder / "_delta_log" / f"{0:020}.json").write_text("{")
    assert Staging(warehouse).base(receipt.pin.uri) is None
    assert not folder.exists()
    assert put(session, warehouse, ONE).pin.version == 0


def test_sweeping_leaves_what_is_wanted_and_whole(session: RunSession, warehouse: Warehouse) -> None:
    for digest in (ONE, TWO):
        put(session, warehouse, digest)
    put(session, warehouse, "c" * 64, checked=False)
    half = warehouse.root / staged_path("paid", "d" * 64)
    half.mkdir()
    (half / "part-0.parquet").write_text("half")
    all_but_two = tuple(f"paid-{each}" for each in (ONE, "c" * 64, "d" * 64))
    gone = Staging(warehouse).sweep(lambda view, digest: f"{view}-{digest}" in all_but_two)
    assert gone == (f"paid-{TWO}", f"paid-{'c' * 64}", f"paid-{'d' * 64}")
    assert folders(warehouse) == [f"paid-{ONE}"]


def test_sweeping_touches_nothing_that_is_not_a_views_rows(warehouse: Warehouse, tmp_path: Path) -> None:
    staging = warehouse.root / "staging"
    outside = tmp_path / "outside"
    outside.mkdir(parents=True)
    (outside / "precious").write_text("x")
    names = ("replay-20260102T030405000000Z-00000001", "paid-abc", f"pa.id-{ONE}", f"paid-{ONE.upper()}", "x")
    for name in names:
        (staging / name).mkdir(parents=True)
    (staging / f"file-{ONE}").write_text("a file")
    (staging / f"link-{ONE}").symlink_to(outside)
    inside = staging / f"paid-{ONE}"
    inside.mkdir()
    (inside / "way_out").symlink_to(outside)
    assert Staging(warehouse).sweep(lambda _view, _digest: False) == (f"paid-{ONE}",)
    assert (outside / "precious").read_text() == "x"
    left = {each.name for each in staging.iterdir()} - {".in-use"}
    assert left == {*names, f"file-{ONE}", f"link-{ONE}"}


def test_staging_behind_a_link_is_not_swept(warehouse: Warehouse, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / f"paid-{ONE}").mkdir(parents=True)
    warehouse.root.mkdir()
    (warehouse.root / "staging").symlink_to(elsewhere)
    assert Staging(warehouse).sweep(lambda _view, _digest: False) == ()
    assert (elsewhere / f"paid-{ONE}").is_dir()


def test_where_nothing_is_staged_nothing_is_made(warehouse: Warehouse) -> None:
    assert Staging(warehouse).sweep(lambda _view, _digest: False) == ()
    assert not warehouse.root.exists()
    (warehouse.root / "staging" / "replay-1").mkdir(parents=True)
    assert Staging(warehouse).sweep(lambda _view, _digest: False) == ()
    assert [each.name for each in (warehouse.root / "staging").iterdir()] == ["replay-1"]


HOLD = """
import sys
from pathlib import Path
from headwater.run.staging import Staging
from headwater.run.warehouse import Warehouse

staging = Staging(Warehouse(Path(sys.argv[1])))
staging.place("paid", "f" * 64)
print("held", flush=True)
sys.stdin.read()
"""


def test_what_another_process_may_use_is_left_alone_until_it_is_gone(warehouse: Warehouse) -> None:
    old = warehouse.root / staged_path("paid", ONE)
    old.mkdir(parents=True)
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(warehouse.root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        assert Staging(warehouse).sweep(lambda _view, _digest: False) == ()
        assert old.is_dir()
        other.kill()  # the system takes its lock back
    assert Staging(warehouse).sweep(lambda _view, _digest: False) == (f"paid-{ONE}",)


def test_several_may_use_staging_at_once_and_a_sweep_gives_back_its_own(warehouse: Warehouse) -> None:
    one, other = Staging(warehouse), Staging(warehouse)
    place = one.place("paid", ONE)
    place.mkdir()
    assert other.place("paid", ONE) == place
    assert one.sweep(lambda _view, _digest: False) == ()
    other.close()
    other.close()
    assert one.sweep(lambda _view, _digest: False) == (f"paid-{ONE}",)
    with (warehouse.root / "staging" / ".in-use").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # nobody holds it any more


def test_a_warehouse_that_cannot_be_written_is_a_typed_error(warehouse: Warehouse, tmp_path: Path) -> None:
    warehouse.root.mkdir()
    (warehouse.root / "staging").write_text("a file")
    with pytest.raises(WarehouseNotWritable):
        Staging(warehouse).place("paid", ONE)
    shutil.rmtree(tmp_path / "house")
