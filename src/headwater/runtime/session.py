"""The only way to a Spark session: one application per process, one cloned session per run.

`open_runtime` starts the JVM, finds the one that runs already, or works in the application of a session that
it is given; `SessionRuntime.checkout` lends a session whose views, functions and settings nobody else sees.
Not here: what is done with it, and whether a given session will do (`adopting`).
"""

from __future__ import annotations

import atexit
import tempfile
import threading
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark import RDD, SparkContext
from pyspark.sql import SparkSession

from headwater.digest import digest_of
from headwater.errors import EngineStartFailed, InvalidSetting, SessionMismatch, UnknownSetting
from headwater.functions import FunctionSnapshot, function_snapshot
from headwater.home import headwater_home
from headwater.runtime.adopting import adopt_session, forget_inherited
from headwater.runtime.archive import make_archive, start_archiving_in_background, with_archive
from headwater.runtime.cache import CachePolicy, cache_policy
from headwater.runtime.failures import ENGINE_EXCEPTIONS, engine_error, failure_of, silence_engine_loggers
from headwater.runtime.gateway import Gateway, open_gateway
from headwater.runtime.installing import FunctionInstaller
from headwater.runtime.jars import provide_jars
from headwater.runtime.java import find_java
from headwater.runtime.java_names import names_in
from headwater.runtime.jvm import JvmSpec
from headwater.runtime.masters import (
    await_executors,
    check_master,
    cluster_settings,
    open_context,
    start_failure,
)
from headwater.runtime.settings import (
    SettingsSnapshot,
    differences_of,
    is_session_setting,
    settings_of,
    snapshot_of,
)
from headwater.runtime.versions import EngineVersions, engine_versions

if TYPE_CHECKING:
    from headwater.runtime.profile import RuntimeProfile

Notify = Callable[[str], None]


def ignore_notes(_message: str) -> None:
    """The listener of somebody who wants to hear nothing."""


@dataclass(frozen=True, kw_only=True)
class RuntimeIdentity:
    """What a runtime is, without starting it: equal on two machines with equal profiles."""

    settings: SettingsSnapshot
    functions: FunctionSnapshot
    versions: EngineVersions
    storage: tuple[tuple[str, str], ...]
    cache: CachePolicy

    @cached_property
    def results_digest(self) -> str:
        """Changes when, and only when, something changed that could change a result."""
        return digest_of(self._results())

    @cached_property
    def digest(self) -> str:
        """Changes when anything of the runtime changes."""
        return digest_of([*self._results(), dict(self.settings.speed), self.cache.name])

    def _results(self) -> list[Any]:
        versions = [self.versions.spark, self.versions.delta, self.versions.scala]
        return [dict(self.settings.results), self.functions.results_digest, versions, dict(self.storage)]


def identity_of(profile: RuntimeProfile, spark: SparkSession | None = None) -> RuntimeIdentity:
    """The identity of the runtime that `profile` would open; needs no Java.

    Over a session that somebody else started, it is made of what is there.

    Raises:
        SessionIncompatible: that session will not do.
    """
    adopted = None if spark is None else adopt_session(spark, profile)
    return RuntimeIdentity(
        settings=adopted.settings if adopted else snapshot_of(profile),
        functions=function_snapshot(profile.disabled_families),
        versions=adopted.versions if adopted else engine_versions(),
        storage=profile.storage.identity(),
        cache=cache_policy(profile.cache),
    )


class RunSession:
    """A Spark session of one run. `spark` raises once the run is over."""

    def __init__(self, runtime: SessionRuntime, spark: SparkSession) -> None:
        self.runtime = runtime
        self._spark: SparkSession | None = spark

    @property
    def spark(self) -> SparkSession:
        """The session itself; only code of this package and of the delta and plan areas touches it."""
        if self._spark is None:
            raise EngineStartFailed(detail="the run that this session belonged to is over")
        return self._spark

    @property
    def jvm_session(self) -> Any:
        """The JVM's side of the session."""
        return self.spark._jsparkSession

    @property
    def jvm(self) -> Any:
        """The JVM's packages, by name."""
        return names_in(self.spark._jvm)

    @contextmanager
    def active(self) -> Generator[None]:
        """While entered, this is the thread's active session: the parser goes by its settings."""
        sessions: Any = self.jvm.org.apache.spark.sql.classic.SparkSession
        before, before_in_python = sessions.getActiveSession(), SparkSession._activeSession
        sessions.setActiveSession(self.jvm_session)
        try:
            yield
        finally:
            SparkSession._activeSession = before_in_python  # `createDataFrame` takes it for its own session
            with suppress(*ENGINE_EXCEPTIONS):  # a JVM that is gone has no active session either
                if before.isDefined():
                    sessions.setActiveSession(before.get())
                else:
                    sessions.clearActiveSession()

    def fresh(self) -> RunSession:
        """Another session for the same run, with nothing of this one's views and settings."""
        return self.runtime.new_session()

    def copy(self) -> RunSession:
        """Another session that begins with this one's views and settings, and leaves them as they are."""
        return RunSession(self.runtime, _session_of(self.spark.sparkContext, self.jvm_session.cloneSession()))

    def release(self) -> None:
        """Forgets the session's views and cuts the reference, so that nothing of the run stays behind."""
        if self._spark is not None:
            with suppress(*ENGINE_EXCEPTIONS):  # a JVM that is gone has forgotten already
                self.jvm_session.sessionState().catalog().clearTempTables()
            self._spark = None


