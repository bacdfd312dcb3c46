"""One round of representative work, so that the class archive holds the classes that real runs load.

It runs in a process of its own: a process has one Spark application, and the caller may be using its own.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from pyspark import SparkContext
from pyspark.sql import SparkSession
from pyspark.sql.connect.proto import base_pb2, expressions_pb2, relations_pb2

from headwater.functions import function_snapshot
from headwater.home import new_log
from headwater.runtime.gateway import open_gateway
from headwater.runtime.installing import FunctionInstaller
from headwater.runtime.jvm import JvmSpec
from headwater.runtime.planner import connect_planner

if TYPE_CHECKING:
    from collections.abc import Callable

_TRAINING_SECONDS = 900
_DUMP_SECONDS = 300.0
TRAINING_SETTINGS: tuple[tuple[str, str], ...] = (
    ("spark.master", "local[2]"),
    ("spark.app.name", "headwater-training"),
    ("spark.ui.enabled", "false"),
    ("spark.ui.showConsoleProgress", "false"),
    ("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension"),
    ("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog"),
    ("spark.sql.shuffle.partitions", "2"),
    ("spark.databricks.delta.snapshotPartitions", "2"),
)
# What the child works through. It is named and not imported: tables are the business of a floor above, and
# the child is a process of its own.
_WORK = "headwater.delta.warming"


def train_in_child(spec: JvmSpec, draft: Path) -> Path:
    """Have a child process work with the engine of `spec` and write its class archive to `draft`.

    Returns the child's log; whether there is a draft, and a good one, is for the caller to find out.
    """
    log = new_log(spec.home, "archive")
    # Only what shapes the class archive goes along; the caller's settings may hold secrets.
    encoded = msgspec.json.encode(replace(spec, settings=TRAINING_SETTINGS), enc_hook=str).decode()
    command = [sys.executable, "-c", f"from {_WORK} import main; main()", encoded, str(draft)]
    with log.open("wb") as sink:
        try:
            subprocess.run(
                command, cwd=draft.parent, stdout=sink, stderr=sink, timeout=_TRAINING_SECONDS, check=False
            )
        except subprocess.TimeoutExpired as error:
            sink.write(f"{error}\n".encode())
    return log


def run_training(work: Callable[[SparkSession, Path], None]) -> None:
    """The child's whole life: engine, `work` with a folder of its own, what every session needs, archive."""
    encoded, draft = sys.argv[1:]
    spec = decoded_spec(encoded)
    archiving = (f"-XX:ArchiveClassesAtExit={draft}", "-Xlog:cds*=off")
    gateway = open_gateway(replace(spec, options=(*spec.options, *archiving)))
    try:
        spark = SparkSession(SparkContext(gateway=gateway.py4j))
        work(spark, Path(draft).parent / "tables")
        work_with(spark)
        spark.stop()
    finally:
        gateway.close(patience=_DUMP_SECONDS)


def work_with(spark: SparkSession) -> None:
    """Rehydrate a plan and install functions in a session that has a view named orders (id, name)."""
    _rehydrate(spark)
    FunctionInstaller.of(spark).install(spark, function_snapshot())
    spark.sql("SELECT node_id(name), span_len(span_make(id, id + 1)) FROM orders").collect()


def _rehydrate(spark: SparkSession) -> None:
    """Turn a Connect plan into a classic frame's plans, as every build does."""
    table = relations_pb2.Read.NamedTable(unparsed_identifier="orders")
    read = relations_pb2.Relation(read=relations_pb2.Read(named_table=table))
    condition = expressions_pb2.Expression(
        expression_string=expressions_pb2.Expression.ExpressionString(expression="id + 1 > 0")
    )
    root = relations_pb2.Relation(filter=relations_pb2.Filter(input=read, condition=condition))
    raw = base_pb2.Plan(root=root).SerializeToString(deterministic=True)
    jvm: Any = spark._jvm
    session = spark._jsparkSession
    logical = connect_planner(jvm, session).transformRelation(
        jvm.org.apache.spark.connect.proto.Plan.parseFrom(raw).getRoot()
    )
    execution = jvm.org.apache.spark.sql.classic.Dataset.ofRows(session, logical).queryExecution()
    execution.analyzed().toJSON()
    execution.optimizedPlan().toJSON()
    execution.executedPlan().toString()


def decoded_spec(encoded: str | bytes) -> JvmSpec:
    """The engine that a parent process described to this one, as JSON."""
    return msgspec.json.decode(encoded, type=JvmSpec, dec_hook=lambda kind, value: kind(value))
