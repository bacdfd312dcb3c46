from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headwater.errors import EngineStartFailed, InvalidSetting, SessionMismatch, UnknownSetting
from headwater.functions import FunctionSnapshot
from headwater.functions.definition import ColumnOrName, define, given
from headwater.runtime import (
    RunSession,
    RuntimeProfile,
    SessionRuntime,
    StorageProfile,
    identity_of,
    open_runtime,
    settings_in_force,
)
from headwater.runtime import session as session_module

if TYPE_CHECKING:
    from pyspark.sql import Column

PROFILE = RuntimeProfile(master="local[2]", driver_memory="2g")


@define("twice(number INT) -> INT", tags=("test",), examples=())
def twice(number: ColumnOrName) -> Column:
    return given(number) * 2


def tables_of(session: RunSession) -> list[str]:
    return sorted(row["tableName"] for row in session.spark.sql("SHOW TABLES").collect())


def test_a_session_has_the_profiles_settings(session: RunSession) -> None:
    for key, value in (*session.runtime.identity.settings.results, *session.runtime.identity.settings.speed):
        assert session.spark.conf.get(key) == value, key


def test_what_is_in_force_is_what_the_session_really_has(session: RunSession) -> None:
    odd = "a -> b\nc=d"
    session.spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    session.spark.conf.set("spark.sql.legacy.odd", odd)
    found = settings_in_force(session)
    assert (found["spark.sql.session.timeZone"], found["spark.sql.legacy.odd"]) == ("Asia/Tokyo", odd)
    assert found["spark.sql.extensions"] == "io.delta.sql.DeltaSparkSessionExtension"
    assert "spark.sql.legacy.timeParserPolicy" not in found
    asked = settings_in_force(session, ["spark.sql.legacy.timeParserPolicy", "spark.sql.nobody.knows"])
    assert asked["spark.sql.legacy.timeParserPolicy"] == "CORRECTED"
    assert "spark.sql.nobody.knows" not in asked
    session.release()
    with pytest.raises(EngineStartFailed):
        settings_in_force(session)


def test_views_settings_and_functions_of_a_run_stay_in_it(runtime: SessionRuntime) -> None:
    with runtime.checkout() as one, runtime.checkout() as two:
        one.spark.range(1).createOrReplaceTempView("mine")
        one.spark.conf.set("spark.sql.shuffle.partitions", "7")
        one.spark.sql("CREATE TEMPORARY FUNCTION plus_one(x INT) RETURNS INT RETURN x + 1")
        assert tables_of(one) == ["mine"]
        assert tables_of(two) == []
        assert two.spark.conf.get("spark.sql.shuffle.partitions") == "2"
        assert not two.spark.catalog.functionExists("plus_one")
    with runtime.checkout() as later:
        assert tables_of(later) == []
        assert later.spark.conf.get("spark.sql.shuffle.partitions") == "2"
        assert not later.spark.catalog.functionExists("plus_one")


def test_a_copy_begins_with_what_is_there_and_goes_its_own_way(session: RunSession) -> None:
    session.spark.range(1).createOrReplaceTempView("mine")
    session.spark.conf.set("spark.sql.shuffle.partitions", "7")
    copied = session.copy()
    assert copied.spark.table("mine").count() == 1
    assert copied.spark.conf.get("spark.sql.shuffle.partitions") == "7"
    assert copied.spark.catalog.functionExists("stable_id_parts")
    copied.spark.range(2).createOrReplaceTempView("mine")
    assert session.spark.table("mine").count() == 1
    copied.release()
    assert tables_of(session) == ["mine"]


