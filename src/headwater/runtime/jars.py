"""The Delta jars that PySpark does not bring: fetched once by Spark's own resolver, checked at every start.

Nothing enters the cache unless its sha256 is the one written here.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from filelock import FileLock

from headwater.digest import digest_of_file
from headwater.errors import HomeNotWritable, JarCorrupt, JarsUnavailable
from headwater.home import folder_in, new_log

if TYPE_CHECKING:
    from collections.abc import Iterable

    from headwater.runtime.java import Java

Notify: TypeAlias = Callable[[str], None]
Fetch: TypeAlias = "Callable[[Path, Path, Java], None]"
"""Puts the jars into the folder given first, as far as it can, and what it saw into the log given second."""

SCALA_LINE = "2.13"
_COORDINATE = f"io.delta:delta-spark_4.2_{SCALA_LINE}:4.4.0"
_IN_PYSPARK_ALREADY = "org.*:*,com.*:*,io.unitycatalog:*"
_FETCH_SECONDS = 600
_COMPLAINTS: tuple[str, ...] = (  # the most telling first
    r"\((java[\w.]*Exception[^)]*)\)",
    r"^\s*(Host \S+ not found)",
    r"^Caused by: (.*)$",
    r"^Exception in thread (.*)$",
)


@dataclass(frozen=True, slots=True)
class Jar:
    """A jar by its file name in the cache, and the sha256 of its bytes."""

    name: str
    sha256: str


DELTA_JARS: tuple[Jar, ...] = (
    Jar(
        "io.delta_delta-kernel-api-4.4.0.jar",
        "ee9b5a14ac3b7efdff4d61a58478fe8eb0e5a3fbca43889dca7290795fe79a11",
    ),
    Jar(
        "io.delta_delta-kernel-defaults-4.4.0.jar",
        "225c975199e4718b38ee5b7e6da7f19e9585024262b2cec2656b32151a856b0b",
    ),
    Jar(
        "io.delta_delta-kernel-unitycatalog-4.4.0.jar",
        "cea22dfb4ac562b3cd27bf652697750e8336009d73fb06631363aaaad5345ffa",
    ),
    Jar(
        "io.delta_delta-spark_4.2_2.13-4.4.0.jar",
        "27d4fd8b1f879535c573ed1c718177d6a27f24d3e626ba02e216369725721ead",
    ),
    Jar(
        "io.delta_delta-storage-4.4.0.jar",
        "c46735481fa8e326b0957be02b4420cbcab4b325bb08009b7f2045a95133f1cc",
    ),
)


def pyspark_folder() -> Path:
    """The Spark that PySpark belongs to: its own package folder; a SPARK_HOME of the user does not matter.

    In a job that spark-submit started, PySpark is a zip file in the folder of that Spark.
    """
    spec = find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(name="pyspark")
    return spark_around(Path(spec.origin).parent)


def spark_around(package: Path) -> Path:
    """The folder that has Spark's jars: the package's own, or one that it lies in; if none has, its own."""
    around = (package, *package.parents)
    return next((each for each in around if any(each.glob("jars/spark-core_*.jar"))), package)


def pyspark_jars() -> tuple[Path, ...]:
    """PySpark's own jars in class path order, which is the same on every machine."""
    found = sorted((pyspark_folder() / "jars").glob("*.jar"), key=lambda jar: jar.name)
    # Spark's launcher puts slf4j-api first as well: some other jars carry older copies of its classes.
    return tuple(sorted(found, key=lambda jar: not jar.name.startswith("slf4j-api-")))


def fetch_with_spark(folder: Path, log: Path, java: Java) -> None:
    """Have Spark's resolver put the Delta jars into `folder`; all it says goes to `log`."""
    scratch = folder / "ivy"
    command = [
        java.path,
        "-cp",
        f"{pyspark_folder()}/jars/*",
        "org.apache.spark.deploy.SparkSubmit",
        f"--packages={_COORDINATE}",
        f"--exclude-packages={_IN_PYSPARK_ALREADY}",
        f"--conf=spark.jars.ivy={scratch}",
        # An application there must be; this one prints a version and needs neither a file nor Python.
        "--class=org.apache.hadoop.util.VersionInfo",
        "spark-internal",
    ]
    # Without it, Spark looks through the network interfaces and fails obscurely where there are none.
    environment = {**os.environ, "SPARK_HOME": str(pyspark_folder()), "SPARK_LOCAL_IP": "127.0.0.1"}
    with log.open("wb") as sink:
        try:
            subprocess.run(
                command, stdout=sink, stderr=sink, env=environment, timeout=_FETCH_SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            sink.write(f"Exception in thread of the fetch: {error}\n".encode())
    for fetched in sorted((scratch / "jars").glob("*.jar")):
        fetched.replace(folder / fetched.name)


def provide_jars(
    home: Path,
    java: Java,
    *,
    notify: Notify | None = None,
    fetch: Fetch = fetch_with_spark,
    jars: tuple[Jar, ...] = DELTA_JARS,
) -> tuple[Path, ...]:
    """The paths of the jars in the cache, each with the bytes it should have.

    What is missing or damaged is fetched again; two processes at once fetch once.

    Raises:
        JarsUnavailable: a jar is not in the cache and could not be fetched.
        JarCorrupt: a fetched jar has other bytes; nothing of that fetch is kept.
        HomeNotWritable: the cache cannot take them.
    """
    folder = home / "jars"
    if _damaged(folder, jars):
        folder_in(home, "jars")
        with FileLock(home / "jars.lock"):
            # Another process may have fetched them while this one waited for the lock.
            wanted = _damaged(folder, jars)
            if wanted:
                _refresh(home, java, wanted, notify=notify, fetch=fetch)
    return tuple(folder / jar.name for jar in jars)


def _damaged(folder: Path, jars: Iterable[Jar]) -> tuple[Jar, ...]:
    return tuple(jar for jar in jars if _sha256_of(folder / jar.name) != jar.sha256)


def _sha256_of(path: Path) -> str | None:
    try:
        return digest_of_file(path)
    except OSError:
        return None


def _refresh(home: Path, java: Java, wanted: tuple[Jar, ...], *, notify: Notify | None, fetch: Fetch) -> None:
    if notify is not None:
        notify("fetching the Delta jars (once, 12 MB)")
    log = new_log(home, "fetch")
    try:
        # Inside the home, so that the last step is a rename on one file system.
        with tempfile.TemporaryDirectory(dir=home, prefix="fetch-") as scratch:
            fetch(Path(scratch), log, java)
            _check_fetched(Path(scratch), wanted, home, log)
            for jar in wanted:
                (Path(scratch) / jar.name).replace(home / "jars" / jar.name)
    except OSError as error:
        raise HomeNotWritable(path=str(home), detail=error.strerror or str(error)) from error


def _check_fetched(folder: Path, wanted: tuple[Jar, ...], home: Path, log: Path) -> None:
    found = {jar: _sha256_of(folder / jar.name) for jar in wanted}
    absent = tuple(jar.name for jar in wanted if found[jar] is None)
    if absent:
        raise JarsUnavailable(jars=absent, home=str(home), detail=_reason_in(log))
    for jar, sha256 in found.items():
        if sha256 != jar.sha256:
            raise JarCorrupt(jar=jar.name, expected=jar.sha256, found=str(sha256))


def _reason_in(log: Path) -> str:
    """The resolver's most telling complaint; empty where it said nothing of use."""
    content = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    matches = (re.search(pattern, content, flags=re.MULTILINE) for pattern in _COMPLAINTS)
    return next((match[1].strip() for match in matches if match), "")
