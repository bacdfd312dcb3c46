from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from headwater.runtime import training

if TYPE_CHECKING:
    from headwater.runtime import RunSession


def test_what_every_session_needs_can_be_done(session: RunSession) -> None:
    session.spark.createDataFrame([(1, "a")], "id long, name string").createOrReplaceTempView("orders")
    training.work_with(session.spark)
    assert session.spark.catalog.functionExists("node_id")


def test_the_work_that_the_child_is_told_to_do_is_there() -> None:
    assert callable(import_module(training._WORK).main)
