"""The engine's JVM as a child process: its command, its environment, its log.

Not here: the py4j connection to it (`gateway`) and the Spark session (its callers).
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.errors import EngineStartFailed
from headwater.home import new_log
from headwater.runtime.jars import pyspark_folder, pyspark_jars
from headwater.runtime.java import Java  # noqa: TC001  a spec is decoded by its annotations
from headwater.runtime.masters import WORKER_PYTHON, is_on_this_machine

if TYPE_CHECKING:
    from collections.abc import Mapping

CONF_FOLDER = Path(__file__).parent / "conf"

# What Spark's launcher adds for Java 17 and newer; a test compares it with JavaModuleOptions.
MODULE_OPTIONS: tuple[str, ...] = (
    "-XX:+IgnoreUnrecognizedVMOptions",
    "--add-modules=jdk.incubator.vector",
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
    "--add-opens=java.base/java.lang.invoke=ALL-UNNAMED",
    "--add-opens=java.base/java.lang.reflect=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/java.net=ALL-UNNAMED",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.util=ALL-UNNAMED",
    "--add-opens=java.base/java.util.concurrent=ALL-UNNAMED",
    "--add-opens=java.base/java.util.concurrent.atomic=ALL-UNNAMED",
    "--add-opens=java.base/jdk.internal.ref=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.cs=ALL-UNNAMED",
    "--add-opens=java.base/sun.security.action=ALL-UNNAMED",
    "--add-opens=java.base/sun.util.calendar=ALL-UNNAMED",
    "--add-opens=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dio.netty.allocator.type=pooled",
    "-Dio.netty.handler.ssl.defaultEndpointVerificationAlgorithm=NONE",
    "--sun-misc-unsafe-memory-access=allow",
    "--enable-native-access=ALL-UNNAMED",
)

DEFAULT_OPTIONS: tuple[str, ...] = (
    "-Xss4m",  # deep plans recurse deeply in Catalyst
    "-XX:-UsePerfData",  # no memory-mapped statistics file that nobody reads
    # On few cores the collector that works beside the others takes as much from them as it spares them.
    "-XX:+UseParallelGC",
    # The optimising compiler takes both cores of a small machine just when a run starts. With fifty times its
    # default thresholds it comes in where loops are really hot, as those of a scan of millions of rows are.
    "-XX:Tier4InvocationThreshold=250000",
    "-XX:Tier4MinInvocationThreshold=30000",
    "-XX:Tier4CompileThreshold=750000",
    "-XX:Tier4BackEdgeThreshold=2000000",
)

# What ends before code could get hot: compiled once, lightly, and collected by one thread.
QUICK_OPTIONS: tuple[str, ...] = ("-XX:TieredStopAtLevel=1", "-XX:-UseParallelGC", "-XX:+UseSerialGC")

# Settings meant for another Spark, and variables at which the JVM itself starts to talk.
_DROPPED_VARIABLES: tuple[str, ...] = (
    "PYSPARK_SUBMIT_ARGS",
    "PYSPARK_DRIVER_PYTHON",
    "PYSPARK_GATEWAY_PORT",
    "PYSPARK_GATEWAY_SECRET",
    "SPARK_REMOTE",
    "SPARK_CONNECT_MODE_ENABLED",
    "SPARK_TESTING",
    "CLASSPATH",
    "_JAVA_OPTIONS",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class JvmSpec:
    """An engine that was asked for.

    Attributes:
        jars: what is on the class path before PySpark's own jars.
        home: the cache folder; the log is written in it.
        memory: the heap's limit as Java writes it: `2g`.
        settings: Spark's settings; they reach the JVM in a private file, so secrets do not show in `ps`.
        options: JVM options, all but the module options, which are always given.
        quick: whether it is to work on little, and then to end. A class archive serves both kinds.
    """

    java: Java
    jars: tuple[Path, ...]
    home: Path
    memory: str
    settings: tuple[tuple[str, str], ...] = ()
    options: tuple[str, ...] = DEFAULT_OPTIONS
    quick: bool = False


def class_path_of(spec: JvmSpec) -> tuple[Path, ...]:
    """The jars of the application class loader, in order.

    Jars only, no folder: a class archive cannot be used with a folder on the class path.
    """
    return (*spec.jars, *pyspark_jars())


def java_command_of(spec: JvmSpec) -> list[str]:
    """The command up to the main class, which the caller adds."""
    return [
        str(spec.java.path),
        f"-Xmx{spec.memory}",
        *MODULE_OPTIONS,
        f"-Dlog4j2.configurationFile={(CONF_FOLDER / 'log4j2.properties').as_uri()}",
        *spec.options,
        *(QUICK_OPTIONS if spec.quick else ()),
        "-cp",
        os.pathsep.join(str(jar) for jar in class_path_of(spec)),
    ]


def environment_of(spec: JvmSpec, inherited: Mapping[str, str] | None = None) -> dict[str, str]:
    """The child's environment: that of this process, made safe from what is meant for other Sparks."""
    known = os.environ if inherited is None else inherited
    settings = dict(spec.settings)
    environment = {name: known[name] for name in sorted(known) if name not in _DROPPED_VARIABLES}
    environment |= {
        "SPARK_HOME": str(pyspark_folder()),
        "SPARK_CONF_DIR": str(CONF_FOLDER),
        "SPARK_CONNECT_MODE": "0",
        "PYSPARK_PYTHON": settings.get(WORKER_PYTHON, sys.executable),
    }
    if is_on_this_machine(settings.get("spark.master", "local")):
        environment["SPARK_LOCAL_IP"] = "127.0.0.1"
    return environment