class SessionRuntime:
    """A profile's settings and functions over the process's one Spark application."""

    def __init__(self, profile: RuntimeProfile, application: _Application, identity: RuntimeIdentity) -> None:
        self.profile = profile
        self.identity = identity
        self._application = application
        self._prepared = application.prepare(profile, self.identity.functions)

    @property
    def digest(self) -> str:
        """The identity of it all; see RuntimeIdentity."""
        return self.identity.digest

    def new_session(self) -> RunSession:
        """A session cloned from the prepared one: its functions and settings, and no views."""
        return RunSession(self, _session_of(self._application.context, self._prepared.cloneSession()))

    @contextmanager
    def checkout(self) -> Generator[RunSession]:
        """Lends a session for one run; whatever was registered or set in it is gone afterwards."""
        session = self.new_session()
        try:
            with session.active():
                yield session
        finally:
            session.release()


@dataclass(frozen=True, kw_only=True)
class _Application:
    """The JVM and the SparkContext; there is one per process. Without a gateway it is somebody else's."""

    gateway: Gateway | None
    context: SparkContext
    root: SparkSession
    settings: dict[str, str]
    prepared: dict[RuntimeProfile, Any] = field(default_factory=dict[Any, Any])

    @cached_property
    def installer(self) -> FunctionInstaller:
        """Who makes functions known to sessions."""
        return FunctionInstaller.of(self.root)

    @property
    def is_alive(self) -> bool:
        """Whether the JVM still answers."""
        try:
            jvm: Any = self.context._jvm
            return jvm.java.lang.System.nanoTime() is not None
        except ENGINE_EXCEPTIONS:
            return False

    def prepare(self, profile: RuntimeProfile, functions: FunctionSnapshot) -> Any:
        """A JVM session with the profile's settings and functions, to be cloned by runs; made once."""
        if profile not in self.prepared:
            self.prepared[profile] = self._prepare(profile, functions)
        return self.prepared[profile]

    def _prepare(self, profile: RuntimeProfile, functions: FunctionSnapshot) -> Any:
        results, speed = settings_of(profile)
        _check_known(profile, self.root)
        java: Any = self.root._jsparkSession
        prepared = _session_of(self.context, java.newSession())
        if self.gateway is None:
            forget_inherited(prepared, {*results, *speed})
        for key, value in sorted({**results, **speed}.items()):
            if is_session_setting(key):
                _set(prepared, key, value)
        self.installer.install(prepared, functions)
        return prepared._jsparkSession


def _session_of(context: SparkContext, java: Any) -> SparkSession:
    """The JVM's session in Python. PySpark has `RDD.toDF` use whatever was made last; it stays as it was."""
    with _making:
        before: Any = vars(RDD)["toDF"]
        made = SparkSession(context, java)
        RDD.toDF = before
    return made


def _set(session: SparkSession, key: str, value: str) -> None:
    try:
        session.conf.set(key, value)
    except ENGINE_EXCEPTIONS as error:
        detail = failure_of(error).detail
        raise InvalidSetting(
            key=key, value=repr(value), expected=f"a value that Spark takes: {detail}"
        ) from error


_OFFER = "pass its session: headwater.open(path, spark=spark)"
_lock = threading.RLock()
_making = threading.Lock()
_applications: list[_Application] = []  # started here: none or one
_adopted: list[_Application] = []  # somebody else's, the last that was given: none or one


def open_runtime(
    profile: RuntimeProfile, notify: Notify = ignore_notes, spark: SparkSession | None = None
) -> SessionRuntime:
    """A runtime for `profile`: starts Spark if this process has none yet, otherwise shares it.

    With `spark`, sessions are made in that session's application, which is left as it is, and never stopped.

    Raises:
        SessionIncompatible: the session that was given will not do.
        SessionMismatch: the running application has other settings, of those that cannot differ by session.
        JavaNotFound, JavaTooOld, JarsUnavailable, EngineStartFailed: the engine cannot be had.
        MasterUnreachable, NoExecutors: the cluster does not answer, or gives nothing.
    """
    if spark is not None:
        return _adopt(profile, spark)
    with _lock:
        wanted = _application_settings(profile)
        if _applications and not _applications[0].is_alive:
            close_runtime()
        if not _applications:
            _check_alone()
            check_master(profile.master)
            _applications.append(_start(profile, wanted, notify))
        application = _applications[0]
        differences = differences_of(application.settings, wanted)
        if differences:
            raise SessionMismatch(differences=differences)
        return SessionRuntime(profile, application, identity_of(profile))


