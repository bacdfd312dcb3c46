"""Progress, as it is shown where there is no terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.cli.progress import showing_progress
from headwater.run import Progress

if TYPE_CHECKING:
    import pytest


def test_progress_is_lines_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with showing_progress(quiet=False, no_color=True) as listen:
        listen(Progress(message="planning"))
        listen(Progress(message="facts", done=1, total=4))
    assert capsys.readouterr().err == "planning\n[1/4] facts\n"
    with showing_progress(quiet=True, no_color=True) as listen:
        listen(Progress(message="planning"))
    assert capsys.readouterr().err == ""
