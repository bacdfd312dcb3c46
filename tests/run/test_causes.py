"""Commits as a cause tells them."""

from __future__ import annotations

from headwater.delta import CommitNote, CommitRecord
from headwater.run.causes import cause_commit, commit_words

COMMIT = CommitRecord(
    version=3,
    timestamp_ms=1_700_000_000_000,
    digest="d",
    operation="WRITE",
    parameters=(),
    metrics=(),
    user_metadata=None,
    engine_info=None,
    is_blind_append=None,
    read_version=2,
)


def test_a_commit_of_a_run_names_it() -> None:
    note = CommitNote(pipeline="p", table="t", run_id="r1", task_key="k", mutation_id="m")
    ours = CommitRecord(
        version=4,
        timestamp_ms=0,
        digest="e",
        operation="MERGE",
        parameters=(),
        metrics=(),
        user_metadata=note.text(),
        engine_info=None,
        is_blind_append=None,
        read_version=3,
    )
    assert [cause_commit(each).run_id for each in (COMMIT, ours)] == [None, "r1"]
    assert cause_commit(COMMIT).timestamp.startswith("2023-11-14")


def test_of_many_commits_the_newest_are_shown() -> None:
    commits = tuple(cause_commit(COMMIT) for _ in range(5))
    assert commit_words(commits) == "2 more, WRITE (version 3), WRITE (version 3), WRITE (version 3)"
    assert commit_words(commits[:1]) == "WRITE (version 3)"
