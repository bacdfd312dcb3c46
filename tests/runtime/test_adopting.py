from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
from pyspark import RDD
from pyspark.sql import SparkSession

from headwater.errors import SessionIncompatible
from headwater.functions import function_rows
from headwater.runtime import (
    RunSession,
    RuntimeProfile,
    SessionRuntime,
    StorageProfile,
    adopt_session,
    check_session,
    close_runtime,
    engine_versions,
    identity_of,
    open_runtime,
)
from headwater.runtime import adopting as adopting_module
from headwater.runtime import session as session_module
from headwater.runtime.versions import EngineVersions

if TYPE_CHECKING:
    from collections.abc import Callable

PROFILE = RuntimeProfile(master="local[2]", driver_memory="2g")


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a process of its own saw, whose session a user had started."""
    folder = tmp_path_factory.mktemp("user")
    project, scratch = folder / "orders", folder / "scratch"
    example = Path(__file__).parents[2] / "examples" / "orders"
    for each in example.rglob("*"):
        if each.is_file() and ".headwater" not in each.parts and "__pycache__" not in each.parts:
            target = project / each.relative_to(example)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(each.read_bytes())
    scratch.mkdir()
    script = Path(__file__).with_name("users_session.py")
    command = [sys.executable, "-W", "error", str(script), str(project), str(scratch)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    return cast("dict[str, Any]", json.loads(done.stdout))


# --- beside a user's session ---------------------------------------------------------------------------


def test_a_session_with_delta_will_do(seen: dict[str, Any]) -> None:
    assert (seen["compatible"], seen["problems"]) == (True, [])
    assert set(seen["probes"].values()) == {None}


def test_a_project_is_built_and_asked_in_it(seen: dict[str, Any]) -> None:
    assert seen["statuses"] == ["done", "unchanged", "done"]
    assert seen["planned"] == ["built", "inlined"]
    assert seen["counted"][0]["n"] > 0
    assert seen["functions"] == [{"n": len(function_rows())}]
    assert seen["asked"] == ["revenue_by_country", 5, "optimize", []]
    assert seen["is_same"]


def test_the_users_session_stays_as_it_was(seen: dict[str, Any]) -> None:
    assert seen["differs"] == {}
    assert seen["unchanged"] == [True, True]
    assert seen["ours"] == []
    assert seen["alive"] == 3


def test_the_users_settings_stay_theirs(seen: dict[str, Any]) -> None:
    assert seen["own"] == {
        "spark.sql.ansi.enabled": "true",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.mapKeyDedupPolicy": None,
        "spark.databricks.delta.properties.defaults.enableChangeDataFeed": None,
        "spark.sql.autoBroadcastJoinThreshold": "77",  # speed is the user's matter
        "spark.sql.artifact.isolation.enabled": "false",
    }
    assert seen["zone"] == [{"zone": "Europe/Berlin", "one": 1}]


def test_its_identity_is_that_of_an_equal_application(seen: dict[str, Any]) -> None:
    assert seen["digest"] is True
    assert seen["speed"] == "1g"


def test_without_it_the_error_says_to_pass_it(seen: dict[str, Any]) -> None:
    message, _, remedy = str(seen["alone"]).partition(" | ")
    assert message.startswith("HW-RUNTIME-006")
    assert "headwater.open(path, spark=spark)" in message
    assert "headwater.open(path, spark=spark)" in remedy


def test_a_session_that_was_stopped_since_is_refused(seen: dict[str, Any]) -> None:
    assert seen["stopped"].startswith("HW-RUNTIME-008")
    assert "found one that is stopped" in seen["stopped"]


def test_all_problems_are_told_at_once(seen: dict[str, Any]) -> None:
    problems = {name: (wanted, found) for name, wanted, found, _ in seen["bad"]}
    assert problems == {
        "delta": ("4.4.x", "not on the class path"),
        "spark.sql.catalog.spark_catalog": (
            "org.apache.spark.sql.delta.catalog.DeltaCatalog",
            "not set",
        ),
        "spark.sql.extensions": ("io.delta.sql.DeltaSparkSessionExtension", "not set"),
    }
    assert seen["refused"].startswith("HW-RUNTIME-008")
    for name, wanted, found, remedy in seen["bad"]:
        assert f"{name}: {wanted} is wanted, found {found} ({remedy})" in seen["refused"]
        assert remedy


def test_a_profiles_own_settings_are_asked_for_and_no_secret_is_shown(seen: dict[str, Any]) -> None:
    told = {name: (wanted, found) for name, wanted, found in seen["wanted"]}
    assert told["spark.serializer"] == ("x", "not set")
    assert told["spark.hadoop.fs.s3a.secret.key"] == ("*********", "not set")


# --- checks, over the application of the tests ---------------------------------------------------------


@pytest.fixture
def given(runtime: SessionRuntime, monkeypatch: pytest.MonkeyPatch) -> SparkSession:
    """A session that Headwater takes for somebody else's."""
    monkeypatch.setattr(session_module, "_adopted", [])
    return runtime.new_session().spark


def test_a_report_has_every_check_side_by_side(given: SparkSession) -> None:
    report = check_session(given, PROFILE)
    assert report.compatible
    checks = {each.name: each for each in report.checks}
    assert list(checks)[:6] == ["session", "spark", "scala", "delta", "connect_planner", "compiler"]
    assert (checks["spark"].wanted, checks["spark"].found) == ("4.2.x", "4.2.0")
    assert checks["delta"].found == engine_versions().delta
    assert {each.remedy for each in report.checks} == {""}
    assert not any(name.startswith(("spark.master", "spark.driver")) for name in checks)


