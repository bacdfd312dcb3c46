from __future__ import annotations

from headwater.artifacts import PinRecord
from headwater.delta import CommitNote, ContentDigest, LogHead
from headwater.names import TablePin
from headwater.run.task_records import RunNotes, is_made_by, record_of, rows_written

NOTE = CommitNote(pipeline="p", table="t", run_id="r", task_key="k1", mutation_id="m")
PIN = TablePin(name="t", uri="file:/t", version=3, digest="d3")


def head(note: CommitNote | None = NOTE) -> LogHead:
    return LogHead(
        uri=PIN.uri,
        version=PIN.version,
        digest=PIN.digest,
        timestamp_ms=0,
        operation="WRITE",
        metrics=(),
        user_metadata=note.text() if note else None,
    )


def test_a_table_is_what_its_commit_says_or_a_run_that_left_it() -> None:
    assert is_made_by(head(), "t", "k1")
    assert not is_made_by(head(), "t", "k2")
    assert not is_made_by(head(), "other", "k1")
    assert not is_made_by(head(None), "t", "k1")
    left = record_of(PIN, "k2", "skipped", "as it was", 5, None, None)
    assert is_made_by(head(), "t", "k2", left)
    assert not is_made_by(head(), "t", "k3", left)
    other = record_of(TablePin(name="t", uri="", version=3, digest="d4"), "k2", "skipped", "", 5, None, None)
    assert not is_made_by(head(), "t", "k2", other)


def test_a_record_has_the_pin_and_the_digest() -> None:
    found = record_of(PIN, "k", "built", "new", 2, ContentDigest(rows=2, first=1, second=2), None)
    assert (found.name, found.version, found.rows, found.task_key) == ("t", 3, 2, "k")
    assert found.pin == PinRecord(version=3, digest="d3")
    assert (found.digest or "").startswith("hw2:2:")


def test_only_a_commit_that_wrote_all_rows_tells_how_many_there_are() -> None:
    assert rows_written((("numOutputRows", "5"),)) == 5
    assert rows_written(()) is None
    assert rows_written((("numOutputRows", "5"), ("numTargetRowsInserted", "1"))) is None
    assert rows_written((("numOutputRows", "5"), ("numCopiedRows", "4"))) is None


def test_commits_of_a_run_have_its_name_and_ids_of_their_own() -> None:
    notes = RunNotes(pipeline="p", run_id="r", new_token=iter("abc").__next__)
    first, second = (notes.note("t", "k", 0, {"b": 2, "a": None}) for _ in range(2))
    assert (first.pipeline, first.run_id, first.table, first.task_key) == ("p", "r", "t", "k")
    assert first.inputs == (("a", None), ("b", 2))
    assert first.mutation_id != second.mutation_id
