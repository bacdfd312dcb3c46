from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from headwater.errors import EngineStartFailed
from headwater.home import headwater_home
from headwater.runtime.gateway import begin_gateway, open_gateway
from headwater.runtime.jars import provide_jars
from headwater.runtime.java import Java, find_java
from headwater.runtime.jvm import CONF_FOLDER, MODULE_OPTIONS, JvmSpec

# A user's own Spark must not matter, and nothing may reach the terminal.
SESSION = """
import os, sys
from pathlib import Path
from pyspark import SparkContext
from pyspark.sql import SparkSession
from headwater.runtime.gateway import open_gateway
from headwater.home import headwater_home
from headwater.runtime.jars import provide_jars
from headwater.runtime.java import find_java
from headwater.runtime.jvm import JvmSpec
from headwater.runtime.training import TRAINING_SETTINGS

java, home = find_java(), Path(sys.argv[1])
jars = provide_jars(headwater_home(), java)
spec = JvmSpec(java=java, jars=jars, home=home, memory="1g", settings=TRAINING_SETTINGS)
gateway = open_gateway(spec)
spark = SparkSession(SparkContext(gateway=gateway.py4j))
spark.range(3).write.format("delta").save(str(home / "table"))
print(spark.read.format("delta").load(str(home / "table")).count(), spark.conf.get("spark.app.name"))
print(gateway.process.pid)
sys.stdout.flush()
os._exit(0)
"""


@pytest.fixture
def spec(tmp_path: Path) -> JvmSpec:
    java = find_java()
    settings = (("spark.master", "local[1]"), ("spark.app.name", 'tü #=:\\ "x" 🌊'))
    jars = provide_jars(headwater_home(), java)
    return JvmSpec(java=java, jars=jars, home=tmp_path, memory="512m", settings=settings)


def fake_java(folder: Path, script: str) -> Java:
    path = folder / "java"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return Java(path=path, version="17", major=17, vendor="none")


def test_an_open_gateway_speaks_for_the_engine_that_was_asked_for(spec: JvmSpec) -> None:
    gateway = open_gateway(spec)
    try:
        jvm: Any = gateway.py4j.jvm
        assert (
            tuple(jvm.org.apache.spark.launcher.JavaModuleOptions.defaultModuleOptionArray())
            == MODULE_OPTIONS
        )
        assert dict(spec.settings).items() <= dict(jvm.java.lang.System.getProperties()).items()
        assert jvm.java.lang.System.getenv("SPARK_CONF_DIR") == str(CONF_FOLDER)
        assert os.getpgid(gateway.process.pid) != os.getpgid(0)
        assert "PYSPARK_GATEWAY_SECRET" not in os.environ
    finally:
        gateway.close()
    assert gateway.process.returncode == 0
    assert gateway.log.parent == spec.home / "logs"
    gateway.close()


def test_a_session_works_silently_and_its_engine_ends_with_its_process(tmp_path: Path) -> None:
    (tmp_path / "spark-defaults.conf").write_text("spark.app.name stolen\nspark.master local[bad]\n")
    foreign = {
        "SPARK_HOME": str(tmp_path),
        "SPARK_CONF_DIR": str(tmp_path),
        "PYSPARK_SUBMIT_ARGS": "--verbose nonsense",
        "JAVA_TOOL_OPTIONS": "-Dchatter=1",
    }
    done = subprocess.run(
        [sys.executable, "-c", SESSION, str(tmp_path)],
        env=os.environ | foreign,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    answer, engine = done.stdout.splitlines()
    assert answer == "3 headwater-training"
    assert has_ended(int(engine), seconds=20)


def has_ended(process: int, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            os.kill(process, 0)
            state = Path(f"/proc/{process}/stat")
            if state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z":
                return True  # ended, and whoever inherited it has not looked yet
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


def test_an_engine_that_ends_at_once_tells_why(spec: JvmSpec) -> None:
    with pytest.raises(EngineStartFailed) as caught:
        open_gateway(replace(spec, memory="1x"))
    assert "Invalid maximum heap size: -Xmx1x" in caught.value.detail
    assert caught.value.log is not None
    assert Path(caught.value.log).is_file()


def test_an_engine_that_never_answers_is_ended(spec: JvmSpec, tmp_path: Path) -> None:
    starting = begin_gateway(replace(spec, java=fake_java(tmp_path, "exec sleep 60")), timeout=0.3)
    with pytest.raises(EngineStartFailed, match="did not answer in time"):
        starting.connect()
    assert starting.process.returncode is not None
    assert not Path(starting.private.name).exists()


def test_an_engine_that_is_not_wanted_any_more_is_ended(spec: JvmSpec, tmp_path: Path) -> None:
    starting = begin_gateway(replace(spec, java=fake_java(tmp_path, "exec sleep 60")))
    starting.abandon()
    assert starting.process.returncode is not None


def test_a_java_that_cannot_be_started_is_named(spec: JvmSpec, tmp_path: Path) -> None:
    absent = Java(path=tmp_path / "absent", version="17", major=17, vendor="none")
    with pytest.raises(EngineStartFailed, match="absent"):
        open_gateway(replace(spec, java=absent))