def test_master_and_memory_never_refuse(given: SparkSession) -> None:
    assert check_session(given, replace(PROFILE, master="local[7]", driver_memory="9g")).compatible


@pytest.mark.parametrize(
    ("versions", "problem"),
    [
        (EngineVersions(spark="4.1.0", delta="4.4.0", scala="2.13.0"), "spark: 4.1.x is wanted, found 4.2.0"),
        (EngineVersions(spark="4.2.9", delta="4.3.9", scala="2.13.0"), "delta: 4.3.x is wanted, found 4.4.0"),
        (EngineVersions(spark="4.2.9", delta="4.4.9", scala="3.3.0"), "scala: 3.3.x is wanted, found 2.13."),
    ],
)
def test_another_line_of_versions_is_refused(
    given: SparkSession, monkeypatch: pytest.MonkeyPatch, versions: EngineVersions, problem: str
) -> None:
    monkeypatch.setattr(adopting_module, "engine_versions", lambda: versions)
    with pytest.raises(SessionIncompatible) as caught:
        adopt_session(given, PROFILE)
    assert len(caught.value.problems) == 1
    assert problem in str(caught.value)


def test_the_identity_has_the_versions_that_are_there(
    given: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = EngineVersions(spark="4.2.9", delta="4.4.9", scala="2.13.99")
    monkeypatch.setattr(adopting_module, "engine_versions", lambda: later)
    monkeypatch.setattr(session_module, "engine_versions", lambda: later)
    found = identity_of(PROFILE, given)
    assert found.versions == engine_versions()
    assert found.results_digest != identity_of(PROFILE).results_digest
    assert open_runtime(PROFILE, spark=given).identity == found


@pytest.mark.parametrize("name", ["connect_planner", "compiler"])
def test_classes_that_are_missing_are_named(
    given: SparkSession, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    needed = ((name, ("java.lang.String", "no.such.Thing"), "Put it there."),)
    monkeypatch.setattr(adopting_module, "_NEEDED_CLASSES", needed)
    (problem,) = check_session(given).problems
    assert (problem.name, problem.found, problem.remedy) == (name, "no no.such.Thing", "Put it there.")


def test_a_setting_of_the_application_that_the_profile_wants_must_be_there(given: SparkSession) -> None:
    storage = StorageProfile(options=(("fs.s3a.endpoint", "http://store:9000"),))
    (problem,) = check_session(given, replace(PROFILE, storage=storage)).problems
    assert problem.name == "spark.hadoop.fs.s3a.endpoint"
    assert problem.wanted == "http://store:9000"
    assert problem.remedy


def test_a_log_store_that_the_profile_does_not_name_is_refused(given: SparkSession) -> None:
    java: Any = given._jsparkSession
    conf = java.sparkContext().conf()
    conf.set("spark.delta.logStore.class", "some.Store")
    try:
        (problem,) = check_session(given).problems
    finally:
        conf.remove("spark.delta.logStore.class")
    assert (problem.name, problem.wanted, problem.found) == (
        "spark.delta.logStore.class",
        "not set",
        "some.Store",
    )


def test_another_catalog_is_a_matter_of_the_profile(given: SparkSession) -> None:
    (problem,) = check_session(given, replace(PROFILE, catalog="hive")).problems
    assert (problem.name, problem.wanted, problem.found) == (
        "spark.sql.catalogImplementation",
        "hive",
        "in-memory",
    )
    assert 'catalog = "in_memory"' in problem.remedy


def test_more_extensions_will_do_and_are_part_of_the_identity(given: SparkSession) -> None:
    java: Any = given._jsparkSession
    conf, key = java.sparkContext().conf(), "spark.sql.extensions"
    alone = conf.get(key)
    conf.set(key, f"some.Extension, {alone}")
    try:
        assert check_session(given).compatible
        found = identity_of(PROFILE, given)
    finally:
        conf.set(key, alone)
    assert dict(found.settings.results)[key] == f"some.Extension, {alone}"
    assert found.results_digest != identity_of(PROFILE).results_digest
    assert identity_of(PROFILE, given).results_digest == identity_of(PROFILE).results_digest


class SparkSessionOfConnect:
    """Named and placed as Connect's client is; a real one needs a server."""

    __module__ = "pyspark.sql.connect.session"


@pytest.mark.parametrize(
    ("other", "found"), [(SparkSessionOfConnect, "no JVM"), (dict, "found builtins.dict")]
)
def test_what_is_no_classic_session_is_refused(other: Callable[[], Any], found: str) -> None:
    with pytest.raises(SessionIncompatible, match=found):
        open_runtime(PROFILE, spark=other())


# --- nothing of the user's is changed ------------------------------------------------------------------


def test_active_sessions_and_frames_from_rdds_stay_with_the_user(
    given: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SparkSession, "_activeSession", given)
    to_frame: Any = vars(RDD)["toDF"]
    with open_runtime(PROFILE, spark=given).checkout() as session:
        session.spark.createDataFrame([(1,)], "x int")
        assert SparkSession._activeSession is session.spark
        session.copy().release()
    assert SparkSession._activeSession is given
    assert vars(RDD)["toDF"] is to_frame


def test_closing_leaves_what_was_adopted_alone(
    given: SparkSession, runtime: SessionRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_module, "_applications", [])
    opened = open_runtime(PROFILE, spark=given)
    with opened.checkout() as session:
        close_runtime()
        assert session.spark.range(2).count() == 2
    assert open_runtime(PROFILE, spark=given).new_session().spark.range(1).count() == 1
    assert tables_of(runtime.new_session()) == []


def tables_of(session: RunSession) -> list[str]:
    return [each.name for each in session.spark.catalog.listTables()]
