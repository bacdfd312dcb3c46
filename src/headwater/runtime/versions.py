"""Which Python, Java, Scala, Spark and Delta this is, and every jar by its sha256; no JVM is started.

Not here: whether they work; `headwater doctor` probes that.
"""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib.metadata import version

import pyspark

from headwater.digest import digest_of_file
from headwater.errors import RuntimeFailure
from headwater.home import home_path
from headwater.runtime.jars import DELTA_JARS, SCALA_LINE, Jar, pyspark_jars
from headwater.runtime.java import find_java


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineVersions:
    """The versions that a plan depends on; the lock file fixes them, so they are equal on every machine."""

    spark: str
    delta: str
    scala: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DependencyManifest:
    """Everything that runs below a pipeline; `java` is None on a machine that has none."""

    headwater: str
    python: str
    java: str | None
    java_vendor: str | None
    scala: str
    spark: str
    delta: str
    jars: tuple[Jar, ...]


def engine_versions() -> EngineVersions:
    """What the installed packages say; where Spark's jars are elsewhere, the line of Scala alone."""
    found = [jar.stem for jar in pyspark_jars() if jar.name.startswith("scala-library-")]
    return EngineVersions(
        spark=pyspark.__version__,
        delta=version("delta-spark"),
        scala=found[0].removeprefix("scala-library-") if found else SCALA_LINE,
    )


def dependency_manifest() -> DependencyManifest:
    """Python, Java, Scala, Spark, Delta and every jar with its sha256, as installed on this machine.

    The Delta jars are listed from the cache if they are there, otherwise as this version expects them.
    """
    versions = engine_versions()
    try:
        java = find_java()
    except RuntimeFailure:
        java = None
    cached = home_path() / "jars"
    bundled = [Jar(path.name, digest_of_file(path)) for path in pyspark_jars()]
    delta = [
        Jar(jar.name, digest_of_file(cached / jar.name)) if (cached / jar.name).is_file() else jar
        for jar in DELTA_JARS
    ]
    return DependencyManifest(
        headwater=version("headwater"),
        python=platform.python_version(),
        java=java.version if java else None,
        java_vendor=java.vendor if java else None,
        scala=versions.scala,
        spark=versions.spark,
        delta=versions.delta,
        jars=tuple(sorted(bundled + delta, key=lambda jar: jar.name)),
    )
