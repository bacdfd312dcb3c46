"""One Spark application serves a test process; everything else is made anew for each test."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings
from py4j.protocol import Py4JError
from pyspark import SparkContext

from headwater.runtime import RunSession, RuntimeProfile, SessionRuntime, close_runtime, open_runtime
from headwater.runtime import session as engine
from headwater.runtime.jvm import DEFAULT_OPTIONS, JvmSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

# Timings never decide a test: a busy machine must not fail a property.
settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")

# To make a class archive takes both cores for half a minute, beside the tests; here and in what tests start.
os.environ["HEADWATER_ARCHIVE"] = "off"
# Commands that tests run in a process of their own have little to do.
AT_ONCE = {"HEADWATER_ARCHIVE": "off", "HEADWATER_JAVA_COMPILER": "quick"}

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "examples" / "orders"
TEST_PROFILE = RuntimeProfile(master="local[2]", driver_memory="2g")
# Compiling a plan takes longer than running it over a handful of rows.
INTERPRETED = {"spark.sql.codegen.factoryMode": "NO_CODEGEN", "spark.sql.codegen.wholeStage": "false"}
# The JVM's own collector works beside the tests, on the cores that they need; there is little to collect, and
# less often with more room.
SERIAL = ("-XX:-UseParallelGC", "-XX:+UseSerialGC", "-Xms1g", "-Xmn500m")
# Tests go through ever other code, more of it than there is room for.
WITH_ROOM_FOR_CODE = ("-XX:ReservedCodeCacheSize=480m",)
# Hadoop runs `chmod` or `readlink` 25 times for a commit; with Java's helper in between each takes longer.
WITHOUT_HELPER = ("-Djdk.lang.Process.launchMechanism=VFORK",) if sys.platform == "linux" else ()
# Spark keeps the plans of the last thousand queries for a web page that nobody opens here.
FORGETTING = tuple(
    f"-Dspark.{kept}=100" for kept in ("sql.ui.retainedExecutions", "ui.retainedJobs", "ui.retainedStages")
)
FOR_TESTS = (*SERIAL, *WITH_ROOM_FOR_CODE, *WITHOUT_HELPER, *FORGETTING)
# Each of these keeps a process busy for a minute or more; begun last, one would leave the other process idle.
LONGEST = frozenset(
    ROOT / "tests" / each
    for each in (
        "cli/test_build.py",
        "delta/test_replacing.py",
        "plan/test_incremental.py",
        "plan/test_perturbation.py",
        "run/test_clusters.py",
        "run/test_tracing.py",
    )
)
# Fixtures with which a test needs a JVM, be it in a process of its own.
STARTING = frozenset({"runtime", "headwater", "writer"})


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Runs the whole suite in two processes, each file in one of them; a part of it stays in this one.

    A test of Spark keeps a core and a half busy, so two of them fill a small machine.
    """
    is_whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    if is_whole and not hasattr(config, "workerinput") and config.getoption("numprocesses", 0) is None:
        config.option.numprocesses = 2
        config.option.dist = "loadfile"
        config.option.loadscopereorder = False  # it would begin with the files that have most tests


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "runtime" in getattr(item, "fixturenames", ()):
            item.add_marker("spark")
    # Files without a JVM are short: at the end they fill what one process has left of the other's time.
    slow = {item.path for item in items if STARTING.intersection(getattr(item, "fixturenames", ()))}
    items.sort(key=lambda item: (item.path not in LONGEST, item.path not in slow))


@dataclass
class FixedClock:
    """A clock that stands still until it is told to go on."""

    seconds: float = 0.0
    tokens: int = 0
    base: datetime = field(default_factory=lambda: datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))

    def now(self) -> datetime:
        return self.base + timedelta(seconds=self.seconds)

    def monotonic(self) -> float:
        return self.seconds

    def new_token(self) -> str:
        self.tokens += 1
        return f"{self.tokens:08x}"


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture(scope="session")
def runtime() -> Generator[SessionRuntime]:
    """The application of all tests, whose sessions do not compile plans unless they are told to.

    Commands that tests run in processes of their own compile, as everywhere.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "JvmSpec", partial(JvmSpec, options=(*DEFAULT_OPTIONS, *FOR_TESTS)))
        with open_runtime(replace(TEST_PROFILE, name="first")).checkout() as session:
            defaults = session.jvm_session.sharedState().conf()
            for key, value in INTERPRETED.items():
                defaults.set(key, value)
    yield open_runtime(TEST_PROFILE)
    close_runtime()


@pytest.fixture(scope="module", autouse=True)
def no_tables_of_other_files() -> Generator[None]:
    """Delta keeps snapshots of all tables it has met; a JVM that is full of them does little but collect."""
    yield
    jvm: Any = getattr(SparkContext._active_spark_context, "_jvm", None)
    if jvm is not None:
        with suppress(Py4JError):  # a test has ended it
            jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()


@pytest.fixture
def session(runtime: SessionRuntime) -> Generator[RunSession]:
    with runtime.checkout() as lent:
        yield lent


@pytest.fixture
def project_folder(tmp_path: Path) -> Callable[..., Path]:
    """Makes a project's folder from texts by file name; `views` is where definitions are."""

    def make(**files: str) -> Path:
        folder = tmp_path / "project"
        (folder / "views").mkdir(parents=True, exist_ok=True)
        toml = '[project]\nname = "small"\n\n[profiles.local]\nmaster = "local[2]"\ndriver_memory = "2g"\n'
        (folder / "headwater.toml").write_text(toml)
        for name, text in files.items():
            stem, _, kind = name.rpartition("_")
            (folder / "views" / f"{stem}.{kind}").write_text(text)
        return folder

    return make


@pytest.fixture
def deterministic_part() -> Callable[[Path], str]:
    """What stays of a manifest's file when what its run observed is taken out."""

    def part(manifest: Path) -> str:
        document = json.loads(manifest.read_bytes())
        del document["observed"]
        return json.dumps(document, indent=2)

    return part


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """A copy of the example, as a user would make one."""
    folder = tmp_path / "orders"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns(".headwater", "__pycache__"))
    return folder


@dataclass(frozen=True)
class Finished:
    """A command that ran in its own process."""

    code: int
    out: str
    err: str


@pytest.fixture
def headwater() -> Callable[..., Finished]:
    """Runs the real command in a process of its own, with variables changed or (None) removed."""

    def run(*arguments: str | Path, cwd: Path | None = None, **variables: str | None) -> Finished:
        environment = {**os.environ, **AT_ONCE, "COLUMNS": "100", "TERM": "dumb"}
        for name, value in variables.items():
            if value is None:
                environment.pop(name, None)
            else:
                environment[name] = value
        command = [str(Path(sys.executable).parent / "headwater"), *(str(each) for each in arguments)]
        done = subprocess.run(
            command, cwd=cwd, env=environment, capture_output=True, check=False, timeout=240
        )
        return Finished(done.returncode, done.stdout.decode(), done.stderr.decode())

    return run
