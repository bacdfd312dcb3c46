"""Run by a test in a process of its own: a project is built and asked beside a user's session, which stays.

Takes a copy of the example and a folder for whatever the user makes; prints a JSON object of what was seen.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from pyspark import RDD, SparkContext
from pyspark.sql import SparkSession

import headwater
from headwater.artifacts import last_manifest
from headwater.errors import SessionIncompatible, SessionMismatch
from headwater.functions import function_snapshot
from headwater.run import (
    Optimize,
    TableRequest,
    UpkeepRequest,
    describe_table,
    keep_table,
    locate_table,
    maintain,
    maintain_request,
)
from headwater.runtime import RuntimeProfile, close_runtime, identity_of, open_runtime, prepare_engine

project_folder, scratch = Path(sys.argv[1]), Path(sys.argv[2])
os.chdir(scratch)
os.environ["PYSPARK_PYTHON"] = sys.executable  # which Python workers have is the user's matter
profile = headwater.open(project_folder).profile
jars = ",".join(str(each) for each in prepare_engine(profile))

# The usual way for a user, with settings of the user's own that would change rows and tables.
builder: Any = SparkSession.builder
for key, value in {
    "spark.master": "local[2]",
    "spark.driver.memory": "1g",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.jars": jars,
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.sql.ansi.enabled": "false",
    "spark.sql.session.timeZone": "Asia/Tokyo",
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
    "spark.databricks.delta.properties.defaults.enableChangeDataFeed": "true",
    "spark.sql.autoBroadcastJoinThreshold": "77",
}.items():
    builder = builder.config(key, value)
spark: SparkSession = builder.getOrCreate()
spark.range(3).createOrReplaceTempView("mine")
spark.sql("CREATE TEMPORARY FUNCTION plus_one(x INT) RETURNS INT RETURN x + 1")


def state() -> dict[str, Any]:
    """All of the user's session that Headwater could touch."""
    active = SparkSession.getActiveSession()
    return {
        "conf": dict(sorted(spark.conf.getAll.items())),
        "tables": sorted(each.name for each in spark.catalog.listTables()),
        "functions": sorted(
            each.name for each in spark.catalog.listFunctions() if each.isTemporary and "one" in each.name
        ),
        "ours": [
            each.name for each in function_snapshot(()).definitions if spark.catalog.functionExists(each.name)
        ],
        "active": active is spark,
        "to_df": vars(RDD)["toDF"] is to_df,
        "hadoop": context._jsc.hadoopConfiguration().size(),
        "python": spark.sparkContext.pythonExec,
    }


context: Any = spark.sparkContext
to_df: Any = vars(RDD)["toDF"]
before = state()
report = headwater.check_session(spark)
try:
    headwater.open(project_folder).build()
    alone = "built"
except SessionMismatch as error:
    alone = f"{error} | {error.next_step}"

project = headwater.open(project_folder, spark=spark)
first = project.build()
between = state()
again = project.build()
with project.query("SELECT count(*) AS n FROM revenue_by_country") as result:
    counted = result.read_all().to_pylist()
with project.query("SELECT count(*) AS n FROM hw_functions") as result:
    functions = result.read_all().to_pylist()
plan = headwater.open(project_folder, spark=spark).plan(full=True)
explained = project.explain("revenue_by_country").bundle.view
table = locate_table("revenue_by_country", project)
described = describe_table(TableRequest(table=table, profile=project.profile, spark=project.spark)).rows
upkeep = UpkeepRequest(table=table, profile=project.profile, project=project, dry_run=True)
kept = keep_table(upkeep, Optimize()).note.operation
maintained = [each.table for each in maintain(maintain_request(project, dry_run=True)) if each.error]
maintained += [each.table for each in maintain(maintain_request(upkeep)) if each.error]
settings = {"time_zone": "Europe/Berlin"}
other = headwater.open(
    project_folder, spark=spark, warehouse=scratch / "other", profile="local", settings=settings
)
second = other.build()
with other.query("SELECT current_timezone() AS zone, CAST('1' AS INT) AS one") as result:
    zone = result.read_all().to_pylist()

runtime = open_runtime(profile, spark=spark)
with runtime.checkout() as session:
    conf = session.spark.conf
    own = {
        key: conf.get(key, None)
        for key in (
            "spark.sql.ansi.enabled",
            "spark.sql.session.timeZone",
            "spark.sql.mapKeyDedupPolicy",
            "spark.databricks.delta.properties.defaults.enableChangeDataFeed",
            "spark.sql.autoBroadcastJoinThreshold",
            "spark.sql.artifact.isolation.enabled",
        )
    }
    is_same = session.spark.sparkContext is spark.sparkContext
close_runtime()
after = state()
manifest = last_manifest(project.warehouse.root)
probes = {each.name: each.error for each in headwater.capabilities_snapshot(spark)}
seen = {
    "compatible": report.compatible,
    "problems": [each.name for each in report.problems],
    "alone": alone,
    "statuses": [first.status, again.status, second.status],
    "planned": sorted({each.action for each in plan.views}),
    "counted": counted,
    "functions": functions,
    "asked": [explained, described, kept, maintained],
    "zone": zone,
    "own": own,
    "is_same": is_same,
    "unchanged": [before == between, between == after],
    "differs": {key: [before[key], after[key]] for key in before if before[key] != after[key]},
    "ours": after["ours"],
    "alive": spark.table("mine").count(),
    "digest": bool(manifest) and manifest.results_digest == identity_of(profile).results_digest,
    "speed": dict(identity_of(profile, spark).settings.speed)["spark.driver.memory"],
    "probes": probes,
}
spark.stop()
try:
    project.build()
except SessionIncompatible as error:
    seen["stopped"] = str(error)

# A JVM of its own for a session as it comes without Delta; the first one still has the jars.
gateway: Any = SparkContext._gateway
gateway.shutdown()
SparkContext._gateway = SparkContext._jvm = None
plain: Any = SparkSession.builder
bad: SparkSession = plain.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
try:
    headwater.open(project_folder, spark=bad)
except SessionIncompatible as error:
    seen["refused"] = str(error)
seen["bad"] = [
    [each.name, each.wanted, each.found, each.remedy] for each in headwater.check_session(bad).problems
]
wanted = RuntimeProfile(spark=(("spark.hadoop.fs.s3a.secret.key", "hunter2"), ("spark.serializer", "x")))
seen["wanted"] = [
    [each.name, each.wanted, each.found] for each in headwater.check_session(bad, wanted).problems
]
bad.stop()
print(json.dumps(seen))  # noqa: T201
