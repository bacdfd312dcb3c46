"""What came of upkeep, as people and programs see it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headwater.cli.receipts import maintained_document, receipt_lines, show_maintained, upkeep_document
from headwater.delta import Hold, Loss, TableState, UpkeepNote, UpkeepReceipt
from headwater.errors import MutationRefused
from headwater.names import TablePin
from headwater.run import Checkpoint, Due, LocatedTable, Maintained, UpkeepDone, UpkeepRequest, Vacuum
from headwater.runtime import RuntimeProfile

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

PIN = TablePin(name="t", uri="file:///t", version=1, digest="d1")
BEFORE = TableState(version=3, digest="d3", files=1200, bytes=9_000_000, log_files=8, log_bytes=80)
AFTER = TableState(version=5, digest="d5", files=12, bytes=8_000_000, log_files=12, log_bytes=120)
LOSS = Loss(hold=Hold(pin=PIN, starting_version=0, holders=("R1", "R2", "R3", "R4")), files=2)
NOTE = UpkeepNote(operation="vacuum", upkeep_id="U1", asked_by="ada", reason="room", forced="now")
REQUEST = UpkeepRequest(
    table=LocatedTable(name="t", uri="file:///t"), profile=RuntimeProfile(), force_unsafe="now"
)


def receipt(outcome: str = "done", listed: int = 0) -> UpkeepReceipt:
    return UpkeepReceipt(
        operation="vacuum",
        outcome=outcome,  # pyright: ignore[reportArgumentType]
        summary="4 files deleted",
        before=BEFORE,
        after=AFTER,
        metrics=(("files_deleted", 4),),
        lost=(LOSS,),
        listed=tuple(f"part-{at}" for at in range(listed)),
    )


@pytest.mark.parametrize(("outcome", "listed"), [("done", 3), ("planned", 22), ("unchanged", 0)])
def test_what_would_be_lost_is_told_first(outcome: str, listed: int, snapshot: SnapshotAssertion) -> None:
    assert "\n".join(receipt_lines("t", receipt(outcome, listed))) == snapshot


def test_a_document_has_both_states_what_is_lost_and_who_asked(snapshot: SnapshotAssertion) -> None:
    done = UpkeepDone(receipt=receipt(listed=2), note=NOTE, record=Path("/t/_headwater/upkeep/U1.json"))
    assert upkeep_document(REQUEST, done) == snapshot


def test_maintenance_is_told_operation_by_operation(
    snapshot: SnapshotAssertion, capsys: pytest.CaptureFixture[str]
) -> None:
    done = UpkeepDone(receipt=receipt(), note=NOTE)
    refused = MutationRefused(path="/t", kind="checkpoint", detail="no room")
    found = (
        Maintained(table="t", due=Due(wanted=Vacuum(), reason="9 days ago"), done=done),
        Maintained(table="u", due=Due(wanted=Checkpoint(), reason="20 commits"), error=refused),
    )
    show_maintained(found, dry_run=False, json=False, quiet=False, no_color=True)
    assert capsys.readouterr().out == snapshot
    assert maintained_document(found, dry_run=False) == snapshot(name="document")
    show_maintained((), dry_run=False, json=False, quiet=False, no_color=True)
    assert capsys.readouterr().out == "Nothing is due.\n"
    assert maintained_document((), dry_run=True)["status"] == "unchanged"
