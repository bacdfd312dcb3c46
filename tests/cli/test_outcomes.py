"""What a build has done, in words and as a document."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from headwater.artifacts import TableRecord
from headwater.cli.outcomes import outcome_document, show_outcome
from headwater.errors import UnknownTable
from headwater.origin import Origin
from headwater.run import RunOutcome

if TYPE_CHECKING:
    import pytest

ERROR = UnknownTable(view="a", name="b", origin=Origin("/far/away.py", 3))
TABLES = (
    TableRecord(name="facts", action="built", reason="new", version=0, rows=1234),
    TableRecord(name="totals", action="failed", reason="HW-..."),
    TableRecord(name="rest", action="skipped", reason="not reached: 'totals' failed"),
)


def outcome(status: str) -> RunOutcome:
    return RunOutcome(
        run_id="r1",
        status="failed" if status == "failed" else "unchanged",
        tables=TABLES,
        views=1,
        sources=2,
        seconds=1.25,
        manifest=Path("m.json"),
        error=ERROR if status == "failed" else None,
    )


def test_a_failed_run_is_summed_up(capsys: pytest.CaptureFixture[str]) -> None:
    show_outcome(outcome("failed"), no_color=True)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines[:4]] == [
        ["table", "action", "version", "rows", "reason"],
        ["facts", "built", "0", "1,234", "new"],
        ["totals", "failed", "see", "below"],
        ["rest", "skipped", "not", "reached:", "'totals'", "failed"],
    ]
    assert lines[4] == "Failed: 1 view, 2 sources, 3 tables in 1.2 s. Run r1"


def test_nothing_to_do_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    show_outcome(outcome("unchanged"), no_color=True)
    assert capsys.readouterr().out == (
        "Nothing to do: 1 view, 2 sources, 3 tables are as run r1 left them (1.2 s).\n"
    )


def test_json_has_the_contracts_fields() -> None:
    document = outcome_document(outcome("failed"))
    assert {"run_id", "status", "tables", "error"} <= set(document)
    assert set(document["tables"][0]) == {"name", "version", "rows", "action", "reason", "digest", "snapshot"}
