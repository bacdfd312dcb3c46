from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql.types import ArrayType, LongType, StringType, StructField, StructType

from headwater.errors import AnalysisFailed, SqlSyntax
from headwater.origin import Origin
from headwater.pipeline import build_plan
from headwater.plan import QueryLog, empty_relation, rehydrate

if TYPE_CHECKING:
    from headwater.runtime import RunSession


def test_bytes_become_a_frame_of_the_session(session: RunSession) -> None:
    plan = build_plan(lambda spark: spark.table("things").selectExpr("id * 2 AS twice"))
    session.spark.range(3).createOrReplaceTempView("things")
    frame = rehydrate(session, plan.executable, "v")
    assert sorted(row["twice"] for row in frame.collect()) == [0, 2, 4]


def test_a_plan_takes_few_questions_to_the_engine(
    session: RunSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = build_plan(lambda spark: spark.range(3)).executable
    rehydrate(session, plan, "v")
    gateway: Any = session.spark.sparkContext._gateway
    client, asked = gateway._gateway_client, list[str]()
    send = client.send_command

    def counted(command: str, *rest: Any, **named: Any) -> Any:
        asked.append(command)
        return send(command, *rest, **named)

    monkeypatch.setattr(client, "send_command", counted)
    frame = rehydrate(session, plan, "v")
    assert len(asked) <= 14  # each step of a name would be one: they are kept
    assert frame.count() == 3


def test_a_missing_column_names_the_users_line(session: RunSession) -> None:
    session.spark.range(3).createOrReplaceTempView("things")

    def view(spark):  # noqa: ANN001, ANN202  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType]
        things = spark.table("things")  # pyright: ignore[reportUnknownVariableType]
        return things.where(things["nope"] > 1)  # pyright: ignore[reportUnknownVariableType]

    with pytest.raises(AnalysisFailed) as caught:
        rehydrate(session, build_plan(view).executable, "v", Origin("v.py", 1))  # pyright: ignore[reportUnknownArgumentType]
    error = caught.value
    assert (error.condition, error.sql_state) == ("CANNOT_RESOLVE_DATAFRAME_COLUMN", "42704")
    assert "Range" not in error.detail
    assert error.origin == Origin(__file__, view.__code__.co_firstlineno + 2)


def test_a_sql_relation_names_the_line_of_its_text(session: RunSession) -> None:
    plan = build_plan(lambda spark: spark.sql("SELECT\n  1 AS x,\n  nope\nFROM VALUES (1) AS t(y)"))
    with pytest.raises(AnalysisFailed) as caught:
        rehydrate(session, plan.executable, "v", Origin("views/v.sql", 1))
    assert caught.value.origin == Origin("views/v.sql", 3)
    broken = build_plan(lambda spark: spark.sql("SELECT 1\nFROM\n)"))
    with pytest.raises(SqlSyntax) as syntax:
        rehydrate(session, broken.executable, "v", Origin("views/v.sql", 1))
    assert syntax.value.origin == Origin("views/v.sql", 3)
    with pytest.raises(SqlSyntax) as inside:
        rehydrate(session, broken.executable, "v", Origin("views/v.py", 9))
    assert inside.value.origin == Origin("views/v.py", 9)


def test_an_empty_relation_keeps_the_whole_schema(session: RunSession) -> None:
    schema = StructType(
        [
            StructField("id", LongType(), nullable=True, metadata={"comment": "who"}),
            StructField("tags", ArrayType(StringType(), containsNull=True), nullable=True),
        ]
    )
    frame = empty_relation(session, schema, "v")
    assert frame.schema == schema
    assert frame.collect() == []


def test_a_log_has_the_operators_of_the_largest_query_of_its_session_and_of_copies(
    session: RunSession,
) -> None:
    own = session.copy()
    log = QueryLog(own)
    assert log.operators() == ()
    own.spark.sql("SELECT 1").collect()
    copy = own.copy()
    copy.spark.sql("SELECT id % 3 AS k, count(*) FROM range(90) GROUP BY 1 ORDER BY 1").collect()
    session.spark.sql("SELECT a.id FROM range(5) a, range(6) b, range(7) c ORDER BY 1 DESC").collect()
    found = {each.operator: each.metrics for each in log.operators()}
    ranges = [metrics for name, metrics in found.items() if name.startswith("Range")]
    assert [metrics["numOutputRows"] for metrics in ranges] == [90]
    assert any(name.startswith("Sort") for name in found)
    log.close()
    copy.spark.sql("SELECT 2").collect()
    assert log.operators() == ()
