from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from py4j.protocol import Py4JNetworkError

from headwater.errors import EngineFailed
from headwater.origin import Origin
from headwater.runtime import ENGINE_EXCEPTIONS, RunSession, engine_errors, failure_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def caught(action: Callable[[], object]) -> BaseException:
    with pytest.raises(Exception) as info:  # noqa: PT011  which one it is, is the question
        action()
    return info.value


def test_an_analysis_error_has_condition_state_and_words(session: RunSession) -> None:
    failure = failure_of(caught(lambda: session.spark.sql("SELECT nope FROM VALUES (1) AS t(x)")))
    assert failure.condition == "UNRESOLVED_COLUMN.WITH_SUGGESTION"
    assert failure.sql_state == "42703"
    assert failure.java_class == "org.apache.spark.sql.catalyst.ExtendedAnalysisException"
    assert "`nope` cannot be resolved" in failure.detail
    assert "\n" not in failure.detail
    assert failure.detail.endswith("[`x`].")


def test_a_parse_error_has_its_line(session: RunSession) -> None:
    failure = failure_of(caught(lambda: session.spark.sql("SELECT 1\nFROM\n)")))
    assert failure.condition == "PARSE_SYNTAX_ERROR"
    assert failure.line_in_sql == 3
    assert not failure.detail.startswith("[")


def test_a_failed_task_speaks_through_its_cause(session: RunSession) -> None:
    failure = failure_of(caught(lambda: session.spark.sql("SELECT 1 / x FROM VALUES (0) AS t(x)").collect()))
    assert failure.condition == "DIVIDE_BY_ZERO"
    assert failure.sql_state == "22012"


def test_a_file_that_cannot_be_read_is_named(session: RunSession, tmp_path: Path) -> None:
    session.spark.range(3).coalesce(1).write.parquet(str(tmp_path / "t"))
    frame = session.spark.read.parquet(str(tmp_path / "t"))
    (file,) = (tmp_path / "t").glob("*.parquet")
    file.unlink()
    error = caught(frame.collect)
    failure = failure_of(error)
    assert failure.file is not None
    assert failure.file.endswith(file.name)
    assert (
        failure_of(caught(lambda: session.spark.sql("SELECT 1 / x FROM VALUES (0) AS t(x)").collect())).file
        is None
    )


def test_a_python_function_leads_to_its_line(session: RunSession) -> None:
    def broken(batches: Any) -> Any:
        for batch in batches:
            raise ValueError("no such thing")
            yield batch

    frame = session.spark.range(1).mapInArrow(broken, "id BIGINT")
    failure = failure_of(caught(frame.collect))
    assert failure.detail == "ValueError: no such thing"
    assert failure.call_site is not None
    assert failure.call_site.path == __file__
    assert failure.call_site.line == broken.__code__.co_firstlineno + 2


def test_a_librarys_line_is_not_the_users(session: RunSession) -> None:
    def broken(batches: Any) -> Any:
        for batch in batches:
            json.loads("not json")
            yield batch

    failure = failure_of(caught(session.spark.range(1).mapInArrow(broken, "id BIGINT").collect))
    assert failure.call_site is not None
    assert (failure.call_site.path, failure.call_site.line) == (__file__, broken.__code__.co_firstlineno + 2)


def test_a_raw_java_error_is_understood_too(session: RunSession) -> None:
    error = caught(lambda: session.jvm.java.lang.Integer.parseInt("x"))
    assert isinstance(error, ENGINE_EXCEPTIONS)
    failure = failure_of(error)
    assert failure.java_class == "java.lang.NumberFormatException"
    assert 'For input string: "x"' in failure.detail


def test_a_dead_engine_says_so() -> None:
    with pytest.raises(EngineFailed) as info, engine_errors(Origin("v.py", 3)):
        raise Py4JNetworkError("Answer from Java side is empty")
    assert info.value.condition == "ENGINE_GONE"
    assert "driver_memory" in info.value.next_step
    assert str(info.value).startswith("HW-ENGINE-001 v.py:3: the Spark process ended")


def test_pyspark_itself_prints_nothing(session: RunSession, capfd: pytest.CaptureFixture[str]) -> None:
    caught(lambda: session.spark.sql("SELECT nope"))
    caught(lambda: session.spark.range(1).select("nope"))
    assert capfd.readouterr() == ("", "")


def test_other_errors_pass(session: RunSession) -> None:
    with pytest.raises(KeyError), engine_errors():
        raise KeyError(session)
    with pytest.raises(EngineFailed, match="HW-ENGINE-001") as info, engine_errors(remedy="Look."):
        session.spark.sql("SELECT nope")
    assert info.value.next_step == "Look."
    assert info.value.__cause__ is not None
