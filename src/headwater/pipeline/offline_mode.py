"""The process-wide switches that make `pyspark.sql` build Connect plans, set for a while and put back.

Not here: what the plans are built with; that is the offline session.
"""

from __future__ import annotations

import functools
import os
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol, TypeAlias, cast

from pyspark.core.context import SparkContext
from pyspark.errors import utils as error_origins
from pyspark.serializers import CloudPickleSerializer
from pyspark.sql.connect.client.core import SparkConnectClient
from pyspark.sql.connect.dataframe import DataFrame, DataFrameStatFunctions
from pyspark.sql.connect.group import GroupedData
from pyspark.sql.connect.observation import Observation
from pyspark.sql.connect.session import SparkSession
from pyspark.sql.conversion import LocalDataToArrowConversion
from pyspark.sql.session import SparkSession as ClassicSession
from pyspark.sql.types import TimestampType

from headwater.pipeline.refusal import not_in_a_view
from headwater.pipeline.time_zones import in_zone

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping
    from datetime import tzinfo

# `is_remote` looks for the first; each of the others would turn what it says, or ask a server about names.
_ENVIRONMENT: Mapping[str, str | None] = {
    "SPARK_CONNECT_MODE_ENABLED": "1",
    "PYSPARK_NO_NAMESPACE_SHARE": None,
    "PYSPARK_VALIDATE_COLUMN_NAME_LEGACY": None,
}

# A name or a master in `builder` changes nothing that a view could see.
_HARMLESS_OPTIONS = frozenset({"spark.app.name", "spark.master"})

# Members that would answer without asking the client (and so without being refused), ask for a schema only to
# be refused then, run a job as soon as they are analysed, start a JVM, or dial.
_GUARDED: tuple[tuple[type, str, str], ...] = (
    (DataFrame, "crosstab", "DataFrame.crosstab"),
    (DataFrame, "executionInfo", "DataFrame.executionInfo"),
    (DataFrame, "foreach", "DataFrame.foreach"),
    (DataFrame, "foreachPartition", "DataFrame.foreachPartition"),
    (DataFrame, "mergeInto", "DataFrame.mergeInto"),
    (DataFrame, "pandas_api", "DataFrame.pandas_api"),
    (DataFrame, "plot", "DataFrame.plot"),
    (DataFrame, "rdd", "DataFrame.rdd"),
    (DataFrame, "toArrow", "DataFrame.toArrow"),
    (DataFrame, "transpose", "DataFrame.transpose"),
    (DataFrame, "write", "DataFrame.write"),
    (DataFrame, "writeStream", "DataFrame.writeStream"),
    (DataFrame, "writeTo", "DataFrame.writeTo"),
    (DataFrameStatFunctions, "crosstab", "DataFrameStatFunctions.crosstab"),
    (GroupedData, "applyInPandasWithState", "GroupedData.applyInPandasWithState"),
    (GroupedData, "transformWithState", "GroupedData.transformWithState"),
    (GroupedData, "transformWithStateInPandas", "GroupedData.transformWithStateInPandas"),
    (Observation, "get", "Observation.get"),
    (ClassicSession.Builder, "create", "SparkSession.builder"),
    (SparkConnectClient, "__init__", "SparkSession.builder"),
    (SparkContext, "__init__", "SparkContext"),
    (SparkContext, "getOrCreate", "SparkContext"),
)

_GET_OR_CREATE = (ClassicSession.Builder, "getOrCreate")
# Where pyspark pickles functions, and where it would take a datetime without a zone for the machine's time.
_DUMPS = (CloudPickleSerializer, "dumps")
_MOMENT = (TimestampType, "toInternal")
_CONVERTER = (LocalDataToArrowConversion, "_create_converter")
_SWITCHED = (
    *((owner, name) for owner, name, _ in _GUARDED),
    _GET_OR_CREATE,
    _DUMPS,
    _MOMENT,
    _CONVERTER,
)

# Held by whoever switches, and around the import of definition files: one lock, so no order to get wrong.
process_lock = threading.RLock()


class BuildingSession(SparkSession):
    """What the switched members ask of the session that is active."""

    def before_pickling(self) -> None:
        """Called before a function is pickled into a plan."""

    def time_zone(self) -> tzinfo:
        """Where a datetime without a zone is meant to be; never the machine's own."""
        return UTC


@dataclass(frozen=True, slots=True, kw_only=True)
class _State:
    """Everything that is switched: environment, active session, pyspark's cached debug flag, members."""

    environment: Mapping[str, str | None]
    active: SparkSession | None
    debugging: bool | None
    members: Mapping[tuple[type, str], object]


# Per `offline_mode` that is entered: what was there before it, and the thread that entered it. Per
# `engine_mode` inside it: the offline state that it has set aside.
_before: list[_State] = []
_builder: list[int] = []
_set_aside: list[_State] = []


