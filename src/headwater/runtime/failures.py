"""What Spark, Delta and py4j throw, as one frozen description; and the context in which it becomes our error.

Not here: what a Delta conflict means; `delta` decides that from the description.
"""

from __future__ import annotations

import logging
import re
import sysconfig
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError
from pyspark.errors import PySparkException
from pyspark.errors.exceptions.captured import CapturedException
from pyspark.logger import PySparkLogger

from headwater.errors import EngineFailed
from headwater.origin import Origin

if TYPE_CHECKING:
    from collections.abc import Generator

_BRACKET = re.compile(r"^\[([A-Z0-9_]+(?:\.[A-Z0-9_]+)*)\]\s*")
_STATE = re.compile(r"\s*SQLSTATE:?\s*([0-9A-Z]{5})")
_POSITION = re.compile(r";? line \d+ pos \d+$")
_PYTHON_FRAME = re.compile(r'File "([^"]+)", line (\d+)')
_DEEPEST_CAUSE = 20
_LONGEST = 400
_INSTALLED = tuple({sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib", "purelib", "platlib")})
_DATA_EXCEPTION = "22"  # the class of SQLSTATEs about values: division by zero, overflow, a bad cast
_QUERY_LOGGERS = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A failure of the engine in plain words."""

    detail: str
    condition: str | None = None
    sql_state: str | None = None
    java_class: str | None = None
    call_site: Origin | None = None
    line_in_sql: int = 0
    file: str | None = None


def silence_engine_loggers() -> None:
    """PySpark and py4j print errors on stderr as they meet them; here the typed error is what people see."""
    for name in _QUERY_LOGGERS:
        PySparkLogger.getLogger(name).disabled = True
    # py4j logs a lost connection and a Ctrl-C on the root logger itself.
    root = logging.getLogger()
    if _not_from_py4j not in root.filters:
        root.addFilter(_not_from_py4j)


def _not_from_py4j(record: logging.LogRecord) -> bool:
    return record.module not in {"java_gateway", "clientserver"}


# What comes from Spark, Delta or the bridge to them; a JVM that is gone refuses the connection.
ENGINE_EXCEPTIONS = (PySparkException, Py4JError, ConnectionError)
# The condition of a failure after which there is no engine any more.
ENGINE_GONE = "ENGINE_GONE"
_GONE = Failure(detail="the Spark process ended or does not answer", condition=ENGINE_GONE)


def failure_of(error: BaseException) -> Failure:
    """The condition, SQLSTATE, Java class, words and place of an engine's exception."""
    try:
        return _GONE if _is_gone(error) else _failure_of(error)
    except (Py4JNetworkError, ConnectionError):  # what was thrown is told by a JVM that has ended since
        return _GONE


def _failure_of(error: BaseException) -> Failure:
    if isinstance(error, Py4JJavaError):
        return _of_throwable(error.java_exception)
    if isinstance(error, CapturedException) and error._origin is not None:
        return _of_throwable(error._origin)
    if isinstance(error, PySparkException):
        text = str(error)
        return Failure(detail=_sentence(text), condition=error.getCondition(), sql_state=error.getSqlState())
    return Failure(detail=_sentence(str(error)) or type(error).__name__)


@contextmanager
def engine_errors(origin: Origin | None = None, remedy: str | None = None) -> Generator[None]:
    """Within it, what the engine throws is raised as EngineFailed, with the user's place if there is one."""
    try:
        yield
    except ENGINE_EXCEPTIONS as error:
        raise engine_error(error, origin, remedy) from error


def engine_error(
    error: BaseException, origin: Origin | None = None, remedy: str | None = None
) -> EngineFailed:
    """The typed error for an engine's exception."""
    failure = failure_of(error)
    words = {"remedy": remedy or _remedy(failure)}
    return EngineFailed(
        origin=failure.call_site or origin,
        detail=failure.detail,
        condition=failure.condition,
        sql_state=failure.sql_state,
        java_class=failure.java_class,
        file=failure.file,
        **words,
    )


def _is_gone(error: BaseException) -> bool:
    """A lost connection is often just an error without an answer: no Java exception, no trace, no name."""
    if isinstance(error, Py4JNetworkError | ConnectionError):
        return True
    is_bare = type(error) is Py4JError
    return is_bare and "Trace:" not in str(error) and "does not exist" not in str(error)


def _of_throwable(throwable: Any) -> Failure:
    """The innermost cause that has a condition speaks; else the outermost that has words."""
    chain = _causes(throwable)
    spoken = [each for each in chain if _condition_of(each)]
    chosen = spoken[-1] if spoken else chain[-1]
    text = str(chosen.getMessage() or chosen.getClass().getName())
    bracket = _BRACKET.match(text)
    state = _STATE.search(text)
    call_site, line = _place_of(chosen)
    return Failure(
        detail=_sentence(text),
        condition=_condition_of(chosen) or (bracket.group(1) if bracket else None),
        sql_state=_call(chosen, "getSqlState") or (state.group(1) if state else None),
        java_class=str(chosen.getClass().getName()),
        call_site=call_site or _python_frame(text),
        line_in_sql=line,
        file=next(filter(None, map(_file_of, reversed(chain))), None),
    )


def _causes(throwable: Any) -> list[Any]:
    chain = [throwable]
    while len(chain) < _DEEPEST_CAUSE and (cause := chain[-1].getCause()) is not None:
        chain.append(cause)
    return chain


def _condition_of(throwable: Any) -> str | None:
    condition = _call(throwable, "getCondition")
    if condition:
        return condition
    bracket = _BRACKET.match(str(throwable.getMessage() or ""))
    return bracket.group(1) if bracket else None


def _call(throwable: Any, method: str) -> str | None:
    try:
        value = getattr(throwable, method)()
    except (Py4JError, PySparkException):  # the class has no such method, or has nothing to say
        return None
    return str(value) if value is not None else None


def _file_of(throwable: Any) -> str | None:
    """The file that was being read, if the condition is about one."""
    try:
        path = throwable.getMessageParameters().get("path")
    except (Py4JError, PySparkException, AttributeError):  # not every exception has parameters
        return None
    return str(path) if path is not None else None


def _place_of(throwable: Any) -> tuple[Origin | None, int]:
    """The user's Python line that Spark kept with the failing expression, and the line inside a SQL text."""
    line = _call(throwable, "line")
    number = re.search(r"\d+", line or "")
    return _call_site(throwable), int(number.group()) if number else 0


def _call_site(throwable: Any) -> Origin | None:
    try:
        contexts: list[Any] = list(throwable.getQueryContext())
    except (Py4JError, TypeError):  # not every exception knows its query
        return None
    for context in contexts:
        path, _, number = (_call(context, "callSite") or "").rpartition(":")
        if path and number.isdigit():
            return Origin(path, int(number))
    return None


def _python_frame(text: str) -> Origin | None:
    """The innermost frame of a Python function's traceback that is neither Python's nor a package's."""
    frames = [(path, int(line)) for path, line in _PYTHON_FRAME.findall(text)]
    own = [frame for frame in frames if not frame[0].startswith(("<", *_INSTALLED))]
    return Origin(*own[-1]) if own else None


def _sentence(text: str) -> str:
    """The first paragraph of a message, without the parts that are kept as fields."""
    if "Traceback (most recent call last)" in text:
        text = text.strip().splitlines()[-1] if not text.startswith("[") else _last_python_line(text)
    # Behind ";" and a new line Spark prints the whole plan, behind "==" the whole query.
    words = text.strip().split("\n\n")[0].split("\n== ")[0].split(";\n")[0]
    sentence = " ".join(_POSITION.sub("", _STATE.sub("", _BRACKET.sub("", words))).split()).rstrip(" ;")
    return sentence if len(sentence) <= _LONGEST else f"{sentence[:_LONGEST]} ..."


def _last_python_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith((" ", "\t"))]
    errors = [line for line in lines if re.match(r"[A-Za-z_][\w.]*(Error|Exception|Warning)?:", line)]
    return errors[-1] if errors else lines[0]


def _remedy(failure: Failure) -> str:
    if failure.condition == ENGINE_GONE:
        return "Run again; if it happens twice, give the driver more memory (--set driver_memory=4g)."
    if failure.java_class and "OutOfMemory" in failure.java_class:
        return "Give the driver more memory: --set driver_memory=4g."
    if (failure.sql_state or "").startswith(_DATA_EXCEPTION):
        return "Correct the expression, or the rows that it cannot take."
    return "Run again with --debug for the whole trace."
