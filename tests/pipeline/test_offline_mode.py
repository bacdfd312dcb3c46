"""The switches: set while views are built, put back exactly, aside while the engine is asked."""

# pyright: reportUnknownLambdaType=none, reportUnknownArgumentType=none

from __future__ import annotations

import datetime as dt
import os
import threading
import time

import pytest
from pyspark.core.context import SparkContext
from pyspark.errors import utils as error_origins
from pyspark.sql import functions as F
from pyspark.sql.connect.dataframe import DataFrame
from pyspark.sql.connect.proto import base_pb2
from pyspark.sql.connect.session import SparkSession
from pyspark.sql.session import SparkSession as ClassicSession
from pyspark.sql.types import StructType, TimestampType
from pyspark.sql.utils import is_remote

from headwater.errors import NotInAView
from headwater.messages import messages_of, text_of
from headwater.pipeline.canonical import build_twice, plan_bytes_of
from headwater.pipeline.offline import OfflineSession, open_offline
from headwater.pipeline.offline_mode import BuildingSession

SCHEMA = StructType().add("id", "long")


class Columns:
    def schema_of(self, relation: bytes) -> StructType:
        assert relation
        return SCHEMA


def _switches() -> tuple[object, ...]:
    return (
        dict(os.environ),
        getattr(SparkSession._active_session, "session", None),
        SparkSession._default_session,
        error_origins._enable_debugging_cache,
        dict(vars(DataFrame)),
        vars(SparkContext)["getOrCreate"],
        vars(ClassicSession.Builder)["getOrCreate"],
    )


@pytest.mark.parametrize("leave", ["quietly", "by an error"])
def test_everything_is_put_back(leave: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_NO_NAMESPACE_SHARE", "1")
    monkeypatch.delenv("SPARK_CONNECT_MODE_ENABLED", raising=False)
    before = _switches()
    try:
        with open_offline(Columns()) as session:
            assert is_remote()
            assert "PYSPARK_NO_NAMESPACE_SHARE" not in os.environ
            assert SparkSession.active() is session
            if leave == "by an error":
                raise KeyError(leave)  # noqa: TRY301 - the way out is the point
    except KeyError:
        pass
    assert _switches() == before
    assert not is_remote()


def test_it_can_be_entered_again_and_frames_of_both_go_together() -> None:
    with open_offline(Columns()) as outer:
        before = _switches()
        with open_offline(Columns()) as inner:
            assert SparkSession.active() is inner
            both = outer.table("a").join(inner.table("b"), "id")
        assert _switches() == before
        assert plan_bytes_of(both).reads == ("a", "b")
    assert not is_remote()


def test_another_thread_waits_until_the_views_are_built() -> None:
    order: list[str] = []

    def build() -> None:
        with open_offline(Columns()):
            order.append("second")

    with open_offline(Columns()):
        thread = threading.Thread(target=build)
        thread.start()
        thread.join(0.2)
        order.append("first")
    thread.join()
    assert order == ["first", "second"]


def test_another_thread_keeps_the_members_it_had(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ClassicSession.Builder, "getOrCreate", lambda _: "a classic session")
    monkeypatch.setattr(SparkContext, "getOrCreate", classmethod(lambda _: "a context"))
    seen: list[object] = []

    def use() -> None:
        seen.extend([ClassicSession.builder.getOrCreate(), SparkContext.getOrCreate(), frame.executionInfo])

    with open_offline(Columns()) as spark:
        frame = spark.table("t")
        thread = threading.Thread(target=use)
        thread.start()
        thread.join()
        with pytest.raises(NotInAView, match="SparkContext"):
            SparkContext.getOrCreate()
        with pytest.raises(NotInAView, match="SparkContext"):
            SparkContext("local")
    assert seen == ["a classic session", "a context", None]


def test_the_source_of_schemas_is_asked_as_if_nothing_were_switched_and_may_build_views() -> None:
    seen: list[object] = []

    class Asked:
        session: OfflineSession

        def schema_of(self, relation: bytes) -> StructType:
            assert relation
            seen.append(is_remote())
            seen.append(getattr(SparkSession._active_session, "session", None))
            inner = build_twice(lambda: self.session.table("inner").select(F.col("id") + 1), "inner")
            seen.append(inner.reads)
            seen.append(is_remote())
            return SCHEMA

    asked = Asked()
    with open_offline(asked) as session:
        asked.session = session
        assert session.table("t").columns == ["id"]
        assert is_remote()
        assert SparkSession.active() is session
    assert seen == [False, None, ("inner",), False]


def test_expressions_carry_the_line_they_were_written_on() -> None:
    with open_offline(Columns()) as spark:
        frame = spark.table("t").select(
            F.transform(F.array("id"), lambda x: x + F.lit(1)).alias("n"),
            F.udf(lambda x: x, "int")("id"),
        )
        built = frame.where(F.col("n").isNotNull()).agg(F.sum("n"))
        plan = base_pb2.Plan.FromString(plan_bytes_of(built).executable)
        from_sql = spark.sql("SELECT :a", {"a": 1})
        sql_plan = base_pb2.Plan.FromString(plan_bytes_of(from_sql).executable)
    sites = {
        text_of(message, "call_site").rsplit(":", 1)[0]
        for each in (plan, sql_plan)
        for message in messages_of(each)
        if message.DESCRIPTOR.name == "PythonOrigin"
    }
    assert sites == {__file__}


def test_a_time_without_a_zone_is_the_sessions_in_views_and_the_machines_elsewhere() -> None:
    noon = dt.datetime(2026, 1, 1, 12)  # noqa: DTZ001 - a time without a zone is what this is about
    seen: list[int] = []
    with open_offline(Columns(), {"spark.sql.session.timeZone": "Asia/Tokyo"}) as spark:
        thread = threading.Thread(target=lambda: seen.append(TimestampType().toInternal(noon)))
        thread.start()
        thread.join()
        seen.append(TimestampType().toInternal(noon))
        assert BuildingSession.time_zone(spark) is dt.UTC
    assert seen == [int(time.mktime(noon.timetuple())) * 10**6, 1767236400 * 10**6]
    assert TimestampType().toInternal(noon) == seen[0]