def start_jvm(spec: JvmSpec, private: Path) -> tuple[subprocess.Popen[bytes], Path]:
    """A JVM that is about to open a py4j gateway, and its log.

    Args:
        spec: what to start.
        private: a folder only this user can read; the JVM writes `connection` into it when it is ready.

    Raises:
        EngineStartFailed: the process could not be started at all.
        HomeNotWritable: no log can be written.
    """
    settings = private / "spark.properties"
    settings.write_text(_properties(spec.settings), encoding="ascii")
    command = [
        *java_command_of(spec),
        "org.apache.spark.deploy.SparkSubmit",
        f"--properties-file={settings}",
        "pyspark-shell",
    ]
    environment = environment_of(spec) | {"_PYSPARK_DRIVER_CONN_INFO_PATH": str(private / "connection")}
    log = new_log(spec.home, "engine")
    with log.open("wb") as sink:
        try:
            process = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.PIPE,  # its end of file tells the JVM that this process is gone
                stdout=sink,
                stderr=sink,
                process_group=0,  # so that Ctrl-C reaches Python alone, which then stops Spark in order
            )
        except OSError as error:
            raise EngineStartFailed(detail=f"{spec.java.path}: {error}", log=str(log)) from error
    return process, log


def reason_in(log: Path) -> str:
    """The one line of a log that says best why a JVM ended."""
    content = log.read_text(encoding="utf-8", errors="replace")
    lines = [line.strip() for line in content.splitlines()]
    telling = [line for line in lines if line and not line.startswith(("at ", "WARNING:", "... "))]
    causes = [line for line in telling if re.match(r"Caused by:|Exception in thread|Error: .*class", line)]
    if causes:
        return causes[-1].removeprefix("Caused by:").strip()
    # The JVM's own complaints begin with what is wrong and end with general words.
    return ": ".join(telling[:2]) if telling else "the JVM ended without a word"


def _properties(settings: tuple[tuple[str, str], ...]) -> str:
    return "".join(f"{_escaped(key)}={_escaped(value)}\n" for key, value in settings)


def _escaped(text: str) -> str:
    r"""The text for a Java properties file: whatever could mean something is escaped."""
    units = text.encode("utf-16-be")
    codes = [int.from_bytes(units[at : at + 2], "big") for at in range(0, len(units), 2)]
    return "".join(
        chr(code) if re.match(r"[A-Za-z0-9._/-]", chr(code)) else f"\\u{code:04x}" for code in codes
    )
