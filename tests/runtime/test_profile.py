from __future__ import annotations

import os

import pytest

from headwater.errors import InvalidSetting, UnknownProfile, UnknownSetting
from headwater.origin import Origin
from headwater.runtime import RuntimeProfile, StorageProfile, TomlSource, resolve_profile


def test_defaults_are_strict_and_local() -> None:
    profile = resolve_profile(profiles={}, environ={})
    assert profile == RuntimeProfile()
    assert (profile.time_zone, profile.ansi, profile.cache, profile.is_local) == (
        "UTC",
        True,
        "snapshot_pinned",
        True,
    )


def test_flags_beat_the_environment_which_beats_the_file_which_beats_the_defaults() -> None:
    profiles = {"local": {"shuffle_partitions": 3, "snapshot_partitions": 3, "driver_memory": "3g"}}
    environ = {"HEADWATER_SHUFFLE_PARTITIONS": "4", "HEADWATER_SNAPSHOT_PARTITIONS": "4"}
    profile = resolve_profile(profiles=profiles, environ=environ, flags={"shuffle_partitions": "5"})
    assert profile.shuffle_partitions == 5
    assert profile.snapshot_partitions == 4
    assert profile.driver_memory == "3g"
    assert profile.master == "local[*]"


def test_a_profile_is_chosen_by_flag_then_by_environment() -> None:
    profiles = {"a": {"master": "local[1]"}, "b": {"master": "local[3]"}}
    environ = {"HEADWATER_PROFILE": "b"}
    assert resolve_profile(profiles=profiles, environ=environ).master == "local[3]"
    assert resolve_profile(profiles=profiles, environ=environ, chosen="a").master == "local[1]"


def test_an_unknown_profile_names_the_known_ones() -> None:
    with pytest.raises(UnknownProfile) as caught:
        resolve_profile(profiles={"big": {}}, environ={}, chosen="bgi")
    assert caught.value.known == ("big", "local")


@pytest.mark.parametrize(
    ("flags", "key"),
    [
        ({"shufle_partitions": "2"}, "shufle_partitions"),
        ({"nonsense": "1"}, "nonsense"),
        ({"name": "x"}, "name"),
    ],
)
def test_an_unknown_setting_is_refused(flags: dict[str, str], key: str) -> None:
    with pytest.raises(UnknownSetting) as caught:
        resolve_profile(profiles={}, environ={}, flags=flags)
    assert caught.value.key == key
    assert caught.value.exit_code == 2


def test_a_near_miss_is_suggested() -> None:
    with pytest.raises(UnknownSetting, match="SHUFLE") as caught:
        resolve_profile(profiles={}, environ={"HEADWATER_SHUFLE_PARTITIONS": "2"})
    assert "HEADWATER_SHUFFLE_PARTITIONS" in caught.value.next_step


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("shuffle_partitions", "0"),
        ("shuffle_partitions", "two"),
        ("shuffle_partitions", "-1"),
        ("ansi", "yes"),
        ("cache", "forever"),
        ("catalog", "glue"),
        ("java_compiler", "slow"),
        ("driver_memory", "lots"),
        ("master", ""),
        ("master", "sc://host:15002"),
        ("spark.remote", "sc://host:15002"),
        ("executor_wait_seconds", "0"),
        ("spark.sql.session.timeZone", "CET"),
        ("spark.driver.extraJavaOptions", "-Xint"),
        ("spark", "1"),
        ("storage", "s3"),
    ],
)
def test_a_value_that_cannot_be_is_refused(key: str, value: str) -> None:
    with pytest.raises(InvalidSetting) as caught:
        resolve_profile(profiles={}, environ={}, flags={key: value})
    assert caught.value.exit_code == 2


def test_spark_settings_and_storage_come_from_tables() -> None:
    tables = {
        "local": {
            "spark": {
                "spark.sql.files.maxPartitionBytes": 1048576,
                "spark.sql.adaptive.skewJoin.enabled": True,
            },
            "storage": {
                "require_local_paths": True,
                "options": {"fs.x": 1},
                "log_store_options": {"logStore.y": "z"},
            },
        }
    }
    profile = resolve_profile(profiles=tables, environ={})
    assert profile.spark == (
        ("spark.sql.adaptive.skewJoin.enabled", "true"),
        ("spark.sql.files.maxPartitionBytes", "1048576"),
    )
    assert profile.storage == StorageProfile(
        require_local_paths=True, options=(("fs.x", "1"),), log_store_options=(("logStore.y", "z"),)
    )


def test_an_error_in_the_file_names_its_line() -> None:
    text = '[profiles.local]\nmaster = "local[2]"\nansy = true\n'
    with pytest.raises(UnknownSetting) as caught:
        resolve_profile(
            profiles={"local": {"master": "local[2]", "ansy": True}},
            environ={},
            source=TomlSource(path="headwater.toml", text=text),
        )
    assert caught.value.origin == Origin("headwater.toml", 3)
    assert "'ansi'" in caught.value.next_step