def _adopt(profile: RuntimeProfile, spark: SparkSession) -> SessionRuntime:
    with _lock:
        identity = identity_of(profile, spark)
        context = spark.sparkContext
        if not any(each.context is context for each in _adopted):
            java: Any = spark._jsparkSession
            root = _session_of(context, java.newSession())
            _adopted[:] = [_Application(gateway=None, context=context, root=root, settings={})]
        return SessionRuntime(profile, _adopted[0], identity)


def settings_in_force(session: RunSession, wanted: Iterable[str] = ()) -> dict[str, str]:
    """Every setting that a session really has, whoever set it, asked in one call.

    Of those that are `wanted` and that nobody has set, Spark's default, if it has one.
    """
    try:
        pairs = str(session.jvm_session.sessionState().conf().getAllConfs().mkString("\0"))
    except ENGINE_EXCEPTIONS as error:
        raise engine_error(error) from error
    found = dict(each.split(" -> ", 1) for each in pairs.split("\0") if " -> " in each)
    for key in set(wanted) - found.keys():
        with suppress(*ENGINE_EXCEPTIONS):  # a key that Spark does not know has no default
            found[key] = str(session.spark.conf.get(key))
    return found


def close_runtime() -> None:
    """Stops this process's Spark application, if there is one; one that somebody else started goes on."""
    with _lock:
        _adopted.clear()
        while _applications:
            application = _applications.pop()
            if application.is_alive:
                application.context.stop()
            # What PySpark's own stop does last, and cannot do with a JVM that is gone.
            SparkContext._active_spark_context = None
            application.context._jsc = None
            with suppress(*ENGINE_EXCEPTIONS):
                if application.gateway is not None:
                    application.gateway.close()


def prepare_engine(
    profile: RuntimeProfile, notify: Notify = ignore_notes, *, archive: bool = False
) -> tuple[Path, ...]:
    """Fetches what a first start needs and returns the jars; with `archive`, makes the class archive too."""
    spec = _engine_spec(profile, _application_settings(profile), notify)
    if archive:
        make_archive(spec)
    return spec.jars


def _engine_spec(profile: RuntimeProfile, settings: dict[str, str], notify: Notify) -> JvmSpec:
    java = find_java()
    home = headwater_home()
    jars = provide_jars(home, java, notify=notify)
    scratch = {"spark.sql.warehouse.dir": Path(tempfile.gettempdir(), "headwater-warehouse").as_uri()}
    return JvmSpec(
        java=java,
        jars=jars,
        home=home,
        memory=profile.driver_memory,
        settings=tuple(sorted({**settings, **scratch, **cluster_settings(settings, jars)}.items())),
        quick=profile.java_compiler == "quick",
    )


def _start(profile: RuntimeProfile, settings: dict[str, str], notify: Notify) -> _Application:
    spec = _engine_spec(profile, settings, notify)
    notify("starting Spark")
    silence_engine_loggers()
    archived = with_archive(spec)
    gateway = open_gateway(archived)
    try:
        context = open_context(gateway.py4j, dict(spec.settings))
        root = SparkSession(context)
        await_executors(context, profile.master, profile.executor_wait_seconds, notify)
    except BaseException as error:
        detail = start_failure(profile.master, failure_of(error).detail)  # while there is a JVM to ask
        SparkContext._active_spark_context = None  # what there is of it ends with the JVM
        gateway.close()
        if isinstance(error, ENGINE_EXCEPTIONS):
            raise EngineStartFailed(detail=detail, log=str(gateway.log)) from error
        raise
    atexit.register(close_runtime)
    if archived == spec:
        atexit.register(start_archiving_in_background, spec)
    return _Application(gateway=gateway, context=context, root=root, settings=settings)


def _application_settings(profile: RuntimeProfile) -> dict[str, str]:
    results, speed = settings_of(profile)
    return {key: value for key, value in {**results, **speed}.items() if not is_session_setting(key)}


def _check_alone() -> None:
    if SparkContext._active_spark_context is not None:
        raise SessionMismatch(
            differences=(f"a SparkContext that Headwater did not start is open; {_OFFER}",),
            remedy=f"To work in it, {_OFFER}; or stop it, or use another process.",
        )


def _check_known(profile: RuntimeProfile, root: SparkSession) -> None:
    """Spark accepts any key without a word; a typo must not pass for a setting."""
    for key, _ in profile.spark:
        if is_session_setting(key) and not root.conf.isModifiable(key):
            raise UnknownSetting(key=key, where="the Spark settings")
