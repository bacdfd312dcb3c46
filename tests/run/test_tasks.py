from __future__ import annotations

import os
from typing import TYPE_CHECKING
from unittest.mock import Mock

import pytest

from headwater.delta import find_head, note_of, read_head
from headwater.errors import RowsDiffer, VersionNotFound
from headwater.origin import Origin
from headwater.pipeline import build_plan
from headwater.run import tasks
from headwater.run.scheduled import ScheduledView
from headwater.run.task_records import RunNotes
from headwater.run.tasks import TaskContext, run_task
from headwater.run.watching import WatchedView

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.runtime import RunSession


def context(session: RunSession) -> TaskContext:
    tokens = iter(range(100))
    return TaskContext(
        session=session, notes=RunNotes(pipeline="p", run_id="r", new_token=lambda: str(next(tokens)))
    )


def view(count: int) -> ScheduledView:
    plan = build_plan(lambda spark: spark.range(count))
    return ScheduledView(name="t", plan=plan.executable, origin=Origin("v.py", 1))


def test_a_task_is_done_once_per_key(session: RunSession, tmp_path: Path) -> None:
    uri = (tmp_path / "t").as_uri()

    def run(count: int, key: str, *, full: bool = False) -> tuple[str, int | None, int | None]:
        done = run_task(context(session), view(count), uri=uri, key=key, reason="why", full=full)
        return done.action, done.version, done.rows

    assert run(3, "a") == ("built", 0, 3)
    assert run(3, "a") == ("skipped", 0, 3)
    assert run(4, "b") == ("built", 1, 4)
    assert run(3, "a") == ("built", 2, 3)
    assert run(3, "a", full=True) == ("built", 3, 3)
    assert session.spark.table("t").count() == 3


def test_a_table_that_somebody_wrote_to_is_made_again(session: RunSession, tmp_path: Path) -> None:
    uri = (tmp_path / "t").as_uri()
    run_task(context(session), view(3), uri=uri, key="a", reason="new", full=False)
    session.spark.range(9).write.format("delta").mode("append").save(str(tmp_path / "t"))
    done = run_task(context(session), view(3), uri=uri, key="a", reason="outside", full=False)
    assert (done.action, done.version) == ("built", 2)
    assert read_head(uri).version == 2


def test_another_tables_commit_is_not_ours(session: RunSession, tmp_path: Path) -> None:
    uri = (tmp_path / "t").as_uri()
    run_task(context(session), view(3), uri=uri, key="a", reason="new", full=False)
    (tmp_path / "t").rename(tmp_path / "u")
    assert find_head(uri) is None
    done = run_task(context(session), view(3), uri=uri, key="a", reason="new", full=False)
    assert (done.action, done.version) == ("built", 0)


def fail_check(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on, what a view reads is never what its log promises."""
    error = RowsDiffer(path="source", version=3, detail="9 is not 10")
    monkeypatch.setattr(WatchedView, "check", Mock(side_effect=error))


def columns(session: RunSession, table: Path) -> list[tuple[object, ...]]:
    return sorted((row[0],) for row in session.spark.read.format("delta").load(str(table)).collect())


def test_rows_that_cannot_be_relied_on_are_taken_back(
    session: RunSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "t"
    run_task(context(session), view(2), uri=table.as_uri(), key="a", reason="new", full=False)
    fail_check(monkeypatch)
    with pytest.raises(RowsDiffer, match="9 is not 10"):
        run_task(context(session), view(5), uri=table.as_uri(), key="b", reason="why", full=False)
    head = read_head(table.as_uri())
    note = note_of(head.user_metadata)
    assert note is not None
    assert (head.version, note.task_key) == (2, "withdrawn")
    assert columns(session, table) == [(0,), (1,)]
    monkeypatch.undo()
    again = run_task(context(session), view(5), uri=table.as_uri(), key="b", reason="why", full=False)
    assert (again.action, again.version) == ("built", 3)


def test_rows_before_that_are_gone_leave_the_table_empty(
    session: RunSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "t"
    run_task(context(session), view(2), uri=table.as_uri(), key="a", reason="new", full=False)
    for file in table.glob("*.parquet"):
        file.unlink()
    fail_check(monkeypatch)
    with pytest.raises(RowsDiffer):
        run_task(context(session), view(5), uri=table.as_uri(), key="b", reason="why", full=False)
    assert columns(session, table) == []


def test_a_commit_that_cannot_be_taken_back_says_why(
    session: RunSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "t"
    fail_check(monkeypatch)
    gone = VersionNotFound(path=str(table), version=0)
    monkeypatch.setattr(tasks, "read_pinned", Mock(side_effect=gone))
    with pytest.raises(RowsDiffer) as caught:
        run_task(context(session), view(5), uri=table.as_uri(), key="b", reason="why", full=False)
    assert any("could not be withdrawn" in note for note in caught.value.__notes__)


def test_rows_of_long_ago_are_put_back(
    session: RunSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "t"
    run_task(context(session), view(2), uri=table.as_uri(), key="a", reason="new", full=False)
    for file in (table / "_delta_log").iterdir():
        os.utime(file, (1_000_000_000, 1_000_000_000))
    fail_check(monkeypatch)
    with pytest.raises(RowsDiffer):
        run_task(context(session), view(5), uri=table.as_uri(), key="b", reason="why", full=False)
    assert columns(session, table) == [(0,), (1,)]


def test_what_somebody_else_committed_since_is_not_withdrawn(
    session: RunSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "t"

    def check(_self: object) -> None:
        session.spark.range(900, 902).write.format("delta").mode("append").save(str(table))
        raise RowsDiffer(path="source", version=3, detail="9 is not 10")

    monkeypatch.setattr(tasks.WatchedView, "check", check)
    with pytest.raises(RowsDiffer):
        run_task(context(session), view(2), uri=table.as_uri(), key="b", reason="why", full=False)
    assert columns(session, table) == [(0,), (1,), (900,), (901,)]


def test_a_table_promises_the_rows_of_its_commit(session: RunSession, tmp_path: Path) -> None:
    uri = (tmp_path / "t").as_uri()
    for action, full in (("built", False), ("skipped", False)):
        known = context(session)
        done = run_task(known, view(3), uri=uri, key="a", reason="new", full=full)
        assert (done.action, known.checks.promised) == (action, {"t": 3})
        assert known.registrations["t"].provider_kind == "delta_native"
    known = context(session)
    run_task(known, view(0), uri=uri, key="b", reason="why", full=False)
    assert known.checks.promised == {"t": 0}