def test_the_line_is_that_of_the_chosen_profile() -> None:
    text = "[profiles.a]\nansi = true\n[profiles.b]\nansi = 3\n"
    with pytest.raises(InvalidSetting) as caught:
        resolve_profile(
            profiles={"a": {"ansi": True}, "b": {"ansi": 3}},
            environ={},
            chosen="b",
            source=TomlSource(path="headwater.toml", text=text),
        )
    assert caught.value.origin == Origin("headwater.toml", 4)


@pytest.mark.parametrize("table", [{"options": 3}, {"require_local_paths": "yes"}, {"option": {}}])
def test_a_wrong_storage_table_is_refused(table: dict[str, object]) -> None:
    with pytest.raises((InvalidSetting, UnknownSetting)):
        resolve_profile(profiles={"local": {"storage": table}}, environ={})


def test_families_are_a_list_in_the_file_and_words_with_commas_elsewhere() -> None:
    in_file = resolve_profile(profiles={"local": {"disabled_families": ["map", "cdf"]}}, environ={})
    in_environment = resolve_profile(profiles={}, environ={"HEADWATER_DISABLED_FAMILIES": " map, cdf,"})
    in_flags = resolve_profile(profiles={}, environ={}, flags={"disabled_families": "cdf,map,cdf"})
    assert in_file == in_environment == in_flags
    assert in_file.disabled_families == ("cdf", "map")


def test_degraded_reads_are_allowed_by_name() -> None:
    in_file = resolve_profile(profiles={"local": {"allow_degraded": ["delta_as_files"]}}, environ={})
    in_flags = resolve_profile(profiles={}, environ={}, flags={"allow_degraded": "delta_as_files"})
    assert in_file.allow_degraded == in_flags.allow_degraded == ("delta_as_files",)
    with pytest.raises(InvalidSetting, match="allow_degraded") as caught:
        resolve_profile(profiles={"local": {"allow_degraded": ["parquet"]}}, environ={})
    assert "snapshot_changes" in caught.value.expected


def test_a_key_with_dots_is_one_key_quoted_or_not() -> None:
    nested = {"storage": {"options": {"fs": {"s3a": {"secret": {"key": "hunter2"}, "fast": True}}}}}
    quoted = {"storage": {"options": {"fs.s3a.secret.key": "hunter2", "fs.s3a.fast": "true"}}}
    one, two = (resolve_profile(profiles={"local": each}, environ={}) for each in (nested, quoted))
    assert one.storage == two.storage
    assert "hunter2" not in str(one.storage.identity())


@pytest.mark.parametrize(
    "key",
    ["spark.hadoop.fs.s3a.endpoint", "spark.delta.logStore.class", "spark.io.delta.storage.x.ddb.region"],
)
def test_where_tables_are_is_said_in_one_place(key: str) -> None:
    with pytest.raises(InvalidSetting, match="set here") as caught:
        resolve_profile(profiles={}, environ={}, flags={key: "http://elsewhere"})
    assert "storage" in caught.value.expected


def test_the_profile_shows_no_secret_of_its_spark_settings() -> None:
    profile = resolve_profile(profiles={}, environ={}, flags={"spark.my.password": "hunter2"})
    assert "hunter2" not in repr(profile)


def test_a_flag_can_switch_all_families_on_again() -> None:
    profiles = {"local": {"disabled_families": ["map"]}}
    flags = {"disabled_families": ""}
    assert resolve_profile(profiles=profiles, environ={}, flags=flags).disabled_families == ()


@pytest.mark.parametrize("value", ["maps", "cdf,maps", ["cdf", 3], 3, True, {"cdf": 1}])
def test_a_family_that_nobody_knows_is_refused(value: object) -> None:
    with pytest.raises(InvalidSetting) as caught:
        resolve_profile(profiles={"local": {"disabled_families": value}}, environ={})
    assert caught.value.code == "HW-CONFIG-003"
    assert "position_encoding" in caught.value.expected


@pytest.mark.parametrize(
    ("master", "asked", "found"),
    [
        ("local", 4, 1),
        ("local[1]", 4, 1),
        ("local[3]", 4, 3),
        ("local[8]", 4, 4),
        ("local[8, 2]", 9, 8),
        ("local[*]", 999, os.cpu_count()),
        ("local[*]", 1, 1),
        ("spark://127.0.0.1:7077", 6, 6),
    ],
)
def test_as_many_tasks_run_at_once_as_are_asked_for_where_there_are_cores(
    master: str, asked: int, found: int
) -> None:
    assert RuntimeProfile(master=master, parallel_tasks=asked).workers == found
