"""A disk that is full and a permission that is gone, in the middle of a write.

A limit on the size of files stands for the full disk: to the writer either is an error of the system.
"""

from __future__ import annotations

import resource
from typing import TYPE_CHECKING, Any

import pytest
from writers import Gate, Writer

from headwater.delta import note_of, read_head, read_history

if TYPE_CHECKING:
    from pathlib import Path

    from tests.delta.conftest import CopyTable

Command = dict[str, Any]
SIX = [[key, 0] for key in range(6)]
LONG = "m" * 6000  # makes a commit that is longer than its data


@pytest.fixture
def six(copy_six: CopyTable, tmp_path: Path) -> Path:
    return copy_six(tmp_path / "table")


class Fault:
    """A mutation that waits in the middle of its transaction while something happens to its table."""

    def __init__(self, writer: Writer, table: Path, command: Command) -> None:
        self.writer, self.path = writer, table
        self.sent: Command = {**command, "uri": self.path.as_uri(), "base_version": 0}
        self.before = read_head(self.path.as_uri())
        self.gate = Gate(table.with_name("gate"))
        writer.send(**self.sent, gate=self.gate.path)
        self.gate.wait_reached()

    def error(self) -> Command:
        """What the mutation ends with, once it goes on."""
        self.gate.open()
        return self.writer.answer()

    def check_unharmed(self) -> None:
        """The table is as it was, and whole."""
        assert read_head(self.path.as_uri()) == self.before
        assert self.writer.ask("verify", uri=self.path.as_uri())["problems"] == []
        assert self.writer.ask("rows", uri=self.path.as_uri())["rows"] == SIX

    def check_lands_once(self, rows: list[list[int]]) -> None:
        """The same mutation, sent again, is done; and sent once more, is known."""
        assert self.writer.ask(**self.sent)["outcome"] == "committed"
        assert self.writer.ask(**self.sent)["outcome"] == "already_committed"
        assert self.writer.ask("rows", uri=self.path.as_uri())["rows"] == rows
        notes = [note_of(each.user_metadata) for each in read_history(self.path.as_uri())]
        assert [note.mutation_id for note in notes if note] == [self.sent["mutation_id"], "zero"]


@pytest.mark.parametrize(("mutation_id", "room"), [("m", 100), (LONG, 4000)], ids=["data", "log"])
def test_a_disk_that_is_full_leaves_the_table_as_it_was(
    writer: Writer, six: Path, mutation_id: str, room: int
) -> None:
    fault = Fault(writer, six, {"do": "append", "mutation_id": mutation_id, "rows": [[9, 9]]})
    _, most = resource.prlimit(writer.pids[1], resource.RLIMIT_FSIZE)
    resource.prlimit(writer.pids[1], resource.RLIMIT_FSIZE, (room, most))
    try:
        error = fault.error()
    finally:
        resource.prlimit(writer.pids[1], resource.RLIMIT_FSIZE, (most, most))
    assert (error.get("error"), error.get("detail")) == ("HW-DELTA-033", "File too large")
    fault.check_unharmed()
    fault.check_lands_once([*SIX, [9, 9]])


@pytest.mark.parametrize("folder", [".", "_delta_log"], ids=["data", "log"])
def test_a_permission_that_is_gone_leaves_the_table_as_it_was(writer: Writer, six: Path, folder: str) -> None:
    fault = Fault(writer, six, {"do": "delete", "mutation_id": "m", "where": "k = 1"})
    (fault.path / folder).chmod(0o500)
    try:
        error = fault.error()
    finally:
        (fault.path / folder).chmod(0o700)
    assert error.get("error") == "HW-DELTA-033"
    assert error["detail"].endswith("(Permission denied)")
    fault.check_unharmed()
    fault.check_lands_once([SIX[0], *SIX[2:]])