def test_runs_in_parallel_do_not_see_each_other(runtime: SessionRuntime) -> None:
    barrier = threading.Barrier(4, timeout=60)
    seen: dict[int, list[object]] = {}

    def run(number: int) -> None:
        with runtime.checkout() as session:
            session.spark.range(number).createOrReplaceTempView("shared_name")
            session.spark.conf.set("spark.sql.session.timeZone", f"+0{number}:00")
            barrier.wait()
            counted = session.spark.table("shared_name").count()
            active = session.jvm.org.apache.spark.sql.classic.SparkSession.getActiveSession().get()
            seen[number] = [
                counted,
                session.spark.conf.get("spark.sql.session.timeZone"),
                active.equals(session.jvm_session),
            ]
            barrier.wait()

    threads = [threading.Thread(target=run, args=(number,)) for number in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert seen == {number: [number, f"+0{number}:00", True] for number in range(1, 5)}


def test_a_session_is_dead_after_its_run(runtime: SessionRuntime) -> None:
    with runtime.checkout() as session:
        pass
    with pytest.raises(EngineStartFailed, match="is over"):
        _ = session.spark


def test_functions_are_installed_before_any_run(
    runtime: SessionRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshot = FunctionSnapshot(definitions=(twice,))
    before = runtime.identity

    def only_twice(_disabled: object) -> FunctionSnapshot:
        return snapshot

    monkeypatch.setattr(session_module, "function_snapshot", only_twice)
    with_function = open_runtime(replace(PROFILE, shuffle_partitions=3))
    with with_function.checkout() as session:
        assert session.spark.sql("SELECT twice(21) AS n").collect()[0]["n"] == 42
    assert with_function.identity.results_digest != before.results_digest
    with runtime.checkout() as session:
        assert not session.spark.catalog.functionExists("twice")


def test_profiles_that_differ_by_session_share_the_application(runtime: SessionRuntime) -> None:
    other = open_runtime(replace(PROFILE, time_zone="Asia/Tokyo", shuffle_partitions=5))
    with runtime.checkout() as one, other.checkout() as two:
        assert one.spark.sparkContext.applicationId == two.spark.sparkContext.applicationId
        assert one.spark.conf.get("spark.sql.session.timeZone") == "UTC"
        assert two.spark.conf.get("spark.sql.session.timeZone") == "Asia/Tokyo"


def test_profiles_that_cannot_share_it_are_refused(runtime: SessionRuntime) -> None:
    with pytest.raises(SessionMismatch) as caught:
        open_runtime(replace(PROFILE, master="local[1]"))
    assert "spark.master is local[2], local[1] was asked for" in str(caught.value)
    with runtime.checkout() as session:
        assert session.spark.range(1).count() == 1


@pytest.mark.usefixtures("runtime")
def test_a_refusal_shows_no_secret() -> None:
    storage = StorageProfile(options=(("fs.s3a.secret.key", "hunter2"),))
    with pytest.raises(SessionMismatch) as caught:
        open_runtime(replace(PROFILE, storage=storage))
    assert "fs.s3a.secret.key is not set, ********* was asked for" in str(caught.value)


@pytest.mark.usefixtures("runtime")
@pytest.mark.parametrize(
    "profile",
    [
        replace(PROFILE, time_zone="Mars/X"),
        replace(PROFILE, spark=(("spark.sql.files.maxPartitionBytes", "abc"),)),
    ],
)
def test_a_value_that_spark_refuses_is_wrong_configuration(profile: RuntimeProfile) -> None:
    with pytest.raises(InvalidSetting) as caught:
        open_runtime(profile)
    assert caught.value.exit_code == 2


@pytest.mark.usefixtures("runtime")
def test_a_context_that_somebody_else_started_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "_applications", [])
    with pytest.raises(SessionMismatch, match="did not start"):
        open_runtime(PROFILE)


@pytest.mark.usefixtures("runtime")
@pytest.mark.parametrize("key", ["spark.sql.no.such.thing", "spark.databricks.delta.snapshotPartition"])
def test_a_setting_that_spark_does_not_know_is_refused(key: str) -> None:
    with pytest.raises(UnknownSetting):
        open_runtime(replace(PROFILE, spark=((key, "1"),)))


def test_the_identity_changes_with_what_it_names() -> None:
    plain = identity_of(PROFILE)
    zone = identity_of(replace(PROFILE, time_zone="Asia/Tokyo"))
    speed = identity_of(replace(PROFILE, shuffle_partitions=9))
    cache = identity_of(replace(PROFILE, cache="multi_tenant_strict"))
    assert zone.results_digest != plain.results_digest
    assert speed.results_digest == cache.results_digest == plain.results_digest
    assert len({each.digest for each in (plain, zone, speed, cache)}) == 4


def test_the_digest_is_equal_on_another_machine(tmp_path: Path) -> None:
    script = (
        "import json\n"
        "from headwater.runtime import RuntimeProfile, identity_of\n"
        "identity = identity_of(RuntimeProfile(master='local[2]', driver_memory='2g'))\n"
        "print(json.dumps([identity.digest, identity.results_digest]))\n"
    )
    digests = {
        tuple(
            json.loads(
                subprocess.run(
                    [sys.executable, "-c", script],
                    cwd=tmp_path,
                    env={
                        **os.environ,
                        "PYTHONHASHSEED": seed,
                        "HEADWATER_HOME": str(tmp_path / seed),
                        "HOME": seed,
                    },
                    check=True,
                    capture_output=True,
                ).stdout
            )
        )
        for seed in ("1", "2")
    }
    here = identity_of(PROFILE)
    assert digests == {(here.digest, here.results_digest)}


def test_a_dead_engine_is_a_typed_error_and_the_next_run_gets_a_new_one() -> None:
    script = Path(__file__).with_name("dead_engine.py")
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "ENGINE_GONE\n3\n", "")
