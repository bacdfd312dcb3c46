"""What happened to a table between two versions, from commit files alone; seeds try the rest for real."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from headwater.delta import CommitNote, read_commit
from headwater.run.moves import outside_writes

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.names import TablePin

OURS = CommitNote(pipeline="p", table="T", run_id="r", task_key="k", mutation_id="m").text()
ROWS = {"add": {"path": "f", "dataChange": True}}


def commit(table: Path, version: int, operation: str, note: str | None = None, **action: object) -> TablePin:
    """Adds a commit to a log; the table at it."""
    log = table / "_delta_log"
    log.mkdir(exist_ok=True)
    info = {"operation": operation, **({"userMetadata": note} if note else {})}
    lines = [{"commitInfo": info}, action or ROWS]
    (log / f"{version:020}.json").write_text("".join(json.dumps(each) + "\n" for each in lines))
    return read_commit(table.as_uri(), version).pin("t")


@pytest.fixture
def pins(tmp_path: Path) -> list[TablePin]:
    """A run's commit, another's, two writes from outside around an OPTIMIZE, and a run's again."""
    moved = {"path": "f", "dataChange": False}
    return [
        commit(tmp_path, 0, "WRITE", OURS),
        commit(tmp_path, 1, "MERGE", OURS),
        commit(tmp_path, 2, "DELETE"),
        commit(tmp_path, 3, "OPTIMIZE", add=moved),
        commit(tmp_path, 4, "UPDATE", "by hand"),
        commit(tmp_path, 5, "WRITE", OURS),
    ]


def test_commits_of_others_are_told_and_none_of_our_own(pins: list[TablePin]) -> None:
    (cause,) = outside_writes(pins[0], pins[5])
    assert (cause.kind, cause.view, cause.before, cause.after) == ("outside_write", "t", 1, 4)
    assert [(each.version, each.operation) for each in cause.commits] == [(2, "DELETE"), (4, "UPDATE")]
    assert cause.detail == "somebody else wrote to it: DELETE (version 2), UPDATE (version 4)"
    assert outside_writes(pins[0], pins[1]) == ()
    assert outside_writes(pins[2], pins[3]) == ()
    assert outside_writes(pins[4], pins[4]) == ()


def test_the_order_of_the_versions_makes_no_difference(pins: list[TablePin]) -> None:
    assert outside_writes(pins[5], pins[0]) == outside_writes(pins[0], pins[5])


def test_another_table_in_the_same_place(pins: list[TablePin], tmp_path: Path) -> None:
    anew = commit(tmp_path, 1, "CREATE TABLE")
    (cause,) = outside_writes(pins[1], pins[5])
    assert cause.detail == "another table stands where version 1 was"
    (earlier,) = outside_writes(pins[5], anew)
    assert earlier.kind == "outside_write"


def test_a_log_that_does_not_go_back_so_far_says_what_it_knows(pins: list[TablePin], tmp_path: Path) -> None:
    for version in range(3):
        (tmp_path / "_delta_log" / f"{version:020}.json").unlink()
    (cause,) = outside_writes(pins[0], pins[5])
    assert [each.version for each in cause.commits] == [4]


def test_a_table_that_is_gone_has_nothing_to_tell(pins: list[TablePin], tmp_path: Path) -> None:
    for each in (tmp_path / "_delta_log").iterdir():
        each.unlink()
    (cause,) = outside_writes(pins[0], pins[5])
    assert cause.commits == ()
