"""Whether a Spark session that somebody else started will do, found out without changing anything in it.

    report = check_session(spark)          every check, wanted and found side by side
    adoption = adopt_session(spark)        what is really there, or SessionIncompatible

Not here: the sessions that are made from it; see `session`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql import SparkSession

from headwater.errors import SessionIncompatible
from headwater.runtime.failures import ENGINE_EXCEPTIONS
from headwater.runtime.profile import RuntimeProfile
from headwater.runtime.settings import (
    CATALOG,
    EXTENSIONS,
    SettingsSnapshot,
    is_session_setting,
    is_speed_setting,
    settings_of,
)
from headwater.runtime.storage import redacted
from headwater.runtime.versions import EngineVersions, engine_versions

if TYPE_CHECKING:
    from collections.abc import Iterator

_NOTHING = "not set"
_ABSENT = "not on the class path"
_DELTA_CLASS = "io.delta.package$"
_NEEDED_CLASSES = (
    (
        "connect_planner",
        (
            "org.apache.spark.sql.connect.planner.SparkConnectPlanner",
            "org.apache.spark.sql.connect.service.SessionHolder",
            "org.apache.spark.connect.proto.Plan",
        ),
        "Put Spark's own spark-connect jar of this version on the driver's class path.",
    ),
    (
        "compiler",
        ("org.codehaus.janino.SimpleCompiler",),
        "Put Spark's own Janino jar back on the driver's class path.",
    ),
)
_LOG_STORE = "spark.delta.logStore"
_IMPLEMENTATION = "spark.sql.catalogImplementation"
# How the session's catalog is reached, and where Spark looks for classes: nothing that a view could read by.
_KEPT = ("spark.sql.catalog.", "spark.sql.artifact.")


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionCheck:
    """One thing that was looked at: what is wanted, what was found, and what to do if that will not do."""

    name: str
    wanted: str
    found: str
    ok: bool
    remedy: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompatibilityReport:
    """Every check of a session. Nothing else is asked of one that is stopped or has no JVM."""

    checks: tuple[SessionCheck, ...]

    @property
    def compatible(self) -> bool:
        """Whether Headwater can work in the session's application."""
        return all(each.ok for each in self.checks)

    @property
    def problems(self) -> tuple[SessionCheck, ...]:
        """The checks that failed."""
        return tuple(each for each in self.checks if not each.ok)


@dataclass(frozen=True, slots=True, kw_only=True)
class Adoption:
    """What is really there in an application that somebody else started."""

    versions: EngineVersions
    settings: SettingsSnapshot


def check_session(spark: SparkSession, profile: RuntimeProfile | None = None) -> CompatibilityReport:
    """Whether `headwater.open(path, spark=spark)` would take a session; changes nothing in it.

    What only changes speed (master, memory, cores) is never asked for, and what a session of Headwater's own
    can set for itself (time zone, ANSI) neither.

    Args:
        spark: the session; a Spark Connect client and a stopped session are told apart from a good one.
        profile: what the application should be like: `headwater.open(path).profile`; the defaults if None.
    """
    opened = _openness(spark)
    if not opened.ok:
        return CompatibilityReport(checks=(opened,))
    return CompatibilityReport(checks=(opened, *_checks(_Inside(spark), profile or RuntimeProfile())))


def adopt_session(spark: SparkSession, profile: RuntimeProfile) -> Adoption:
    """The versions and settings of a session's application, if it will do for a profile.

    Raises:
        SessionIncompatible: it will not; every reason is named.
    """
    report = check_session(spark, profile)
    if not report.compatible:
        problems = tuple(
            f"{each.name}: {each.wanted} is wanted, found {each.found} ({each.remedy})"
            for each in report.problems
        )
        raise SessionIncompatible(problems=problems)
    inside = _Inside(spark)
    results, speed = (
        {key: _found(inside, key, value) for key, value in wanted.items()} for wanted in settings_of(profile)
    )
    return Adoption(
        versions=inside.versions(),
        settings=SettingsSnapshot(
            results=redacted(tuple(sorted(results.items()))), speed=redacted(tuple(sorted(speed.items())))
        ),
    )


def forget_inherited(session: SparkSession, wanted: set[str]) -> None:
    """Takes from a new session what it has from the application, so that two applications give equal rows.

    Spark gives each new session whatever the builder or the cluster set. What only changes speed stays.
    """
    jvm: Any = session._jvm
    for key in sorted(session.conf.getAll):
        is_kept = key in wanted or is_speed_setting(key) or key.startswith(_KEPT)
        if is_kept or not is_session_setting(key):
            continue
        if not jvm.org.apache.spark.sql.internal.SQLConf.isStaticConfigKey(key):
            session.conf.unset(key)


