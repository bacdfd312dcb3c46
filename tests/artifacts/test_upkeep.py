"""Records of upkeep: written whole, read again, and without secrets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headwater.artifacts import (
    commit_upkeep,
    ended_record,
    forget_upkeep,
    read_upkeep,
    upkeep_record,
)
from headwater.delta import Hold, Loss, TableState, UpkeepNote, UpkeepReceipt
from headwater.errors import RecordUnreadable, WarehouseNotWritable
from headwater.names import TablePin

if TYPE_CHECKING:
    from pathlib import Path

NOTE = UpkeepNote(operation="vacuum", upkeep_id="20260102T0", asked_by="ada", reason="room", forced="now")
BEFORE = TableState(version=3, digest="d3", files=9, bytes=900, log_files=8, log_bytes=80)
AFTER = TableState(version=5, digest="d5", files=9, bytes=900, log_files=12, log_bytes=120)
PIN = TablePin(name="t", uri="file:///t", version=1, digest="d1")
RECEIPT = UpkeepReceipt(
    operation="vacuum",
    outcome="done",
    summary="4 files deleted",
    before=BEFORE,
    after=AFTER,
    metrics=(("files_deleted", 4),),
    lost=(Loss(hold=Hold(pin=PIN, starting_version=0, holders=("R1", "R2")), files=2),),
)


def test_an_operation_is_on_record_from_its_beginning_to_its_end(tmp_path: Path) -> None:
    started = upkeep_record(NOTE, "t", "2026-01-02T00:00:00+00:00", {"retention_hours": 0})
    commit_upkeep(tmp_path, started)
    assert [each.status for each in read_upkeep(tmp_path)] == ["started"]
    commit_upkeep(tmp_path, ended_record(started, "2026-01-02T00:00:09+00:00", RECEIPT))
    (found,) = read_upkeep(tmp_path)
    assert (found.status, found.operation, found.table) == ("done", "vacuum", "t")
    assert (found.asked_by, found.reason, found.forced) == ("ada", "room", "now")
    assert (found.started_at, found.finished_at) == (
        "2026-01-02T00:00:00+00:00",
        "2026-01-02T00:00:09+00:00",
    )
    assert found.options == {"retention_hours": 0}
    assert found.before
    assert found.after
    assert (found.before.version, found.after.version, found.after.log_files) == (3, 5, 12)
    assert found.metrics == {"files_deleted": 4}
    (lost,) = found.lost
    assert (lost.version, lost.starting_version, lost.runs, lost.files) == (1, 0, ("R1", "R2"), 2)


def test_one_that_failed_says_why_and_one_that_had_nothing_to_do_is_forgotten(tmp_path: Path) -> None:
    started = upkeep_record(NOTE, "t", "2026-01-02T00:00:00+00:00", {})
    commit_upkeep(tmp_path, ended_record(started, "2026-01-02T00:00:09+00:00", None, ValueError("no room")))
    (found,) = read_upkeep(tmp_path)
    assert (found.status, found.error, found.before) == ("failed", "no room", None)
    forget_upkeep(tmp_path, started)
    assert read_upkeep(tmp_path) == ()


def test_secrets_among_the_options_are_struck_out(tmp_path: Path) -> None:
    inner = {"wanted": {"my.password": "hush"}}
    commit_upkeep(tmp_path, upkeep_record(NOTE, "t", "now", {"api.token": "hush", "other": "seen", **inner}))
    text = next((tmp_path / "_headwater" / "upkeep").iterdir()).read_text()
    assert "hush" not in text
    assert "seen" in text


def test_a_record_that_is_none_is_a_typed_error(tmp_path: Path) -> None:
    path = commit_upkeep(tmp_path, upkeep_record(NOTE, "t", "now", {}))
    path.with_name(".draft.json").write_bytes(b"{")  # of somebody who was killed
    assert len(read_upkeep(tmp_path)) == 1
    path.write_bytes(path.read_bytes()[:20])
    with pytest.raises(RecordUnreadable):
        read_upkeep(tmp_path)


def test_a_folder_that_cannot_be_written_is_a_typed_error(tmp_path: Path) -> None:
    (tmp_path / "_headwater").write_text("in the way")
    with pytest.raises(WarehouseNotWritable):
        commit_upkeep(tmp_path, upkeep_record(NOTE, "t", "now", {}))
