from __future__ import annotations

import json
from typing import TYPE_CHECKING, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.delta import Append, Operation, UpkeepNote, note_of, upkeep_note_of
from headwater.delta.mutation import NOTE_SETTING
from headwater.delta.upkeep.note import noted_session

if TYPE_CHECKING:
    from tests.delta.conftest import Table

NOTES = st.builds(
    UpkeepNote,
    operation=st.sampled_from(get_args(Operation)),
    upkeep_id=st.text(),
    asked_by=st.text(),
    reason=st.text(),
    forced=st.none() | st.text(),
)


@given(NOTES)
def test_a_note_is_read_as_it_was_written(note: UpkeepNote) -> None:
    assert upkeep_note_of(note.text()) == note


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "somebody's own words",
        "[]",
        "3",
        "{}",
        '{"headwater_upkeep": 3}',
        '{"headwater_upkeep": {"operation": "vacuum"}}',
        json.dumps({"headwater_upkeep": {"who": "ada"}}),
    ],
)
def test_other_words_are_no_note(text: str | None) -> None:
    assert upkeep_note_of(text) is None


def test_what_a_noted_session_commits_says_who_asked_and_why(table: Table) -> None:
    """And what is written beside it does not."""
    table.change(Append, table.session.spark.range(1))
    assert upkeep_note_of(table.head.user_metadata) is None
    note = UpkeepNote(operation="properties", upkeep_id="u", asked_by="ada", reason="it's due", forced="now")
    with noted_session(table.session, note, {"spark.sql.shuffle.partitions": "7"}) as own:
        assert own.spark.conf.get("spark.sql.shuffle.partitions") == "7"
        own.spark.sql(f"ALTER TABLE delta.`{table.path}` SET TBLPROPERTIES ('x' = 'y')")
    assert upkeep_note_of(table.head.user_metadata) == note
    assert note_of(table.head.user_metadata) is None
    conf = table.session.spark.conf
    assert (conf.get(NOTE_SETTING, None), conf.get("spark.sql.shuffle.partitions")) == (None, "2")
    table.sql("ALTER TABLE {t} SET TBLPROPERTIES ('x' = 'z')")
    assert table.head.user_metadata is None