class _Inside:
    """Questions to the JVM of a session; none changes anything that its owner could see."""

    def __init__(self, spark: SparkSession) -> None:
        self.jvm: Any = spark._jvm
        java: Any = spark._jsparkSession
        self._conf: Any = java.sparkContext().conf()
        self._hadoop: Any = java.sparkContext().hadoopConfiguration()
        self._next: Any = java.newSession().conf()  # what sessions of ours would begin with
        self._loader: Any = self.jvm.java.lang.Thread.currentThread().getContextClassLoader()

    def setting(self, key: str) -> str | None:
        """A setting of the application, from where its readers get it."""
        if key.startswith("spark.hadoop."):
            found = self._hadoop.get(key.removeprefix("spark.hadoop."))
        elif key == CATALOG:
            found = self._next.get(key, None)
        else:
            default = "in-memory" if key == _IMPLEMENTATION else None
            found = self._conf.get(key, default)
        return None if found is None else str(found)

    def settings_below(self, prefix: str) -> tuple[str, ...]:
        """The names of the application's settings that begin so."""
        return tuple(sorted(str(each._1()) for each in self._conf.getAllWithPrefix(prefix)))

    def has_class(self, name: str) -> bool:
        """Whether a class can be loaded; it is not initialised."""
        return self._class(name) is not None

    def versions(self) -> EngineVersions:
        """What runs in the JVM; empty where nobody can say."""
        return EngineVersions(
            spark=str(self.jvm.org.apache.spark.package.SPARK_VERSION()),
            delta=self._delta() or "",
            scala=str(self.jvm.scala.util.Properties.versionNumberString()),
        )

    def _class(self, name: str, *, run: bool = False) -> Any:
        try:
            return self.jvm.java.lang.Class.forName(name, run, self._loader)
        except ENGINE_EXCEPTIONS:
            return None

    def _delta(self) -> str | None:
        found = self._class(_DELTA_CLASS, run=True)
        if found is None:
            return None
        try:
            return str(found.getField("MODULE$").get(None).VERSION())
        except ENGINE_EXCEPTIONS:  # a build that does not say it there says it in its manifest
            package = found.getPackage()
            version = package.getImplementationVersion() if package is not None else None
            return None if version is None else str(version)


def _openness(spark: object) -> SessionCheck:
    wanted = "a classic SparkSession that is open"
    remedy, found = "", ""
    if not isinstance(spark, SparkSession):
        kind = type(spark)
        if kind.__module__.startswith("pyspark.sql.connect"):
            found = "a client of Spark Connect, which has no JVM"
            remedy = (
                "Run where the driver runs, with a session that has a master; or send it what a run "
                "recorded: headwater replay last --connect sc://host:15002."
            )
        else:
            found, remedy = f"{kind.__module__}.{kind.__qualname__}", "Pass the SparkSession itself."
    elif _is_stopped(spark):
        found, remedy = "one that is stopped", "Make a new session and pass that one."
    is_ok = not found
    return SessionCheck(
        name="session", wanted=wanted, found=found or "one that is open", ok=is_ok, remedy=remedy
    )


def _is_stopped(spark: SparkSession) -> bool:
    java: Any = spark._jsparkSession
    try:
        return spark.sparkContext._jsc is None or bool(java.sparkContext().isStopped())
    except ENGINE_EXCEPTIONS:  # nobody answers
        return True


def _checks(inside: _Inside, profile: RuntimeProfile) -> Iterator[SessionCheck]:
    yield from _version_checks(inside.versions())
    for name, classes, remedy in _NEEDED_CLASSES:
        missing = [each for each in classes if not inside.has_class(each)]
        yield _checked(
            name,
            "its classes on the class path",
            f"no {', '.join(missing)}" if missing else "all of them",
            remedy,
            ok=not missing,
        )
    results, _ = settings_of(profile)
    for key, value in sorted(results.items()):
        if not is_session_setting(key):
            yield _setting_check(inside, key, value)
    for key in inside.settings_below(_LOG_STORE):
        name = f"{_LOG_STORE}{key}"
        if name not in results:
            yield _setting_check(inside, name, None)


def _version_checks(found: EngineVersions) -> Iterator[SessionCheck]:
    pinned = engine_versions()
    remedies = {
        "spark": "Use a cluster or an environment with this Spark.",
        "scala": "Use a Spark that is built for this Scala.",
        "delta": "Put delta-spark of this version on the class path: spark.jars.packages, or spark.jars.",
    }
    for name, remedy in remedies.items():
        wanted, there = getattr(pinned, name), getattr(found, name)
        ok = _line(wanted) == _line(there)
        yield _checked(name, f"{_line(wanted)}.x", there or _ABSENT, remedy, ok=ok)


def _line(version: str) -> str:
    """The first two numbers of a version.

    >>> _line("4.2.0")
    '4.2'
    """
    return ".".join(version.split(".")[:2])


def _setting_check(inside: _Inside, key: str, wanted: str | None) -> SessionCheck:
    there = inside.setting(key)
    ok = wanted in _listed(there) if key == EXTENSIONS else there == wanted
    if key == _IMPLEMENTATION:
        remedy = f'Say so in the profile: catalog = "{(there or "").replace("-", "_")}".'
    elif wanted is None:
        remedy = "Name it in the profile's storage, or take it from the session's builder."
    else:
        remedy = "Set it where the session is built (SparkSession.builder.config), before Spark starts."
    return _checked(key, _shown(key, wanted), _shown(key, there), remedy, ok=ok)


def _shown(key: str, value: str | None) -> str:
    return redacted(((key, value),))[0][1] if value else _NOTHING


def _found(inside: _Inside, key: str, wanted: str) -> str:
    """A setting as it will be: ours in a session, the application's everywhere else."""
    if is_session_setting(key):
        return wanted
    there = inside.setting(key) or ""
    return wanted if key == EXTENSIONS and _listed(there) == [wanted] else there


def _listed(text: str | None) -> list[str]:
    return [each.strip() for each in (text or "").split(",")]


def _checked(name: str, wanted: str, found: str, remedy: str, *, ok: bool) -> SessionCheck:
    return SessionCheck(name=name, wanted=wanted, found=found, ok=ok, remedy="" if ok else remedy)
