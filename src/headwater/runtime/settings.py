"""Spark settings of a profile: what affects results, apart from what does not.

Not here: the session that gets them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from headwater.runtime.masters import is_on_this_machine
from headwater.runtime.storage import REDACTED, redacted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.runtime.profile import RuntimeProfile

# Extra settings under these names change how fast an answer comes and where it is logged, not what it is.
# Everything else that a user adds is taken to affect results.
_SPEED_PREFIXES = (
    "spark.app.",
    "spark.archives",
    "spark.blockManager.",
    "spark.cores.",
    "spark.deploy.",
    "spark.dynamicAllocation.",
    "spark.driver.",
    "spark.executor.",
    "spark.task.",
    "spark.ui.",
    "spark.eventLog.",
    "spark.history.",
    "spark.local.dir",
    "spark.memory.",
    "spark.network.",
    "spark.port.",
    "spark.pyspark.",
    "spark.python.worker.",
    "spark.rpc.",
    "spark.scheduler.",
    "spark.shuffle.",
    "spark.speculation",
    "spark.submit.",
    "spark.kubernetes.",
    "spark.yarn.",
    "spark.sql.adaptive.",
    "spark.sql.autoBroadcastJoinThreshold",
    "spark.sql.codegen.",
    "spark.sql.execution.arrow.",
    "spark.sql.files.maxPartition",
    "spark.sql.parquet.columnarReaderBatchSize",
    "spark.sql.parquet.compression.",
)
_BY_AGE = "spark.databricks.delta.vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration"
EXTENSIONS = "spark.sql.extensions"
CATALOG = "spark.sql.catalog.spark_catalog"
_TIME_ZONE = "spark.sql.session.timeZone"
_ANSI = "spark.sql.ansi.enabled"
# Fixed when the application starts; one process has one value of each.
_STATIC = (
    EXTENSIONS,
    "spark.sql.catalogImplementation",
    "spark.sql.warehouse.dir",
    CATALOG,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsSnapshot:
    """The settings a runtime works under, sorted, secrets struck out, machine paths left out."""

    results: tuple[tuple[str, str], ...]
    speed: tuple[tuple[str, str], ...]


def settings_of(profile: RuntimeProfile) -> tuple[dict[str, str], dict[str, str]]:
    """All Spark settings of a profile: those that affect results, and those that do not."""
    results = {
        _TIME_ZONE: profile.time_zone,
        _ANSI: _word(profile.ansi),
        "spark.sql.caseSensitive": "false",
        "spark.sql.storeAssignmentPolicy": "ANSI",
        "spark.sql.timestampType": "TIMESTAMP_LTZ",
        "spark.databricks.delta.deltaLog.minorCompaction.useForReads": "false",  # trusted even if it is wrong
        _BY_AGE: "false",  # a version whose files are there can be read; one whose files are gone says so
        "spark.sql.variable.substitute": "false",  # ${env:HOME} in a text is not an input anybody has pinned
        "spark.sql.catalogImplementation": profile.catalog.replace("_", "-"),
        EXTENSIONS: "io.delta.sql.DeltaSparkSessionExtension",
        CATALOG: "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    }
    speed = {
        "spark.master": profile.master,
        "spark.app.name": "headwater",
        "spark.driver.memory": profile.driver_memory,
        "spark.sql.shuffle.partitions": str(profile.shuffle_partitions),
        "spark.databricks.delta.snapshotPartitions": str(profile.snapshot_partitions),
        "spark.databricks.delta.maxCommitAttempts": "50",  # not ten million: who commits decides when to stop
        "spark.sql.adaptive.enabled": _word(profile.adaptive),
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        # With it, Spark 4.2 waits for ever where functions of two kinds follow on a scan of Parquet files.
        "spark.sql.execution.arrow.pythonUDF.columnarInput.enabled": "false",
        "spark.sql.parquet.compression.codec": "zstd",  # a code graph takes half the room, in the same time
        # Rows that are read at a time: with Spark's 4096, lists of a thousand entries each fill the heap.
        "spark.sql.parquet.columnarReaderBatchSize": "512",
        "spark.sql.ui.explainMode": "simple",  # each query is explained in words for a page that nobody opens
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    if is_on_this_machine(profile.master):
        speed |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    for key, value in (*profile.storage.spark_settings(), *profile.spark):
        (speed if is_speed_setting(key) else results)[key] = value
    return results, speed


def snapshot_of(profile: RuntimeProfile) -> SettingsSnapshot:
    """What is recorded and hashed of a profile's settings; equal on two machines with equal profiles."""
    results, speed = settings_of(profile)
    return SettingsSnapshot(
        results=redacted(tuple(sorted(results.items()))), speed=redacted(tuple(sorted(speed.items())))
    )


def with_results(profile: RuntimeProfile, recorded: Mapping[str, str]) -> RuntimeProfile:
    """The profile whose sessions have the recorded settings, of those that affect results.

    What is fixed when the application starts, and what was struck out as a secret, stays as it is here.
    """
    kept = {
        key: value
        for key, value in profile.spark
        if key.startswith(_SPEED_PREFIXES) or not is_session_setting(key) or recorded.get(key) == value
    }
    plain = replace(
        profile,
        time_zone=recorded.get(_TIME_ZONE, profile.time_zone),
        ansi=recorded.get(_ANSI, _word(profile.ansi)) == "true",
        spark=tuple(sorted(kept.items())),
    )
    here = settings_of(plain)[0]
    more = {
        key: value
        for key, value in recorded.items()
        if is_session_setting(key) and REDACTED not in value and here.get(key) != value
    }
    return replace(plain, spark=tuple(sorted({**kept, **more}.items())))


def differences_of(running: Mapping[str, str], wanted: Mapping[str, str]) -> tuple[str, ...]:
    """What differs between the settings that are there and those that are asked for, in words; no secrets."""
    shown, asked = (dict(redacted(tuple(each.items()))) for each in (running, wanted))
    return tuple(
        f"{key} is {shown.get(key, 'not set')}, {asked.get(key, 'not set')} was asked for"
        for key in sorted({*running, *wanted})
        if running.get(key) != wanted.get(key)
    )


def is_session_setting(key: str) -> bool:
    """Whether a setting can differ between sessions of one Spark application."""
    return key.startswith(("spark.sql.", "spark.databricks.delta.")) and key not in _STATIC


def is_speed_setting(key: str) -> bool:
    """Whether a setting that a user adds changes how fast an answer comes, and not what it is."""
    return key.startswith(_SPEED_PREFIXES)


def _word(value: bool) -> str:
    return "true" if value else "false"
