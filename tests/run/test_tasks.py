from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.delta import find_head, read_head
from headwater.origin import Origin
from headwater.pipeline import ViewSpec, build_plan
from headwater.run.tasks import TaskContext, run_task

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.runtime import RunSession


def context(session: RunSession) -> TaskContext:
    tokens = iter(range(100))
    return TaskContext(session=session, pipeline="p", run_id="r", new_token=lambda: str(next(tokens)))


def view(count: int) -> ViewSpec:
    plan = build_plan(lambda spark: spark.range(count))
    return ViewSpec(name="t", origin=Origin("v.py", 1), language="python", stored=True, plan=plan)


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
