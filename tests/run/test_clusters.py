"""The same projects here, on a standalone cluster, under spark-submit and by Spark Connect: the same rows.

The cluster is a real one on this machine, with two workers of one core each. Each build is a process of its
own, since a process has one Spark application.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import headwater
from headwater.errors import InvalidSetting, MasterUnreachable, SessionIncompatible
from headwater.runtime import RuntimeProfile, prepare_engine
from headwater.runtime.jars import pyspark_folder
from headwater.runtime.java import find_java
from headwater.runtime.jvm import MODULE_OPTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

ROOT = Path(__file__).parents[2]
SCRIPT = Path(__file__).parent / "on_a_master.py"
SECONDS = 600.0  # a busy machine must not fail a test
pytestmark = pytest.mark.timeout(3 * SECONDS)
# What whoever starts Spark must set; the first four so that it is small, here, and quick with a few rows.
SETTINGS = {
    "spark.driver.host": "127.0.0.1",
    "spark.executor.memory": "600m",
    "spark.ui.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}
FILES = {
    "words/headwater.toml": '[project]\nname = "words"\n',
    "words/counting.py": "from tools.split import words\n\ndef count(text):\n    return len(words(text))\n",
    "words/tools/__init__.py": "",
    "words/tools/split.py": "def words(text):\n    return text.split()\n",
    "words/data/a.txt": "one two three",
    "words/data/b.txt": "four",
    "words/views/scored.py": """
import pandas as pd
from counting import count
from pyspark.sql import functions as F

import headwater

headwater.source("texts", path="data", format="files", options={"include": "*.txt"})

@headwater.extractor(files="texts", schema="words INT, letters ARRAY<STRING>")
def counts(path, content):
    return {"words": count(content.decode()), "letters": sorted(set(content.decode()))}

@headwater.pure
def tripled(values: pd.Series) -> pd.Series:
    return values * 3 * count("one")

@headwater.table
def scored(counts):
    doubled = F.udf(headwater.pure(lambda n: 2 * n * count("one")), "int")
    return counts.select(
        "path", doubled("words").alias("doubled"), F.pandas_udf(tripled, "int")("words").alias("tripled")
    )
""",
    "graph/cart.py": "class Cart:\n    def total(self, prices):\n        return sum(prices)\n",
    "graph/legacy.py": 'print "old"\n',
}


@dataclass(frozen=True)
class Cluster:
    """Where its master listens, and the folder of logs and of the workers' own files."""

    master: str
    folder: Path

    @property
    def story(self) -> str:
        """The ends of all logs, for whoever looks at a failure."""
        logs = sorted([*self.folder.glob("*.log"), *self.folder.rglob("stderr")])
        return "\n".join(f"== {log}\n{log.read_text('utf-8', 'replace')[-2000:]}" for log in logs)


