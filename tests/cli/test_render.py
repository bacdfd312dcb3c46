from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from headwater.artifacts import TableRecord
from headwater.cli.render import error_document, outcome_document, show_error, show_outcome, showing_progress
from headwater.errors import FileNameNotUtf8, UnknownTable
from headwater.origin import Origin
from headwater.run import Progress, RunOutcome

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
    assert error_document(ERROR) == {
        "code": "HW-PLAN-001",
        "message": ERROR.message,
        "next_step": ERROR.next_step,
        "path": "/far/away.py",
        "line": 3,
    }


def test_an_error_is_two_lines_with_a_short_path(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    show_error(UnknownTable(view="a", name="b", origin=Origin(str(tmp_path / "v" / "a.py"), 3)), debug=False)
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("HW-PLAN-001 v/a.py:3: 'a' reads 'b'")
    assert second.startswith("  Declare it")


def test_a_name_that_cannot_be_printed_is_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    show_error(FileNameNotUtf8(shown="a\udcff"), debug=False)
    assert "a\\udcff" in capsys.readouterr().err


def test_progress_is_lines_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with showing_progress(quiet=False, no_color=True) as listen:
        listen(Progress(message="planning"))
        listen(Progress(message="facts", done=1, total=4))
    assert capsys.readouterr().err == "planning\n[1/4] facts\n"
    with showing_progress(quiet=True, no_color=True) as listen:
        listen(Progress(message="planning"))
    assert capsys.readouterr().err == ""