@contextmanager
def offline_mode(session: BuildingSession) -> Generator[None]:
    """While entered, `pyspark.sql.functions` builds Connect expressions and `session` is the active session.

    One thread at a time holds it, and may enter it again; all that was switched is put back on the way out.
    Expressions made while entered carry the user's file and line, so that Spark's errors can point there.
    """
    with process_lock:
        before = _current_state()
        members = before.members if _before else _guarded(before.members)
        _before.append(before)
        _builder.append(threading.get_ident())
        try:
            _apply(_State(environment=_ENVIRONMENT, active=session, debugging=True, members=members))
            yield
        finally:
            _apply(before)
            _builder.pop()
            _before.pop()


@contextmanager
def engine_mode() -> Generator[None]:
    """While entered, inside `offline_mode`, all is as it was before: Spark can be started and used."""
    with process_lock:
        here = _current_state()
        _set_aside.append(here)
        try:
            if _before:
                _apply(_before[0])
            yield
        finally:
            _apply(here)
            _set_aside.pop()


@contextmanager
def resumed_mode(*, has_origins: bool = True) -> Generator[None]:
    """While entered, inside `engine_mode`, the process is offline again; elsewhere nothing changes.

    Without origins, pyspark does not look at each call for the line that it stands on.
    """
    with process_lock:
        here = _current_state()
        try:
            if _set_aside:
                _apply(_set_aside[-1])
            if not has_origins:
                error_origins._enable_debugging_cache = False
            yield
        finally:
            _apply(here)


def _current_state() -> _State:
    return _State(
        environment={key: os.environ.get(key) for key in _ENVIRONMENT},
        active=getattr(SparkSession._active_session, "session", None),
        debugging=error_origins._enable_debugging_cache,
        members={(owner, name): vars(owner)[name] for owner, name in _SWITCHED},
    )


def _apply(state: _State) -> None:
    for key, value in state.environment.items():
        if value is None:
            os.environ.pop(key, None)
        else:
            os.environ[key] = value
    SparkSession._active_session.session = state.active
    error_origins._enable_debugging_cache = state.debugging
    for (owner, name), member in state.members.items():
        setattr(owner, name, member)


# --- guards --------------------------------------------------------------------------------------------


def _guarded(members: Mapping[tuple[type, str], object]) -> Mapping[tuple[type, str], object]:
    guards = {(owner, name): _guard(members[owner, name], member) for owner, name, member in _GUARDED}
    original = cast("Callable[[_Builder], object]", members[_GET_OR_CREATE])
    return {
        **guards,
        _GET_OR_CREATE: _active_or(original),
        _DUMPS: _announced(cast("Callable[..., object]", members[_DUMPS])),
        _MOMENT: _zoned(cast("Callable[..., object]", members[_MOMENT])),
        _CONVERTER: staticmethod(
            _zoned_rows(cast("staticmethod[..., _Convert | None]", members[_CONVERTER]))
        ),
    }


def _guard(original: object, member: str) -> object:
    """`original`, refused in the thread that builds views and as it was in all others."""
    if isinstance(original, property):
        return property(_refusing(cast("Callable[..., object]", original.fget), member))
    if isinstance(original, classmethod):
        return classmethod(_refusing(cast("Callable[..., object]", original.__func__), member))
    return _refusing(cast("Callable[..., object]", original), member)


def _refusing(original: Callable[..., object], member: str) -> Callable[..., object]:
    @functools.wraps(original)
    def guarded(*args: object, **kwargs: object) -> object:
        if _is_building():
            raise not_in_a_view(member)
        return original(*args, **kwargs)

    return guarded


class _Builder(Protocol):
    _options: dict[str, str]


def _active_or(original: Callable[[_Builder], object]) -> Callable[[_Builder], object]:
    """`SparkSession.builder.getOrCreate`: in a view, the offline session, unless settings are asked for."""

    @functools.wraps(original)
    def get_or_create(builder: _Builder) -> object:
        if not _is_building():
            return original(builder)
        if set(builder._options) - _HARMLESS_OPTIONS:
            raise not_in_a_view("SparkSession.builder")
        return SparkSession.active()

    return get_or_create


def _is_building() -> bool:
    return bool(_builder) and _builder[-1] == threading.get_ident()


# --- pickling and time ---------------------------------------------------------------------------------

_Convert: TypeAlias = "Callable[[object], object]"


def _announced(original: Callable[..., object]) -> Callable[..., object]:
    @functools.wraps(original)
    def dumps(serializer: object, value: object) -> object:
        if _is_building():
            _session().before_pickling()
        return original(serializer, value)

    return dumps


def _zoned(original: Callable[..., object]) -> Callable[..., object]:
    @functools.wraps(original)
    def to_internal(kind: object, value: datetime | None) -> object:
        if value is not None and _is_building():
            value = in_zone(value, _session().time_zone())
        return original(kind, value)

    return to_internal


def _zoned_rows(original: Callable[..., _Convert | None]) -> Callable[..., _Convert | None]:
    @functools.wraps(original)
    def create_converter(kind: object, *args: object, **kwargs: object) -> _Convert | None:
        convert = original(kind, *args, **kwargs)
        if convert is None or not isinstance(kind, TimestampType) or not _is_building():
            return convert
        zone = _session().time_zone()
        return lambda value: convert(in_zone(value, zone) if isinstance(value, datetime) else value)

    return create_converter


def _session() -> BuildingSession:
    return cast("BuildingSession", SparkSession.active())
