from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

import pytest

from headwater.delta import (
    Append,
    CommitNote,
    Merge,
    MergeClause,
    ReplaceKeys,
    ReplaceWhere,
    Update,
    note_of,
    same_keys,
)
from headwater.delta.mutation import Step, is_step
from headwater.errors import InvalidSetting

if TYPE_CHECKING:
    from collections.abc import Callable

NOTE = CommitNote(pipeline="p", table="t", run_id="r", task_key="k", mutation_id="m")


def test_a_note_comes_back_from_a_commit() -> None:
    assert note_of(NOTE.text()) == NOTE


@pytest.mark.parametrize(
    "text",
    [None, "", "somebody else's note", "[]", "3", '{"headwater": 3}', '{"headwater": {"run_id": "r"}}'],
)
def test_what_others_write_is_no_note(text: str | None) -> None:
    assert note_of(text) is None


def test_a_note_tells_what_rows_were_made_of() -> None:
    note = CommitNote(
        pipeline="p", table="t", run_id="r", task_key="k", mutation_id="m", inputs=(("a", 3), ("b", None))
    )
    assert json.loads(note.text())["headwater"]["inputs"] == {"a": 3, "b": None}
    assert note_of(note.text()) == note


def test_a_note_tells_what_earlier_tries_met() -> None:
    tried = CommitNote(
        pipeline="p", table="t", run_id="r", task_key="k", mutation_id="m", attempts=("ConcurrentAppend",)
    )
    assert note_of(tried.text()) == tried


def test_a_step_beside_the_mutations_own_commit_is_told_apart() -> None:
    assert note_of(NOTE.text("prepare")) is None  # nothing is done yet
    assert note_of(NOTE.text("finish")) == NOTE
    steps: tuple[Step | None, ...] = (None, "prepare", "finish")
    for step in steps:
        found = [each for each in steps if is_step(NOTE.text(step), each, "m")]
        assert found == [step]
    assert not is_step(NOTE.text("prepare"), "prepare", "another")


def test_keys_are_compared_so_that_nulls_are_equal() -> None:
    assert same_keys("a", "b`c") == "t.`a` <=> s.`a` AND t.`b``c` <=> s.`b``c`"
    assert same_keys("a", table="x", source="y") == "x.`a` <=> y.`a`"


BASE: dict[str, Any] = {"uri": "file:///t", "base_version": 0, "note": NOTE}


@pytest.mark.parametrize(
    "make",
    [
        lambda: Append(**BASE, schema_mode="overwrite"),
        lambda: Append(**BASE, blind=True, exact=True),
        lambda: ReplaceWhere(**BASE, where=" "),
        lambda: ReplaceWhere(**BASE, where="a = 1", schema_mode="overwrite"),
        lambda: ReplaceKeys(**BASE, keys=()),
        lambda: ReplaceKeys(**BASE, keys=cast("Any", "a")),
        lambda: ReplaceKeys(**BASE, keys=("a", "A")),
        lambda: Merge(**BASE, on=""),
        lambda: Merge(**BASE, on="t.a = s.a", clauses=()),
        lambda: Update(**BASE, assignments=()),
        lambda: Update(**BASE, assignments=(("a", " "),)),
        lambda: Update(**BASE, assignments=(("a", "1"), ("A", "2"))),
        lambda: MergeClause(when="not_matched", action="delete"),
        lambda: MergeClause(when="matched", action="insert"),
        lambda: MergeClause(when=cast("Any", "sometimes"), action="insert"),
        lambda: MergeClause(when="matched", action="delete", assignments=(("a", "1"),)),
        lambda: MergeClause(when="not_matched_by_source", action="update"),
    ],
)
def test_what_cannot_be_meant_cannot_be_said(make: Callable[[], object]) -> None:
    with pytest.raises(InvalidSetting):
        make()
