"""A Spark session without Spark: views written in ordinary PySpark become plans, and nothing runs.

`open_offline` gives the session and makes `pyspark.sql` use it. Every member of a frame or of the session
does one of three things: it works, it asks the `SchemaSource` for columns, or it raises `NotInAView` by name.
Not here: the plans' bytes (`canonical`), and the engine that analyses and runs them.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

from pyspark import cloudpickle

from headwater.errors import NotInAView
from headwater.functions import marking
from headwater.pipeline.modules import names_pickled_by_value
from headwater.pipeline.offline_client import SESSION_ID, OfflineClient, SchemaSource
from headwater.pipeline.offline_mode import BuildingSession, engine_mode, offline_mode
from headwater.pipeline.refusal import not_in_a_view
from headwater.pipeline.time_zones import zone_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping
    from datetime import tzinfo
    from types import ModuleType

    from pyspark.sql.types import StructType

__all__ = ["OfflineSession", "SchemaSource", "open_offline", "pickled_by_value", "resume_offline"]


@contextmanager
def open_offline(
    schemas: SchemaSource | None, settings: Mapping[str, str] | None = None
) -> Generator[OfflineSession]:
    """A session for building views, active in this thread until the block ends.

    Import the modules that define views inside the block: `F.udf` decides when it is called whether it makes
    a Connect function. `schemas` is asked outside of the offline switches, so it may start and use Spark;
    with None, questions are refused. `settings` go before the constant ones.

    >>> from pyspark.sql.types import StructType
    >>> class Columns:
    ...     def schema_of(self, relation: bytes) -> StructType:
    ...         return StructType().add("id", "long")
    >>> with open_offline(Columns()) as spark:
    ...     spark.table("orders").columns
    ['id']
    """
    session = OfflineSession(settings)
    with resume_offline(session, schemas):
        yield session


@contextmanager
def resume_offline(
    session: OfflineSession, schemas: SchemaSource | None, settings: Mapping[str, str] | None = None
) -> Generator[None]:
    """Makes a session active again, now with `schemas` to ask: what was made with it can still be used.

    Raises:
        NotInAView: it has told somebody another value of a setting than the one in `settings`.
    """
    session.schemas.asked = schemas
    if settings is not None:
        session.settle(settings)
    with offline_mode(session), marking():
        yield


@contextmanager
def pickled_by_value(modules: Iterable[ModuleType]) -> Generator[Callable[[Iterable[ModuleType]], None]]:
    """While entered, functions and classes of `modules` are pickled with their code, not by their name.

    Enter it around `plan_bytes_of` or `build_twice`: that is when functions are pickled. The plan can then
    run where the modules are not importable. What comes back adds more modules.
    """
    added: list[ModuleType] = []

    def add(more: Iterable[ModuleType]) -> None:
        for module in more:
            if module.__name__ not in names_pickled_by_value():
                cloudpickle.register_pickle_by_value(module)
                added.append(module)

    try:
        add(modules)
        yield add
    finally:
        for module in added:
            cloudpickle.unregister_pickle_by_value(module)


class _OutsideSchemas:
    asked: SchemaSource | None = None

    def schema_of(self, relation: bytes) -> StructType:
        if self.asked is None:
            remedy = "Ask inside the view function; while files are imported, no view is known yet."
            raise NotInAView(member="a schema", remedy=remedy)
        with engine_mode():
            return self.asked.schema_of(relation)


class OfflineSession(BuildingSession):
    """A Connect session over an `OfflineClient`: it never opens a channel."""

    def __init__(self, settings: Mapping[str, str] | None = None) -> None:
        self.schemas = _OutsideSchemas()
        self._offline = OfflineClient(self.schemas, settings)
        self._client = self._offline  # pyright: ignore[reportAttributeAccessIssue, reportIncompatibleVariableOverride]
        self._session_id = SESSION_ID
        self.release_session_on_close = False

    def settle(self, settings: Mapping[str, str]) -> None:
        """From now on, `settings` are the session's; see `OfflineClient.use_settings`."""
        self._offline.use_settings(settings)

    def time_zone(self) -> tzinfo:
        """Where a datetime without a zone is meant to be; never the machine's own."""
        (name,) = self._offline.get_configs("spark.sql.session.timeZone")
        return zone_of(name or "UTC")

    def __del__(self) -> None:
        """Nothing to release; pyspark's own would look for streams and close a channel."""

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):  # copy, pickle and inspect look for these and must be told plainly
            raise AttributeError(name)
        raise not_in_a_view(f"SparkSession.{name}")


_REFUSED_PROPERTIES = ("catalog", "dataSource", "profile", "readStream", "streams")
_REFUSED_METHODS = (
    "addArtifact",
    "addArtifacts",
    "addTag",
    "clearProgressHandlers",
    "clearTags",
    "cloneSession",
    "copyFromLocalToFs",
    "getTags",
    "interruptAll",
    "interruptOperation",
    "interruptTag",
    "registerProgressHandler",
    "removeProgressHandler",
    "removeTag",
    "stop",
)


def _refusing(name: str) -> Callable[..., NoReturn]:
    def refuse(_: OfflineSession, *args: object, **kwargs: object) -> NoReturn:
        del args, kwargs
        raise not_in_a_view(f"SparkSession.{name}")

    return refuse


for _name in _REFUSED_PROPERTIES:
    setattr(OfflineSession, _name, property(_refusing(_name)))
for _name in _REFUSED_METHODS:
    setattr(OfflineSession, _name, _refusing(_name))
