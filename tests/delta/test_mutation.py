from __future__ import annotations

import pytest

from headwater.delta import CommitNote, note_of

NOTE = CommitNote(pipeline="p", table="t", run_id="r", task_key="k", mutation_id="m")


def test_a_note_comes_back_from_a_commit() -> None:
    assert note_of(NOTE.text()) == NOTE


@pytest.mark.parametrize(
    "text",
    [None, "", "somebody else's note", "[]", "3", '{"headwater": 3}', '{"headwater": {"run_id": "r"}}'],
)
def test_what_others_write_is_no_note(text: str | None) -> None:
    assert note_of(text) is None