@contextmanager
def daemon(
    folder: Path, name: str, words: list[str], sign: str, **variables: str
) -> Generator[re.Match[str]]:
    """A process of Spark's own; what its log says when it is there."""
    heap = "-Xmx1g" if name == "connect" else "-Xmx256m"
    command = [str(find_java().path), heap, *MODULE_OPTIONS, "-Dspark.master.rest.enabled=false"]
    environment = {
        **os.environ,
        "SPARK_HOME": str(pyspark_folder()),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_SCALA_VERSION": "2.13",  # as the scripts of Spark say it; workers start executors with it
        # They live for a minute, so the optimising compiler takes more than it spares; executors inherit it.
        "JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }
    log = folder / f"{name}.log"
    with log.open("wb") as sink:
        process = subprocess.Popen(
            [*command, "-cp", f"{pyspark_folder()}/jars/*", *words],
            env=environment | variables,
            cwd=folder,
            stdout=sink,
            stderr=sink,
        )
    try:
        deadline = time.monotonic() + SECONDS
        while not (found := re.search(sign, log.read_text("utf-8", "replace"))):
            is_late = process.poll() is not None or time.monotonic() > deadline
            assert not is_late, f"{name} did not start\n{log.read_text('utf-8', 'replace')[-4000:]}"
            time.sleep(0.1)
        yield found
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Generator[Cluster]:
    """A master and two workers, each with one core and little memory."""
    folder = tmp_path_factory.mktemp("cluster")
    here = ["--host", "127.0.0.1", "--port", "0", "--webui-port", "0"]
    with ExitStack() as stack:
        words = ["org.apache.spark.deploy.master.Master", *here]
        found = stack.enter_context(
            daemon(folder, "master", words, r"Starting Spark master at (spark://\S+)[\s\S]*New state: ALIVE")
        )
        for name in ("first", "second"):
            resources = ["--cores", "1", "--memory", "700m", "--work-dir", str(folder / name)]
            words = ["org.apache.spark.deploy.worker.Worker", *here, *resources, found[1]]
            stack.enter_context(daemon(folder, name, words, "Successfully registered with master"))
        yield Cluster(found[1], folder)


def projects(folder: Path) -> Path:
    """Copies of all projects: views, functions from modules of a project, a code graph."""
    shutil.copytree(
        ROOT / "examples" / "orders",
        folder / "orders",
        ignore=shutil.ignore_patterns(".headwater", "__pycache__"),
    )
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def seen_by(command: list[str], story: Callable[[], str], **variables: str) -> dict[str, Any]:
    """What the script saw, run by a command."""
    environment = {**os.environ, "HEADWATER_ARCHIVE": "off", **variables}
    done = subprocess.run(command, env=environment, capture_output=True, check=False, timeout=SECONDS)
    assert done.returncode == 0, f"{done.stdout.decode()}{done.stderr.decode()[-6000:]}\n{story()}"
    seen: dict[str, Any] = json.loads(done.stdout)
    return seen


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What is seen on this machine alone."""
    folder = projects(tmp_path_factory.mktemp("local"))
    return seen_by([sys.executable, str(SCRIPT), str(folder), "local[*]", "graph", "words"], str)


@dataclass(frozen=True)
class Built:
    """What was seen on the cluster, and where the projects are."""

    folder: Path
    seen: dict[str, Any]


@pytest.fixture(scope="module")
def built(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Everything, built on the cluster."""
    folder = projects(tmp_path_factory.mktemp("built"))
    command = [sys.executable, str(SCRIPT), str(folder), cluster.master, "orders", "graph", "words"]
    return Built(folder, seen_by(command, lambda: cluster.story))


def documented() -> dict[str, str]:
    """The digests of the example's tables, as a page shows them; they were made on one machine."""
    page = (ROOT / "docs" / "reference" / "replay.md").read_text("utf-8")
    return dict(re.findall(r"^equal +(\w+) .*(hw2:\S+)$", page, re.MULTILINE))


def who_worked(seen: dict[str, Any]) -> dict[str, bool]:
    """Driver and executors, and whether they ran any task."""
    return {name: count > 0 for name, count in seen["tasks"].items()}


def test_a_cluster_makes_the_same_tables(local: dict[str, Any], built: Built) -> None:
    assert built.seen["orders"]["tables"] == documented()
    assert {name: built.seen[name] for name in ("graph", "words")} == {
        name: local[name] for name in ("graph", "words")
    }


def test_executors_of_both_workers_did_the_work(
    local: dict[str, Any], built: Built, cluster: Cluster
) -> None:
    assert who_worked(local) == {"driver": True}
    assert who_worked(built.seen) == {"driver": False, "0": True, "1": True}, cluster.story
    executors = [sorted(cluster.folder.glob(f"{worker}/app-*/*/stderr")) for worker in ("first", "second")]
    assert all(executors), cluster.story


def test_a_project_on_a_cluster_is_asked_planned_and_replayed(built: Built) -> None:
    rows = [{"path": "a.txt", "doubled": 6}, {"path": "b.txt", "doubled": 2}]
    expected = {"again": "unchanged", "planned": ["built"], "replayed": "equal", "rows": rows}
    assert built.seen["asked"] == expected


def test_a_submitted_job_makes_the_same_tables(
    local: dict[str, Any], cluster: Cluster, tmp_path: Path
) -> None:
    """With the Delta jars, and an environment for executors that is sent along: as the tutorial says."""
    jars = ",".join(str(each) for each in prepare_engine(RuntimeProfile()))
    settings = {**SETTINGS, "spark.driver.bindAddress": "127.0.0.1"}
    command = [str(pyspark_folder() / "bin" / "spark-submit"), "--master", cluster.master]
    command += ["--driver-memory", "1g", "--jars", jars]
    command += ["--archives", f"{packed_environment(tmp_path)}#environment"]
    command += [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
    seen = seen_by(
        [*command, str(SCRIPT), str(projects(tmp_path / "projects")), "submitted", "words"],
        lambda: cluster.story,
        PYSPARK_DRIVER_PYTHON=sys.executable,
        PYSPARK_PYTHON="./environment/bin/python",
        SPARK_HOME=str(pyspark_folder()),
        SPARK_LOCAL_IP="127.0.0.1",
    )
    assert not who_worked(seen)["driver"], cluster.story
    assert seen["words"] == local["words"]


def packed_environment(folder: Path) -> Path:
    """A small environment, packed, that finds the packages of this one where they are."""
    environment = folder / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    (site,) = environment.glob("lib/python*/site-packages")
    packages = [Path(each).parents[1] for each in (headwater.__file__, str(pyspark_folder() / "x"))]
    (site / "here.pth").write_text("".join(f"{each}\n" for each in packages))
    packed = folder / "environment.tar.gz"
    with tarfile.open(packed, "w:gz") as archive:
        archive.add(environment, ".")
    return packed


def test_recorded_plans_give_the_same_rows_by_spark_connect(built: Built, cluster: Cluster) -> None:
    """The bytes that a run kept, run by a server that has nothing of Headwater."""
    settings = {
        **SETTINGS,
        "spark.master": cluster.master,
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": "0",
        "spark.jars": ",".join(str(each) for each in prepare_engine(RuntimeProfile())),
    }
    words = ["org.apache.spark.deploy.SparkSubmit"]
    words += [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
    words += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"]
    sign = r"Spark Connect server started at: (\S+)"
    with daemon(cluster.folder, "connect", words, sign, PYSPARK_PYTHON=sys.executable) as found:
        address = f"sc://{found[1]}"
        orders = headwater.open(built.folder / "orders").replay("last", connect=address)
        scored = headwater.open(built.folder / "words").replay("last", connect=address)
        check_refused(address, built.folder / "orders")
    assert {each.name: each.replayed for each in orders.views} == documented(), cluster.story
    assert orders.status == "equal"
    by_name = {each.name: each for each in scored.views}
    assert by_name["scored"].replayed == built.seen["words"]["tables"]["scored"], cluster.story
    assert by_name["counts"].status == "skipped"
    assert "only a driver reads 'texts'" in by_name["counts"].reason


def check_refused(address: str, project: Path) -> None:
    """A server is no place to build in, be it named as a master or given as a session."""
    with pytest.raises(InvalidSetting) as caught:
        headwater.open(project, settings={"master": address})
    assert "no driver that a build could work in" in caught.value.next_step
    program = (
        "import sys, headwater\n"
        "from pyspark.sql import SparkSession\n"
        "from headwater.errors import SessionIncompatible\n"
        "spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()\n"
        "try:\n"
        "    headwater.open(sys.argv[2], spark=spark)\n"
        "except SessionIncompatible as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, address, str(project)],
        capture_output=True,
        check=False,
        timeout=SECONDS,
    )
    assert SessionIncompatible.code in done.stdout.decode(), done.stderr.decode()
    assert "a client of Spark Connect, which has no JVM" in done.stdout.decode()


def test_an_endpoint_that_is_not_there_is_told_at_once(built: Built) -> None:
    project = headwater.open(built.folder / "orders")
    with pytest.raises(MasterUnreachable, match=r"sc://127\.0\.0\.1:1 cannot be reached"):
        project.replay("last", connect="sc://127.0.0.1:1")
    with pytest.raises(InvalidSetting) as caught:
        project.replay("last", connect="127.0.0.1:1")
    assert "sc://host:15002" in caught.value.next_step
