from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from headwater.runtime.jars import pyspark_folder, pyspark_jars
from headwater.runtime.java import Java
from headwater.runtime.jvm import (
    CONF_FOLDER,
    QUICK_OPTIONS,
    JvmSpec,
    class_path_of,
    environment_of,
    java_command_of,
    reason_in,
)

JAVA = Java(path=Path("java"), version="17", major=17, vendor="none")


def spec_of(*settings: tuple[str, str]) -> JvmSpec:
    jars = (Path("z.jar"), Path("a.jar"))
    return JvmSpec(
        java=JAVA, jars=jars, home=Path("home"), memory="3g", settings=settings, options=("-Dx=y",)
    )


def test_the_given_jars_come_first_and_only_jars_are_on_the_class_path() -> None:
    class_path = class_path_of(spec_of())
    assert class_path == (Path("z.jar"), Path("a.jar"), *pyspark_jars())
    assert {path.suffix for path in class_path} == {".jar"}


def test_the_command_has_memory_options_and_the_bundled_log_settings() -> None:
    command = java_command_of(spec_of())
    assert command[:2] == ["java", "-Xmx3g"]
    assert command.index("-Dx=y") < command.index("-cp")
    assert (CONF_FOLDER / "log4j2.properties").is_file()
    assert f"-Dlog4j2.configurationFile={CONF_FOLDER.as_uri()}/log4j2.properties" in command


def test_for_little_work_options_are_added_behind_those_of_every_engine() -> None:
    every, quick = java_command_of(spec_of()), java_command_of(replace(spec_of(), quick=True))
    assert [each for each in quick if each not in QUICK_OPTIONS] == every
    assert quick.index("-Dx=y") < quick.index("-XX:TieredStopAtLevel=1") < quick.index("-cp")


def test_what_is_meant_for_another_spark_does_not_reach_the_engine() -> None:
    inherited = {
        "PATH": "/bin",
        "SPARK_HOME": "/other",
        "SPARK_CONF_DIR": "/other/conf",
        "SPARK_REMOTE": "sc://other",
        "PYSPARK_SUBMIT_ARGS": "--master other",
        "PYSPARK_PYTHON": "other",
        "JAVA_TOOL_OPTIONS": "-Dchatter",
    }
    assert environment_of(spec_of(), inherited) == {
        "PATH": "/bin",
        "SPARK_HOME": str(pyspark_folder()),
        "SPARK_CONF_DIR": str(CONF_FOLDER),
        "SPARK_CONNECT_MODE": "0",
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
    }


def test_only_a_local_master_is_bound_to_this_machine() -> None:
    assert "SPARK_LOCAL_IP" in environment_of(spec_of(("spark.master", "local[4]")), {})
    assert "SPARK_LOCAL_IP" in environment_of(spec_of(("spark.master", "spark://127.0.0.1:7077")), {})
    assert "SPARK_LOCAL_IP" not in environment_of(spec_of(("spark.master", "spark://host:7077")), {})


def test_workers_have_another_python_if_there_is_one_for_them() -> None:
    spec = spec_of(("spark.pyspark.python", "./environment/bin/python"))
    assert environment_of(spec, {"PYSPARK_PYTHON": "python9"})["PYSPARK_PYTHON"] == "./environment/bin/python"


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        ("WARNING: x\nInvalid maximum heap size: -Xmx1x\nError: Could not create the JVM.\n",
         "Invalid maximum heap size: -Xmx1x: Error: Could not create the JVM."),
        ('Exception in thread "main" a.B: x\n\tat c\nCaused by: d.E: y\n\t... 10 more\n', "d.E: y"),
        ("WARNING: x\n\n", "the JVM ended without a word"),
    ],
    ids=["the JVM's own words", "the innermost cause", "nothing"],
)  # fmt: skip
def test_the_reason_is_the_most_telling_line(tmp_path: Path, log: str, reason: str) -> None:
    (tmp_path / "log").write_text(log)
    assert reason_in(tmp_path / "log") == reason
