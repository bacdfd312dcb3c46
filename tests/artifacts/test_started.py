from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from headwater.artifacts import Manifest, RunMark, marked_runs, remove_mark
from headwater.errors import ManifestUnreadable, WarehouseNotWritable

if TYPE_CHECKING:
    from pathlib import Path

LEFT = Manifest(
    run_id="20260102T030405000000Z-00000001",
    project="orders",
    status="failed",
    started_at="2026-01-02T03:04:05+00:00",
    finished_at="2026-01-02T03:04:05+00:00",
    runtime_digest="r1",
    results_digest="r2",
    settings_results={},
    settings_speed={},
    storage={},
    cache="snapshot_pinned",
    function_digest="f1",
    versions={},
    sources=(),
    views=(),
    tables=(),
    error="stopped",
)
HOLD = """
import sys, time, msgspec
from pathlib import Path
from headwater.artifacts import RunMark, read_manifest
with RunMark(Path(sys.argv[1]), read_manifest(Path(sys.argv[2]))):
    print("held", flush=True)
    time.sleep(600)
"""


def test_a_run_that_ends_leaves_no_mark(tmp_path: Path) -> None:
    with RunMark(tmp_path, LEFT):
        assert list(marked_runs(tmp_path)) == []  # somebody works on it: this very process
    assert list((tmp_path / "runs" / LEFT.run_id).iterdir()) == []


def test_a_run_that_is_left_by_an_exception_stays_marked_until_somebody_has_recorded_it(
    tmp_path: Path,
) -> None:
    with pytest.raises(KeyboardInterrupt), RunMark(tmp_path, LEFT):
        raise KeyboardInterrupt
    assert list(marked_runs(tmp_path)) == [LEFT]
    remove_mark(tmp_path, LEFT.run_id)
    assert list(marked_runs(tmp_path)) == []
    remove_mark(tmp_path, LEFT.run_id)


def test_a_process_that_is_alive_holds_its_run_and_one_that_was_killed_does_not(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), RunMark(tmp_path, LEFT):
        raise KeyboardInterrupt
    mark = tmp_path / "runs" / LEFT.run_id / "started.json"
    command = [sys.executable, "-c", HOLD, str(tmp_path), str(mark)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        assert list(marked_runs(tmp_path)) == []
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert list(marked_runs(tmp_path)) == [LEFT]


def test_a_mark_without_a_lock_is_one_that_nobody_works_on(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), RunMark(tmp_path, LEFT):
        raise KeyboardInterrupt
    (tmp_path / "runs" / LEFT.run_id / "running").unlink()
    assert list(marked_runs(tmp_path)) == [LEFT]


def test_a_mark_that_is_none_is_a_typed_error(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "r"
    folder.mkdir(parents=True)
    (folder / "started.json").write_bytes(b"{")
    with pytest.raises(ManifestUnreadable):
        list(marked_runs(tmp_path))


def test_a_warehouse_that_cannot_be_written_is_a_typed_error(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("a file")
    with pytest.raises(WarehouseNotWritable), RunMark(tmp_path, LEFT):
        pass
    assert list(marked_runs(tmp_path)) == []
