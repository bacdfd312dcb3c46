from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.cli.render import error_document, show_error
from headwater.errors import FileNameNotUtf8, UnknownTable
from headwater.origin import Origin

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

ERROR = UnknownTable(view="a", name="b", origin=Origin("/far/away.py", 3))


def test_an_error_is_a_document() -> None:
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
